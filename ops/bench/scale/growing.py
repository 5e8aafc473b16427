"""A store that grows from nothing: lots are appended and folded, slice after slice, and each slice tells what its events took."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter, process_time
from typing import NamedTuple

from events.marks import Marker
from events.redis.log import RedisEventLog
from events.redis.wire import Wire
from ops.bench.rounds import quiet
from ops.bench.scale.fold_process import MASTER
from ops.bench.scale.servers import Nodes, ServersUsed
from ops.bench.scale.traffic import LOT, Traffic
from ops.bench.scale.workers import WorkerProcess, await_folded, fold_workers
from projections.language.marks import MARKER
from projections.redis.debt import FoldDebt

PARTITIONS = 16
SLICES = 10
Advance = Callable[[int], None]
"""Is told of so many events more."""


class Slice(NamedTuple):
    """What the events of one slice took: microseconds and bytes an event."""

    before: int
    """Events in the store when it began."""
    events: int
    append_us: float
    """CPU of who appends."""
    redis_us: float
    """CPU of the primaries' main threads, appending and folding."""
    replicas_us: float
    fold_us: float
    """CPU of the workers."""
    aof_bytes: float
    redis_bytes: float
    worker_bytes: int
    """Most memory that one worker ever had."""
    clock_us: float


class Grown(NamedTuple):
    """A store that has grown, slice by slice."""

    slices: Sequence[Slice]
    body: float
    """Mean bytes of an event's body."""

    def each(self, field: str) -> float:
        """Of all slices together, an event."""
        events = sum(one.events for one in self.slices)
        return float(sum(getattr(one, field) * one.events for one in self.slices) / events)


def grow(
    nodes: Nodes,
    traffic: Traffic,
    events: int,
    *,
    workers: int = 1,
    sealed: bool = False,
    slices: int = SLICES,
    partitions: int = PARTITIONS,
    marker: Marker = MARKER,
    advance: Advance = lambda _more: None,
) -> Grown:
    """From an empty store. It stays there afterwards, all folded, and no worker does."""
    master = MASTER if sealed else None
    nodes.new_store(partitions, master)
    found, bodies = list[Slice](), 0
    with nodes.store(master) as (client, wire), fold_workers(nodes, workers, sealed=sealed) as running:
        log = RedisEventLog(client, nodes.tags, read_debt=FoldDebt(nodes.tags), marker=marker)
        log.head(0)
        for one in running:
            one.begin()
        for number in range(slices):
            size = events * (number + 1) // slices - events * number // slices
            taken, body = _slice(nodes, log, wire, traffic, running, events * number // slices, size, advance)
            found.append(taken)
            bodies += body
        for one in running:
            one.end()
        log.close()
    return Grown(found, bodies / events)


def _slice(
    nodes: Nodes,
    log: RedisEventLog,
    wire: Wire,
    traffic: Traffic,
    workers: Sequence[WorkerProcess],
    before: int,
    size: int,
    advance: Advance,
) -> tuple[Slice, int]:
    """What it took, and the bytes of its bodies."""
    used, folded = nodes.used(), sum(one.taken().cpu for one in workers)
    client, bodies, clock = 0.0, 0, perf_counter()
    for at in range(0, size, LOT):
        lot = traffic.lot(min(LOT, size - at))
        bodies += sum(len(one.body) for one in lot)
        with quiet():
            began = process_time()
            receipts = log.append(lot)
            client += process_time() - began
        assert all(one.status == "appended" for one in receipts), "an event of the benchmark was not appended"
        await_folded(wire, nodes.tags)
        advance(len(lot))
    clock = perf_counter() - clock
    taken, now = [one.taken() for one in workers], nodes.used()
    most = max(one.most_bytes for one in taken)
    fold = sum(one.cpu for one in taken) - folded
    return _told(before, size, client, fold, used, now, most, clock), bodies


def _told(
    before: int, size: int, client: float, fold: float, used: ServersUsed, now: ServersUsed, most: int, clock: float
) -> Slice:
    return Slice(
        before,
        size,
        client / size * 1e6,
        (now.cpu - used.cpu) / size * 1e6,
        (now.replicas - used.replicas) / size * 1e6,
        fold / size * 1e6,
        (now.aof - used.aof) / size,
        (now.memory - used.memory) / size,
        most,
        clock / size * 1e6,
    )
