"""An owner's own events folded anew without some of them, beside the owner as it is answered; writes nothing."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

from api.requests.snapshots import Snapshot
from api.requests.timelines import Progress, TimesAsked
from api.services.auditing.selecting import refusal_of
from api.services.reading import Reader
from api.work.patience import current_check, weigh
from events.envelope import decode
from events.parameters import ParameterValue
from events.partitions import partition_of
from projections.checks import Bounds, counted
from projections.fold.owner import OwnerHistory
from projections.memory.sources import NamedSource
from projections.past.records import RecordsFold
from projections.reports.beginning import Beginning
from projections.reports.closure import Closure, LogGraph
from projections.reports.sides import Side
from projections.reports.strikes import Strikes
from projections.reports.struck_log import StruckLog
from projections.reports.undoing import Undoing
from projections.reports.undone import packed
from projections.views.view import OwnerView


class FoldAsked(NamedTuple):
    """What is struck, and by what is folded."""

    strikes: Strikes
    alone: bool = False
    """Whether nothing is struck but what is named."""
    forced: Mapping[str, ParameterValue] = {}
    law: str | None = None
    offset: int = 0
    most: int = 1_000
    """Which of the struck events are told."""
    ranks: bool = False
    """Whether questions are ranked on both sides."""
    passes_over: bool = False
    """Whether what is named in vain is passed over: of many owners, each has but some of it."""
    asides: tuple[NamedSource, ...] | None = None
    """Sources to be set aside, where it is asked what undoes it all."""


class Replay(NamedTuple):
    """Events folded without those that are struck."""

    seqs: array[int]
    """Of all that were looked at."""
    closure: Closure
    log: StruckLog
    history: OwnerHistory
    undoing: Undoing | None


class Sides(NamedTuple):
    """What is answered, and beside it what would be."""

    snapshot: Snapshot
    """Held while these are."""
    before: Side
    after: Side
    replay: Replay


NOTHING_STRUCK = Closure({}, frozenset(), frozenset(), ())


class Refolder:
    """Folds owners of one store anew. Safe for threads."""

    def __init__(self, reader: Reader, partitions: int) -> None:
        self._reader = reader
        self._partitions = partitions

    @contextmanager
    def sides(self, owner: str, wanted: FoldAsked, times: TimesAsked) -> Iterator[Sides]:
        """What is answered now, or of the past that is asked about, and what would be.

        Raises InputError for what was named in vain. The log is folded while nobody waits for the owner's view; where the owner
        went on meanwhile, once more while it is held.
        """
        with self._reader.snapshot(owner, **times) as snapshot:
            seqs = self._seqs(owner, snapshot)
        replay = self._folded(owner, seqs, wanted, times.get("on_progress"))
        with self._reader.snapshot(owner, **times) as snapshot:
            seqs = self._seqs(owner, snapshot)
            if seqs != replay.seqs:
                replay = self._folded(owner, seqs, wanted, times.get("on_progress"))
            if wanted.ranks:
                snapshot.present.conversation  # noqa: B018 - of which that of what would be is made, and of neither anew
            after = Side(view_beside(snapshot, replay.history), snapshot.now)
            yield Sides(snapshot, Side(snapshot.view, snapshot.now), after, replay)

    def _seqs(self, owner: str, snapshot: Snapshot) -> array[int]:
        return array("q", self._reader.seqs(owner, snapshot))

    def _folded(self, owner: str, seqs: array[int], wanted: FoldAsked, on_progress: Progress | None) -> Replay:
        check, total, partition = current_check(), len(seqs), partition_of(owner, self._partitions)
        weigh(total)
        secret = self._reader.secret(owner)
        begun = Beginning(lambda: RecordsFold(forced=wanted.forced, law=wanted.law, secret=secret))
        closure = NOTHING_STRUCK
        if wanted.strikes.any:
            graph = LogGraph(wanted.strikes)
            for one in counted(self._reader.stored(owner, seqs, _part(on_progress, 0, 2 * total)), check, total):
                event = decode(one.kind, one.body)
                graph.take(one, event)
                begun.take(one, event, graph)
            refusal = None if wanted.passes_over else refusal_of(graph.unmet, partition, graph.there)
            if refusal is not None:
                raise refusal
            closure = graph.close(alone=wanted.alone, check=check)
            del graph
            begun = begun.before(closure, seqs)
        undoing = None
        if wanted.asides is not None:
            models = (NamedSource(principal=one) for one in sorted(closure.principals))
            undoing = Undoing(closure, (*wanted.asides, *models))
        log = StruckLog(closure, partition, wanted.offset, wanted.most, undoing)
        for one, event in begun.to_tell:
            log.keeps(one, event)
        fold, done = begun.fold, begun.events
        passes = 2 if wanted.strikes.any else 1
        told = _part(on_progress, (passes - 1) * total + done, passes * total)
        for one in counted(self._reader.stored(owner, seqs[done:], told), check, total - done):
            event = decode(one.kind, one.body)
            if log.keeps(one, event):
                fold.take(one, event)
        return Replay(seqs, closure, log, packed(fold.history), undoing)


def view_beside(snapshot: Snapshot, history: OwnerHistory) -> OwnerView:
    """What was folded, as a view of the past is made: what is purged or secret today stays so. Asked while the snapshot is held."""
    bounds = Bounds(current_check(), weigh)
    return OwnerView.of_history(snapshot.view.owner, history, present=snapshot.present, bounds=bounds)


def _part(on_progress: Progress | None, first: int, total: int) -> Progress | None:
    """The progress of one pass over the log, or a part of one, where so many steps of all were taken before."""
    if on_progress is None:
        return None
    told: Callable[[int, int], None] = on_progress
    return lambda done, _total: told(first + done, total)
