"""A history comes in pages: bounded, complete, and the same whatever is written meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from engramlog_server.api.choices import MOST_CHANGES
from engramlog_server.api.work import NeedsHeavyLane, Patience, with_patience
from engramlog_server.events.errors import DeadlineExceeded, InputError
from engramlog_server.projections.fold.changelog import Entry
from engramlog_server.projections.fold.links import tree
from engramlog_server.projections.redis.history import ChangeLogs
from engramlog_server.projections.redis.view import RedisViews
from tests.given.events import created as created_event
from tests.given.events import folded
from tests.given.http import HttpStore, created, http_store, mentioned
from tests.rows import each_row

MENTIONS = 700
HISTORY = "/v1/owners/alice/history"
COFFEE = "/v1/owners/alice/memories/coffee/history"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpStore]:
    """Alice's coffee has a long history, her tea a short one that lies within it."""
    with http_store(tmp_path_factory.mktemp("pages")) as opened:
        opened.told("alice", created("coffee"))
        opened.told("alice", *(mentioned("coffee", key=number) for number in range(MENTIONS // 2)))
        opened.told("alice", created("tea", "I drink tea"), mentioned("tea"))
        opened.told("alice", *(mentioned("coffee", key=-number) for number in range(1, MENTIONS // 2)))
        yield opened


def pages(store: HttpStore, path: str, **asked: Any) -> list[dict[str, Any]]:
    """All pages of a history, over HTTP."""
    found = [store.client.get(path, params=asked).json()]
    while found[-1]["next"] is not None:
        answer = store.client.get(path, params=asked | {"cursor": found[-1]["next"]})
        assert answer.status_code == 200, answer.text
        found.append(answer.json())
    return found


@each_row(("path", "of"), [(HISTORY, None), (COFFEE, "coffee")])
@each_row("order", ["oldest", "newest"])
@each_row("limit", [7, 100, 1_000])
def test_pages_together_are_the_whole_history(
    store: HttpStore, path: str, of: str | None, order: str, limit: int
) -> None:
    whole = store.application.reader.history("alice", of)["changes"]
    found = pages(store, path, limit=limit, order=order)
    assert [one for page in found for one in page["changes"]] == (whole if order == "oldest" else whole[::-1])
    assert all(len(page["changes"]) == limit for page in found[:-1])
    assert 0 < len(found[-1]["changes"]) <= limit


def test_a_page_is_bounded_where_nothing_is_asked_for(store: HttpStore) -> None:
    answer = store.client.get(HISTORY).json()
    assert len(answer["changes"]) == 100
    assert answer["next"] is not None


def test_the_past_has_pages_too(store: HttpStore) -> None:
    position = store.application.reader.history("alice", "tea")["changes"][0]["position"]
    whole = store.application.reader.history("alice", as_of=position)["changes"]
    for order in ("oldest", "newest"):
        found = pages(store, HISTORY, limit=100, as_of=position, order=order)
        assert [one for page in found for one in page["changes"]] == whole[:: 1 if order == "oldest" else -1]
    assert len(whole) == MENTIONS // 2 + 2


def test_what_is_written_between_two_pages_comes_after_them_and_moves_nothing(store: HttpStore) -> None:
    whole = store.application.reader.history("alice")["changes"]
    first = store.client.get(HISTORY, params={"limit": len(whole) - 1}).json()
    backwards = store.client.get(HISTORY, params={"limit": 10, "order": "newest"}).json()
    store.told("alice", mentioned("tea", key="between"))
    second = store.client.get(HISTORY, params={"limit": len(whole) - 1, "cursor": first["next"]}).json()
    assert [one["position"] for one in second["changes"]][:1] == [whole[-1]["position"]]
    assert len(second["changes"]) == 2
    further = store.client.get(HISTORY, params={"limit": 10, "order": "newest", "cursor": backwards["next"]}).json()
    assert further["changes"] == whole[-20:-10][::-1]


@each_row(
    "asked",
    [
        {"limit": 0},
        {"limit": MOST_CHANGES + 1},
        {"order": "sideways"},
        {"cursor": "nonsense"},
        {"cursor": "W10"},
        {"cursor": "WyJiMSIsMTMxLDEyLCJhYiJd"},
    ],
)
def test_what_cannot_be_asked_is_refused_by_its_name(store: HttpStore, asked: dict[str, Any]) -> None:
    answer = store.client.get(HISTORY, params=asked)
    assert (answer.status_code, answer.json()["field"]) == (422, next(iter(asked)))


def test_a_cursor_of_one_question_is_refused_for_another(store: HttpStore) -> None:
    cursor = store.client.get(HISTORY, params={"limit": 5}).json()["next"]
    for path, asked in ((COFFEE, {}), (HISTORY, {"order": "newest"}), (HISTORY, {"as_of": "2026-01-06T00:00:00Z"})):
        assert store.client.get(path, params={"cursor": cursor, **asked}).status_code == 422


def test_a_cursor_of_before_a_rebuild_says_that_one_must_begin_again(
    store: HttpStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    cursor = store.application.reader.history("alice", limit=5)["next"]
    monkeypatch.setattr(ChangeLogs, "live", lambda *_: "b9")
    with pytest.raises(InputError, match="the store was rebuilt since"):
        store.application.reader.history("alice", limit=5, cursor=cursor)


def test_a_page_reads_no_more_packs_than_it_takes(store: HttpStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engramlog_server.projections.redis.history.PACKS", 1)
    read: list[int] = []
    monkeypatch_unpack(monkeypatch, read)
    store.application.reader.history("alice", limit=10)
    few = len(read)
    read.clear()
    store.application.reader.history("alice", limit=MOST_CHANGES)
    assert few <= 3 < len(read)


def test_packs_without_the_memory_are_passed_over_unread(store: HttpStore, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    monkeypatch_unpack(monkeypatch, read)
    changes = store.application.reader.history("alice", "tea", limit=MOST_CHANGES)["changes"]
    assert {one["memory"] for one in changes} == {"tea"}
    assert len(read) <= 3


def monkeypatch_unpack(monkeypatch: pytest.MonkeyPatch, read: list[int]) -> None:
    """Note each pack whose entries are decoded."""
    import engramlog_server.projections.redis.history as module

    real = module.unpack

    def noted(raw: bytes) -> tuple[list[int], list[Entry]]:
        read.append(len(raw))
        return real(raw)

    monkeypatch.setattr(module, "unpack", noted)


def test_a_page_asks_the_log_for_the_events_of_its_own_changes_alone(
    store: HttpStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    real = RedisViews.stored

    def counted(views: RedisViews, owner: str, seqs: list[int], **more: Any) -> Any:
        asked.append(len(seqs))
        return real(views, owner, seqs, **more)

    monkeypatch.setattr(RedisViews, "stored", counted)
    answer = store.application.reader.history("alice", limit=10)
    assert sum(asked) == 10
    assert {one["actor"] for one in answer["changes"]} == {"user"}


def test_a_whole_history_is_no_light_question_where_it_is_long(
    store: HttpStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engramlog_server.api.work.LIGHT_STEPS", 100)
    reader = store.application.reader
    with with_patience(Patience(light=True)):
        reader.history("alice", limit=10)
        with pytest.raises(NeedsHeavyLane):
            reader.history("alice")


WHY = "/v1/owners/alice/memories/coffee/why"


def test_no_answer_to_why_tells_more_than_a_page_holds(store: HttpStore, monkeypatch: pytest.MonkeyPatch) -> None:
    assert store.client.get(WHY, params={"limit": MOST_CHANGES + 1}).status_code == 422
    monkeypatch.setattr("engramlog_server.api.services.reading.MOST_CHANGES", 50)
    for path in (WHY, WHY.replace("why", "provenance")):
        (root,) = store.client.get(path).json()["provenance"]["nodes"]
        assert (len(root["events"]), root["events_left_out"]) == (50, MENTIONS - 50)
    (root,) = store.application.reader.why("alice", "coffee")["provenance"]["nodes"]
    assert (len(root["events"]), "events_left_out" in root) == (MENTIONS, False)


def test_why_ends_where_its_time_does(store: HttpStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engramlog_server.projections.redis.history.PACKS", 1)

    class Ended(Patience):
        def check(self, done: int, total: int) -> None:
            if done > 1:
                raise DeadlineExceeded("stopped by the test", done=done, total=total)

    with with_patience(Ended()), pytest.raises(DeadlineExceeded):
        store.application.reader.why("alice", "coffee")


def test_origins_of_a_memory_are_bounded_and_say_so() -> None:
    chain = folded(
        created_event("one", "m0"), *(created_event("one", f"m{n}", corrects=f"m{n - 1}") for n in range(1, 9))
    ).memories
    whole, some = tree("m8", chain.get), tree("m8", chain.get, 5)
    assert ([node["id"] for node in whole["nodes"]], "nodes_left_out" in whole) == (
        [f"m{n}" for n in range(8, -1, -1)],
        False,
    )
    assert (some["nodes"], some["nodes_left_out"]) == (whole["nodes"][:5], 1)
