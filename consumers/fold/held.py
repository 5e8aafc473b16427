"""The partitions that a worker holds: its share of them, leased and renewed; those that stand still are left alone for a while.

How workers share partitions is a decision alone: which are given up, which are tried next, when leases are due.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from time import monotonic
from typing import NamedTuple, TypeVar

from engramlog_server.consumers.fold.folder import CommitLane, PartitionFolder
from engramlog_server.events.alarms import (
    CLUSTER_WAITS,
    INBOX_FULL,
    KEYS_UNAVAILABLE,
    LOG_ROLLED_BACK,
    OWNER_QUARANTINED,
    PARTITION_GAP,
    Alarms,
    Tell,
)
from engramlog_server.events.errors import DamagedState, FoldError, LogGap, LogRolledBack, StoreUnavailable
from engramlog_server.events.partitions import LogKeys, crc16, position_text, ranges
from engramlog_server.events.redis.cluster import slot_of
from engramlog_server.events.redis.durability import look, refuse_gap, refuse_gap_seen
from engramlog_server.events.redis.server import redis_ms
from engramlog_server.events.redis.wire import Wire
from engramlog_server.events.text import many
from engramlog_server.projections.fold.owner import PROJECTION_VERSION
from engramlog_server.projections.redis.builds import BuildKeys, version_of
from engramlog_server.projections.redis.store import (
    Lease,
    read_live_checkpoint,
    release_lease,
    release_leases,
    renew_leases,
    take_lease,
)

READ_SECONDS = 0.25
"""How long a reading is carried on by this machine's monotonic clock: a small part of a lease."""


class _Read(NamedTuple):
    at: float
    ms: int


class NodeClocks:
    """Milliseconds since 1970, by partition; on a Cluster nodes' clocks differ."""

    def __init__(self, wire: Wire, tags: Sequence[str]) -> None:
        self._wire = wire
        self._keys = [LogKeys(tag).meta for tag in tags]
        self._read: dict[str, _Read] = {}

    def ms(self, partition: int) -> int:
        """The clock of a partition's server. Raises StoreError."""
        key = self._keys[partition]
        name = self._wire.node_of(key)
        read = self._read.get(name)
        if read is None or monotonic() - read.at > READ_SECONDS:
            ms = redis_ms(self._wire, key)
            read = self._read[name] = _Read(monotonic(), ms)
        return read.ms + int((monotonic() - read.at) * 1_000)

    def drop(self) -> None:
        """Read again: connections were lost, or another server holds what this one held."""
        self._read.clear()


ASIDE_SECONDS, MOST_ASIDE_SECONDS = 0.25, 2.0
"""How long a partition is left alone that a Cluster cannot serve now: at first, and at most."""


def surplus(held: Collection[int], share: int) -> list[int]:
    """The partitions that a worker gives up, of those it holds, where its share is smaller."""
    return sorted(held)[share:]


def order_of_tries(worker_id: str, partitions: int) -> Iterator[int]:
    """All partitions in the order in which a worker tries to take them: each begins elsewhere, so that few meet."""
    offset = crc16(worker_id) % partitions  # ids of one host are much alike, and their places must not be
    yield from range(offset, partitions)
    yield from range(offset)


LONGEST = 4
"""A lease that would last longer than so many times one's own was taken before the clock went back: it has ended."""


def is_free(holder: str | None, ends: float, me: str, now: float, lasts: float) -> bool:
    """Whether a lease can be taken; times in one unit. As the script `projections.redis.store.LEASE` has it, which decides."""
    left = ends - now
    return holder is None or holder == me or not 0 < left <= LONGEST * lasts


def renewal_seconds(lease_ms: int) -> float:
    """How long after a renewal of its leases a worker renews them again: a third of a lease."""
    return lease_ms / 3_000


def next_aside(before: float | None) -> float:
    """How long a partition is left alone that cannot be served; `before`: how long the last time, None where that is long ago."""
    return ASIDE_SECONDS if before is None else min(2 * before, MOST_ASIDE_SECONDS)


def even_most(kept: Collection[int], most: int) -> int:
    """How much each of some may keep so that all together keep `most` at the most: who keeps less has all of it, the others the
    same."""
    left = max(most, 0)
    for number, one in enumerate(sorted(kept)):
        share = left // (len(kept) - number)
        if one > share:
            return share
        left -= one
    return max(kept, default=0)


