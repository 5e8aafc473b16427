"""The events before the first that is named, folded while the log is looked through for what follows from that. Pure.

What follows seldom stands before what it follows from. So this part of the log is read, decoded and folded once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from engramlog_server.events.accesses import shown_in
from engramlog_server.events.catalogue import MemoriesAccessed, TurnRecorded
from engramlog_server.events.envelope import AnyEvent, Stored
from engramlog_server.projections.past.folding import RecordsFold
from engramlog_server.projections.reports.closure import Closure, LogGraph
from engramlog_server.projections.reports.struck_log import about

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
