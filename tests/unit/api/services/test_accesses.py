"""Recording what was shown: each access by itself, bounded, and what is lost is counted and told."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from engramlog_server.api.checks import label_objection
from engramlog_server.api.services.accesses import MOST_HELD, NOT_APPENDED, TOO_MANY, AccessRecorder, Read
from engramlog_server.events.catalogue import MemoriesAccessed
from engramlog_server.events.envelope import Event, decode, derived_id, micros
from engramlog_server.events.errors import InvalidEvent, StoreUnavailable
from engramlog_server.events.log import AppendReceipt
from engramlog_server.events.memory_log import InMemoryEventLog
from engramlog_server.events.standing import MOST_ACCESSES, MOST_BYTES, MOST_MEMORIES, Speaker
from engramlog_server.events.validation import read_event
from engramlog_server.events.vocabulary import MOST_SHOWN
from engramlog_server.projections.choices import MAX_RESULTS
from tests.given.samples import NOW
from tests.rows import each_row

LONG = "長" * 128
"""As long as an id may be, and three bytes a character."""


class Told:
    """What a recorder tells."""

    def __init__(self) -> None:
        self.lines: list[dict[str, Any]] = []
        self.lost: list[tuple[int, str]] = []

    def line(self, fact: str, **facts: Any) -> None:
        self.lines.append({"fact": fact} | facts)

    def count(self, accesses: int, reason: str) -> None:
        self.lost.append((accesses, reason))


class Refusing(InMemoryEventLog):
    """A log that takes nothing while it refuses."""

    refuses = False
    fails = False

    def append(self, events: Any, *, expected_heads: Any = None, principal: str | None = None) -> Any:
        """Refuse, say of each event that its partition could not be written, or append."""
        if self.refuses:
            raise StoreUnavailable("Redis does not answer")
        if self.fails:
            return [AppendReceipt(one.event_id, "failed", error="partition 0 takes nothing") for one in events]
        return super().append(events, expected_heads=expected_heads, principal=principal)


class Bench:
    """A recorder on a log in memory."""

    def __init__(self, **options: Any) -> None:
        self.told = Told()
        self.log = Refusing(lambda: NOW, partitions=1)
        self.recorder = AccessRecorder(self.log, self.told.line, self.told.count, **options)

    def shown(self, *ids: str, owner: str = "ann", via: Any = "recall", query: str | None = "tea", **more: Any) -> None:
        self.recorder.record(owner, ids, via=via, query=query, **more)

    def events(self) -> list[Event[Any]]:
        """Every event that was appended, checked for the bounds that all of them keep."""
        stored = self.log.read(0, 0, 100_000)
        for one in stored:
            assert len(one.body) <= MOST_BYTES
        return [decode(one.kind, one.body) for one in stored]

    def data(self) -> list[MemoriesAccessed]:
        return [event.data for event in self.events()]


@pytest.fixture
def bench() -> Bench:
    return Bench()


def test_one_flush_makes_one_event_an_owner_principal_and_way_of_showing(bench: Bench) -> None:
    for owner in ("ann", "bob"):
        for via in ("recall", "association", "inspection"):
            for principal in (None, "desk"):
                for _ in range(3):
                    bench.shown("a", "b", owner=owner, via=via, principal=principal)
    bench.recorder.flush()
    assert len(bench.events()) == 2 * 3 * 2
    assert {len(one.accesses) for one in bench.data()} == {3}
    principals = [one.principal for one in bench.log.read(0, 0, 100)]
    assert sorted(filter(None, principals)) == ["desk"] * 6 + ["local"] * 6
    bench.recorder.flush()
    assert len(bench.events()) == 12  # the control: nothing waits any more


def test_an_access_tells_when_where_and_how_it_was_answered_and_what_stood_at_which_rank(bench: Bench) -> None:
    bench.shown("b", "a", first=6, query="what does Ann drink", read=Read("0:12", "review", NOW - 1))
    bench.recorder.flush()
    (access,) = bench.data()[0].accesses
    assert (micros(access.at), access.position, access.mode) == (NOW, "0:12", "review")
    assert (access.shown, access.first, access.query) == (("b", "a"), 6, "what does Ann drink")
    assert access.read_at is not None
    assert micros(access.read_at) == NOW - 1


@pytest.mark.parametrize(
    ("query", "kept"),
    [
        ("what does Ann drink", True),
        ("安喝什么", True),
        ("my password is hunter2-Xq9!", False),
        ("call me on +44 20 7946 0958", False),
        ("我的电话是 13812345678", False),
        ("I live at 221B Baker Street, London", False),
    ],
)
def test_a_query_is_kept_at_level_0_or_1_alone_and_the_access_without_it_in_any_case(
    bench: Bench, query: str, kept: bool
) -> None:
    bench.shown("a", query=query)
    bench.recorder.flush()
    assert [one.query for one in bench.data()[0].accesses] == [query if kept else None]
    assert (query.encode() in bench.log.read(0, 0)[0].body) == kept


def test_of_a_long_query_the_beginning_is_kept(bench: Bench) -> None:
    bench.shown("a", query="tea " * 2_500)
    bench.recorder.flush()
    assert len(bench.data()[0].accesses[0].query or "") == 2_000


def everything(bench: Bench) -> list[tuple[str, ...]]:
    return [one.shown for data in bench.data() for one in data.accesses]


@pytest.mark.parametrize(
    ("ids", "times", "least"),
    [
        (lambda n: ("a", "b"), MOST_ACCESSES + 1, 2),
        (lambda n: tuple(f"m{n}-{i}" for i in range(100)), 12, 3),
        (lambda n: tuple(f"{LONG[:-3]}{i:03}" for i in range(100)), 40, 6),
    ],
    ids=["accesses", "memories", "bytes"],
)
def test_what_one_event_may_not_hold_stands_in_further_ones_and_none_is_lost(
    bench: Bench, ids: Callable[[int], tuple[str, ...]], times: int, least: int
) -> None:
    for n in range(times):
        bench.shown(*ids(n))
    bench.recorder.flush()
    assert everything(bench) == [ids(n) for n in range(times)]
    assert len(bench.events()) >= least
    for one in bench.data():
        assert len(one.accesses) <= MOST_ACCESSES
        assert len({i for access in one.accesses for i in access.shown}) <= MOST_MEMORIES
    assert bench.told.lines == []


def test_what_is_full_is_appended_at_once_and_what_others_were_shown_stays_one_event(bench: Bench) -> None:
    bench.shown("a", owner="bob")
    for _ in range(MOST_ACCESSES + 1):
        bench.shown("a")
    assert [(event.owner, len(event.data.accesses)) for event in bench.events()] == [("ann", MOST_ACCESSES)]
    assert bench.recorder.figures()["waiting"] == 2
    bench.recorder.flush()
    assert sorted((event.owner, len(event.data.accesses)) for event in bench.events()) == [
        ("ann", 1),
        ("ann", MOST_ACCESSES),
        ("bob", 1),
    ]


def test_an_append_that_fails_is_counted_and_told_in_one_line_not_one_an_access_or_owner(bench: Bench) -> None:
    bench.log.refuses = True
    for n in range(40):
        bench.shown("a", "b", owner=f"o{n}")
        bench.shown("a", owner=f"o{n}")
    assert bench.recorder.flush() == []
    assert bench.told.lines == [{"fact": "accesses lost", "accesses": 80, "reason": "Redis does not answer"}]
    assert bench.told.lost == [(80, NOT_APPENDED)]
    bench.shown("a")
    bench.recorder.flush()
    assert len(bench.told.lines) == 1  # within the same minute
    bench.log.refuses = False
    bench.shown("a")
    bench.recorder.stop()
    assert bench.told.lost == [(80, NOT_APPENDED), (1, NOT_APPENDED)]
    assert bench.recorder.figures() == {"recorded": 1, "blocks": 0, "waiting": 0, "dropped": 81}


def test_an_append_that_is_answered_with_a_failure_is_lost_as_one_that_is_refused(bench: Bench) -> None:
    bench.log.fails = True
    bench.shown("a")
    assert bench.recorder.flush() == []
    assert injected(bench, ["a"]) is None
    assert bench.recorder.figures() == {"recorded": 0, "blocks": 0, "waiting": 0, "dropped": 2}
    assert bench.told.lines[0]["reason"] == "partition 0 takes nothing"
    bench.log.fails = False
    assert injected(bench, ["a"]).written  # the control
    assert bench.recorder.figures()["recorded"] == 1


def test_more_than_may_wait_is_dropped_and_counted_and_the_rest_is_appended() -> None:
    bench = Bench(most_held=20_000)
    for n in range(200):
        bench.shown("a", "b", owner=f"o{n}")
    waiting = bench.recorder.figures()["waiting"]
    assert 10 < waiting < 100
    bench.recorder.flush()
    assert bench.recorder.figures() == {"recorded": waiting, "blocks": 0, "waiting": 0, "dropped": 200 - waiting}
    assert len(bench.events()) == waiting
    assert bench.told.lost == [(200 - waiting, TOO_MANY)]
    for n in range(waiting):  # what was given back can be taken again, all of it
        bench.shown("a", "b", owner=f"o{n}")
    assert bench.recorder.figures()["waiting"] == waiting


def test_every_access_is_appended_waits_or_is_counted_as_lost_whatever_fails() -> None:
    bench = Bench(most_held=60_000)
    for n in range(900):
        bench.log.refuses = n % 7 == 3
        bench.shown(*(f"m{n * 31 % 97}-{i}" for i in range(n % 9 + 1)), owner=f"o{n % 5}", query=LONG * (n % 4))
        if n % 50 == 49:
            bench.recorder.flush()
    figures = bench.recorder.figures()
    assert sum(figures.values()) == 900
    assert min(figures["recorded"], figures["dropped"]) > 0
    assert figures["recorded"] == len(everything(bench))


def test_a_recorder_that_runs_appends_by_itself_and_the_rest_when_it_stops(bench: Bench) -> None:
    bench.recorder.start()
    for _ in range(3 * MOST_ACCESSES):
        bench.shown("a")
    bench.recorder.stop()
    assert len(everything(bench)) == 3 * MOST_ACCESSES
    assert bench.recorder.figures() == {"recorded": 3 * MOST_ACCESSES, "blocks": 0, "waiting": 0, "dropped": 0}


def test_an_answer_that_showed_nothing_is_no_access(bench: Bench) -> None:
    bench.shown()
    assert bench.recorder.flush() == []


def test_a_search_shows_no_more_than_an_access_may_name() -> None:
    assert MAX_RESULTS <= MOST_SHOWN


# --- injections -----------------------------------------------------------------------------------------------------


def injected(bench: Bench, ids: Sequence[str], **more: Any) -> Any:
    return bench.recorder.inject("ann", ids, key=("turn", "t1"), turn_id="t1", **more)


def test_an_injection_is_one_event_at_once_with_its_turn_and_what_one_search_found(bench: Bench) -> None:
    receipt = injected(bench, ["a", "b", "c"], together=["c", "b", "a", "d"], session_id="s", read=Read("0:7"))
    (event,) = bench.events()
    assert receipt.status == "appended"
    assert (event.session_id, event.data.turn_id, event.data.via) == ("s", "t1", "injection")
    assert event.data.together == (("c", "b", "a"),)
    assert [(one.shown, one.position) for one in event.data.accesses] == [(("a", "b", "c"), "0:7")]
    assert bench.recorder.flush() == [receipt]


def test_an_injection_told_again_is_recorded_once(bench: Bench) -> None:
    first, again = injected(bench, ["a", "b"]), injected(bench, ["a", "b"])
    assert (again.position, len(bench.events())) == (first.position, 1)


def test_a_block_of_more_memories_than_an_event_may_name_is_recorded_whole(bench: Bench) -> None:
    ids = [f"m{n}" for n in range(2 * MOST_MEMORIES + 1)]
    assert injected(bench, ids).status == "appended"
    assert [i for one in everything(bench) for i in one] == ids
    assert len(bench.events()) == 3
    assert injected(bench, ids).position == "0:1"
    assert len(bench.events()) == 3


def test_an_injection_that_fails_is_counted_and_told(bench: Bench) -> None:
    bench.log.refuses = True
    assert injected(bench, ["a"]) is None
    assert bench.told.lost == [(1, NOT_APPENDED)]
    assert bench.recorder.figures()["dropped"] == 1


def test_what_may_wait_is_some_megabytes() -> None:
    assert MOST_HELD == 16 * 1024 * 1024


# --- what a producer tells -------------------------------------------------------------------------------------------


@each_row(
    ("query", "taken"),
    [
        ("what does Ann drink", True),
        ("安喝什么", True),
        ("call me on +44 20 7946 0958", False),
        ("我的电话是 13812345678", False),
        ("my password is hunter2-Xq9!", False),
    ],
)
def test_the_door_takes_a_query_of_an_access_at_level_0_or_1_alone_and_repeats_no_other(
    query: str, taken: bool
) -> None:
    accesses = [
        {"at": "2026-11-22T09:30:00Z", "shown": ["m"]},
        {"at": "2026-11-22T09:30:00Z", "shown": ["m"], "query": query},
    ]
    event = {
        "event_id": derived_id("producer"), "type": "MemoriesAccessed", "schema_version": 2, "owner": "ann",
        "occurred_at": "2026-11-22T09:30:00Z", "actor": "assistant", "data": {"via": "recall", "accesses": accesses},
    }  # fmt: skip
    if taken:
        assert (
            read_event(json.dumps(event), now=NOW, by=Speaker("http", raw=True), look=label_objection).kind
            == "MemoriesAccessed.2"
        )
        return
    with pytest.raises(InvalidEvent) as refused:
        read_event(json.dumps(event), now=NOW, by=Speaker("http", raw=True), look=label_objection)
    assert refused.value.field == "data.accesses[1].query"
    assert query not in str(refused.value.as_dict())
