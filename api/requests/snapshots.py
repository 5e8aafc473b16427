"""A question's snapshot: an owner's view, held for the question's length, at present or as of any place in time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple, Unpack

from api.requests.checks import PRESENT, check_memory_id, check_owner
from api.requests.narrowing import Narrowing
from api.requests.pasts import Past, Pasts
from api.requests.speaking import telling_in_hand
from api.requests.timelines import Progress, RequestedTimes, TimesAsked, times_of
from api.requests.two_moments import SideAsked
from api.shapes import Lagging, MomentsOfPast, Placed, Warned
from api.work.patience import current_check, weigh
from events.envelope import Stored
from events.errors import EngramlogError, NotFound, refused
from events.log import EventLog
from events.partitions import parse_position, partition_of, position_text
from projections.checks import Bounds
from projections.fold.partition import Quarantine
from projections.index.handles import Handles
from projections.memory.handle import is_handle
from projections.memory.record import Memory
from projections.memory.timelines import Lines
from projections.redis.view import PartitionStanding, RedisViews
from projections.views.view import OwnerView


class Snapshot(NamedTuple):
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
    head: int = 0
    """Seq of the owner's newest event that moves its head; 0 for none."""
    gap: str = ""
    """What is wrong with the partition's log; empty if it is complete."""

    def has_lost(self, memory_id: str) -> bool:
        """Whether a memory that was there in this snapshot has been deleted or purged by today."""
        if self.view is self.present:
            return False
        then, today = self.view.get(memory_id), self.present.get(memory_id)
        if then is None or today is None:
            return False
        return (today.deleted_at is not None and then.deleted_at is None) or (
            today.purged_at is not None and then.purged_at is None
        )

    @property
    def chain(self) -> bytes:
        """The chain over the owner's change log."""
        return self.view.state.chain if self.past is None else self.past.chain

    @property
    def warning(self) -> Warned:
        """Marks of an answer about a quarantined owner (as of before the event that stuck), or from a log with a gap."""
        told: Warned = {"log_gap": self.gap} if self.gap else {}
        if self.quarantine is not None:
            where = position_text(self.partition, self.quarantine.seq)
            told["quarantined"] = {"position": where, "reason": self.quarantine.reason}
        return told

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
    def told(self) -> Lagging:
        """What every answer says of itself: how far it is behind the log, and the warning."""
        return {"behind": self.behind, **self.warning}

    @property
    def place(self) -> Placed:
        """The same with the position that it was answered at."""
        return {"position": self.position, **self.told}


def placed(view: OwnerView, now: int, standing: PartitionStanding) -> Snapshot:
    """A view of the present at a place."""
    behind, head = max(standing.owner_head - standing.known, 0), standing.owner_head
    position = position_text(standing.partition, standing.known)
    return Snapshot(
        view, now, position, standing.partition, None, view, standing.quarantine, behind, head, standing.gap
    )


