"""The fold worker: keeps memories level with the log, for as many partitions as are its share.

Order is the contract: an error that is not understood stops a partition's fold, it never skips ahead. A wire that breaks or a
commit that is refused drops everything that was not committed; partitions are leased anew and reloaded.

What follows on each partition is asked for while the batch before it is folded. A partition whose answer held as much as was
asked for is *behind*. Those that are behind are read by turns, one at a time and much of it, so that an owner's events meet in
one commit; the others are read with it, little of each.

A worker leases its share of the partitions and renews the leases. It leaves those that stand still alone for a while. How workers
share partitions is a decision alone: which are given up, which are tried next, when leases are due.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from threading import Event as Flag
from time import monotonic
from typing import Any, NamedTuple, TypeVar

import redis

from engramlog_server.consumers.fold.figures import FoldFigures
from engramlog_server.consumers.fold.folder import CACHED_BY_A_WORKER, CommitLane, PartitionFolder, Probe, unprobed
from engramlog_server.consumers.fold.presence import LEASE_MS, Presence, fair_share
from engramlog_server.consumers.fold.rebuild import tell_left_build
from engramlog_server.events.alarms import (
    CLUSTER_WAITS,
    INBOX_FULL,
    KEYS_UNAVAILABLE,
    LOG_ROLLED_BACK,
    OWNER_QUARANTINED,
    PARTITION_GAP,
    Alarms,
    Tell,
    TellingAlarms,
    silent,
)
from engramlog_server.events.envelope import Stored
from engramlog_server.events.errors import (
    DamagedState,
    FoldError,
    LogGap,
    LogRolledBack,
    LostLease,
    StoreError,
    StoreUnavailable,
)
from engramlog_server.events.partitions import LogKeys, crc16, position_text, ranges
from engramlog_server.events.redis.cluster import slot_of
from engramlog_server.events.redis.durability import look, refuse_gap, refuse_gap_seen
from engramlog_server.events.redis.log import entries
from engramlog_server.events.redis.server import redis_ms
from engramlog_server.events.redis.wire import Script, Wire, as_store_error, open_wire
from engramlog_server.events.text import many
from engramlog_server.projections.fold.owner import PROJECTION_VERSION
from engramlog_server.projections.redis.builds import BuildKeys, drop_retired_builds, version_of
from engramlog_server.projections.redis.store import (
    COMMIT,
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


READ_COUNT = 125
"""Entries of each partition that one answer holds at most."""
READ_BEHIND = 2_000
"""The same of one that is behind, where entries are short."""
READ_BYTES = 2 * 1024 * 1024
"""About as much as an answer about one that is behind should hold; `READ_COUNT` entries are asked for all the same."""
_LOOKED_AT = 8


class _Asked(NamedTuple):
    """One command that is in flight."""

    partitions: tuple[int, ...]
    most: int


class Prefetch:
    """One wire on which at most one read of all partitions is in flight."""

    def __init__(self, wire: Wire, tags: Sequence[str]) -> None:
        self.wire = wire
        self._streams = [LogKeys(tag).stream for tag in tags]
        self._asked: list[_Asked] = []
        self._behind: dict[int, int] = {}
        """How much to ask for next of each partition that is behind; whose turn is next stands first."""

    @property
    def is_in_flight(self) -> bool:
        """Whether an answer is still to come."""
        return bool(self._asked)

    def ask(self, after: Mapping[int, int], block_ms: int) -> bool:
        """Ask for the entries after these seqs, by partition; False where there is none to ask for.

        Nothing is waited for while a partition is behind, and at most `block_ms` else.
        """
        behind = next((partition for partition in self._behind if partition in after), None)
        self._asked = []
        if behind is not None:
            self._ask(after, _Asked((behind,), self._behind[behind]))
        level = tuple(partition for partition in after if partition not in self._behind)
        if level:
            self._ask(after, _Asked(level, READ_COUNT), *(() if self._asked else ("BLOCK", block_ms)))
        return bool(self._asked)

    def _ask(self, after: Mapping[int, int], asked: _Asked, *waiting: str | int) -> None:
        streams = [self._streams[partition] for partition in asked.partitions]
        seqs = [f"{after[partition]}-0" for partition in asked.partitions]
        self.wire.send("XREAD", "COUNT", asked.most, *waiting, "STREAMS", *streams, *seqs)
        self._asked.append(asked)

    def receive(self) -> Iterator[tuple[int, Any]]:
        """What came of it, undecoded, by partition. Raises what the wire raises: then nothing is asked for any more."""
        asked, self._asked = self._asked, []
        for partitions, most in asked:
            found = dict(self.wire.receive() or ())
            for partition in partitions:
                entries = found.get(self._streams[partition].encode(), ())
                self._behind.pop(partition, None)
                if len(entries) >= most:
                    self._behind[partition] = _worth_asking(entries)
                if entries:
                    yield partition, entries

    def stop(self) -> bool:
        """Drop the read in flight; whether there was one."""
        self._behind.clear()
        if not self._asked:
            return False
        self._asked = []
        self.wire.close()
        return True


def _worth_asking(entries: Sequence[Any]) -> int:
    """How many entries to ask for next, judged by the length of some that came."""
    some = entries[:: max(len(entries) // _LOOKED_AT, 1)]
    size = sum(len(value) for _, fields in some for value in fields)
    return min(READ_BEHIND, max(READ_COUNT, READ_BYTES * len(some) // max(size, 1)))


TICK_SECONDS = 0.25
BLOCK_MS = 200
BACK_OFF_SECONDS = 0.5
TELL_SECONDS = 60.0
"""How often the same refusal of Redis is told at most."""
RETIRE_SECONDS = 30.0
ANSWER_SECONDS = 3.0
"""How long a node of a Cluster may take to answer, before what lies there is set aside: others wait meanwhile."""


class FoldWorker:
    """One worker of a store. `run` folds until told to stop; `drain` until given positions are folded."""

    def __init__(
        self,
        client: redis.Redis,
        tags: Sequence[str],
        worker_id: str,
        *,
        tell: Tell = silent,
        probe: Probe = unprobed,
        script: Script = COMMIT,
        lease_ms: int = LEASE_MS,
        facts: Mapping[str, Any] | None = None,
        alarms: Alarms | None = None,
        standing_seconds: float = STANDING_SECONDS,
        look_seconds: float = LOOK_SECONDS,
        figures: FoldFigures | None = None,
    ) -> None:
        """`look_seconds`: how often it looks whether keys are back that owners wait for.

        `figures`: what it folds is counted there, where somebody asks.
        """
        self.worker_id = worker_id
        self._tags, self._tell, self._alarms = list(tags), tell, alarms or TellingAlarms(tell)
        self._load, self._tend = open_wire(client), open_wire(client)
        self._lane = CommitLane(open_wire(client), script, probe, figures)
        self._prefetch = Prefetch(open_wire(client), self._tags)
        for wire in (self._load, self._tend, self._lane.wire, self._prefetch.wire):
            # what waits is set aside, and keeps nothing else waiting
            wire.patience, wire.answer_seconds = 0.0, ANSWER_SECONDS
        self._presence = Presence(self._tend, worker_id, lease_ms, facts or {}, tell)
        self._partitions = HeldPartitions(
            *(self._tend, self._lane, self._tags, worker_id),
            partial(PartitionFolder, load=self._load, lane=self._lane, tell=tell, probe=probe),
            lease_ms=lease_ms,
            tell=tell,
            alarms=self._alarms,
            standing_seconds=standing_seconds,
            on_taken=self._stop_reading,
            look_seconds=look_seconds,
        )
        self._generations: tuple[int, ...] | None = None
        self._next_tick, self._next_retirement = 0.0, monotonic() + RETIRE_SECONDS
        self._refused = ""

    @property
    def folded(self) -> int:
        """Events this worker has committed."""
        return self._lane.events

    @property
    def held(self) -> list[int]:
        """Partitions it holds."""
        return sorted(self._partitions.folders)

    def run(self, stop: Flag) -> None:
        """Fold until `stop` is set, then hand every partition over at once."""
        try:
            while not stop.is_set():
                self._guarded(self._turn, stop)
        finally:
            self.hand_over()

    def drain(self, until: Mapping[int, int], give_up_after: float) -> bool:
        """Fold until every partition named has reached its seq; False after `give_up_after` seconds without that."""
        end = monotonic() + give_up_after
        while monotonic() < end:
            if self._reached(until):
                self._guarded(self._lane.settle, Flag())  # the last commit may still be refused
                if self._reached(until):
                    return True
            self._guarded(self._turn, Flag())
        return not until

    def _reached(self, until: Mapping[int, int]) -> bool:
        checkpoints = self._partitions.checkpoints()
        return all(checkpoints.get(partition, -1) >= seq for partition, seq in until.items())

    def _turn(self) -> None:
        self._tick()
        self._round()
        self._watch_reconnects()

    def _guarded(self, work: Callable[[], None], stop: Flag) -> None:
        """Do it. Whatever is refused ends in a clean start, after a pause."""
        try:
            work()
        except FoldError as error:
            self._tell("fold stopped", reason=error.message, alarm=not isinstance(error, LostLease), **error.context)
            self._drop_everything()
            if type(error) in STANDS_STILL:
                self._partitions.stands_still(self._tags.index(error.context["partition"]), error)
        except StoreUnavailable as error:
            aside = self._partitions.of_whom(error)
            if aside:
                self._drop_everything()
                self._partitions.set_aside(aside, error)
            else:
                self._start_anew(error, stop)
        except StoreError as error:
            self._start_anew(error, stop)

    def _start_anew(self, error: StoreError, stop: Flag) -> None:
        """Drop everything, and begin again after a pause."""
        if error.message != self._refused or monotonic() >= self._partitions.quiet_until:
            self._refused, self._partitions.quiet_until = error.message, monotonic() + TELL_SECONDS
            self._tell("store refused", reason=error.message, next_try_seconds=BACK_OFF_SECONDS)
        self._drop_everything()
        stop.wait(BACK_OFF_SECONDS)

    def _round(self) -> None:
        """Take what was prefetched, load what it is about, ask for what follows, fold while Redis reads and commits."""
        folders = self._partitions.folders
        if not self._prefetch.is_in_flight and not self._prefetch.ask(self._partitions.checkpoints(), BLOCK_MS):
            Flag().wait(TICK_SECONDS / 5)
            return
        batches = self._receive()
        if not batches:
            self._lane.settle()
            self._partitions.all_fold()
            return
        for partition, batch in batches.items():
            if partition in folders:
                self._partitions.unless_gap(partition, partial(folders[partition].prepare, batch))
        in_hand = {partition: batch[-1].seq for partition, batch in batches.items() if partition in folders}
        self._prefetch.ask(self._partitions.checkpoints() | in_hand, BLOCK_MS)
        for partition in in_hand:
            if partition in folders:
                folders[partition].fold()
                if self._partitions.is_renewal_due:  # nor must a long round make others take this one for dead
                    self._partitions.renew()
                    self._presence.company(self.held, self.folded)
        self._lane.send()
        self._partitions.tell_full(in_hand)
        self._partitions.all_fold()

    def _receive(self) -> dict[int, list[Stored]]:
        """What was read of each partition; one whose log is not whole stands still."""
        try:
            answer = dict(self._prefetch.receive())
        except redis.ResponseError as error:
            self._lane.settle()  # why the commit in flight was refused, if it was, says more than why the read was
            raise as_store_error(error) from error
        read = {
            partition: self._partitions.unless_gap(partition, partial(entries, found, self._tags[partition]))
            for partition, found in answer.items()
        }
        return {partition: stored for partition, stored in read.items() if stored}

    def _tick(self) -> None:
        """Leases, presence, operators' requests: four times a second, or when asked for."""
        if monotonic() < self._next_tick:
            return
        self._next_tick = monotonic() + TICK_SECONDS
        self._lane.settle()
        self._partitions.renew()
        now_ms, workers = self._presence.company(self.held, self.folded)
        if now_ms is not None and self._lane.figures is not None:
            self._lane.figures.tick(now_ms, len(self.held))
        self._partitions.balance(fair_share(workers, self.worker_id, len(self._tags)))
        self._partitions.carry_out_requests()
        self._partitions.retry_locked()
        self._partitions.retry_unread()
        self._partitions.keep_within(CACHED_BY_A_WORKER)
        if monotonic() >= self._next_retirement:
            self._next_retirement = monotonic() + RETIRE_SECONDS
            for partition, folder in self._partitions.folders.items():
                at_ms = redis_ms(self._tend, folder.lease.keys.checkpoint)
                drop_retired_builds(self._tend, folder.lease.keys.tag, at_ms)
                tell_left_build(self._tend, folder.lease.keys, partition, at_ms, self._alarms)
            self._partitions.tell_no_longer_full()

    def _stop_reading(self) -> None:
        """The partitions held changed: drop the read in flight, so that the next one asks for all of them."""
        if self._prefetch.stop():
            self._generations = None

    def _watch_reconnects(self) -> None:
        """A wire that was connected anew may speak to another history: drop what is remembered of the old one."""
        now = tuple(wire.generation for wire in (self._prefetch.wire, self._load, self._lane.wire, self._tend))
        before = self._generations or now
        if any(old and new != old for old, new in zip(before, now, strict=True)):
            self._tell("worker reconnected", dropped=self.held)
            self._drop_everything()
        else:
            self._generations = now

    def _drop_everything(self) -> None:
        if self._lane.figures is not None:
            self._lane.figures.stops += 1
        self._partitions.drop()
        self._prefetch.stop()
        self._lane.drop()
        for wire in (self._prefetch.wire, self._load, self._tend):
            wire.close()
        self._generations, self._next_tick = None, 0.0

    def hand_over(self) -> None:
        """Finish the commit in flight, release every lease, leave the list of workers; at once, as far as Redis lets."""
        for step in (self._lane.settle, self._partitions.release, self._presence.leave):
            try:
                step()
            except (FoldError, StoreError) as error:
                self._tell("partitions not released", reason=error.message)
                if not self._tend.many:  # of a Cluster the other nodes answer
                    break
        self._tell("worker stopped", folded=self.folded, released=ranges(self.held))
        self._drop_everything()
