"""An owner as of some place in time: folded from its own events, from the nearest kept moment on."""

from __future__ import annotations

import logging
from array import array
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b
from itertools import takewhile
from threading import Lock
from typing import Any, NamedTuple

from api.requests.timelines import Counted, Owned, Progress, RequestedTimes, TimesAsked, counted_of
from api.work.patience import current_check, weigh
from events.envelope import AnyEvent, Stored
from events.errors import DamagedState, LogGap
from events.log import EventLog
from events.partitions import parse_position, partition_of
from projections.checks import Bounds
from projections.fold.changelog import Entry
from projections.fold.owner import OwnerHistory, fold_owner
from projections.memory.columns import Columns
from projections.memory.timelines import Lines
from projections.past.event_times import SAID, EventTimes
from projections.past.folding import FoldedPast, behind, fold_from, nothing_folded, to_fold
from projections.past.keeping import Passage
from projections.past.moments import NotKept
from projections.redis.moments import OwnerLog
from projections.redis.view import RedisViews
from projections.views.hidden import hidden_ids, purged_ids
from projections.views.view import OwnerView

KEPT_PASTS = 8
PASTS_BYTES = 96 << 20
"""About how much the views of the past may take together; the newest stays whatever its size."""
PIECE = 500
_BYTES_AN_ENTRY = 600
"""About what a change-log entry takes with what hangs on it."""
logger = logging.getLogger(__name__)


class PastLog(NamedTuple):
    """A change log up to some place, and the chain over it where the owner's state does not tell it."""

    entries: list[Entry]
    chain: bytes = b""


class Past:
    """An owner folded as of some place."""

    def __init__(
        self,
        view: OwnerView,
        newest: int,
        seqs: array[int],
        said: array[int],
        log: PastLog | Callable[[], PastLog],
        may_count: int = 0,
    ) -> None:
        """`may_count`: of how many events the change log is yet to be folded."""
        self.view = view
        self.newest = newest
        """Newest `occurred_at` in it, microseconds; 0 for none."""
        self.seqs = seqs
        """Of the events that count, ascending."""
        self._said, self._log, self._may_count = said, log, may_count

    @property
    def entries(self) -> list[Entry]:
        """Its change log up to there; read or folded when somebody asks."""
        return self._whole().entries

    @property
    def chain(self) -> bytes:
        """The chain over it."""
        return self.view.state.chain or self._whole().chain

    def _whole(self) -> PastLog:
        if callable(self._log):
            self._log = self._log()
        return self._log

    def bytes_used(self) -> int:
        """About how much it takes: the view, the change log as far as it was asked for, the seqs."""
        entries = 0 if callable(self._log) else len(self._log.entries)
        seqs = len(self.seqs) + len(self._said) + self._may_count
        return self.view.bytes_used() + _BYTES_AN_ENTRY * entries + 8 * seqs

    def silent(self) -> Sequence[int]:
        """Seqs of the events that count and of which no change log tells: turns, tool results, accesses."""
        return self._said


class _Asked(NamedTuple):
    """What a past is folded for: kept with it, so nothing of the present hangs on it."""

    owner: str
    build: str
    lines: Lines
    wanted: array[int]
    """Seqs of what may count."""
    source: OwnerLog
    secret: bytes


