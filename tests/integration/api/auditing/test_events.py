"""The log's events: whole, in order, filtered on both lines, in bounded pages, and with no word that may not be told."""

from __future__ import annotations

import dataclasses
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import msgspec
import pytest

import engramlog_server.api.services.events as service
from engramlog_server.api.services.events import EventCursor, cursor_text, question_of
from engramlog_server.api.work import Patience, with_patience
from engramlog_server.consumers.fold.rebuild import rebuild_partition
from engramlog_server.events.catalogue import ToolResultRecorded, TurnRecorded
from engramlog_server.events.errors import DeadlineExceeded, InputError
from engramlog_server.events.partitions import parse_position, partition_of
from engramlog_server.projections.redis.builds import FIRST_BUILD
from tests.acceptance.helpers.store import Store, day
from tests.given.events import (
    Told,
    accessed,
    asserted,
    created,
    deleted,
    in_session,
    mentioned,
    merged,
    negated,
    purged,
    revised,
    set_aside,
)
from tests.patience import PATIENCE
from tests.rows import each_row

PIN = "the PIN of my card is 4821"


def turn(turn_id: str, text: str, at: float = 0, session: str = "s1", **data: Any) -> Told:
    return in_session(Told(TurnRecorded(turn_id=turn_id, role="user", text=text, **data), at), session)


@pytest.fixture(scope="module")
def ada(store: Store) -> str:
    """Two sessions, a memory that changed, a tool, and something that came late."""
    owner = store.owner()
    store.tell(owner, turn("t1", "I like green tea", 1), turn("t2", "今天下雨了", 2, "s2", reply_to="t1"))
    store.tell(owner, created("I like green tea", "tea", 3, source_turns=("t1",)), mentioned("tea", 4, turn_id="t2"))
    store.tell(owner, in_session(Told(ToolResultRecorded(tool="weather", text="It rains", turn_id="t2"), 5), "s2"))
    store.tell(owner, created("I like coffee", "coffee", 6), negated("tea", 7, replaced_by="coffee"))
    store.tell(owner, accessed("tea", day=2.5))
    return owner


def told(store: Store, owner: str, **asked: Any) -> list[dict[str, Any]]:
    return [dict(one) for one in store.app.events.events(owner, **asked)["events"]]


def paged(store: Store, owner: str, limit: int = 3, **asked: Any) -> list[dict[str, Any]]:
    found, cursor = list[dict[str, Any]](), None
    while True:
        page = store.app.events.events(owner, cursor=cursor, limit=limit, **asked)
        assert len(page["events"]) <= limit
        found += [dict(one) for one in page["events"]]
        cursor = page["next"]
        if cursor is None:
            return found


def test_how_a_block_was_made_is_told_and_never_what_proves_its_words(store: Store) -> None:
    owner = store.owner()
    store.tell(owner, created("I like green tea", "tea", 0))
    store.app.contexts.context(owner, "green tea?", session="s1", turn_id="t1", stable_budget=0, trace=True)
    block = told(store, owner, types=["MemoriesAccessed"])[0]["data"]["block"]
    assert [one["memory_id"] for one in block["retrieved"]] == ["tea"]
    assert not {"digest", "asked"} & block.keys()


def test_every_event_is_told_in_the_order_of_the_log_with_its_envelope_and_its_data(store: Store, ada: str) -> None:
    found = told(store, ada)
    assert [one["type"] for one in found] == [
        "TurnRecorded", "TurnRecorded", "MemoryCreated", "MemoryMentioned", "ToolResultRecorded", "MemoryCreated",
        "MemoryNegated", "MemoriesAccessed",
    ]  # fmt: skip
    seqs = [parse_position(one["position"])[1] for one in found]
    assert seqs == sorted(seqs)
    assert found[1]["data"] == {"turn_id": "t2", "role": "user", "text": "今天下雨了", "reply_to": "t1"}
    one = found[0]
    assert (one["occurred_at"], one["actor"], one["principal"], one["session_id"]) == (day(1), "user", "local", "s1")
    assert (one["trust"], one["model"], one["withheld"], one["problem"], one["folded"]) == (
        "asserted",
        None,
        None,
        None,
        True,
    )
    assert one["recorded_at"] > day(60)
    assert one["late_by"] > 86_400
    assert one["schema_version"] == 1
    assert found[7]["schema_version"] == 2


