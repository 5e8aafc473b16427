"""What a worker asks of Redis while nothing comes, and how long its partitions stand still when it goes or is killed."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter, sleep
from typing import Any, NamedTuple

from events.envelope import Prepared
from events.partitions import partition_of
from events.redis.log import RedisEventLog
from events.redis.wire import Wire
from ops.bench.scale.servers import Nodes, wait_until
from ops.bench.scale.traffic import Traffic
from ops.bench.scale.workers import WorkerProcess, await_folded, fold_workers
from projections.language.marks import MARKER
from projections.redis.debt import FoldDebt

PARTITIONS = 16
_LOT = 400
"""Events of so many that each partition has some."""


class Idle(NamedTuple):
    """A worker with nothing to do."""

    layout: str
    partitions: int
    commands: float
    """A second, all servers together, those that scripts call among them."""
    worker_percent: float
    """CPU of the worker by the clock."""
    redis_percent: float
    """CPU of all servers' main threads by the clock."""


class FoldStandstill(NamedTuple):
    """Seconds by the clock until what one worker held was folded by another, after each end."""

    handed_over: list[float]
    replaced: list[float]


def idle(nodes: Nodes, partitions: int, seconds: float) -> Idle:
    """A store of its own with one worker, watched for so long once it holds them all."""
    nodes.new_store(partitions)
    with fold_workers(nodes, 1) as (worker,):
        worker.begin()
        wait_until(lambda: len(worker.taken().held) == partitions, "a worker holds all partitions")
        before, cpu, began = nodes.used(), worker.taken().cpu, perf_counter()
        sleep(seconds)  # what is measured is a rate over time
        now, after = nodes.used(), worker.taken().cpu
        span = perf_counter() - began
        worker.end()
    return Idle(
        nodes.layout.name,
        partitions,
        (now.commands - before.commands) / span,
        (after - cpu) / span * 100,
        (now.cpu - before.cpu) / span * 100,
    )


def standstill(nodes: Nodes, texts: str, rounds: int) -> FoldStandstill:
    """Two workers, of which one goes, as many times as there are rounds; then the same by SIGKILL."""
    nodes.new_store(PARTITIONS)
    traffic, found = Traffic(100, texts), FoldStandstill([], [])
    with nodes.store() as (client, wire):
        log = RedisEventLog(client, nodes.tags, read_debt=FoldDebt(nodes.tags), marker=MARKER)
        for _ in range(rounds):
            for seconds, kills in ((found.handed_over, False), (found.replaced, True)):
                with fold_workers(nodes, 2) as workers:
                    seconds.append(_without_one(log, wire, nodes.tags, workers, traffic.lot(_LOT), kills=kills))
        log.close()
    return found


def _without_one(
    log: RedisEventLog,
    wire: Wire,
    tags: Sequence[str],
    workers: Sequence[WorkerProcess],
    lot: Sequence[Prepared],
    *,
    kills: bool,
) -> float:
    """Seconds until what came for the partitions of the first one is folded."""
    for one in workers:
        one.begin()
    for one in workers:
        wait_until(lambda worker=one: len(worker.taken().held) == len(tags) // 2, "each holds half of the partitions")  # type: ignore[misc]
    held = set(workers[0].taken().held)
    began = perf_counter()
    if kills:
        workers[0].kill()
    else:
        workers[0].tell_to_end()
    log.append([one for one in lot if partition_of(one.owner, len(tags)) in held])
    await_folded(wire, tags)
    return perf_counter() - began


def as_rows(found: Sequence[Idle]) -> list[dict[str, Any]]:
    """JSON-ready."""
    return [
        {
            "layout": one.layout,
            "partitions": one.partitions,
            "commands_a_second": round(one.commands),
            "worker_percent": round(one.worker_percent, 2),
            "redis_percent": round(one.redis_percent, 2),
        }
        for one in found
    ]
