"""The fold worker: keeps memories level with the log, for as many partitions as are its share.

Order is the contract: an error that is not understood stops a partition's fold, it never skips ahead. A wire that breaks or
a commit that is refused drops everything that was not committed; partitions are leased anew and reloaded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from threading import Event as Flag
from time import monotonic
from typing import Any, TypeVar

import redis

from consumers.fold.folder import CommitLane, PartitionFolder, Probe, Tell, silent, unprobed
from consumers.fold.presence import LEASE_MS, Presence, fair_share
from consumers.fold.rebuild_run import tell_left_build
from events.alarms import Alarms, TellingAlarms
from events.envelope import Stored
from events.errors import DamagedState, FoldError, LogGap, LogRolledBack, LostLease, StoreError
from events.parameters import DEFAULTS, Parameters
from events.partitions import LogKeys, ranges
from events.redis.gap import refuse_gap
from events.redis.log import entries
from events.redis.wire import Script, Wire, as_store_error
from projections.fold.builds import BuildKeys, version_of
from projections.fold.owner import PROJECTION_VERSION
from projections.redis.retire import drop_retired_builds
from projections.redis.scripts import COMMIT
from projections.redis.store import read_checkpoint, release_lease, renew_lease, take_lease

_T = TypeVar("_T")
TICK_SECONDS = 0.25
BLOCK_MS = 200
READ_COUNT = 500
BACK_OFF_SECONDS = 0.5
TELL_SECONDS = 60.0
"""How often the same refusal of Redis is told at most."""
STANDING_SECONDS = 5.0
"""How long a partition that stands still is left alone before it is looked at again."""
RETIRE_SECONDS = 30.0
STANDS_STILL: Mapping[type[FoldError], str] = {
    LogGap: "partition_gap",
    LogRolledBack: "log_rolled_back",
    DamagedState: "state_damaged",
}
"""The alarm of a partition whose fold stands still, by what stopped it."""


class FoldWorker:
    """One worker of a store. `run` folds until told to stop; `drain` until given positions are folded."""

    def __init__(
        self,
        client: redis.Redis,
        tags: Sequence[str],
        worker_id: str,
        *,
        base: Parameters = DEFAULTS,
        tell: Tell = silent,
        probe: Probe = unprobed,
        script: Script = COMMIT,
        lease_ms: int = LEASE_MS,
        facts: Mapping[str, Any] | None = None,
        alarms: Alarms | None = None,
        standing_seconds: float = STANDING_SECONDS,
    ) -> None:
        self.worker_id = worker_id
        self._alarms = alarms or TellingAlarms(tell)
        self._standing_seconds = standing_seconds
        self._tags = list(tags)
        self._base = base
        self._tell = tell
        self._probe = probe
        self._lease_ms = lease_ms
        self._read, self._load, self._tend = Wire(client), Wire(client), Wire(client)
        self._lane = CommitLane(Wire(client), script, probe)
        self._presence = Presence(self._tend, worker_id, lease_ms, facts or {})
        self._folders: dict[int, PartitionFolder] = {}
        self._asked: dict[int, int] = {}
        """Partition -> seq after which the read in flight asks; empty when none is."""
        self._generations: tuple[int, ...] | None = None
        self._next_tick = self._next_renewal = 0.0
        self._next_retirement = monotonic() + RETIRE_SECONDS
        self._not_before: dict[int, float] = {}
        self._refused, self._tell_again = "", 0.0
        self._taken_at: dict[int, int] = {}
        """Checkpoint at which each partition was last taken: what is taken anew after each refusal is not told each time."""
        self._unsure: set[int] = set()
        """Partitions taken of which nothing was folded yet: an alarm of the one who held them may stand."""

    @property
    def folded(self) -> int:
        """Events this worker has committed."""
        return self._lane.events

    @property
    def held(self) -> list[int]:
        """Partitions it holds."""
        return sorted(self._folders)

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
        return all(p in self._folders and self._folders[p].checkpoint.seq >= seq for p, seq in until.items())

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
                self._stands_still(self._tags.index(error.context["partition"]), error)
        except StoreError as error:
            if error.message != self._refused or monotonic() >= self._tell_again:
                self._refused, self._tell_again = error.message, monotonic() + TELL_SECONDS
                self._tell("store refused", reason=error.message, next_try_seconds=BACK_OFF_SECONDS)
            self._drop_everything()
            stop.wait(BACK_OFF_SECONDS)

    def _round(self) -> None:
        """Take what was prefetched, load what it is about, ask for what follows, fold while Redis reads and commits."""
        if not self._asked and not self._ask(BLOCK_MS):
            Flag().wait(TICK_SECONDS / 5)
            return
        found = self._receive()
        if not found:
            self._lane.settle()
            self._folds()
            return
        for partition, batch in found.items():
            if partition in self._folders:
                self._unless_gap(partition, partial(self._folders[partition].prepare, batch))
        self._ask(BLOCK_MS, found)
        for partition in found:
            if partition not in self._folders:
                continue
            self._folders[partition].fold()
            if monotonic() >= self._next_renewal:  # a long round must not outlast its leases
                self._renew(self._now_ms())
        if self._unsure:
            self._lane.settle()
            self._folds()

    def _stands_still(self, partition: int, error: FoldError) -> None:
        """Leave a partition alone for a while, and say so; the others go on."""
        self._not_before[partition] = monotonic() + self._standing_seconds
        self._alarms.raised(STANDS_STILL[type(error)], f"partition {partition}", error.message)
        folder = self._folders.pop(partition, None)
        if folder is not None:
            self._tell("fold stopped", reason=error.message, alarm=True, **error.context)
            self._lane.settle()  # what was folded before the place stays
            release_lease(self._tend, folder.lease)

    def _folds(self) -> None:
        """What is held is folded: alarms that it stands still are over."""
        for partition in self._unsure & self._folders.keys():
            for name in STANDS_STILL.values():
                self._alarms.cleared(name, f"partition {partition}")
        self._unsure.clear()

    def _ask(self, block_ms: int, following: Mapping[int, Sequence[Stored]] | None = None) -> bool:
        """Ask for the entries after each checkpoint, or after those in hand; False where no partition is held."""
        after = {p: (following or {}).get(p, [None])[-1] for p in self._folders}
        self._asked = {p: last.seq if last else self._folders[p].checkpoint.seq for p, last in after.items()}
        if not self._asked:
            return False
        streams = [LogKeys(self._tags[p]).stream for p in self._asked]
        self._read.send(
            "XREAD",
            "COUNT",
            READ_COUNT,
            "BLOCK",
            block_ms,
            "STREAMS",
            *streams,
            *(f"{seq}-0" for seq in self._asked.values()),
        )
        return True

    def _receive(self) -> dict[int, list[Stored]]:
        by_stream = {LogKeys(self._tags[p]).stream.encode(): p for p in self._asked}
        self._asked = {}
        try:
            answer = self._read.receive()
        except redis.ResponseError as error:
            self._lane.settle()  # why the commit in flight was refused, if it was, says more than why the read was
            raise as_store_error(error) from error
        read = dict[int, list[Stored]]()
        for stream, found in answer or ():
            partition = by_stream[stream]
            stored = self._unless_gap(partition, partial(entries, found, self._tags[partition]))
            if stored:
                read[partition] = stored
        return read

    def _unless_gap(self, partition: int, work: Callable[[], _T]) -> _T | None:
        """Do it, or have the partition stand still where its log is not whole."""
        try:
            return work()
        except LogGap as error:
            self._stands_still(partition, error)
            return None

    def _tick(self) -> None:
        """Leases, presence, operators' requests: four times a second, or when asked for."""
        if monotonic() < self._next_tick:
            return
        self._next_tick = monotonic() + TICK_SECONDS
        self._lane.settle()
        now_ms = self._now_ms()
        self._renew(now_ms)
        workers = self._presence.beat(now_ms, self.held, self.folded)
        self._balance(fair_share(workers, self.worker_id, len(self._tags)), now_ms)
        self._carry_out_requests()
        if monotonic() >= self._next_retirement:
            self._next_retirement = monotonic() + RETIRE_SECONDS
            for partition, folder in self._folders.items():
                drop_retired_builds(self._tend, folder.lease.keys.tag, now_ms)
                tell_left_build(self._tend, folder.lease.keys, partition, now_ms, self._alarms)

    def _now_ms(self) -> int:
        seconds, micros = self._tend.call("TIME")
        return int(seconds) * 1_000 + int(micros) // 1_000

    def _renew(self, now_ms: int) -> None:
        if monotonic() < self._next_renewal:
            return
        self._next_renewal = monotonic() + self._lease_ms / 3_000
        for partition, folder in list(self._folders.items()):
            if not renew_lease(self._tend, folder.lease, now_ms=now_ms, ttl_ms=self._lease_ms):
                self._tell("lease lost", partition=partition, epoch=folder.lease.epoch)
                self._folders.pop(partition)
                continue
            tag, folded = folder.lease.keys.tag, folder.checkpoint.seq
            self._unless_gap(partition, partial(refuse_gap, self._tend, tag, folded))

    def _balance(self, share: int, now_ms: int) -> None:
        """Give up what is above the share, take what is free below it; either is told in one line."""
        released = sorted(self._folders)[share:]
        for partition in released:
            release_lease(self._tend, self._folders.pop(partition).lease)
        if released:
            self._tell("partitions released", partitions=ranges(released))
        offset = sum(self.worker_id.encode()) % len(self._tags)
        taken = list[int]()
        try:
            for partition in [*range(offset, len(self._tags)), *range(offset)]:
                if len(self._folders) >= share:
                    return
                if partition not in self._folders and monotonic() >= self._not_before.get(partition, 0.0):
                    taken += [partition] if self._take(partition, now_ms) else []
        finally:
            self._tell_taken([partition for partition in taken if partition in self._folders])

    def _tell_taken(self, partitions: Sequence[int]) -> None:
        if partitions:
            leases = [self._folders[partition].lease.epoch for partition in partitions]
            folded = sum(self._folders[partition].checkpoint.seq for partition in partitions)
            self._tell("partitions taken", partitions=ranges(partitions), epochs=ranges(leases), folded=folded)

    def _take(self, partition: int, now_ms: int) -> bool:
        """Lease it where nobody holds it; whether that is to be told."""
        tag = self._tags[partition]
        build = (self._tend.call("HGET", LogKeys(tag).meta, "live") or b"").decode()
        if not build or version_of(build) != PROJECTION_VERSION:
            self._tell(
                "build of another version",
                partition=partition,
                build=build,
                mine=PROJECTION_VERSION,
                cure="engramlog rebuild",
            )
            self._not_before[partition] = monotonic() + 5.0
            return False
        keys = BuildKeys(tag, build)
        try:
            refuse_gap(self._tend, tag, read_checkpoint(self._tend, keys).seq)
        except LogGap as error:
            self._stands_still(partition, error)
            return False
        self._lane.connect()
        lease = take_lease(self._tend, keys, self.worker_id, now_ms=now_ms, ttl_ms=self._lease_ms)
        if lease is None:
            return False
        self._folders[partition] = PartitionFolder(
            lease, self._load, self._lane, base=self._base, tell=self._tell, probe=self._probe
        )
        self._stop_reading()
        self._unsure.add(partition)
        checkpoint = self._folders[partition].checkpoint.seq
        told = monotonic() >= self._tell_again or self._taken_at.get(partition) != checkpoint
        self._taken_at[partition] = checkpoint
        return told

    def _stop_reading(self) -> None:
        """The partitions held changed: drop the read in flight, so that the next one asks for all of them."""
        if self._asked:
            self._asked = {}
            self._read.close()
            self._generations = None

    def _carry_out_requests(self) -> None:
        for partition, folder in list(self._folders.items()):
            answer = self._tend.call("HGETALL", folder.lease.keys.log.control)
            for request, owner in zip(answer[::2], answer[1::2], strict=True):
                freed = folder.retry(owner.decode(), request.decode())
                self._tell("retry carried out", partition=partition, owner=owner.decode(), freed=freed)

    def _watch_reconnects(self) -> None:
        """A wire that was connected anew may speak to another history: drop what is remembered of the old one."""
        now = (self._read.generation, self._load.generation, self._lane.wire.generation, self._tend.generation)
        if self._generations is not None and any(
            old and new != old for old, new in zip(self._generations, now, strict=True)
        ):
            self._tell("reconnected", dropped=self.held)
            self._drop_everything()
            return
        self._generations = now

    def _drop_everything(self) -> None:
        self._folders.clear()
        self._asked = {}
        self._lane.drop()
        for wire in (self._read, self._load, self._tend):
            wire.close()
        self._generations = None
        self._next_tick = 0.0

    def hand_over(self) -> None:
        """Finish the commit in flight, release every lease, leave the list of workers; at once, as far as Redis lets."""
        try:
            self._lane.settle()
            for folder in self._folders.values():
                release_lease(self._tend, folder.lease)
            self._presence.leave()
        except (FoldError, StoreError) as error:
            self._tell("hand-over incomplete", reason=error.message)
        self._tell("worker stopped", folded=self.folded, released=ranges(self.held))
        self._drop_everything()