@each_row("order", ["oldest", "newest"])
@each_row("limit", [1, 2, 5, 8, 100])
def test_pages_together_are_the_whole(store: Store, ada: str, order: str, limit: int) -> None:
    whole = told(store, ada)
    assert paged(store, ada, limit, order=order) == (whole if order == "oldest" else whole[::-1])


@each_row(
    ("asked", "numbers"),
    [
        ({"types": ["TurnRecorded"]}, [0, 1]),
        ({"types": ["MemoryNegated", "MemoryMentioned"]}, [3, 6]),
        ({"since": day(4)}, [3, 4, 5, 6]),
        ({"until": day(2)}, [0, 1]),
        ({"since": "2024-01-03", "until": "2024-01-03"}, [1, 7]),
        ({"session": "s2"}, [1, 4]),
        ({"turn": "t2"}, [1, 3, 4]),
        ({"turn": "t1"}, [0, 1, 2]),
        ({"memory": "coffee"}, [5, 6]),
        ({"actor": "judge"}, []),
        ({"principal": "local", "types": ["TurnRecorded"], "session": "s1"}, [0]),
        ({"principal": "nobody"}, []),
        ({"correlation": "extract:rules"}, []),
        ({"recorded_until": "2024-02-01"}, []),
        ({"recorded_since": "2024-02-01", "late": True, "types": ["MemoryCreated"]}, [2, 5]),
        ({"as_of": day(2.5)}, [0, 1, 7]),
        ({"as_of": day(4), "since": day(2)}, [1, 2, 3, 7]),
        ({"known": "2199-01-01"}, list(range(8))),
    ],
)
@each_row("order", ["oldest", "newest"])
def test_filters_keep_what_they_say_on_every_page(
    store: Store, ada: str, asked: dict[str, Any], numbers: list[int], order: str
) -> None:
    whole = told(store, ada)
    wanted = [whole[number] for number in numbers]
    assert paged(store, ada, order=order, **asked) == (wanted if order == "oldest" else wanted[::-1])


def test_positions_and_recorded_times_bound_the_log_as_it_was_known(store: Store, ada: str) -> None:
    whole = told(store, ada)
    assert told(store, ada, as_of=whole[3]["position"]) == whole[:4]
    assert told(store, ada, known=whole[3]["position"]) == whole[:4]
    recorded = whole[3]["recorded_at"]
    assert told(store, ada, known=recorded) == [one for one in whole if one["recorded_at"] <= recorded]
    assert told(store, ada, recorded_since=recorded) == [one for one in whole if one["recorded_at"] >= recorded]


def test_what_just_happened_is_not_late(store: Store) -> None:
    owner = store.owner()
    store.tell(owner, created(day=store.yesterday + 1), created("I like coffee", "coffee", day=store.yesterday))
    assert [one["data"]["memory_id"] for one in told(store, owner, late=True)] == ["coffee"]


@each_row(
    ("asked", "field"),
    [
        ({"types": ["TurnSaid"]}, "types"),
        ({"since": day(5), "until": day(4)}, "until"),
        ({"recorded_since": "2024-02-02", "recorded_until": "2024-02-01"}, "recorded_until"),
        ({"since": "soon"}, "since"),
        ({"actor": "nobody"}, "actor"),
        ({"session": "a b"}, "session"),
        ({"principal": "a\nb"}, "principal"),
        ({"memory": "{}"}, "memory"),
        ({"limit": 0}, "limit"),
        ({"limit": 1_001}, "limit"),
        ({"order": "random"}, "order"),
        ({"wait": 21}, "wait"),
        ({"wait": -1}, "wait"),
        ({"wait": 1, "order": "newest"}, "wait"),
        ({"cursor": "abc"}, "cursor"),
        ({"as_of": "tomorrow"}, "as_of"),
        ({"known": "99:1"}, "known"),
    ],
)
def test_what_cannot_be_asked_is_refused_by_its_name(store: Store, ada: str, asked: dict[str, Any], field: str) -> None:
    with pytest.raises(InputError) as refused:
        store.app.events.events(ada, **asked)
    assert refused.value.as_dict()["field"] == field