_T = TypeVar("_T")
STANDING_SECONDS = 5.0
"""How long a partition that stands still is left alone before it is looked at again."""
OTHER_VERSION_SECONDS = 5.0
"""The same of one whose build this release cannot fold."""
NAMED = 5
"""Owners that an alarm names, of full inboxes or of events that could not be folded."""
LOOK_SECONDS, MOST_LOOK_SECONDS = 10.0, 60.0
"""How often it is looked whether keys are back that owners wait for: at first, and at most apart while none is."""
LOOKED_AT = 500
"""Partitions of which it is asked in one go whether they are free."""
MOST_LOCKED = 500
"""Such owners that are looked at in one go."""
MOST_FREED = 50
"""Locked owners that are folded in one go; then it is the turn of others."""
TOLD_ASIDE_SECONDS = 1.0
"""From so long a wait on an alarm tells of it: a failover, or a slot that is moved, takes seconds."""
STANDS_STILL: Mapping[type[FoldError], str] = {
    LogGap: PARTITION_GAP,
    LogRolledBack: LOG_ROLLED_BACK,
    DamagedState: "state_damaged",
}
"""The alarm of a partition whose fold stands still, by what stopped it."""


class _Aside(NamedTuple):
    """Until when a partition is left alone, and for how long that is."""

    until: float
    wait: float


class _Looked(NamedTuple):
    """When it is looked again for owners whose keys are back, how long after that, and what the alarm tells."""

    at: float
    wait: float
    told: str | None


