"""How often what happened to an owner's memories, counted from change-log entries as they pass by: no entry is kept.

The figures are those that the weighted source asks to be monitored (seed 002). An event counts once for a figure, however many
memories it changed; one that was ignored, or that still waits for a person, counts for none.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from engramlog_server.projections.fold.changelog import Entry, numbers_of

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
