"""What one fold worker has folded, in figures: how many events, how long after their append, and what they did.

Counted once a commit is answered, so nothing counts that was refused. Only where somebody asks for the figures: a worker without
any counts nothing. The worker's thread writes, any other reads; a reader may see a commit half counted.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from time import monotonic

from engramlog_server.events.catalogue import MemoriesAccessed, MemoryReinforced, TurnRecorded
from engramlog_server.projections.fold.owner import AnyEvent
from engramlog_server.projections.fold.partition import (
    Outcome,
)
from engramlog_server.projections.memory.working_memory import ASKING, SPEAKING
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


_FOLLOWING = 2
"""Messages behind a prompt of which one may be the turn that nobody named, or its reply."""
MOST_NAMES = 20_000
"""Turns, replies and memories of prompts by which an answer is still known."""


class _Answer:
    """A turn for which memories were injected. `left`: messages of its session that may still belong to it."""

    __slots__ = ("left", "named", "outcome")

    def __init__(self, named: str | None) -> None:
        self.named = named
        self.left = _FOLLOWING
        self.outcome: str | None = None


class AnswerFigures:
    """How many answers used memories, and of how many the task was reported: success or failure.

    A report belongs to an answer as in `answered.weeks_of_answers`: by the turn, the reply, or the memory in the session. A count
    cannot fall, so the first report of an answer counts. At most `MOST_NAMES` names are kept: a report of an older answer, or of
    one from before the worker began, is not counted.
    """

    def __init__(self) -> None:
        self.answers = 0
        self.outcomes = {"task_success": 0, "task_failure": 0}
        self._names: dict[tuple[str, ...], _Answer] = {}

    def add(self, owner: str, event: AnyEvent) -> None:
        """One folded event of any type."""
        data = event.data
        if isinstance(data, MemoriesAccessed):
            if data.via == "injection":
                self._injected(owner, event.session_id, data)
        elif isinstance(data, TurnRecorded):
            self._said(owner, event.session_id, data)
        elif isinstance(data, MemoryReinforced) and data.outcome in self.outcomes:
            self._reported(owner, event.session_id, data)

    def _injected(self, owner: str, session: str | None, data: MemoriesAccessed) -> None:
        answer = None if data.turn_id is None else self._names.get((owner, "turn", data.turn_id))
        if answer is None:
            answer = _Answer(data.turn_id)
            self.answers += 1
        if data.turn_id is not None:
            self._name(answer, owner, "turn", data.turn_id)
        if session is not None:
            self._name(answer, owner, "session", session)
            shown = [hit.memory_id for hit in data.hits] + [one for access in data.accesses for one in access.shown]
            for memory_id in shown:
                self._name(answer, owner, "prompt", session, memory_id)

    def _said(self, owner: str, session: str | None, turn: TurnRecorded) -> None:
        answer = None if turn.reply_to is None else self._names.get((owner, "turn", turn.reply_to))
        near = None if session is None else self._names.get((owner, "session", session))
        if answer is None and near is not None and near.left and turn.role in SPEAKING and turn.turn_id != near.named:
            answer = near if near.named is None or turn.role not in ASKING else None
            near.left = near.left - 1 if near.named is None else 0
        if answer is not None:
            self._name(answer, owner, "turn", turn.turn_id)

    def _reported(self, owner: str, session: str | None, data: MemoryReinforced) -> None:
        if data.turn_id is not None:
            answer = self._names.get((owner, "turn", data.turn_id))
        else:
            answer = self._names.get((owner, "prompt", session or "", data.memory_id))
        if answer is not None and answer.outcome is None:
            answer.outcome = data.outcome
            self.outcomes[data.outcome] += 1

    def _name(self, answer: _Answer, *name: str) -> None:
        self._names.pop(name, None)
        self._names[name] = answer
        while len(self._names) > MOST_NAMES:
            del self._names[next(iter(self._names))]


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
        self.answers = AnswerFigures()
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
        for owner, event in outcome.read:
            self.answers.add(owner, event)
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
