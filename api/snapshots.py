"""A question's snapshot: an owner's view, held for the question's length, at present or as of any place in time."""

from __future__ import annotations

import logging
from array import array
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from itertools import takewhile
from threading import Lock
from typing import Any, NamedTuple, Unpack

from engramlog_server.api.checks import (
    PRESENT,
    Counted,
    Owned,
    Progress,
    RequestedTimes,
    SideAsked,
    TimesAsked,
    check_memory_id,
    check_owner,
    counted_of,
    telling_in_hand,
    times_of,
)
from engramlog_server.api.work import current_check, weigh
from engramlog_server.events.envelope import AnyEvent, Stored
from engramlog_server.events.errors import DamagedState, EngramlogError, LogGap, NotFound, refused
from engramlog_server.events.log import EventLog
from engramlog_server.events.partitions import parse_position, partition_of, position_text
from engramlog_server.projections.access.caller import ToldUpTo
from engramlog_server.projections.checks import Bounds
from engramlog_server.projections.fold.changelog import Entry
from engramlog_server.projections.fold.owner import OwnerHistory, OwnerState, fold_owner
from engramlog_server.projections.fold.partition import Quarantine
from engramlog_server.projections.index.names import Handles
from engramlog_server.projections.memory.columns import Columns
from engramlog_server.projections.memory.record import SECRET, Memory, is_handle
from engramlog_server.projections.past.folding import (
    FoldedPast,
    Lines,
    OwnerEvents,
    Passage,
    behind,
    fold_from,
    nothing_folded,
    to_fold,
)
from engramlog_server.projections.past.moments import NotKept
from engramlog_server.projections.redis.history import OwnerLog
from engramlog_server.projections.redis.view import PartitionStanding, RedisViews
from engramlog_server.projections.shapes import Lagging, MomentsOfPast, Placed, Warned
from engramlog_server.projections.views.query import shown_by, up_to
from engramlog_server.projections.views.quoting import hidden_ids, purged_ids
from engramlog_server.projections.views.view import OwnerView

MOST_KEPT = 8
"""Views up to a ceiling that are kept; the one asked for longest ago goes first."""
MOST_BYTES = 64 * 1024 * 1024
"""What they take together at the most; one that takes more by itself is made for each question."""


class _Kept(NamedTuple):
    whole: OwnerView
    state: OwnerState
    view: OwnerView


