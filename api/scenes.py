"""A question's scene: an owner's view, held for the question's length, at present or as of any instant or position."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Lock
from typing import Any, NamedTuple

from api.asked import PRESENT, AsOf, check_memory_id, check_owner, parse_as_of, parse_instant, position_of
from api.patience import current_check, weigh
from events.envelope import Stored, micros
from events.errors import LogGap, NotFound
from events.log import EventLog
from events.partitions import parse_position, partition_of, position_text
from projections.changelog import Entry
from projections.checks import Bounds
from projections.fold import AnyEvent, fold_owner
from projections.memory import SECRET, Memory
from projections.partition import Quarantine
from projections.redis_view import RedisViews
from projections.view import OwnerView

KEPT_PASTS = 8
PASTS_BYTES = 256 << 20
"""About how much the views of the past may take together; the newest stays whatever its size."""
PIECE = 500
Progress = Callable[[int, int], None]


class Past(NamedTuple):
    """An owner folded as of some place, with its change log up to there."""

    view: OwnerView
    now: int
    entries: list[Entry]


class Scene(NamedTuple):
    """A question's view, the instant it is asked at, and the position it is answered at."""

    view: OwnerView
    now: int
    position: str
    partition: int
    past: Past | None
    present: OwnerView
    """The owner today: what has been deleted since is not shown of the past."""
    quarantine: Quarantine | None = None
    behind: int = 0
    """How far the owner's own head lies beyond the position, in positions of the partition: what is not folded, or parked."""

    def has_lost(self, memory_id: str) -> bool:
        """Whether a memory that was there in this scene has been deleted or purged by today."""
        if self.view is self.present:
            return False
        then, today = self.view.get(memory_id), self.present.get(memory_id)
        if then is None or today is None:
            return False
        return (today.deleted_at is not None and then.deleted_at is None) or (
            today.purged_at is not None and then.purged_at is None
        )

    @property
    def warning(self) -> dict[str, Any]:
        """What marks the answers about a quarantined owner: they are as of the event before the one that stuck."""
        if self.quarantine is None:
            return {}
        where = position_text(self.partition, self.quarantine.seq)
        return {"quarantined": {"position": where, "reason": self.quarantine.reason}}

    @property
    def rest(self) -> str:
        """What a refusal says of newer events that may hold what was asked for; nothing where there are none."""
        if not self.behind or self.quarantine is not None:
            return ""
        head = position_text(self.partition, parse_position(self.position)[1] + self.behind)
        many = (
            f"up to {self.behind:,} newer events of this owner are"
            if self.behind > 1
            else "a newer event of this owner is"
        )
        return f", but {many} not folded yet: ask with after {head}"

    @property
    def told(self) -> dict[str, Any]:
        """What every answer says of itself: how far it is behind the log, and the warning."""
        return {"behind": self.behind} | self.warning


