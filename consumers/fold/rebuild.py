"""Rebuilding: the ordinary fold under another build, while the live one goes on; then one script switches.

Nothing but the new build is written until the switch, so a rebuild that is killed leaves nothing but keys that the next
one of the same name goes on with.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from time import monotonic, sleep
from typing import NamedTuple

import redis

from engramlog_server.consumers.fold.folder import CommitLane, Probe, Tell, silent, unprobed
from engramlog_server.consumers.fold.windows import WindowFolder
from engramlog_server.events.admission import APPEND_FULL
from engramlog_server.events.envelope import Stored
from engramlog_server.events.errors import DamagedState, LostLease, StoreError, StoreFull, StoreUnavailable
from engramlog_server.events.heads import Head
from engramlog_server.events.parameters import DEFAULTS, Parameters
from engramlog_server.events.partitions import LogKeys
from engramlog_server.events.redis.clock import redis_ms
from engramlog_server.events.redis.gap import refuse_gap
from engramlog_server.events.redis.log import entries
from engramlog_server.events.redis.wire import Wire, as_store_error, open_wire
from engramlog_server.projections.fold.builds import BuildKeys, next_build
from engramlog_server.projections.fold.changelog import FIRST_LINK
from engramlog_server.projections.fold.partition import Checkpoint
from engramlog_server.projections.fold.window import LIMITS, WindowLimits
from engramlog_server.projections.redis.heads import chain_on
from engramlog_server.projections.redis.retire import drop_tables
from engramlog_server.projections.redis.scripts import SWITCH
from engramlog_server.projections.redis.store import (
    CHECKPOINT_FIELDS,
    Lease,
    checkpoint_fields,
    read_checkpoint,
    release_lease,
    renew_lease,
    take_lease,
)

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
    base: Parameters = DEFAULTS,
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
            folder = WindowFolder(
                *(lease, load, lane), base=base, tell=tell, probe=probe, limits=limits, between=hold.renew
            )
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
            tell("rebuild goes on", partition=keys.tag, build=keys.build, seq=folded.seq)
            return
    except DamagedState as error:
        tell("rebuild begins anew", partition=keys.tag, build=keys.build, reason=error.message)
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
            f"a rebuild needs about {needed:,} bytes beside the {used:,} in use, and may not pass {APPEND_FULL:.0%} of maxmemory"
            f" ({limit:,}): raise maxmemory (ENGRAMLOG_REDIS_MAXMEMORY, or CONFIG SET maxmemory) and run it again"
        )
