"""What is folded while the log is looked through: the rest folded on from there is what the whole log would be."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engramlog_server.events.envelope import Stored, decode
from engramlog_server.projections.fold.owner import OwnerHistory
from engramlog_server.projections.past.folding import RecordsFold, fold_records
from engramlog_server.projections.reports import retraction
from engramlog_server.projections.reports.retraction import Beginning, StruckLog
from engramlog_server.projections.reports.strikes import Closure, LogGraph, Strikes
from tests.examples import examples
from tests.given.events import created, mentioned, secret_of, stored
from tests.given.said import said
from tests.unit.projections.reports.test_striking import logs, turns

SECRET = secret_of("ada")
named = st.builds(
    Strikes,
    seqs=st.frozensets(st.integers(3, 14), max_size=2),
    turns=st.frozensets(turns, max_size=1),
    sessions=st.frozensets(st.sampled_from(["s1", "s2"]), max_size=1),
)
"""Often late in the log."""


def told_of(log: StruckLog) -> tuple[Any, ...]:
    return log.struck, Counter(log.because), log.without_effect, log.in_its_light


def long_way(entries: list[Stored], closure: Closure) -> tuple[OwnerHistory, StruckLog]:
    log = StruckLog(closure, 0, 0, 100)
    return fold_records(entries, keep=log.keeps, secret=SECRET), log


def short_way(entries: list[Stored], strikes: Strikes, *, alone: bool) -> tuple[OwnerHistory, StruckLog, Closure, int]:
    begun, graph = Beginning(lambda: RecordsFold(secret=SECRET)), LogGraph(strikes)
    for one in entries:
        event = decode(one.kind, one.body)
        graph.take(one, event)
        begun.take(one, event, graph)
    closure = graph.close(alone=alone)
    begun = begun.before(closure, [one.seq for one in entries])
    log, done = StruckLog(closure, 0, 0, 100), begun.events
    for one, event in begun.to_tell:
        log.keeps(one, event)
    for one in entries[done:]:
        event = decode(one.kind, one.body)
        if log.keeps(one, event):
            begun.fold.take(one, event)
    return begun.fold.history, log, closure, done


@settings(deadline=None, max_examples=examples(200), suppress_health_check=[HealthCheck.too_slow])
@given(logs(), named, st.booleans())
def test_it_comes_to_the_same_as_reading_and_folding_all_once_more(
    entries: list[Stored], strikes: Strikes, alone: bool
) -> None:
    history, log, closure, _ = short_way(entries, strikes, alone=alone)
    whole, expected = long_way(entries, closure)
    assert (history, list(history.memories)) == (whole, list(whole.memories))
    assert told_of(log) == told_of(expected)


def test_what_is_about_nothing_yet_is_told_though_it_stands_before() -> None:
    entries = stored([mentioned("b", 1), created("ale", "b", 2)])
    _, log, _, done = short_way(entries, Strikes(seqs=frozenset({2})), alone=False)
    assert done == 1
    assert log.without_effect == [{"kind": "MemoryMentioned", "events": 1, "first": ["0:1"]}]


def test_where_something_before_is_struck_too_all_is_folded_anew() -> None:
    entries = stored([said("t1", "tea"), created("ale", "b", 1), said("t1", "tea", day=2)])
    _, log, closure, done = short_way(entries, Strikes(seqs=frozenset({3})), alone=False)
    assert (set(closure.struck), done) == ({1, 3}, 0)
    assert log.because == {"same_turn": 1, "named": 1}


def test_where_too_many_are_to_be_told_none_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retraction, "MOST_TO_TELL", 1)
    entries = stored([mentioned("b", 1), mentioned("b", 2), mentioned("b", 3), created("ale", "b", 4)])
    _, log, _, done = short_way(entries, Strikes(seqs=frozenset({4})), alone=False)
    assert done == 0
    assert log.without_effect == [{"kind": "MemoryMentioned", "events": 3, "first": ["0:1", "0:2", "0:3"]}]
