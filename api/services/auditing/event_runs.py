"""Where an owner's or a partition's events lie in the log, read run by run: bounded pieces in one order, with how far each looks.

An owner's applied events are told by the store, those that wait behind a quarantine or were dropped there too; what is not folded
yet is looked for in the log behind the checkpoint. So no page of an owner reads what others told before that.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from api.requests.snapshots import PIECE, Pasts
from api.work.patience import current_check, weigh
from events.catalogue import EventDiscarded
from events.envelope import Stored, decode
from events.errors import DamagedState, StoreUnavailable
from events.log import EventLog
from events.partitions import parse_position
from projections.checks import Bounds
from projections.fold.changelog import DECISIONS
from projections.past.event_times import DROPPED
from projections.redis.view import PartitionStanding, RedisViews
from projections.views.view import OwnerView

_TRIES = 5
_DISCARD = DECISIONS.index("discard")


class Run(NamedTuple):
    """Events in order, and the last seq that was looked at for them."""

    events: list[Stored]
    reached: int
    looked: int
    """How many entries were looked at: of others too, where a log is read through."""


class OwnerPlaces(NamedTuple):
    """Where an owner's events lie, as of one moment."""

    view: OwnerView
    """Without memories."""
    standing: PartitionStanding
    seqs: Sequence[int]
    """Of those up to the checkpoint, ascending."""
    folded: Sequence[int]
    """Those of them that are applied, ascending."""

    def is_folded(self, seq: int) -> bool:
        """Whether an event is applied."""
        return _in(self.folded, seq)


class EventRuns:
    """Reads the events of one store. Safe for threads."""

    def __init__(self, log: EventLog, views: RedisViews, pasts: Pasts) -> None:
        self._log, self._views, self._pasts = log, views, pasts

    def places(self, owner: str) -> OwnerPlaces:
        """Where an owner's events lie. Raises StoreUnavailable where its quarantine changes meanwhile."""
        for _ in range(_TRIES):
            view, standing = self._views.glance(owner)
            folded, discards = self._applied(owner, standing, view.state.applied)
            waiting = self._views.parked(owner, standing.build) if standing.quarantine is not None else []
            if self._views.glance(owner)[1].quarantine == standing.quarantine:
                beside = {seq for seq in (*waiting, *self._dropped(owner, discards)) if seq <= standing.checkpoint}
                return OwnerPlaces(view, standing, sorted(beside.union(folded)) if beside else folded, folded)
        raise StoreUnavailable(f"the quarantine of {owner} changes too fast to be read; come again", retry_after=1)

    def _applied(self, owner: str, standing: PartitionStanding, applied: int) -> tuple[list[int], list[int]]:
        """Seqs of what is applied, and of those of them that dropped something."""
        try:
            bounds = Bounds(current_check(), weigh)
            times = self._views.moments.times(owner, standing.build, applied, self._pasts.source(owner), bounds)
        except DamagedState:
            times = None
        if times is not None:
            return times.seqs[:applied].tolist(), times.seqs[times.kinds == DROPPED].tolist()
        entries = self._views.changelogs.entries(owner, check=current_check())
        discards = [entry.seq for _, entry in entries if entry.decision == _DISCARD]
        return self._views.changelogs.seqs(owner, current_check())[:applied], discards

    def _dropped(self, owner: str, discards: Sequence[int]) -> Iterator[int]:
        """Seqs of events that waited once and were dropped for good."""
        for one in self._pasts.stored(owner, discards):
            data = decode(one.kind, one.body).data
            if isinstance(data, EventDiscarded):
                yield parse_position(data.position)[1]

    def of_owner(self, owner: str, places: OwnerPlaces, positions: range, *, newest: bool) -> Iterator[Run]:
        """An owner's events at these positions."""
        standing = places.standing
        first, last = bisect_left(places.seqs, positions.start), bisect_left(places.seqs, positions.stop)
        known = self._known(owner, places.seqs[first:last], newest=newest)
        behind = range(max(positions.start, standing.checkpoint + 1), positions.stop)
        rest = self.of_partition(standing.partition, behind, newest=newest, owner=owner)
        return chain(rest, known) if newest else chain(known, rest)

    def _known(self, owner: str, seqs: Sequence[int], *, newest: bool) -> Iterator[Run]:
        ordered = seqs[::-1] if newest else seqs
        for start in range(0, len(ordered), PIECE):
            some = ordered[start : start + PIECE]
            events = self._views.stored(owner, sorted(some), whole=False)
            yield Run(events[::-1] if newest else events, some[-1], len(some))

    def of_partition(
        self, partition: int, positions: range, *, newest: bool, owner: str | None = None
    ) -> Iterator[Run]:
        """A partition's events at these positions; `owner`: only one's."""
        for some in _pieces(positions, newest=newest):
            events = self._log.read(partition, some.start - 1, len(some))
            mine = [one for one in events if owner is None or one.owner == owner]
            yield Run(mine[::-1] if newest else mine, some.start if newest else some.stop - 1, len(some))


def _pieces(positions: range, *, newest: bool) -> Iterator[range]:
    """Positions in pieces, those with the lowest or the highest first."""
    if newest:
        for stop in range(positions.stop, positions.start, -PIECE):
            yield range(max(stop - PIECE, positions.start), stop)
    else:
        for start in range(positions.start, positions.stop, PIECE):
            yield range(start, min(start + PIECE, positions.stop))


def _in(ascending: Sequence[int], seq: int) -> bool:
    place = bisect_left(ascending, seq)
    return place < len(ascending) and ascending[place] == seq
