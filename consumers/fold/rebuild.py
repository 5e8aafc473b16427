"""Rebuilding: the ordinary fold under another build, while the live one goes on; then one script switches.

The new build is written window by window. Nothing but the new build is written until the switch, so a rebuild that is killed leaves
nothing but keys that the next one of the same name goes on with. The store keeps what a rebuild of several partitions has done.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from time import monotonic, sleep
from typing import Any, NamedTuple

import msgspec
import redis

from engramlog_server.consumers.fold.folder import CommitLane, PartitionFolder, Probe, unprobed
from engramlog_server.events.alarms import Alarms, Tell, silent
from engramlog_server.events.envelope import Stored
from engramlog_server.events.errors import DamagedState, LostLease, StoreError, StoreFull, StoreUnavailable
from engramlog_server.events.heads import Head
from engramlog_server.events.partitions import REBUILD_KEY, LogKeys
from engramlog_server.events.redis.durability import refuse_gap, refuse_holes
from engramlog_server.events.redis.log import APPEND_FULL, entries
from engramlog_server.events.redis.server import redis_ms
from engramlog_server.events.redis.wire import Wire, as_store_error, keys_like, open_wire
from engramlog_server.events.text import UNREADABLE
from engramlog_server.projections.fold.changelog import FIRST_LINK
from engramlog_server.projections.fold.owner import PROJECTION_VERSION
from engramlog_server.projections.fold.partition import (
    LIMITS,
    Checkpoint,
    Outcome,
    Window,
    WindowLimits,
    decode_all,
    discarded_position,
    encode_outcome,
    is_discard,
)
from engramlog_server.projections.redis.builds import BuildKeys, drop_build, drop_tables, is_build, next_build
from engramlog_server.projections.redis.create import chain_on
from engramlog_server.projections.redis.store import (
    CHECKPOINT_FIELDS,
    SWITCH,
    Lease,
    checkpoint_fields,
    read_checkpoint,
    release_lease,
    renew_lease,
    take_lease,
)


class _Record(msgspec.Struct):
    """A rebuild as the store keeps it."""

    version: int
    partitions: list[int]
    done: list[int]


class RebuildRun:
    """One rebuild of several partitions."""

    def __init__(self, record: _Record) -> None:
        self._record = record
        self.done = sorted(record.done)
        """Partitions that were done before this process began."""
        self.rest = [number for number in record.partitions if number not in record.done]

    @classmethod
    def begin(cls, wire: Wire, partitions: Sequence[int], *, anew: bool) -> RebuildRun:
        """Go on with the run of these partitions that did not end, or begin one."""
        record = None if anew else _read(wire.call("HGET", REBUILD_KEY, "run"))
        if record is None or record.version != PROJECTION_VERSION or record.partitions != list(partitions):
            record = _Record(PROJECTION_VERSION, list(partitions), [])
        run = cls(record)
        run._write(wire)
        return run

    def finished(self, wire: Wire, partition: int) -> None:
        """A partition was switched."""
        self._record.done.append(partition)
        self._write(wire)

    def _write(self, wire: Wire) -> None:
        wire.call("HSET", REBUILD_KEY, "run", msgspec.json.encode(self._record))

    def end(self, wire: Wire) -> None:
        """All of it is done."""
        self.forget(wire)

    @staticmethod
    def forget(wire: Wire) -> None:
        """Nothing is gone on with."""
        wire.call("DEL", REBUILD_KEY)


def _read(raw: bytes | None) -> _Record | None:
    try:
        return None if raw is None else msgspec.json.decode(raw, type=_Record)
    except UNREADABLE:
        return None


class LeftBuild(NamedTuple):
    """A build beside the live one."""

    build: str
    seq: int
    running: bool
    """Whether a rebuild holds it now."""


def left_build(wire: Wire, tag: str, live: str, now_ms: int) -> LeftBuild | None:
    """What the next rebuild of a partition would go on with; None where there is nothing. One small read."""
    if not is_build(live):
        return None
    keys = BuildKeys(tag, next_build(live))
    epoch, seq, holder, ends = wire.call("HMGET", keys.checkpoint, "epoch", "seq", "holder", "until")
    if epoch is None:
        return None
    return LeftBuild(keys.build, int(seq or 0), holder is not None and int(ends or 0) > now_ms)


def tell_left_build(wire: Wire, keys: BuildKeys, partition: int, now_ms: int, alarms: Alarms) -> None:
    """Raise, or end, the alarm of a rebuild that was killed; `keys`: of the live build."""
    left = left_build(wire, keys.tag, keys.build, now_ms)
    if left is None or left.running:
        alarms.cleared("rebuild_left", f"partition {partition}")
    else:
        alarms.raised("rebuild_left", f"partition {partition}", f"build {left.build} was folded up to {left.seq}")


def drop_left_builds(wire: Wire, tag: str, now_ms: int) -> list[str]:
    """Drop every build that is neither live, nor on its way out, nor being made; gives their names."""
    answer = wire.call("HGETALL", LogKeys(tag).meta)
    meta = dict(zip(answer[::2], answer[1::2], strict=True))
    known = {meta.get(b"live", b"").decode(), *(name[4:].decode() for name in meta if name.startswith(b"old:"))}
    prefix, found = f"{{{tag}}}:", set[str]()
    for key, _ in keys_like(wire, f"{prefix}v*"):
        name = key.decode("utf-8", "replace").removeprefix(prefix).partition(":")[0]
        if is_build(name) and name not in known:
            found.add(name)
    dropped = []
    for build in sorted(found):
        keys = BuildKeys(tag, build)
        ends = wire.call("HGET", keys.checkpoint, "until")
        if ends is None or int(ends) <= now_ms:
            drop_build(wire, keys)
            dropped.append(build)
    return dropped


CACHED_BYTES = 256 * 1024 * 1024
"""Of the records a folder keeps, about: as many fewer as events are longer."""


class WindowFolder(PartitionFolder):
    """Reads a window, then folds and writes it owner by owner. `close` writes what is open.

    `between`: called between groups of a window, of which one takes seconds: whoever holds a lease renews it.
    """

    def __init__(
        self, *given: Any, limits: WindowLimits = LIMITS, between: Callable[[], None] = lambda: None, **more: Any
    ) -> None:
        super().__init__(*given, **more)
        self._limits, self._between = limits, between
        self._window = Window(self.checkpoint, limits)
        self._read: Sequence[Stored] = ()
        self._cached_memories = self._most
        self._bytes = self._events = 0

    @property
    def at(self) -> int:
        """The seq up to which is read, written or not."""
        return self._window.seq

    def prepare(self, stored: Sequence[Stored]) -> None:
        """Take what follows on what was read. Raises LogGap where seqs are missing: then the folder must be dropped."""
        self._read = [one for one in stored if one.seq > self.at]
        refuse_holes(self._read, self.at, self.lease.keys.tag)

    def fold(self) -> None:
        """Read what was prepared into the window; folds and writes it where it is full. Raises FoldError or StoreError."""
        stored, self._read = self._read, ()
        self._probe("between prefetch and commit")
        passing = False
        while stored:
            stored = stored[self._window.read(stored, passing=passing) :]
            passing = False
            if self._window.full:
                self._write()
            elif stored and is_discard(stored[0]):
                passing = not self._discarded(stored[0])
                stored = stored if passing else stored[1:]

    def close(self) -> None:
        """Write all that was read; the checkpoint stands at its end. Raises as `fold` does."""
        if self._window.open:
            self._write()
        self._evict(0)

    def _discarded(self, stored: Stored) -> bool:
        """Whether a discard is of a parked event, and was folded: what its owner has before it is folded first."""
        name, decoded = stored.owner, decode_all(self._opened([stored]))
        if discarded_position(decoded[0][1]) is None:
            return False
        for piece in self._folded(self._window.groups(name)):
            self._put_piece(piece, last=False)
        self._load_for(decoded)
        owner = self._owners[name]
        if owner.quarantine is None or stored.seq <= owner.parked_to:
            return False
        self._write()
        self._load_for(decoded)  # it may have left the cache
        self._commit(self._discard(decoded))
        self._window = Window(self.checkpoint, self._limits)
        return True

    def _write(self) -> None:
        """Fold and write all that was read. The last piece moves the checkpoint, so each waits for the next."""
        window = self._window
        if not window.past_pieces:
            keys = self.lease.keys
            raise DamagedState(
                f"build {keys.build} of partition {{{keys.tag}}}, left by a killed rebuild, cannot be continued:"
                " `engramlog rebuild --drop-left` drops it, and the next rebuild starts over",
                partition=keys.tag,
                build=keys.build,
            )
        if not window.open:
            return
        self._events += window.events
        self._bytes += window.size
        for piece in self._folded(window.groups()):
            self._put_piece(piece, last=False)
        self._put_piece(window.outcome(), last=True)
        self._window = Window(self.checkpoint, self._limits)
        self._most = min(self._cached_memories, CACHED_BYTES * self._events // max(self._bytes, 1))

    def _folded(self, groups: Iterable[list[Stored]]) -> Iterable[Outcome]:
        """Groups folded one after another, piece by piece; each piece is put before the next is asked for."""
        for group in groups:
            decoded = decode_all(self._opened(group))
            in_hand = self._load_for(decoded)
            yield from self._window.pieces(self._owners, decoded, on_failure=self._told)
            self._count(in_hand)
            self._evict(len(in_hand))
            self._between()

    def _put_piece(self, piece: Outcome, *, last: bool) -> None:
        before, window = self.checkpoint, self._window
        encoded = encode_outcome(before, piece, self._owners)
        if not last:
            reach, reached = (window.seq, window.head) if window.past_pieces else (before.reach, before.reached)
            told = encoded.checkpoint._replace(
                seq=before.seq, head=before.head, pieces=before.pieces + 1, reach=reach, reached=reached
            )
            encoded = encoded._replace(checkpoint=told)
        self._put(piece, encoded)


LEASE_MS = 10_000
LOOK_SECONDS = 0.1
READ_COUNT = 500
PROGRESS_SECONDS = 0.1
Progress = Callable[[int, int], None]


class Rebuilt(NamedTuple):
    """A partition that was switched to a new build."""

    tag: str
    old: str
    new: str
    seq: int


def rebuild_partition(
    client: redis.Redis,
    tag: str,
    *,
    holder: str,
    tell: Tell = silent,
    probe: Probe = unprobed,
    on_wait: Callable[[str], None] = lambda _told: None,
    on_progress: Progress = lambda _done, _all: None,
    lease_ms: int = LEASE_MS,
    give_up_after: float = 3_600.0,
    limits: WindowLimits = LIMITS,
    anew: bool = False,
) -> Rebuilt:
    """Fold a partition's log anew and switch readers and workers to it. `anew`: nothing that a killed rebuild left is gone on with.

    Raises LogGap where the log is not whole, LostLease while another rebuild of the partition holds the new build, and
    StoreError where Redis refuses.
    """
    tend, load, read = open_wire(client), open_wire(client), open_wire(client)
    lane = CommitLane(open_wire(client), probe=probe)
    try:
        live = (tend.call("HGET", LogKeys(tag).meta, "live") or b"").decode()
        keys = BuildKeys(tag, next_build(live))
        end = monotonic() + give_up_after
        refuse_gap(tend, tag)
        lane.connect(keys.checkpoint)
        lease = _lease(tend, keys, holder, lease_ms, on_wait)
        probe("lease taken")
        with _handed_over(tend, lease):
            hold = _Hold(tend, lease, lease_ms)
            _go_on_or_anew(tend, keys, tell, probe, hold.renew, anew=anew)
            folder = WindowFolder(*(lease, load, lane), tell=tell, probe=probe, limits=limits, between=hold.renew)
            _ask(read, tag, folder.at)
            told = monotonic()
            while monotonic() < end:
                hold.renew()
                batch = _answered(read, tag)
                if batch:
                    folder.prepare(batch)
                    _ask(read, tag, batch[-1].seq)  # Redis reads on while we fold
                    folder.fold()
                    if len(batch) < READ_COUNT:  # the log's end: what is open is not kept waiting for more
                        folder.close()
                    if monotonic() - told > PROGRESS_SECONDS:
                        told = monotonic()
                        on_progress(folder.at, int(tend.call("HGET", LogKeys(tag).meta, "head") or 0))
                    continue
                _ask(read, tag, folder.at)
                folder.close()
                lane.settle()
                refuse_gap(tend, tag)
                probe("before a switch")
                if _switch(tend, live, keys):
                    probe("after a switch")
                    tell("build switched", partition=tag, old=live, new=keys.build, seq=folder.checkpoint.seq)
                    return Rebuilt(tag, live, keys.build, folder.checkpoint.seq)
                sleep(0.005)
            raise StoreUnavailable(
                f"partition {{{tag}}}: the rebuild did not catch up with the live fold in {give_up_after:g} s; run it again"
            )
    finally:
        for wire in (tend, load, read, lane.wire):
            wire.close()


@contextmanager
def _handed_over(wire: Wire, lease: Lease) -> Iterator[None]:
    """The lease is given back where an error or whoever asked ends the rebuild, so that the next one need not wait."""
    try:
        yield
    except (Exception, KeyboardInterrupt) as error:
        if not isinstance(error, StoreUnavailable):
            with suppress(StoreError):
                release_lease(wire, lease)
        raise


def _lease(wire: Wire, keys: BuildKeys, holder: str, lease_ms: int, on_wait: Callable[[str], None]) -> Lease:
    """The lease on the new build. Waits for that of a rebuild that was killed to end; raises LostLease where one goes on."""
    until = wire.call("HGET", keys.checkpoint, "until")
    while True:
        lease = take_lease(
            wire, keys, holder, now_ms=redis_ms(wire, keys.checkpoint), ttl_ms=lease_ms, must_be_live=False
        )
        if lease is not None:
            return lease
        ends = wire.call("HGET", keys.checkpoint, "until")
        if ends != until or int(ends or 0) - redis_ms(wire, keys.checkpoint) > lease_ms:
            raise LostLease(f"another rebuild of partition {{{keys.tag}}} holds build {keys.build}", partition=keys.tag)
        on_wait(f"partition {{{keys.tag}}}: waiting for the lease of another rebuild to end")
        sleep(LOOK_SECONDS)


class _Hold:
    """A lease that is held for as long as a rebuild takes, whatever it is at."""

    def __init__(self, wire: Wire, lease: Lease, lease_ms: int) -> None:
        self._wire, self._lease, self._lease_ms = wire, lease, lease_ms
        self._renewed = monotonic()

    def renew(self) -> None:
        """Where a third of it is over, it lasts anew. Raises LostLease where it is another's now."""
        if monotonic() - self._renewed <= self._lease_ms / 3_000:
            return
        self._renewed = monotonic()
        keys = self._lease.keys
        now_ms = redis_ms(self._wire, keys.checkpoint)
        if not renew_lease(self._wire, self._lease, now_ms=now_ms, ttl_ms=self._lease_ms):
            raise LostLease(f"the lease on build {keys.build} of partition {{{keys.tag}}} was lost", partition=keys.tag)