@each_row("other", [{"types": ["TurnRecorded"]}, {"order": "newest"}, {"since": day(1)}, {"late": True}])
def test_a_cursor_of_another_question_is_refused(store: Store, ada: str, other: dict[str, Any]) -> None:
    cursor = store.app.events.events(ada, limit=2)["next"]
    with pytest.raises(InputError) as refused:
        store.app.events.events(ada, cursor=cursor, **other)
    assert refused.value.as_dict()["field"] == "cursor"
    with pytest.raises(InputError):
        store.app.events.events(store.owner(), cursor=cursor)


def test_an_owner_of_nothing_has_no_events_and_may_be_followed(store: Store) -> None:
    owner = store.owner()
    answer = store.app.events.events(owner)
    assert (answer["events"], answer["next"], answer["looked"]) == ([], None, 0)
    store.tell(owner, created())
    assert len(told(store, owner, cursor=answer["follow"])) == 1


def test_a_page_that_finds_little_tells_how_far_it_looked_and_goes_on_there(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner = store.owner()
    store.tell(owner, created(), *(mentioned(day=number / 100) for number in range(40)), negated(day=9))
    monkeypatch.setattr(service, "MOST_LOOKED", 10)
    monkeypatch.setattr("engramlog_server.api.services.events.PIECE", 5)
    for order in ("oldest", "newest"):
        first = store.app.events.events(owner, types=["MemoryNegated"], order=order)
        pages = [first]
        while pages[-1]["next"] is not None:
            pages.append(store.app.events.events(owner, types=["MemoryNegated"], order=order, cursor=pages[-1]["next"]))
        assert [one["type"] for page in pages for one in page["events"]] == ["MemoryNegated"]
        assert all(page["looked"] <= 15 for page in pages)
        assert len(pages) >= 4
        assert first["looked_to"] is not None


def test_a_page_ends_with_its_bytes(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    owner = store.owner()
    store.tell(owner, *(turn(f"t{number}", "tea " * 400) for number in range(6)))
    monkeypatch.setattr(service, "MOST_BYTES", 4_000)
    assert len(store.app.events.events(owner)["events"]) == 3
    assert len(paged(store, owner, 100)) == 6


def test_a_rebuild_leaves_cursors_as_they_are(store: Store) -> None:
    owner = store.owner()
    store.tell(owner, created(), mentioned(day=1), mentioned(day=2), negated(day=3))
    first, newest = (store.app.events.events(owner, limit=2, order=order) for order in ("oldest", "newest"))
    tag = store.app.views.changelogs.keys(owner, FIRST_BUILD).tag
    rebuild_partition(store.app.views._wires._client, tag, holder="test")
    assert [one["type"] for one in told(store, owner, cursor=first["next"])] == ["MemoryMentioned", "MemoryNegated"]
    found = told(store, owner, cursor=newest["next"], order="newest")
    assert [one["type"] for one in found] == ["MemoryMentioned", "MemoryCreated"]


def test_a_cursor_beyond_the_head_tells_that_the_log_was_rolled_back(store: Store, ada: str) -> None:
    cursor = cursor_text(EventCursor(store.head(ada) + 1, False), question_of(ada, {}))
    with pytest.raises(InputError, match="rolled back"):
        store.app.events.events(ada, cursor=cursor)


# --- what comes


def test_a_wait_ends_with_the_next_event_of_the_owner_and_no_other_s(store: Store) -> None:
    ada = store.owner()
    partition = partition_of(ada, store.app.log.partitions)
    other = next(
        name for number in range(999) if partition_of(name := f"beside-{number}", store.app.log.partitions) == partition
    )
    follow = store.app.events.events(ada)["follow"]
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(store.app.events.events, ada, cursor=follow, wait=20)
        store.tell(other, created())
        store.tell(ada, mentioned("coffee", 8))
        answer = waiting.result(PATIENCE)
    assert [one["type"] for one in answer["events"]] == ["MemoryMentioned"]


def test_a_wait_without_an_event_ends_in_time_with_a_cursor_to_go_on_from(store: Store, ada: str) -> None:
    follow = store.app.events.events(ada)["follow"]
    answer = store.app.events.events(ada, cursor=follow, wait=0.05)
    assert (answer["events"], answer["next"]) == ([], None)
    assert store.app.events.events(ada, cursor=answer["follow"])["events"] == []


def test_a_wait_ends_where_nobody_waits_any_more(store: Store, ada: str) -> None:
    patience = Patience()
    follow = store.app.events.events(ada)["follow"]
    patience.begin(0.3)
    with with_patience(patience), pytest.raises(DeadlineExceeded):
        store.app.events.events(ada, cursor=follow, wait=20)


def test_what_is_followed_from_the_newest_page_comes_once(store: Store) -> None:
    ada = store.owner()
    store.tell(ada, created("I like coffee", "coffee"), mentioned("coffee", 8))
    newest = store.app.events.events(ada, order="newest", limit=2)
    store.tell(ada, mentioned("coffee", 9))
    assert [one["type"] for one in told(store, ada, cursor=newest["follow"])] == ["MemoryMentioned"]


# --- what cannot be folded


def test_what_waits_behind_a_quarantine_is_told_and_what_cannot_be_read_by_its_type_and_length(store: Store) -> None:
    owner = store.owner()
    store.tell(owner, created())
    stuck = store.poison(owner)
    store.writer.append_all([store.prepared(owner, mentioned(day=2))])
    for order in ("oldest", "newest"):
        answer = store.app.events.events(owner, order=order)
        found = answer["events"][:: 1 if order == "oldest" else -1]
        assert [one["type"] for one in found] == ["MemoryCreated", "MemoryCreated", "MemoryMentioned"]
        assert [one["folded"] for one in found] == [True, False, False]
        assert answer["quarantined"]["position"] == stuck
        poisoned = found[1]
        assert (poisoned["data"], poisoned["withheld"], poisoned["schema_version"]) == (None, "undecodable", 9)
        assert poisoned["problem"] == "of no type or version that this release knows"
        assert poisoned["bytes"] > 50
        assert poisoned["event_id"]
    assert [one["position"] for one in told(store, owner, types=["MemoryCreated"])][1] == stuck
    assert len(told(store, owner, actor="user")) == 2
    store.operator.dead_discard(owner, stuck, "written by a newer producer")
    after = told(store, owner)
    assert [one["type"] for one in after] == ["MemoryCreated", "MemoryCreated", "MemoryMentioned", "EventDiscarded"]
    assert [one["folded"] for one in after] == [True, False, True, True]


# --- words


def test_a_secret_s_words_are_withheld_and_its_ids_stay(store: Store) -> None:
    owner = store.owner()
    store.tell(owner, turn("t1", PIN), created(PIN, "pin", source_turns=("t1",)), created("I like tea", "tea"))
    found = told(store, owner)
    assert PIN not in str(found)
    assert "4821" not in str(found)
    assert [one["withheld"] for one in found] == ["secret", "secret", None]
    assert found[1]["data"]["content"] == "[withheld: secret]"
    assert (found[1]["data"]["memory_id"], found[1]["data"]["kind"]) == ("pin", "preference")


def test_what_is_deleted_or_purged_is_withheld_in_every_event_about_it_and_a_reason_as_history_tells_it(
    store: Store,
) -> None:
    owner = store.owner()
    store.tell(
        owner, created("I live in Paris", "m"), revised("I live in Lyon", "m", 1), created("I like tea", "tea", 2)
    )
    store.tell(owner, deleted("m", 3, reason="asked at the desk"))
    found = told(store, owner)
    assert [one["withheld"] for one in found] == ["deleted", "deleted", None, None]
    assert "Paris" not in str(found)
    assert "Lyon" not in str(found)
    assert found[3]["data"]["reason"] == store.reader.history(owner)["changes"][3]["said_reason"] == "asked at the desk"
    store.tell(owner, purged("m", 40))
    found = told(store, owner)
    assert [one["withheld"] for one in found] == ["purged", "purged", None, "purged", None]
    assert "desk" not in str(found)


def test_a_query_is_told_only_while_all_that_it_showed_may_be(store: Store) -> None:
    owner = store.owner()
    store.tell(owner, created("I live in Paris", "m"), created("I like tea", "tea"))
    asked = accessed("m", "tea", day=1)
    asked = dataclasses.replace(asked, data=msgspec.structs.replace(asked.data, query="where do I live"))
    store.tell(owner, asked, accessed("m", day=2))
    assert [one["withheld"] for one in told(store, owner)] == [None] * 4
    store.tell(owner, deleted("m", 3), purged("m", 40))
    found = told(store, owner, types=["MemoriesAccessed"])
    assert [one["withheld"] for one in found] == ["purged", None]
    assert "where do I live" not in str(found)
    assert [hit["memory_id"] for hit in found[1]["data"]["hits"]] == ["m"]


def test_what_a_merge_that_is_gone_was_made_of_is_withheld_too(store: Store) -> None:
    owner = store.owner()
    store.tell(
        owner, created("I live in Paris", "a"), created("I live in Paris now", "b"), merged("a", "b", into="all", day=1)
    )
    assert [one["withheld"] for one in told(store, owner)] == [None] * 3
    store.delete(owner, "all")
    assert [one["withheld"] for one in told(store, owner)][:3] == ["deleted"] * 3


def test_a_memory_that_a_person_keeps_for_a_secret_is_withheld_whatever_the_rules_found(store: Store) -> None:
    owner = store.owner()
    store.tell(
        owner, created("The blue door behind the mill", "m", sensitivity=3), negated("m", 1, reason="the blue door")
    )
    found = told(store, owner)
    assert [one["withheld"] for one in found] == ["secret", "secret"]
    assert "blue" not in str(found)


def test_tags_facts_and_metadata_are_words_too(store: Store) -> None:
    owner = store.owner()
    store.tell(
        owner, created("I like tea", "m", tags=("paris",), metadata={"street": "rue bleue"}, keywords=("seine",))
    )
    store.tell(owner, asserted("m", day=1))
    store.tell(owner, deleted("m", 2), purged("m", 40))
    found = str(told(store, owner))
    assert not [one for one in ("paris", "street", "rue bleue", "seine", "coffee", "Ada") if one in found]


def test_a_retracted_turn_and_what_a_tool_found_for_it_are_withheld(store: Store) -> None:
    owner = store.owner()
    store.tell(owner, turn("t1", "I moved to Paris"), created("I moved to Paris", "m", source_turns=("t1",)))
    store.tell(
        owner, Told(ToolResultRecorded(tool="map", text="Paris has bridges", turn_id="t1"), 1), turn("t2", "Hello", 2)
    )
    assert [one["withheld"] for one in told(store, owner)] == [None] * 4
    store.delete(owner, "m")
    found = told(store, owner)
    assert "Paris" not in str(found)
    assert [one["withheld"] for one in found][:4] == ["retracted", "deleted", "retracted", None]
    store.restore(owner, "m")
    assert [one["withheld"] for one in told(store, owner)][:4] == [None] * 4


def test_turns_of_a_source_that_is_set_aside_are_withheld(store: Store) -> None:
    owner = store.owner()
    store.tell(owner, turn("t1", "buy gold now", 1, "bad"), turn("t2", "I like tea", 2), set_aside("bad", 3))
    assert [one["withheld"] for one in told(store, owner)] == ["set_aside", None, None]


def test_what_a_tool_answered_in_a_turn_of_a_source_set_aside_is_withheld_whoever_brought_it(store: Store) -> None:
    owner = store.owner()
    store.tell(owner, turn("t1", "buy gold now", 1, "bad"), turn("t2", "I like tea", 2))
    answers = [Told(ToolResultRecorded(tool="bank", text=f"{one} is nine", turn_id=one), 3) for one in ("t1", "t2")]
    store.tell(owner, *answers, set_aside("bad", 4))
    assert [one["withheld"] for one in told(store, owner)] == ["set_aside", None, "set_aside", None, None]
    assert told(store, owner, types=["ToolResultRecorded"], order="newest")[1]["withheld"] == "set_aside"


def test_a_partition_tells_every_owner_s_events_by_the_same_rules(store: Store, ada: str) -> None:
    partition = partition_of(ada, store.app.log.partitions)
    found, cursor = list[dict[str, Any]](), None
    while True:
        page = store.app.events.partition_events(partition, cursor=cursor, limit=50)
        found += [dict(one) for one in page["events"]]
        cursor = page["next"]
        if cursor is None:
            break
    assert [parse_position(one["position"])[1] for one in found] == list(range(1, store.head(ada) + 1))
    mine = [one | {"folded": None} for one in told(store, ada)]
    assert [one for one in found if one["owner"] == ada] == mine
    assert PIN not in str(found)
    with pytest.raises(InputError):
        store.app.events.partition_events(store.app.log.partitions)
    backwards = store.app.events.partition_events(partition, order="newest", limit=5)["events"]
    assert [one["position"] for one in backwards] == [one["position"] for one in found[:-6:-1]]


def test_asking_leaves_no_trace(store: Store, ada: str) -> None:
    head = store.head(ada)
    told(store, ada)
    store.flushed()
    assert store.head(ada) == head