class HeldPartitions:
    """Folders by partition, each under its lease. `wire` tends to leases; `lane` is the worker's."""

    def __init__(
        self,
        wire: Wire,
        lane: CommitLane,
        tags: Sequence[str],
        worker_id: str,
        folder_of: Callable[[Lease], PartitionFolder],
        *,
        lease_ms: int,
        tell: Tell,
        alarms: Alarms,
        standing_seconds: float,
        on_taken: Callable[[], None],
        look_seconds: float = LOOK_SECONDS,
    ) -> None:
        self._wire, self._lane, self._tags, self._worker_id = wire, lane, tags, worker_id
        self._folder_of, self._on_taken = folder_of, on_taken
        self._lease_ms, self._standing_seconds, self._look_seconds = lease_ms, standing_seconds, look_seconds
        self._tell, self._alarms = tell, alarms
        self._clocks = NodeClocks(wire, tags)
        self.folders: dict[int, PartitionFolder] = {}
        self._dropped: dict[int, Lease] = {}
        """Leases of what was dropped, which stand in Redis until they end or are given back."""
        self.quiet_until = 0.0
        """Until then partitions that are taken again after a refusal are not logged."""
        self._next_renewal = 0.0
        self._not_before: dict[int, float] = {}
        self._aside: dict[int, _Aside] = {}
        """Until when, and for how long, partitions wait that a Cluster could not serve."""
        self._taken_at: dict[int, int] = {}
        """Checkpoint at which each partition was last taken: one that is taken again after each refusal is not logged each time."""
        self._unsure: set[int] = set()
        """Partitions taken of which nothing was folded yet: an alarm of the one who held them may stand."""
        self._full: dict[int, int] = {}
        """How many full inboxes an alarm named in each partition since it was taken."""
        self._stuck: dict[int, str] = {}
        """By partition the text of its alarm about owners whose events could not be folded."""
        self._locked: dict[int, _Looked] = {}
        """When it is looked again whether owners' keys are back, of each partition that was taken."""

    def checkpoints(self) -> dict[int, int]:
        """How far each is folded."""
        return {partition: folder.checkpoint.seq for partition, folder in self.folders.items()}

    def balance(self, share: int) -> None:
        """Give up what is above the share, take what is free below it; either is one line in the log.

        What is not taken when leases are due is taken at the next tick: to take hundreds may take longer than a lease lasts.
        """
        released = surplus(self.folders, share)
        release_leases(self._wire, [self.folders.pop(partition).lease for partition in released])
        if released:
            self._tell("partitions released", partitions=ranges(released))
        taken = list[int]()
        try:
            for partition in self._free(share):
                if len(self.folders) >= share:
                    return
                if monotonic() >= self._not_before.get(partition, 0.0):
                    taken += [partition] if self._take_or_set_aside(partition) else []
                if self.is_renewal_due:
                    return
        finally:
            self._tell_taken([partition for partition in taken if partition in self.folders])

    def _free(self, share: int) -> Iterator[int]:
        """Partitions that look free, in the order in which they are tried; asked for in few goes, while some are lacking."""
        now = monotonic()
        due = (
            partition
            for partition in order_of_tries(self._worker_id, len(self._tags))
            if partition not in self.folders and now >= self._not_before.get(partition, 0.0)
        )
        while len(self.folders) < share and (some := list(islice(due, LOOKED_AT))):
            try:
                yield from self._looking_free(some)
            except StoreUnavailable:
                if not self._wire.many:
                    raise
                yield from some  # each is tried, and tells by itself which node is lost

    def _looking_free(self, partitions: Sequence[int]) -> list[int]:
        """Those of these that nobody holds, as it looks; one without a build looks free, so that it is tried and logged."""
        lives = self._wire.answers([["HGET", LogKeys(self._tags[one]).meta, "live"] for one in partitions])
        builds = [
            BuildKeys(self._tags[one], (live or b"").decode()) for one, live in zip(partitions, lives, strict=True)
        ]
        held = self._wire.answers([["HMGET", keys.checkpoint, "holder", "until"] for keys in builds])
        return [
            partition
            for partition, live, (holder, ends) in zip(partitions, lives, held, strict=True)
            if not live or self._is_free(partition, holder, ends)
        ]

    def _is_free(self, partition: int, holder: bytes | None, ends: bytes | None) -> bool:
        name = None if holder is None else holder.decode("utf-8", "replace")
        until = float(ends) if ends and ends.isdigit() else 0.0
        return is_free(name, until, self._worker_id, self._clocks.ms(partition), self._lease_ms)

    def _tell_taken(self, partitions: Sequence[int]) -> None:
        if partitions:
            leases = [self.folders[partition].lease.epoch for partition in partitions]
            folded = sum(self.folders[partition].checkpoint.seq for partition in partitions)
            self._tell("partitions taken", partitions=ranges(partitions), epochs=ranges(leases), folded=folded)

    def _take_or_set_aside(self, partition: int) -> bool:
        """The same as `_take`; what lies on a node of a Cluster that cannot be reached waits, and keeps nothing else waiting."""
        try:
            return self._take(partition)
        except StoreUnavailable as error:
            if not self._wire.many:
                raise
            self.folders.pop(partition, None)
            name = error.context.get("node")
            self.set_aside([partition] if name is None else {partition, *self.on_node(name)}, error)
            return False

    def on_node(self, name: str) -> list[int]:
        """The partitions that lie on a node, as far as that is known."""
        found = []
        for partition, tag in enumerate(self._tags):
            with suppress(StoreUnavailable):
                if self._wire.node_of(LogKeys(tag).meta) == name:
                    found.append(partition)
        return found

    def of_whom(self, error: StoreUnavailable) -> list[int]:
        """The partitions that a Cluster cannot serve now, where an error is about these alone; else none."""
        if not self._wire.many:
            return []
        if (tag := error.context.get("partition")) in self._tags:
            return [self._tags.index(tag)]
        if isinstance(slot := error.context.get("slot"), int):
            return self.in_slot(slot)
        return self.on_node(error.context.get("node", ""))

    def in_slot(self, slot: int) -> list[int]:
        """The partitions that lie in a slot of a Cluster."""
        return [p for p, tag in enumerate(self._tags) if slot_of(LogKeys(tag).meta.encode()) == slot]

    def set_aside(self, partitions: Collection[int], error: StoreUnavailable) -> None:
        """Leave partitions alone that a Cluster cannot serve now, each time longer, and say so; the others go on."""
        now = monotonic()
        news = [one for one in partitions if self._aside.get(one, _Aside(0.0, 0.0)).until + MOST_ASIDE_SECONDS < now]
        for partition in partitions:
            before = self._aside.get(partition)
            wait = next_aside(None if before is None or partition in news else before.wait)
            self._aside[partition] = _Aside(now + wait, wait)
            self._not_before[partition] = now + wait
            if wait >= TOLD_ASIDE_SECONDS:
                self._alarms.raised(CLUSTER_WAITS, f"partition {partition}", error.message)
                self._unsure.add(partition)
        if news:
            self._tell("partitions delayed", partitions=ranges(news), reason=error.message)

    def _take(self, partition: int) -> bool:
        """Lease it if nobody holds it; whether that is to be logged."""
        tag = self._tags[partition]
        build = (self._wire.call("HGET", LogKeys(tag).meta, "live") or b"").decode()
        if not build or version_of(build) != PROJECTION_VERSION:
            facts = {"partition": partition, "build": build, "mine": PROJECTION_VERSION, "cure": "engramlog rebuild"}
            self._tell("build not supported", **facts)
            self._not_before[partition] = monotonic() + OTHER_VERSION_SECONDS
            return False
        keys = BuildKeys(tag, build)
        try:
            refuse_gap(self._wire, tag, read_live_checkpoint(self._wire, keys).seq)
        except (LogGap, DamagedState) as error:
            self.stands_still(partition, error)
            return False
        self._lane.connect(keys.checkpoint)
        now_ms = self._clocks.ms(partition)
        lease = take_lease(self._wire, keys, self._worker_id, now_ms=now_ms, ttl_ms=self._lease_ms)
        if lease is None:
            return False
        self._dropped.pop(partition, None)
        folder = self.folders[partition] = self._folder_of(lease)
        self._on_taken()
        self._unsure.add(partition)
        self._full.pop(partition, None)
        self._locked.pop(partition, None)
        self._stuck.pop(partition, None)
        is_news = monotonic() >= self.quiet_until or self._taken_at.get(partition) != folder.checkpoint.seq
        self._taken_at[partition] = folder.checkpoint.seq
        return is_news

    @property
    def is_renewal_due(self) -> bool:
        """Whether a third of a lease is over since the last renewal: a long round must not outlast its leases."""
        return monotonic() >= self._next_renewal

    def renew(self) -> None:
        """Renew every lease where that is due; what was lost is let go."""
        if not self.is_renewal_due:
            return
        self._next_renewal = monotonic() + renewal_seconds(self._lease_ms)
        folders = dict(self.folders)
        leases, now_ms = [folder.lease for folder in folders.values()], [self._clocks.ms(one) for one in folders]
        ours = renew_leases(self._wire, leases, now_ms=now_ms, ttl_ms=self._lease_ms)
        for (partition, folder), is_ours in zip(list(folders.items()), ours, strict=True):
            if not is_ours:
                self._tell("lease lost", partition=partition, epoch=folder.lease.epoch)
                self.folders.pop(partition)
                del folders[partition]
        seen = look(self._wire, [folder.lease.keys.tag for folder in folders.values()])
        for (partition, folder), one in zip(folders.items(), seen, strict=True):
            tag, folded = folder.lease.keys.tag, folder.checkpoint.seq
            self.unless_gap(partition, partial(refuse_gap_seen, one, tag, folded))

    def tell_full(self, partitions: Iterable[int]) -> None:
        """Raise the alarm of full inboxes in these, again if their number changed, and clear it if there is none any more."""
        for partition in partitions:
            folder = self.folders.get(partition)
            if folder is None or folder.checkpoint.full == self._full.get(partition, 0):
                continue
            full, subject = folder.checkpoint.full, f"partition {partition}"
            self._full[partition] = full
            if full:
                named = ", ".join(folder.full_inboxes(NAMED))
                told = f"{many(full, 'owner')}{f': {named}' if named else ''}"
                self._alarms.raised(INBOX_FULL, subject, told)
            else:
                self._alarms.cleared(INBOX_FULL, subject)

    def tell_no_longer_full(self) -> None:
        """Clear alarms of a worker that held a partition before, and ended before it could."""
        for partition, folder in self.folders.items():
            if not folder.checkpoint.full:
                self._alarms.cleared(INBOX_FULL, f"partition {partition}")

    def unless_gap(self, partition: int, work: Callable[[], _T]) -> _T | None:
        """Do it, or have the partition stand still where its log is not whole."""
        try:
            return work()
        except LogGap as error:
            self.stands_still(partition, error)
            return None

    def stands_still(self, partition: int, error: FoldError) -> None:
        """Leave a partition alone for a while, and say so; the others go on."""
        if isinstance(error, LogRolledBack):  # an entry that is gone, if there is a hole: one alarm tells of it
            try:
                refuse_gap(self._wire, self._tags[partition])
            except LogGap as gap:
                error = gap
        self._not_before[partition] = monotonic() + self._standing_seconds
        self._alarms.raised(STANDS_STILL[type(error)], f"partition {partition}", error.message)
        folder = self.folders.pop(partition, None)
        lease = self._dropped.pop(partition, None) if folder is None else folder.lease
        try:
            if folder is not None:
                self._tell("fold stopped", reason=error.message, alarm=True, **error.context)
                self._lane.settle()  # what was folded before the place stays
        finally:
            if lease is not None:
                release_lease(self._wire, lease)

    def all_fold(self) -> None:
        """All partitions held are folded and committed: alarms that a newly taken one stands still are over."""
        if not self._unsure:
            return
        self._lane.settle()
        for partition in self._unsure & self.folders.keys():
            for name in (*STANDS_STILL.values(), CLUSTER_WAITS):
                self._alarms.cleared(name, f"partition {partition}")
        self.tell_full(self._unsure)
        self._unsure.clear()

    def carry_out_requests(self) -> None:
        """Do what operators ask: fold the parked events of owners again."""
        folders = list(self.folders.items())
        answers = self._wire.answers([["HGETALL", folder.lease.keys.log.control] for _, folder in folders])
        for (partition, folder), answer in zip(folders, answers, strict=True):
            for request, owner in zip(answer[::2], answer[1::2], strict=True):
                freed = folder.retry(owner.decode(), request.decode())
                self._tell("owner retried", partition=partition, owner=owner.decode(), freed=freed)

    def keep_within(self, most: int) -> None:
        """Have folders let go of what was folded longest ago, where they keep more records than that together."""
        kept = [folder.cached for folder in self.folders.values()]
        if sum(kept) > most:
            each = even_most(kept, most)
            for folder in self.folders.values():
                folder.keep(each)

    def retry_locked(self) -> None:
        """Fold the parked events of owners whose keys are back, some at a time; an alarm names those that wait."""
        for partition, folder in list(self.folders.items()):
            before = self._locked.get(partition, _Looked(0.0, self._look_seconds, ""))
            if folder.stuck_changed or monotonic() >= before.at:
                folder.stuck_changed = False
                self._locked[partition] = self._looked(partition, folder, before)
                self._tell_stuck(partition, folder)

    def _tell_stuck(self, partition: int, folder: PartitionFolder) -> None:
        """Raise the alarm of owners whose events could not be folded, and clear it where there is none any more."""
        found, subject = folder.stuck(NAMED + 1), f"partition {partition}"
        named = [f"{owner} at {position_text(partition, seq)}" for owner, seq in found[:NAMED]]
        told = ", ".join(named + (["and others"] if len(found) > NAMED else []))
        if told:
            self._alarms.raised(OWNER_QUARANTINED, subject, told)
        elif self._stuck.get(partition) != told:
            self._alarms.cleared(OWNER_QUARANTINED, subject)
        self._stuck[partition] = told

    def retry_unread(self) -> None:
        """Fold the parked events of owners of whom an older release could not read one, in partitions that were just taken; some at
        a time."""
        for partition, folder in list(self.folders.items()):
            if not folder.may_read:
                continue
            back = folder.reads_now(MOST_FREED)
            for owner in back:
                freed = folder.retry(owner)
                self._tell("event decoded", partition=partition, owner=owner, freed=freed)
            folder.may_read = len(back) == MOST_FREED

    def _looked(self, partition: int, folder: PartitionFolder, before: _Looked) -> _Looked:
        locked, subject = folder.locked(MOST_LOCKED), f"partition {partition}"
        back = folder.opens_now([owner for owner, _ in locked])[:MOST_FREED] if locked else []
        for owner in back:
            freed = folder.retry(owner)
            self._tell("key returned", partition=partition, owner=owner, freed=freed)
        if back:  # the rest at the next turn
            return _Looked(0.0, self._look_seconds, before.told)
        if not locked:
            if before.told is not None:
                self._alarms.cleared(KEYS_UNAVAILABLE, subject)
            return _Looked(monotonic() + self._look_seconds, self._look_seconds, None)
        counted = f"{len(locked):,} or more owners" if len(locked) == MOST_LOCKED else many(len(locked), "owner")
        told = f"{counted}, such as {locked[0][0]}: {locked[0][1]}"
        self._alarms.raised(KEYS_UNAVAILABLE, subject, told)
        if told != before.told:
            self._tell("keys unavailable", partition=partition, owners=len(locked), reason=locked[0][1], alarm=True)
        wait = self._look_seconds if before.told is None else min(2 * before.wait, MOST_LOOK_SECONDS)
        return _Looked(monotonic() + before.wait, wait, told)

    def release(self) -> None:
        """Give every lease back at once, of a Cluster as far as its nodes answer. Raises StoreUnavailable where one did not."""
        failed: StoreUnavailable | None = None
        for folder in self.folders.values():
            try:
                release_lease(self._wire, folder.lease)
            except StoreUnavailable as error:
                if not self._wire.many:
                    raise
                failed = error
        if failed is not None:
            raise failed

    def drop(self) -> None:
        """Hold nothing; what is held in Redis is held until its leases end, or a partition is found to stand still."""
        self._dropped |= {partition: folder.lease for partition, folder in self.folders.items()}
        self.folders.clear()
        self._clocks.drop()
