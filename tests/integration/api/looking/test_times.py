"""Both time lines of an owner: what `events` tells one by one, in ends and in parts; from times that are kept."""

from __future__ import annotations

import logging
from datetime import datetime
from typing import Any

import pytest

from engramlog_server.api.services.living import TimeLines
from engramlog_server.api.snapshots import Pasts
from engramlog_server.api.work import NeedsHeavyLane, Patience, with_patience
from engramlog_server.consumers.verify.partition import verify_partition
from engramlog_server.events.envelope import from_micros, micros, utc_text
from engramlog_server.events.errors import BeyondHead, InputError
from engramlog_server.events.partitions import partition_of
from engramlog_server.projections.redis.builds import FIRST_BUILD, BuildKeys
from engramlog_server.projections.redis.history import EVENTS, RedisPast
from tests.acceptance.helpers.store import Store, day
from tests.given.events import accessed, created, deleted, in_session, mentioned, negated, purged, set_aside
from tests.given.said import said

SECRET_WORDS = "the blue door behind the mill"


@pytest.fixture
def ada(store: Store) -> str:
    """Told in three parts, late and out of order; deleted, purged and set aside."""
    owner, fresh = store.owner(), store.yesterday + 0.9999
    store.tell(owner, created("I live in Paris", "m0", day=40), created(SECRET_WORDS, "m1", day=3))
    store.tell(owner, *(mentioned("m0", day=10 + number / 7) for number in range(30)))
    store.tell(owner, said("t1", "早上好", day=12, session="s1"), accessed("m0", day=13), negated("m0", day=14))
    store.tell(
        owner, in_session(created("我喜欢茶", "m2", day=15), "s2"), deleted("m1", day=fresh), purged("m1", day=fresh)
    )
    store.tell(owner, set_aside("s2", day=16))
    return owner


def times(store: Store, owner: str, **asked: Any) -> Any:
    return store.app.time_lines.times(owner, **asked)


def told(store: Store, owner: str, **asked: Any) -> list[Any]:
    """The same events, one by one."""
    answer = store.app.events.events(owner, limit=1_000, **asked)
    assert answer["next"] is None
    return list(answer["events"])


def places(store: Store, owner: str) -> list[dict[str, Any]]:
    partition, seqs = partition_of(owner, store.app.log.partitions), store.app.views.changelogs.seqs(owner)
    entries = store.app.log.read_at(partition, seqs)
    recorded = [utc_text(from_micros(one.recorded or 0)) for one in entries]
    return [
        {},
        {"as_of": day(12)},
        {"as_of": f"{partition}:{seqs[8]}"},
        {"known": f"{partition}:{seqs[20]}"},
        {"known": recorded[1]},
        {"known": recorded[-1], "as_of": day(11.5)},
        {"known": recorded[5], "as_of": f"{partition}:{seqs[2]}"},
    ]


def instant(text: str) -> int:
    return micros(datetime.fromisoformat(text))


def test_ends_and_figures_are_those_of_the_events_as_of_any_place(store: Store, ada: str) -> None:
    for place in places(store, ada):
        events, answer = told(store, ada, **place), times(store, ada, **place)
        assert events, place
        for line, name in (("happened", "occurred_at"), ("recorded", "recorded_at")):
            instants = sorted(one[name] for one in events)
            assert (answer[line]["first"], answer[line]["last"]) == (instants[0], instants[-1]), place
            assert answer["buckets"][line]["counts"] == counted(answer["buckets"][line], instants), place
        assert answer["events"] == len(events)
        assert answer["late"] == sum(one["late_by"] is not None for one in events)
        assert answer["hint"] is None