class Pasts:
    """The pasts of one store's owners; those asked last are kept. Safe for threads."""

    def __init__(self, log: EventLog, views: RedisViews) -> None:
        self._log, self._views = log, views
        self._kept: OrderedDict[tuple[Any, ...], Past] = OrderedDict()
        self._lock = Lock()

    def past(
        self, owner: str, view: OwnerView, build: str, times: RequestedTimes, asked: TimesAsked
    ) -> tuple[Past, Counted]:
        """The owner as of a place; what is purged or secret today stays so. Raises as `counted_of` does."""
        source = self.source(owner)
        events = self._times(owner, build, view, source)
        log = Owned(
            lambda: self._views.changelogs.seqs(owner) if events is None else events.seqs.tolist(),
            view.parameters.time_zone,
            lambda seq: self._views.stored(owner, [seq])[0],
        )
        counted = counted_of(times, log)
        key: tuple[Any, ...] = (owner, view.state.applied, view.state.chain, counted.lines)
        if counted.seqs is not None:  # what comes later changes nothing of it, but for what is hidden
            hidden = hidden_ids(view.columns)
            key = (
                owner,
                counted.lines,
                _sum(array("q", counted.seqs).tobytes()),
                _sum("\n".join(sorted(hidden)).encode()),
                int((view.columns.state == Columns.PURGED).sum()),  # a secret may be purged: that hides it further
            )
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key], counted
        wanted = array("q", log.seqs() if counted.seqs is None else counted.seqs)
        read = source._replace(read=lambda seqs: self.stored(owner, seqs, asked.get("on_progress")))
        secret = self._log.secrets_of([owner]).get(owner, b"")
        past = self._folded(_Asked(owner, build, counted.lines, wanted, read, secret), view, events)
        with self._lock:
            self._kept[key] = past
            sizes = [one.bytes_used() for one in self._kept.values()]
            while len(sizes) > 1 and (len(sizes) > KEPT_PASTS or sum(sizes) > PASTS_BYTES):
                self._kept.popitem(last=False)
                del sizes[0]
        return past, counted

    def _times(self, owner: str, build: str, view: OwnerView, source: OwnerLog) -> EventTimes | None:
        try:
            return self._views.moments.times(owner, build, view.state.applied, source, Bounds(current_check(), weigh))
        except DamagedState as error:
            logger.warning(error.message)
            return None

    def _folded(self, asked: _Asked, view: OwnerView, events: EventTimes | None) -> Past:
        if events is not None:
            try:
                return self._from_a_moment(asked, view, events)
            except NotKept:  # an event is about what is purged by now: only the log still tells of it
                return self._from_the_first(asked, view)
            except DamagedState as error:
                logger.warning(error.message)
        return self._from_the_first(asked, view)

    def _from_the_first(self, asked: _Asked, view: OwnerView) -> Past:
        """All that counts, folded."""
        weigh(len(asked.wanted))
        counting = array("q")
        history = self._history(asked, counting)
        told = {entry.seq for entry in history.entries}
        silent = array("q", (seq for seq in counting if seq not in told))
        return Past(self._seen(asked, view, history), history.newest, counting, silent, PastLog(history.entries))

    def _history(self, asked: _Asked, counting: array[int]) -> OwnerHistory:
        def counts(stored: Stored, event: AnyEvent) -> bool:
            if asked.lines.counts(stored, event):
                counting.append(stored.seq)
                return True
            return False

        return fold_owner(
            asked.source.read(asked.wanted),
            keep=counts,
            check=current_check(),
            total=len(asked.wanted),
            held=asked.source.held,
            secret=asked.secret,
        )

    def _from_a_moment(self, asked: _Asked, view: OwnerView, events: EventTimes) -> Past:
        """What counts after the nearest kept moment, folded."""
        happened, upto, limits = asked.lines.happened, len(asked.wanted), self._views.moments.limits
        first = 0 if happened is None else events.split(limits.before, limits.behind)
        folded = self._apart(asked, view, events, first) if happened is not None and 0 < first < upto else None
        folded = folded or self._after(asked, view, events, keeps=not first)
        folded.memories.folds = False
        counting = events.counting(happened, upto)
        newest = int(events.happened[counting].max()) if len(counting) else 0
        said = array("q", events.seqs[counting[events.kinds[counting] == SAID]].tobytes())
        counted = array("q", events.seqs[counting].tobytes())
        seen = self._seen(asked, view, OwnerHistory(folded.owner, folded.memories, [], newest))
        later = asked._replace(source=self.source(asked.owner))  # whom this one told how far it came is gone by then
        return Past(seen, newest, counted, said, lambda: self._log_of(later), len(asked.wanted))

    def _apart(self, asked: _Asked, view: OwnerView, events: EventTimes, first: int) -> FoldedPast | None:
        """What was imported last, put behind what was told before it; None where that does not do."""
        numbers, read = events.counting(asked.lines.happened, first), asked.source.read
        before = fold_from(nothing_folded(), events, numbers, read, secret=asked.secret, check=current_check())
        return behind(before, self._after(asked, view, events, first)) if before.alone else None

    def _after(
        self, asked: _Asked, view: OwnerView, events: EventTimes, first: int = 0, *, keeps: bool = True
    ) -> FoldedPast:
        """What counts from one event on, from the nearest moment; on a long way moments are kept for those who ask next.

        `keeps`: not where each instant has another list of events from the first on, for nobody asks for just that again.
        """
        moments, happened, upto = self._views.moments, asked.lines.happened, len(asked.wanted)
        start, head = moments.begin(asked.owner, asked.build, events, happened, upto, view.state, first)
        numbers = to_fold(start, events, happened, upto, first)
        weigh(len(numbers))
        purged = frozenset(purged_ids(view.columns))
        passage = Passage(events, happened, numbers, view.state, purged, bool(asked.secret), first)
        keeping = moments.keeping(asked.owner, asked.build, head if keeps else None, start, passage)
        return fold_from(
            start, events, numbers, asked.source.read, secret=asked.secret, keeping=keeping, check=current_check()
        )

    def _log_of(self, asked: _Asked) -> PastLog:
        """The change log up to there: where all counts that was recorded, the stored one is it."""
        weigh(len(asked.wanted))
        if asked.lines.happened is not None:
            history = self._history(asked, array("q"))
            return PastLog(history.entries, history.owner.chain)
        last = asked.wanted[-1] if asked.wanted else 0
        stored = (entry for _, entry in self._views.changelogs.entries(asked.owner, check=current_check()))
        return PastLog(list(takewhile(lambda entry: entry.seq <= last, stored)))

    def _seen(self, asked: _Asked, view: OwnerView, history: OwnerHistory) -> OwnerView:
        return OwnerView.of_history(asked.owner, history, present=view, bounds=Bounds(current_check(), weigh))

    def source(self, owner: str) -> OwnerLog:
        """The owner's log."""
        return OwnerLog(lambda seqs: self.stored(owner, seqs), lambda position: self._holds(owner, position))

    def _holds(self, owner: str, position: str) -> bool:
        partition, seq = parse_position(position)
        if partition != partition_of(owner, self._log.partitions):
            return False
        try:
            return self._views.stored(owner, [seq])[0].owner == owner
        except LogGap:  # beyond what the log holds
            return False

    def stored(
        self, owner: str, seqs: Sequence[int], on_progress: Progress | None = None, *, whole: bool = True
    ) -> Iterator[Stored]:
        """The owner's events at these seqs, read in pieces as they are asked for; `whole`: LogGap where the log has lost one."""
        for start in range(0, len(seqs), PIECE):
            yield from self._views.stored(owner, seqs[start : start + PIECE], whole=whole)
            if on_progress is not None:
                on_progress(min(start + PIECE, len(seqs)), len(seqs))


def _sum(told: bytes) -> bytes:
    """What stands for long lists in the name of a kept past."""
    return blake2b(told, digest_size=32).digest()