class Scenes:
    """Scenes of one store's owners. Safe for threads."""

    def __init__(self, log: EventLog, views: RedisViews) -> None:
        self._log = log
        self._views = views
        self._pasts: OrderedDict[tuple[Any, ...], Past] = OrderedDict()
        self._lock = Lock()

    def memory(self, scene: Scene, owner: str, memory_id: str) -> Memory:
        """The memory, or NotFound."""
        found = scene.view.get(check_memory_id(memory_id))
        if found is None:
            raise NotFound(
                f"owner {owner} has no memory {memory_id} (position {scene.position}){scene.rest}; see"
                f" `engramlog list {owner}`",
                owner=owner,
                memory_id=memory_id,
            )
        return found

    @contextmanager
    def scene(
        self,
        owner: str,
        *,
        as_of: str | None = None,
        at: str | None = None,
        after: str | None = None,
        on_progress: Progress | None = None,
        entries: int | None = None,
    ) -> Iterator[Scene]:
        """The view that answers a question, held for its length.

        `entries`: how long the owner's change log was at the position; while it is as long, and the law counts no accesses,
        today's view is that of then.
        """
        check_owner(owner)
        place = parse_as_of(as_of, owner, self._log.partitions)
        instant = None if at is None else parse_instant(at)
        waits = position_of(after, owner, self._log.partitions) if after is not None else 0
        bounds = Bounds(current_check(), _weigh_load)
        with self._views.view(owner, after=max(waits, place.seq or 0), bounds=bounds) as (view, standing):
            partition, stuck, known = standing.partition, standing.quarantine, standing.known
            behind = 0 if place.seq is not None else max(standing.owner_head - known, 0)
            position = position_text(partition, known if place.seq is None else place.seq)
            # Nothing of the owner came after the position: today's view is the one that was known then.
            level = place.seq is not None and place.seq >= view.state.seq
            level |= entries == view.state.entries and view.state.profile == "weighted"
            unmoved = place.seq is not None and level and instant is not None and stuck is None
            if place == PRESENT or unmoved:
                now = self._log.now() if instant is None else instant
                yield Scene(view, now, position, partition, None, view, stuck, behind)
                return
            past = self._past(owner, view, place, on_progress)
            when = past.now if instant is None else instant
            yield Scene(past.view, when, position, partition, past, view, stuck, behind)

    def _past(self, owner: str, view: OwnerView, place: AsOf, on_progress: Progress | None) -> Past:
        """The owner folded from its own events as of a place; what is purged or secret today stays so."""
        seqs: Sequence[int] = ()
        key: tuple[Any, ...] = (owner, view.state.applied, view.state.chain, place)
        if place.seq is not None:  # what comes later changes nothing of it, but for what is hidden
            seqs = [seq for seq in self._views.changelogs.seqs(owner) if seq <= place.seq]
            hidden = (m.id for m in view.columns if m.purged_at is not None or m.sensitivity >= SECRET)
            key = (owner, place, tuple(seqs), frozenset(hidden))
        with self._lock:
            if key in self._pasts:
                self._pasts.move_to_end(key)
                return self._pasts[key]
        wanted = seqs if place.seq is not None else self._views.changelogs.seqs(owner)
        weigh(len(wanted))
        history = fold_owner(
            self.stored(owner, wanted, on_progress),
            keep=_happened_by(place.instant),
            check=current_check(),
            total=len(wanted),
            held=lambda position: self._holds(owner, position),
        )
        now = place.instant if place.instant is not None else history.newest
        past = Past(OwnerView.of_history(owner, history, view.columns, check=current_check()), now, history.entries)
        with self._lock:
            self._pasts[key] = past
            sizes = [one.view.bytes_used() for one in self._pasts.values()]
            while len(sizes) > 1 and (len(sizes) > KEPT_PASTS or sum(sizes) > PASTS_BYTES):
                self._pasts.popitem(last=False)
                del sizes[0]
        return past

    def _holds(self, owner: str, position: str) -> bool:
        partition, seq = parse_position(position)
        if partition != partition_of(owner, self._log.partitions):
            return False
        try:
            return self._views.stored(owner, [seq])[0].owner == owner
        except LogGap:  # beyond what the log holds
            return False

    def stored(self, owner: str, seqs: Sequence[int], on_progress: Progress | None = None) -> Iterator[Stored]:
        """The owner's events at these seqs, read in pieces as they are asked for."""
        for start in range(0, len(seqs), PIECE):
            yield from self._views.stored(owner, seqs[start : start + PIECE])
            if on_progress is not None:
                on_progress(min(start + PIECE, len(seqs)), len(seqs))


def _weigh_load(memories: int) -> None:
    """Loading is weighed at a quarter of what it takes: it is done once, and everything about the owner waits for it.

    So owners of 4,000 memories, a quarter of a second, are loaded where they are asked about; larger ones in the heavy lane.
    """
    weigh(memories // 2)


def _happened_by(instant: int | None) -> Callable[[AnyEvent], bool]:
    return (lambda _: True) if instant is None else (lambda event: micros(event.occurred_at) <= instant)