def counted(line: dict[str, Any], instants: list[str]) -> list[int]:
    """Each instant in the last part that begins by then."""
    since, many = instant(line["since"]), len(line["counts"])
    length, found = instant(line["until"]) - since + 1, [0] * many
    for one in map(instant, instants):
        found[max(part for part in range(many) if since + part * length // many <= one)] += 1
    return found


def test_spans_on_both_lines_keep_what_events_keeps(store: Store, ada: str) -> None:
    entries = told(store, ada)
    middle, later = entries[10]["recorded_at"], entries[33]["recorded_at"]
    for spans in (
        {"since": day(11), "until": day(13)},
        {"recorded_since": middle},
        {"recorded_since": middle, "recorded_until": later, "since": day(12)},
        {"until": "2024-01-12"},
        {"since": day(90), "until": day(91)},
    ):
        answer, kept = times(store, ada, buckets=9, **spans), told(store, ada, **spans)
        whole = times(store, ada)
        assert [answer[one] for one in ("happened", "recorded", "events", "late")] == [
            whole[one] for one in ("happened", "recorded", "events", "late")
        ]
        happened, recorded = (answer["buckets"][one] for one in ("happened", "recorded"))
        assert happened["events"] == recorded["events"] == len(kept) == sum(happened["counts"])
        if "until" in spans and "since" in spans:
            assert (happened["since"], happened["until"]) == (spans["since"], spans["until"])
        if kept:
            assert recorded["since"] == spans.get("recorded_since", kept[0]["recorded_at"])
        else:
            assert (recorded["since"], recorded["counts"]) == (None, [0] * 9)


@pytest.mark.parametrize(
    ("asked", "field"),
    [
        ({"buckets": 0}, "buckets"),
        ({"buckets": 501}, "buckets"),
        ({"since": "yesterday"}, "since"),
        ({"since": "2024-02-02", "until": "2024-02-01"}, "until"),
        ({"recorded_since": "2024-02-02", "recorded_until": "2024-02-01"}, "recorded_until"),
        ({"as_of": "99:1"}, "as_of"),
        ({"known": "2024-02-30"}, "known"),
    ],
)
def test_what_cannot_be_asked_is_refused_by_name(store: Store, ada: str, asked: dict[str, Any], field: str) -> None:
    with pytest.raises(InputError) as refusal:
        times(store, ada, **asked)
    assert refusal.value.context["field"] == field


def test_a_position_beyond_the_head_is_refused(store: Store, ada: str) -> None:
    with pytest.raises(BeyondHead):
        times(store, ada, after=f"{partition_of(ada, store.app.log.partitions)}:999999")


def test_what_lies_ahead_is_told(store: Store) -> None:
    owner, now = store.owner(), store.yesterday + 1
    store.tell(owner, created(day=now - 1), mentioned(day=now + 0.003))
    answer = times(store, owner)
    assert answer["happened"]["ahead"] == answer["happened"]["last"] is not None
    assert times(store, owner, as_of=utc_text(from_micros(store.app.log.now())))["happened"]["ahead"] is None


def test_an_owner_that_stands_still_is_told_up_to_there(store: Store) -> None:
    owner = store.owner()
    store.tell(owner, created("I like tea", day=1))
    stuck = store.poison(owner)
    store.writer.append_all([store.prepared(owner, mentioned(day=2))])
    answer = times(store, owner)
    assert (answer["events"], answer["quarantined"]["position"]) == (1, stuck)
    assert answer["behind"] > 0


# --- what is kept


def anew(store: Store, worth: int = 1) -> TimeLines:
    """As a process that was just started asks."""
    views = store.app.views
    views.moments = RedisPast(views._wires, views.changelogs)
    views.moments.worth = worth
    return store.app.time_lines


def reads(store: Store, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    found, stored = list[int](), Pasts.stored

    def counting(self: Pasts, owner: str, seqs: Any, on_progress: Any = None) -> Any:
        found.append(len(seqs))
        return stored(self, owner, seqs, on_progress)

    monkeypatch.setattr(Pasts, "stored", counting)
    return found


def test_no_event_is_read_twice(store: Store, ada: str, monkeypatch: pytest.MonkeyPatch) -> None:
    read = reads(store, monkeypatch)
    first = anew(store).times(ada)
    assert read == [first["events"]]
    assert anew(store).times(ada) == first
    assert read == [first["events"]]
    store.tell(ada, mentioned("m2", day=50), mentioned("m2", day=1))
    second = times(store, ada)
    assert (read, second["events"]) == ([first["events"], 2], first["events"] + 2)
    assert second["happened"]["first"] == day(1)
    assert times(store, ada) == anew(store).times(ada) == second
    assert read == [first["events"], 2]
    assert verified(store, ada) == []


def test_few_events_beyond_the_blocks_are_read_and_not_written(
    store: Store, ada: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = reads(store, monkeypatch)
    first = anew(store, worth=1_000).times(ada)
    assert times(store, ada) == first
    assert read == [first["events"]]
    assert anew(store, worth=1_000).times(ada) == first
    assert read == [first["events"]] * 2


def test_a_long_reading_is_not_done_among_the_light_questions(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    owner = store.owner()
    store.tell(owner, created())
    for _ in range(9):
        store.tell(owner, *(mentioned(day=1) for _ in range(1_000)))
    read = reads(store, monkeypatch)
    with with_patience(Patience(light=True)), pytest.raises(NeedsHeavyLane):
        anew(store).times(owner)
    assert read == []
    whole = times(store, owner)
    with with_patience(Patience(light=True)):
        assert times(store, owner) == anew(store).times(owner) == whole


def keys_of(store: Store, owner: str) -> BuildKeys:
    return BuildKeys(store.app.views.changelogs.keys(owner, FIRST_BUILD).tag, FIRST_BUILD)


def client(store: Store) -> Any:
    return store.app.views._wires._client


def verified(store: Store, owner: str) -> list[dict[str, Any]]:
    partition = partition_of(owner, store.app.log.partitions)
    return verify_partition(client(store), partition, keys_of(store, owner).tag).differences


@pytest.mark.parametrize("field", [EVENTS, f"{EVENTS}:0"])
def test_what_is_damaged_is_told_found_and_not_believed(
    store: Store, ada: str, field: str, caplog: pytest.LogCaptureFixture
) -> None:
    whole = anew(store).times(ada)
    key = keys_of(store, ada).index(ada)
    before = client(store).hget(key, field)
    client(store).hset(key, field, before[:-1] + bytes([before[-1] ^ 1]))
    try:
        with caplog.at_level(logging.WARNING):
            assert anew(store).times(ada) == whole
        assert ada in caplog.text
        assert any("cannot be read" in one["what"] for one in verified(store, ada))
    finally:
        client(store).hset(key, field, before)
    assert verified(store, ada) == []


def test_lines_of_another_history_are_found(store: Store, ada: str) -> None:
    anew(store).times(ada)
    other = store.owner()
    store.tell(other, created("I like tea", day=9))
    anew(store).times(other)
    key = keys_of(store, ada).index(ada)
    client(store).hset(key, mapping=client(store).hgetall(keys_of(store, other).index(other)))
    assert any("index of events" in one["what"] for one in verified(store, ada))
    client(store).delete(key)


def test_what_is_kept_of_one_history_is_not_told_of_another(store: Store) -> None:
    """A store that was put back to an earlier backup goes on otherwise under the same numbers."""
    owner = store.owner()
    store.tell(owner, created("I like tea", day=9))
    assert times(store, owner)["happened"]["last"] == day(9)
    (known,) = (one for one in store.app.views.moments._held if one.owner == owner)
    held = store.app.views.moments._held
    held[known._replace(chain=bytes(32))] = held.pop(known)
    store.tell(owner, mentioned(day=10))
    assert times(store, owner)["happened"]["last"] == day(10)
    assert [one.chain for one in held if one.owner == owner] != [bytes(32)]