class Narrowing:
    """Narrows views to what the caller in hand is told. Safe for threads; a view is asked by one question at a time."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._kept: OrderedDict[tuple[str, int], _Kept] = OrderedDict()

    def view(self, view: OwnerView, present: OwnerView, now: int, telling: ToldUpTo) -> OwnerView:
        """The view of an owner at an instant as far as it is told; `present`: the owner's view today."""
        if telling.by_sensitivity:
            view = self._up_to(view, present, telling.most)
        return shown_by(view, now, telling.mode) if telling.by_mode else view

    def _up_to(self, view: OwnerView, present: OwnerView, most: int) -> OwnerView:
        of_today, place = view is present, (view.owner, most)
        with self._lock:
            found = self._kept.get(place)
            if of_today and found is not None and found.whole is view and found.state == view.state:
                self._kept.move_to_end(place)
                return found.view
        weigh(len(view) // 2)
        made = up_to(view, most, present, current_check())
        if of_today:
            self._keep(place, _Kept(view, view.state, made))
        return made

    def _keep(self, place: tuple[str, int], made: _Kept) -> None:
        with self._lock:
            self._kept[place] = made
            self._kept.move_to_end(place)
            while len(self._kept) > MOST_KEPT or sum(one.view.bytes_used() for one in self._kept.values()) > MOST_BYTES:
                self._kept.popitem(last=False)


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
    secrets: bool


class Pasts:
    """The pasts of one store's owners; those asked last are kept. Safe for threads."""

    def __init__(self, log: EventLog, views: RedisViews) -> None:
        self._log, self._views = log, views
        self._kept: OrderedDict[tuple[Any, ...], Past] = OrderedDict()
        self._lock = Lock()

    def past(
        self,
        owner: str,
        view: OwnerView,
        build: str,
        times: RequestedTimes,
        asked: TimesAsked,
        *,
        secrets: bool = False,
    ) -> tuple[Past, Counted]:
        """The owner as of a place; what is purged or secret today stays so, with `secrets` only what is purged.

        Raises as `counted_of` does.
        """
        secrets = secrets and bool((view.columns.sensitivity >= SECRET).any())
        source = self.source(owner)
        bounds = Bounds(current_check(), weigh)
        events = self._views.moments.events(owner, build, view.state, source, bounds)
        log = Owned(
            lambda: self._views.changelogs.seqs(owner) if events is None else events.seqs.tolist(),
            view.parameters.time_zone,
            lambda seq: self._views.stored(owner, [seq])[0],
        )
        counted = counted_of(times, log)
        key: tuple[Any, ...] = (owner, secrets, view.state.applied, view.state.chain, counted.lines)
        if counted.seqs is not None:  # what comes later changes nothing of it, but for what is hidden
            hidden = hidden_ids(view.columns)
            key = (
                owner,
                secrets,
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
        read = self.source(owner, asked.get("on_progress"))
        secret = self._log.secrets_of([owner]).get(owner, b"")
        past = self._folded(_Asked(owner, build, counted.lines, wanted, read, secret, secrets), view, events)
        with self._lock:
            self._kept[key] = past
            sizes = [one.bytes_used() for one in self._kept.values()]
            while len(sizes) > 1 and (len(sizes) > KEPT_PASTS or sum(sizes) > PASTS_BYTES):
                self._kept.popitem(last=False)
                del sizes[0]
        return past, counted

    def _folded(self, asked: _Asked, view: OwnerView, events: OwnerEvents | None) -> Past:
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

    def _from_a_moment(self, asked: _Asked, view: OwnerView, events: OwnerEvents) -> Past:
        """What counts after the nearest kept moment, folded."""
        happened, upto, limits = asked.lines.happened, len(asked.wanted), self._views.moments.limits
        first = 0 if happened is None else events.split(limits.before, limits.behind)
        folded = self._apart(asked, view, events, first) if happened is not None and 0 < first < upto else None
        folded = folded or self._after(asked, view, events, keeps=not first)
        folded.memories.folds = False
        counting = events.counting(happened, upto)
        newest = int(events.happened[counting].max()) if len(counting) else 0
        said = array("q", events.seqs[counting[events.silent[counting]]].tobytes())
        counted = array("q", events.seqs[counting].tobytes())
        seen = self._seen(asked, view, OwnerHistory(folded.owner, folded.memories, [], newest))
        later = asked._replace(source=self.source(asked.owner))  # whom this one told how far it came is gone by then
        return Past(seen, newest, counted, said, lambda: self._log_of(later), len(asked.wanted))

    def _apart(self, asked: _Asked, view: OwnerView, events: OwnerEvents, first: int) -> FoldedPast | None:
        """What was imported last, put behind what was told before it; None where that does not do."""
        numbers, read = events.counting(asked.lines.happened, first), asked.source.read
        before = fold_from(nothing_folded(), events, numbers, read, secret=asked.secret, check=current_check())
        return behind(before, self._after(asked, view, events, first)) if before.alone else None

    def _after(
        self, asked: _Asked, view: OwnerView, events: OwnerEvents, first: int = 0, *, keeps: bool = True
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
        bounds = Bounds(current_check(), weigh)
        return OwnerView.of_history(asked.owner, history, present=view, bounds=bounds, secrets=asked.secrets)

    def source(self, owner: str, on_progress: Progress | None = None) -> OwnerLog:
        """The owner's log."""
        return OwnerLog(
            lambda seqs: self.stored(owner, seqs, on_progress), lambda position: self._holds(owner, position)
        )

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

    @contextmanager
    def handed_out(self, owner: str, upto: str, at: str) -> Iterator[tuple[Snapshot, OwnerView]]:
        """The snapshot that a block was made of, and its view with the words that became secret since, which no answer tells."""
        asked = TimesAsked(known=upto, at=at)
        times = times_of(asked, owner, self._log.partitions)
        bounds = Bounds(current_check(), weigh_load)
        with self._views.view(owner, after=times.waits, bounds=bounds) as (view, standing):
            found = self._placed_at(owner, view, standing, times, asked, None)
            past, _ = self._pasts.past(owner, view, standing.build, times, asked, secrets=True)
            yield self._narrowed(found), self._narrowed(found._replace(view=past.view)).view

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

    def log_of(self, owner: str, on_progress: Progress | None = None) -> OwnerLog:
        """The owner's log."""
        return self._pasts.source(owner, on_progress)

    def stored(self, owner: str, seqs: Sequence[int], on_progress: Progress | None = None) -> Iterator[Stored]:
        """The owner's events at these seqs, read in pieces as they are asked for."""
        return self._pasts.stored(owner, seqs, on_progress)


def weigh_load(memories: int) -> None:
    """Loading is weighed at a quarter of what it takes: it is done once, and everything about the owner waits for it.

    So owners of 4,000 memories, a quarter of a second, are loaded where they are asked about; larger ones in the heavy lane.
    """
    weigh(memories // 2)
