"""Figures of an owner's history: how often what happened, and the two time lines. Pure.

What happened is counted from change-log entries as they pass by: no entry is kept. The figures are those that the weighted source
asks to be monitored (seed 002). An event counts once for a figure, however many memories it changed; one that was ignored, or that
still waits for a person, counts for none. A time line has its first and last moment, and the number of events in each of so many
equal parts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np

from engramlog_server.events.envelope import TOLERATED
from engramlog_server.projections.fold.changelog import Entry, numbers_of
from engramlog_server.projections.past.moments import Bytes, Integers, OwnerEvents, number_of

ACTIVATIONS, FREQUENT, NEGATIONS, MERGES = "activations", "frequent_mentions", "negations", "merges"
UNMERGES, COMPRESSIONS, TAKEN_BACK, CONFLICTS = "merges_undone", "compressions", "taken_back", "possible_conflicts"
SUCCESSES, FAILURES = "task_successes", "task_failures"
COUNTED: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("MemoryMentioned", "reinforce"): (ACTIVATIONS,),
    ("MemoryMentioned", "merge"): (ACTIVATIONS, FREQUENT),
    ("MemoryMentioned", "reaffirm"): (ACTIVATIONS, TAKEN_BACK),
    ("MemoryMentioned", "wait"): (ACTIVATIONS,),  # it is active; what waits is whether it holds again
    ("MemoryNegated", "negate"): (NEGATIONS,),
    ("MemoryMerged", "merge"): (MERGES,),
    ("MemoryUnmerged", "unmerge"): (UNMERGES,),
    ("MemoryCompressed", "compress"): (COMPRESSIONS,),
}
"""Event and decision -> the figures that it counts for."""
FIGURES = (ACTIVATIONS, FREQUENT, NEGATIONS, MERGES, UNMERGES, COMPRESSIONS, TAKEN_BACK, CONFLICTS, SUCCESSES, FAILURES)
POSSIBLE = "possible conflict"
"""The reason of a link that flags two memories."""
_OF = {numbers_of(event, decision): figures for (event, decision), figures in COUNTED.items()}
_LINK = numbers_of("MemoriesLinked", "link")
_REPORT = numbers_of("MemoryReinforced", "reinforce")
_OUTCOMES = {"outcome task_success": (SUCCESSES,), "outcome task_failure": (FAILURES,)}
"""Reason of a report -> the figures that it counts for."""
_NEGATION, _WAITS = numbers_of("MemoryNegated", "wait")
_SETTLED = numbers_of("ReviewSettled", "settle")


class Passed(NamedTuple):
    """What of some entries is still to be looked up: whether a person refused a contradiction, the log alone tells."""

    waited: frozenset[bytes]
    """Raw ids of what waited for a person."""
    negations: frozenset[bytes]
    """Of these, those of negations."""
    settled: tuple[int, ...]
    """Seqs of answers by which something was rejected."""


class Tally:
    """Counts of one owner, or of all that a worker folds."""

    def __init__(self) -> None:
        self.counts = dict.fromkeys(FIGURES, 0)

    def include(self, other: Tally) -> None:
        """What another one counted too."""
        for figure, count in other.counts.items():
            self.counts[figure] += count

    def add(self, entries: Iterable[Entry]) -> Passed:
        """Count these, of which all of an event's stand together."""
        counts, last = self.counts, dict[str, int]()
        waited, negations, settled = set[bytes](), set[bytes](), list[int]()
        for entry in entries:
            kind = (entry.type, entry.decision)
            figures = _OF.get(kind, ())
            if kind == _LINK and entry.reason == POSSIBLE:
                figures = (CONFLICTS,)
            elif kind == _REPORT:
                figures = _OUTCOMES.get(entry.reason, ())
            elif entry.decision == _WAITS:
                waited.add(entry.raw_id)
                if entry.type == _NEGATION:
                    negations.add(entry.raw_id)
            elif kind == _SETTLED and entry.reason == "rejected":
                settled.append(entry.seq)
            for figure in figures:
                if last.get(figure) != entry.seq:
                    last[figure] = entry.seq
                    counts[figure] += 1
        return Passed(frozenset(waited), frozenset(negations), tuple(settled))


GROUPS = ("made", "changed", "ended", "seen", "talk")
"""What events of a type do, in a word."""
_TYPES: Mapping[str, tuple[str, ...]] = {
    "made": ("MemoryCreated", "FactAsserted"),
    "ended": (
        "MemoryNegated",
        "MemoryDeleted",
        "MemoryPurged",
        "MemoryErased",
        "FactRetracted",
        "ValueRejected",
        "SourceSetAside",
    ),
    "seen": ("MemoriesAccessed", "MemoriesRevealed"),
    "talk": ("TurnRecorded", "ToolResultRecorded", "TurnsExtracted"),
}
"""Every other type changes what is there."""
_SECOND = 1_000_000


def _groups_of_types() -> Bytes:
    found = np.full(256, GROUPS.index("changed"), np.uint8)
    for group, types in _TYPES.items():
        found[[number_of(one) for one in types]] = GROUPS.index(group)
    return found


_GROUP_OF = _groups_of_types()


class LineEnds(NamedTuple):
    """From when to when events lie on a line, microseconds since 1970; None where there are none."""

    first: int | None
    last: int | None


class LineParts(NamedTuple):
    """A line in equal parts. Times are microseconds since 1970, both ends lie in it; None where nothing says where it lies."""

    since: int | None
    until: int | None
    events: int
    counts: list[int]
    groups: dict[str, list[int]] | None

    @property
    def seconds(self) -> float:
        """How long each part is."""
        if self.since is None or self.until is None:
            return 0.0
        return (self.until - self.since + 1) / len(self.counts) / _SECOND


def ends_of(instants: Integers) -> LineEnds:
    """The first and the last of some instants."""
    return LineEnds(int(instants.min()), int(instants.max())) if len(instants) else LineEnds(None, None)


def late_among(events: OwnerEvents) -> int:
    """How many were recorded more than five minutes after they happened, as `events.envelope` has it of one."""
    return int((events.recorded - events.happened > TOLERATED).sum())


def in_parts(
    instants: Integers, types: Bytes, since: int | None, until: int | None, count: int, *, by_group: bool
) -> LineParts:
    """So many equal parts of a line, with how many of these instants lie in each; all of them lie in it.

    An end that is None is the first, or the last, of the instants.
    """
    first, last = ends_of(instants)
    since = first if since is None else since
    until = last if until is None else until
    since = until if since is None else since
    until = since if until is None else until
    if since is None or until is None:
        empty = [0] * count
        return LineParts(None, None, 0, empty, dict.fromkeys(GROUPS, empty) if by_group else None)
    length = until - since + 1
    starts = np.array([since + part * length // count for part in range(count)], np.int64)
    places = np.searchsorted(starts, instants, side="right") - 1
    groups = None
    if by_group:
        found = np.bincount(_GROUP_OF[types] * np.int64(count) + places, minlength=len(GROUPS) * count)
        groups = dict(zip(GROUPS, found.reshape(len(GROUPS), count).tolist(), strict=True))
    return LineParts(since, until, len(instants), np.bincount(places, minlength=count).tolist(), groups)