def _go_on_or_anew(
    wire: Wire, keys: BuildKeys, tell: Tell, probe: Probe, renew: Callable[[], None], *, anew: bool
) -> None:
    """Where an earlier rebuild's fold stands on this log, it is gone on with; else what it left is taken away first."""
    try:
        folded = read_checkpoint(wire, keys)
        if not anew and (folded.seq or folded.pieces) and _on_this_log(wire, keys.tag, folded):
            tell("rebuild resumed", partition=keys.tag, build=keys.build, seq=folded.seq)
            return
    except DamagedState as error:
        tell("rebuild restarted", partition=keys.tag, build=keys.build, reason=error.message)
    wire.call("HDEL", keys.checkpoint, *CHECKPOINT_FIELDS)  # first: what is half gone is nothing to go on with
    probe("before what was left is dropped")
    drop_tables(wire, keys, renew)
    wire.call("HSET", keys.checkpoint, *checkpoint_fields(Checkpoint()))


def _on_this_log(wire: Wire, tag: str, folded: Checkpoint) -> bool:
    start = Head(0, 0, FIRST_LINK.hex())
    if chain_on(wire, tag, start, folded.seq) != folded.head.hex():
        return False
    further = Head(0, folded.seq, folded.head.hex())
    return not folded.pieces or chain_on(wire, tag, further, folded.reach) == folded.reached.hex()