class Snapshots:
    """Snapshots of one store's owners. Safe for threads."""

    def __init__(self, log: EventLog, views: RedisViews) -> None:
        self._log = log
        self._views = views
        self._pasts = Pasts(log, views)
        self._narrowing = Narrowing()

    @property
    def pasts(self) -> Pasts:
        """What the owners were as of places in the past."""
        return self._pasts

    def memory(self, snapshot: Snapshot, owner: str, memory_id: str) -> Memory:
        """The memory, or NotFound."""
        found = snapshot.view.get(check_memory_id(memory_id))
        if found is None:
            raise NotFound(
                f"owner {owner} has no memory {memory_id} (position {snapshot.position}){snapshot.rest}; see"
                f" `engramlog list {owner}`",
                owner=owner,
                memory_id=memory_id,
            )
        return found

    def named(self, owner: str, name: str) -> str:
        """The id of the memory that a name means: the name itself if it is an id, else the memory whose handle it is.

        A name that is neither is returned as it is. Raises InputError for a handle that several memories have.
        """
        if not is_handle(name):
            return name
        try:
            with self.snapshot(owner) as snapshot:
                view = snapshot.view
                if view.get(name) is not None:
                    return name
                ids = [one for one in view.index(Handles).ids(name) if view.get(one) is not None]
        except EngramlogError:  # what asks next says why the owner cannot be read
            return name
        if len(ids) > 1:
            raise refused("memory_id", name, " or ".join(ids))
        return ids[0] if ids else name

    def glance(self, owner: str, **asked: Unpack[TimesAsked]) -> Snapshot | None:
        """A snapshot of the present without its memories, which need not be loaded for it; None of a question about the past."""
        check_owner(owner)
        times = times_of(asked, owner, self._log.partitions)
        if times.of_the_past:
            return None
        view, standing = self._views.glance(owner, after=times.waits)
        return placed(view, self._log.now() if times.at is None else times.at, standing)

    @contextmanager
    def snapshot(self, owner: str, *, entries: int | None = None, **asked: Unpack[TimesAsked]) -> Iterator[Snapshot]:
        """The view that answers a question, held for its length.

        `entries`: how long the owner's change log was at the position; while it is as long, and the law counts no accesses,
        today's view is that of then.
        """
        check_owner(owner)
        times = times_of(asked, owner, self._log.partitions)
        bounds = Bounds(current_check(), weigh_load)
        with self._views.view(owner, after=times.waits, bounds=bounds) as (view, standing):
            yield self._narrowed(self._placed_at(owner, view, standing, times, asked, entries))

    @contextmanager
    def beside(self, owner: str, first: SideAsked, second: SideAsked) -> Iterator[tuple[Snapshot, Snapshot]]:
        """The snapshots of two questions beside each other, made of one moment of the present and held together.

        Raises as `snapshot` does; a refusal names the moment by the name that it was asked under.
        """
        check_owner(owner)
        times = list[RequestedTimes]()
        for side in (first, second):
            with side.refusals():
                times.append(times_of(side.times, owner, self._log.partitions))
        bounds, waits = Bounds(current_check(), weigh_load), max(one.waits for one in times)
        with self._views.view(owner, after=waits, bounds=bounds) as (view, standing):
            made = list[Snapshot]()
            for side, place in zip((first, second), times, strict=True):
                with side.refusals():
                    made.append(self._placed_at(owner, view, standing, place, side.times, None))
            yield self._narrowed(made[0]), self._narrowed(made[1])

    def _narrowed(self, found: Snapshot) -> Snapshot:
        """The snapshot as far as the caller in hand is told of it."""
        telling = telling_in_hand()
        if telling is None:
            return found
        return found._replace(view=self._narrowing.view(found.view, found.present, found.now, telling))

    def _placed_at(
        self,
        owner: str,
        view: OwnerView,
        standing: PartitionStanding,
        times: RequestedTimes,
        asked: TimesAsked,
        entries: int | None,
    ) -> Snapshot:
        """What a question reads of a view that is held, at its place in time."""
        instant, seq = times.at, min(times.seqs, default=None)
        partition, stuck, folded = standing.partition, standing.quarantine, standing.known
        behind = 0 if seq is not None else max(standing.owner_head - folded, 0)
        position = position_text(partition, folded if seq is None else seq)
        # Nothing of the owner came after the position: today's view is the one that was known then.
        level = seq is not None and seq >= view.state.seq
        level |= entries == view.state.entries and view.state.profile == "weighted"
        alone = times.known == PRESENT and times.as_of.seq is not None
        unmoved = alone and level and instant is not None and stuck is None
        if not times.of_the_past or unmoved:
            now = self._log.now() if instant is None else instant
            return Snapshot(
                view, now, position, partition, None, view, stuck, behind, standing.owner_head, standing.gap
            )
        past, counted = self._pasts.past(owner, view, standing.build, times, asked)
        if times.known != PRESENT and times.known.seq is None:
            # Of `as_of` at a position too: fewer events may have been known than stand before it.
            behind = behind if behind and self.in_time(owner, folded + 1, counted.lines) else 0
            position = position if behind else position_text(partition, max(counted.seqs or [0]))
        now = counted.now if counted.now is not None else past.newest
        now = now if instant is None else instant
        return Snapshot(past.view, now, position, partition, past, view, stuck, behind, gap=standing.gap)

    def in_time(self, owner: str, seq: int, lines: Lines) -> bool:
        """Whether what stands at a seq of the owner's partition was recorded early enough."""
        recorded = self._views.stored(owner, [seq])[0].recorded
        return lines.recorded is None or recorded <= lines.recorded

    def moments(self, owner: str) -> MomentsOfPast:
        """What is kept of the owner's past to begin at, and how many bytes that takes."""
        kept = self._views.moments.kept(owner)
        return {"kept": len(kept.kept), "bytes": kept.size}

    def seqs(self, owner: str, snapshot: Snapshot) -> Sequence[int]:
        """Seqs of the events that a snapshot is made of, ascending. Asked while it is held."""
        if snapshot.past is not None:
            return snapshot.past.seqs
        return self._views.changelogs.seqs(owner)[: snapshot.view.state.applied]

    def partition_of(self, owner: str) -> int:
        """The partition in which all events of an owner lie."""
        return partition_of(owner, self._log.partitions)

    def secret(self, owner: str) -> bytes:
        """By what the owner's statements are told apart; empty where nothing was said of it yet."""
        return self._log.secrets_of([owner]).get(owner, b"")

    def stored(self, owner: str, seqs: Sequence[int], on_progress: Progress | None = None) -> Iterator[Stored]:
        """The owner's events at these seqs, read in pieces as they are asked for."""
        return self._pasts.stored(owner, seqs, on_progress)


def weigh_load(memories: int) -> None:
    """Loading is weighed at a quarter of what it takes: it is done once, and everything about the owner waits for it.

    So owners of 4,000 memories, a quarter of a second, are loaded where they are asked about; larger ones in the heavy lane.
    """
    weigh(memories // 2)
