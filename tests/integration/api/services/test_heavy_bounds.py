"""Heavy questions are bounded where the work is: stopped at their check, streamed from the log, undisturbed by what is written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from engramlog_server.api.work import LIGHT_STEPS, NeedsHeavyLane, Patience, with_patience
from engramlog_server.events.errors import DeadlineExceeded, StoreUnavailable
from engramlog_server.projections.redis.view import RedisViews
from tests.given.http import HttpStore, created, http_store, mentioned
from tests.rows import each_row

MENTIONS = 1_200


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpStore]:
    """Alice's coffee was mentioned so often that no piece holds all of it."""
    with http_store(tmp_path_factory.mktemp("heavy")) as opened:
        opened.told("alice", created("coffee"), created("tea", "I drink tea"))
        for start in range(0, MENTIONS, 600):
            opened.told("alice", *(mentioned("coffee", key=number) for number in range(start, start + 600)))
        yield opened


@pytest.fixture(autouse=True)
def no_past_is_kept(store: HttpStore) -> None:
    """A past that another test has asked about would be answered without any work."""
    store.application.reader._pasts._kept.clear()
    for key in store.store.client.scan_iter("*:past:*"):
        store.store.client.delete(key)


class Stopping(Patience):
    """Stops at the first check that tells of progress: something long may begin more than once."""

    def __init__(self) -> None:
        super().__init__()
        self.told = 0, 0

    def check(self, done: int, total: int) -> None:
        self.told = done, total
        if done:
            raise DeadlineExceeded("stopped by the test", done=done, total=total)


Question = Callable[[HttpStore], Any]
QUESTIONS: dict[str, Question] = {
    "replay": lambda store: store.application.replayer.replay("alice", parameters={"user_factor": 1.3}),
    "compare": lambda store: store.application.comparer.curves("alice", "coffee"),
    "as of": lambda store: store.application.reader.get("alice", "coffee", as_of="2026-01-06T00:00:00Z"),
}


@each_row("name", QUESTIONS)
def test_a_heavy_question_stops_at_its_check_and_knows_how_far_it_came(store: HttpStore, name: str) -> None:
    patience = Stopping()
    store.application.reader.get("alice", "coffee", trace=False)  # what others appended is loaded, which has checks too
    with with_patience(patience), pytest.raises(DeadlineExceeded):
        QUESTIONS[name](store)
    done, total = patience.told
    assert 0 < done < total


@each_row("name", QUESTIONS)
def test_a_heavy_question_holds_no_more_than_a_piece_of_the_log_at_a_time(
    store: HttpStore, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, most = RedisViews.stored, []

    def counted(views: RedisViews, owner: str, seqs: list[int], **more: Any) -> Any:
        most.append(len(seqs))
        return read(views, owner, seqs, **more)

    monkeypatch.setattr(RedisViews, "stored", counted)
    QUESTIONS[name](store)
    assert sum(most) >= MENTIONS
    assert max(most) <= 500


def test_an_answer_about_a_long_past_is_not_folded_among_light_questions(store: HttpStore) -> None:
    position = store.append(*(mentioned("coffee", key=f"more {number}") for number in range(1_000)))[-1]
    store.application.reader.list("alice", after=position)
    assert LIGHT_STEPS < MENTIONS + 1_000
    with with_patience(Patience(light=True)), pytest.raises(NeedsHeavyLane):
        store.application.reader.get("alice", "coffee", as_of="2026-01-07T00:00:00Z")
    answer = store.client.get("/v1/owners/alice/memories/coffee", params={"as_of": "2026-01-07T00:00:00Z"})
    assert answer.status_code == 200


def test_a_stopped_question_is_a_504_that_says_how_far_it_came(
    store: HttpStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(*_args: Any, **_asked: Any) -> None:
        raise DeadlineExceeded("stopped after 30 s: 256 of 1,200 steps were done", done=256, total=1_200, seconds=30.0)

    monkeypatch.setattr(store.application.replayer, "replay", stopped)
    answer = store.client.post("/v1/owners/alice/replay", json={})
    told = answer.json()
    assert (answer.status_code, told["error"], told["done"], told["total"]) == (504, "DeadlineExceeded", 256, 1_200)


@each_row("newest", [False, True])
def test_entries_go_on_from_any_place_whatever_was_written_meanwhile(
    store: HttpStore, newest: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engramlog_server.projections.redis.history.PACKS", 2)
    logs = store.application.views.changelogs
    whole = [entry for _, entry in logs.entries("alice", newest=newest)]
    assert whole == (views := store.application.views.history("alice")[1])[:: -1 if newest else 1]
    places = [place for place, _ in logs.entries("alice", newest=newest)]
    first_of_newest_pack = max(places)._replace(number=0)
    position = store.append(mentioned("tea", key=f"meanwhile {newest}"))[-1]
    store.application.reader.list("alice", after=position)
    for number in (0, 1, 300, len(places) - 1, places.index(first_of_newest_pack)):
        going_on = [entry for _, entry in logs.entries("alice", start=places[number], newest=newest)]
        assert going_on[: len(whole) - number] == whole[number:], number
        assert len(going_on) - len(whole[number:]) == (0 if newest else 1)
    assert len(views) == len(whole)


def test_a_log_that_vanishes_while_it_is_read_is_no_shorter_log(
    store: HttpStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engramlog_server.projections.redis.history.PACKS", 2)
    views = store.application.views
    reading = views.changelogs.entries("alice")
    next(reading)
    (key,) = store.store.client.keys("*:log:alice")
    store.store.client.rename(key, b"away")
    try:
        with pytest.raises(StoreUnavailable):
            list(reading)
    finally:
        store.store.client.rename(b"away", key)
