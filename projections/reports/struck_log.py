"""What a replay tells of the events that it passes: which are struck and why, what falls into nothing, what stays. Pure.

It is asked of every event while the rest is folded, and keeps counts, first positions and one page. What follows from the first
event that is named seldom stands before it: so that part of the log is read, decoded and folded once (`Beginning`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from engramlog_server.events.catalogue import (
    FactAsserted,
    FactRetracted,
    MemoriesAccessed,
    MemoriesLinked,
    MemoriesRevealed,
    MemoryCompressed,
    MemoryCreated,
    MemoryDeleted,
    MemoryKept,
    MemoryMerged,
    MemoryPromoted,
    MemoryPurged,
    MemoryUnmerged,
    ReviewGraded,
    TurnRecorded,
    ValueReadmitted,
    ValueRejected,
)
from engramlog_server.events.entry import JOB
from engramlog_server.events.envelope import AnyEvent, Stored
from engramlog_server.events.partitions import position_text
from engramlog_server.events.standing import shown_in
from engramlog_server.projections.fold.changelog import id_text
from engramlog_server.projections.fold.working_set import names
from engramlog_server.projections.past.folding import RecordsFold
from engramlog_server.projections.reports.strikes import Because, Closure, LogGraph, Stays, turn_said
from engramlog_server.projections.reports.undoing import Undoing
from engramlog_server.projections.shapes import EventsCounted, StaysTold, StruckEvent

FIRST = 3
"""Positions told of what is only counted."""
_BY_JOBS = (
    MemoryCompressed,
    MemoryPromoted,
    MemoryKept,
    MemoryDeleted,
    MemoryPurged,
    MemoryMerged,
    MemoriesLinked,
    ReviewGraded,
)
"""What a job, or a reviewer, decides by how memories stand: no event tells by which others."""


class StruckLog:
    """What is told of the events of one owner, each shown to `keeps` in the order of the log."""

    def __init__(
        self, closure: Closure, partition: int, offset: int, most: int, undoing: Undoing | None = None
    ) -> None:
        """`offset`, `most`: which of the struck events are told. `undoing`: takes each of them in too."""
        self._closure, self._partition, self._undoing = closure, partition, undoing
        self._page = range(offset, offset + most)
        self.struck: list[StruckEvent] = []
        """The page."""
        self.because: Counter[str] = Counter()
        """Of all that are struck."""
        self._nothing = _Counted()
        self._in_light = _Counted()
        self._touched: set[str] = set()
        """Memories that something struck was about."""

    def keeps(self, one: Stored, event: AnyEvent) -> bool:
        """Whether the event is folded."""
        because = self._closure.struck.get(one.seq)
        if because is not None:
            self._strike(one, event, because)
            return False
        if self._closure.struck:
            self._look(one, event)
        return True

    def _strike(self, one: Stored, event: AnyEvent, because: Because) -> None:
        named = names(event.data)
        self._touched.update(named)
        if sum(self.because.values()) in self._page:
            self.struck.append(
                {
                    "position": position_text(self._partition, one.seq),
                    "event_id": id_text(one.raw_id),
                    "event": event.type,
                    "memory": named[0] if named else None,
                    "because": because.kind,
                    "of": position_text(self._partition, because.seq) if because.seq else because.of,
                }
            )
        self.because[because.kind] += 1
        if self._undoing is not None:
            self._undoing.take(one, event)

    def _look(self, one: Stored, event: AnyEvent) -> None:
        """An event that is folded: does it fall into nothing, or was it decided in the light of what is struck?"""
        data, gone = event.data, self._closure.gone
        named = about(data)
        if named and gone and (any if isinstance(data, MemoriesLinked) else all)(name in gone for name in named):
            self._nothing.count(event.type, one.seq)
        elif isinstance(data, MemoriesAccessed):
            if gone and not gone.isdisjoint(shown_in(data)):
                self._in_light.count("access", one.seq)
        elif isinstance(data, TurnRecorded):
            if data.reply_to is not None and data.reply_to in self._closure.turns:
                self._in_light.count("reply", one.seq)
        elif self._decided(one, event) and not self._touched.isdisjoint(names(data)):
            self._in_light.count(event.type, one.seq)

    def _decided(self, one: Stored, event: AnyEvent) -> bool:
        """Whether a job or a reviewer decided it, by how memories stood, and no person."""
        if not isinstance(event.data, _BY_JOBS) or event.causation_id is not None:
            return False
        return event.actor in ("system", "judge") or (one.principal or "").startswith(JOB)

    @property
    def without_effect(self) -> list[EventsCounted]:
        """Events that are folded and about nothing any more, by type."""
        return self._nothing.told(self._partition)

    @property
    def in_its_light(self) -> list[EventsCounted]:
        """What others decided who saw what is struck, and what stays: replies, accesses, decisions of jobs and reviewers."""
        return self._in_light.told(self._partition)


class _Counted:
    """Events by kind: how many, and where the first are."""

    def __init__(self) -> None:
        self._many: Counter[str] = Counter()
        self._first: dict[str, list[int]] = {}

    def count(self, kind: str, seq: int) -> None:
        self._many[kind] += 1
        if self._many[kind] <= FIRST:
            self._first.setdefault(kind, []).append(seq)

    def told(self, partition: int) -> list[EventsCounted]:
        return [
            {"kind": kind, "events": many, "first": [position_text(partition, seq) for seq in self._first[kind]]}
            for kind, many in self._many.items()
        ]


def stays_told(stays: Sequence[Stays], partition: int) -> list[StaysTold]:
    """What stays, as answers tell it."""
    return [
        {
            "memory": one.memory_id,
            "position": position_text(partition, one.seq),
            "because": one.because,
            "of": position_text(partition, one.said) if one.said else one.of,
        }
        for one in stays
    ]


def about(data: Any) -> tuple[str, ...]:
    """The memories without which an event does nothing; none of one that makes a memory, or says something of the owner."""
    if isinstance(data, MemoryCreated | MemoryMerged) or turn_said(data) is not None:
        return ()
    found = _ABOUT.get(type(data))
    if found is not None:
        told = getattr(data, found)
        return (told,) if isinstance(told, str) else tuple(told)
    if isinstance(data, MemoriesAccessed):
        return shown_in(data)
    if isinstance(data, MemoriesLinked):
        return (data.a, data.b)
    if isinstance(data, ValueRejected | ValueReadmitted):
        return ()
    memory_id = getattr(data, "memory_id", None)
    return (memory_id,) if memory_id else ()


_ABOUT: Mapping[type, str] = {
    MemoryUnmerged: "into",
    FactAsserted: "evidence",
    FactRetracted: "evidence",
    MemoriesRevealed: "memory_ids",
}


MOST_TO_TELL = 1_000


class Beginning:
    """Folds until the first event is named, and keeps the few of these of which more may have to be told."""

    def __init__(self, make: Callable[[], RecordsFold]) -> None:
        """`make`: a fold of nothing."""
        self._make = make
        self.fold = make()
        self.events = 0
        """How many of the first are folded."""
        self.to_tell: list[tuple[Stored, AnyEvent]] = []
        """Those that `StruckLog.keeps` has to be shown, in their order; of the others it tells nothing."""

    def take(self, one: Stored, event: AnyEvent, graph: LogGraph) -> None:
        """The next event, which the graph took."""
        if graph.named or len(self.to_tell) > MOST_TO_TELL:
            return
        self.fold.take(one, event)
        self.events += 1
        if _may_be_told(event.data, graph):
            self.to_tell.append((one, event))

    def before(self, closure: Closure, seqs: Sequence[int]) -> Beginning:
        """This, where the fold of what is left may go on from it; else one of nothing. `seqs`: of all that was looked at."""
        fits = len(self.to_tell) <= MOST_TO_TELL and closure.struck.keys().isdisjoint(seqs[: self.events])
        return self if fits else Beginning(self._make)


def _may_be_told(data: Any, graph: LogGraph) -> bool:
    """Whether it names a memory that nothing made until then, or answers a turn that nothing said.

    What was made or said by then was so by what is not struck: it is not gone.
    """
    named = shown_in(data) if isinstance(data, MemoriesAccessed) else about(data)
    if any(name not in graph.made for name in named):
        return True
    return isinstance(data, TurnRecorded) and data.reply_to is not None and data.reply_to not in graph.said
