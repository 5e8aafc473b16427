"""What one fold worker has folded, in figures: how many events, how long after their append, and what they did.

Counted once a commit is answered, so nothing counts that was refused. Only where somebody asks for the figures: a worker without
any counts nothing. The worker's thread writes, any other reads; a reader may see a commit half counted.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from time import monotonic

from engramlog_server.projections.fold.partition import (
    Outcome,
)
from engramlog_server.projections.reports.tally import Tally

_LATENCIES = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 60.0, 600.0, 3_600.0)
"""Seconds, upper bounds; an hour is a worker that was away."""
_WEIGHTS = (0.01, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0, 1.5, 2.0)


class Spread:
    """How values lie between bounds; the last count is of those above all."""

    def __init__(self, bounds: Sequence[float]) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.sum = 0.0

    def add(self, value: float) -> None:
        """One value."""
        self.counts[bisect_left(self.bounds, value)] += 1
        self.sum += value

    def cumulative(self) -> list[tuple[str, float]]:
        """Upper bounds as Prometheus writes them, each with how many values lie at or below it."""
        told, total = list[tuple[str, float]](), 0
        for bound, count in zip((*self.bounds, float("inf")), list(self.counts), strict=True):
            total += count
            told.append(("+Inf" if bound == float("inf") else repr(bound), total))
        return told


class FoldFigures:
    """The figures of one worker. Times are of Redis's clock, as far as `tick` told it."""

    def __init__(self) -> None:
        self.events = self.commits = self.stops = 0
        """Events and commits that are written; how often what was not written had to be dropped."""
        self.last_commit = 0.0
        """When the newest commit was answered, seconds since 1970; 0 before any."""
        self.latency = Spread(_LATENCIES)
        """Seconds from the append of an event to the answer of its commit."""
        self.weights = Spread(_WEIGHTS)
        """Of a memory, by the weighted law and unclipped, just after an event changed it."""
        self.tally = Tally()
        self.held = 0
        """Partitions that it folds just now."""
        self._ahead: float | None = None
        """What Redis's clock is ahead of this process's steady one, seconds."""

    def tick(self, now_ms: int, held: int) -> None:
        """Redis's clock, as it was just told, and how many partitions are held."""
        self.held = held
        self._ahead = now_ms / 1_000 - monotonic()

    def committed(self, outcome: Outcome) -> None:
        """A commit was answered."""
        self.commits += 1
        self.events += outcome.events
        for part in outcome.owners.values():
            self.tally.add(part.entries)
            for entry in part.entries:
                if entry.new_weight is not None:
                    self.weights.add(entry.new_weight)
        if self._ahead is not None:
            now = self.last_commit = monotonic() + self._ahead
            for recorded in outcome.recorded:
                self.latency.add(max(now - recorded / 1_000_000, 0.0))
