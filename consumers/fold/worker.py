"""The fold worker: keeps memories level with the log, for as many partitions as are its share.

Order is the contract: an error that is not understood stops a partition's fold, it never skips ahead. A wire that breaks or
a commit that is refused drops everything that was not committed; partitions are leased anew and reloaded.

What follows on each partition is asked for while the batch before it is folded. A partition whose answer held as much as was
asked for is *behind*. Those that are behind are read by turns, one at a time and much of it, so that an owner's events meet in
one commit; the others are read with it, little of each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from threading import Event as Flag
from time import monotonic
from typing import Any, NamedTuple

import redis

from engramlog_server.consumers.fold.figures import FoldFigures
from engramlog_server.consumers.fold.folder import CACHED_BY_A_WORKER, CommitLane, PartitionFolder, Probe, unprobed
from engramlog_server.consumers.fold.held import LOOK_SECONDS, STANDING_SECONDS, STANDS_STILL, HeldPartitions
from engramlog_server.consumers.fold.presence import LEASE_MS, Presence, fair_share
from engramlog_server.consumers.fold.rebuild import tell_left_build
from engramlog_server.events.alarms import Alarms, Tell, TellingAlarms, silent
from engramlog_server.events.envelope import Stored
from engramlog_server.events.errors import FoldError, LostLease, StoreError, StoreUnavailable
from engramlog_server.events.partitions import LogKeys, ranges
from engramlog_server.events.redis.log import entries
from engramlog_server.events.redis.server import redis_ms
from engramlog_server.events.redis.wire import Script, Wire, as_store_error, open_wire
from engramlog_server.projections.redis.builds import drop_retired_builds
from engramlog_server.projections.redis.store import COMMIT

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