def _ask(wire: Wire, tag: str, after: int) -> None:
    """Ask for the entries after a seq; `_answered` takes them."""
    wire.send("XRANGE", LogKeys(tag).stream, f"{after + 1}-0", "+", "COUNT", READ_COUNT)


def _answered(wire: Wire, tag: str) -> list[Stored]:
    """The entries asked for. Raises StoreError where Redis refused."""
    try:
        return entries(wire.receive(), tag)
    except redis.ResponseError as error:
        raise as_store_error(error) from error


def _switch(wire: Wire, live: str, keys: BuildKeys) -> bool:
    """Whether the new build is the live one now; False while its checkpoint is behind the live one's.

    It may be ahead: a live build that stands still (damaged, or of another version) is no reason not to leave it.
    """
    old = BuildKeys(keys.tag, live)
    answer = wire.run(
        SWITCH, [keys.log.meta, old.checkpoint, keys.checkpoint], [live, keys.build, redis_ms(wire, keys.checkpoint)]
    )
    if answer[0] == b"other" and answer[1].decode() != keys.build:
        raise LostLease(
            f"partition {{{keys.tag}}}: {answer[1].decode()} became the live build meanwhile", partition=keys.tag
        )
    return bool(answer[0] != b"behind")


def refuse_without_room(wire: Wire, tags: Sequence[str]) -> None:
    """Raises StoreFull where a second build would bring Redis, or a node of a Cluster, to where appends are refused."""
    by_node: dict[str, list[str]] = {}
    for tag in tags:
        by_node.setdefault(wire.node_of(LogKeys(tag).meta), []).append(tag)
    for some in by_node.values():
        _refuse_without_room_beside(wire, some)


def _refuse_without_room_beside(wire: Wire, tags: Sequence[str]) -> None:
    """The same of partitions that lie on one server."""
    told = wire.at(LogKeys(tags[0]).meta).call("INFO", "memory").decode().splitlines()
    fields = dict(line.split(":", 1) for line in told if ":" in line)
    used, limit = int(fields["used_memory"]), int(fields["maxmemory"])
    if not limit:
        return
    streams = sum(int(wire.call("MEMORY", "USAGE", LogKeys(tag).stream, "SAMPLES", 20) or 0) for tag in tags)
    needed = max(used - streams, 0)
    if used + needed > APPEND_FULL * limit:
        raise StoreFull(
            f"a rebuild needs about {needed:,} bytes more than the {used:,} in use, and may not pass {APPEND_FULL:.0%} of maxmemory"
            f" ({limit:,}): raise maxmemory (ENGRAMLOG_REDIS_MAXMEMORY, or CONFIG SET maxmemory) and run it again"
        )
