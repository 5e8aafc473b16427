"""Events that arrive a few at a time and are folded as they come, while the worker holds many owners in memory.

The same events are appended to a second store that nobody folds: what Redis does for both less what it does for that is the fold's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from time import perf_counter, process_time
from typing import Any

from consumers.fold.worker import FoldWorker
from events.envelope import Prepared
from events.partitions import parse_position
from events.redis.log import RedisEventLog
from ops.bench.costs.backlog import stored_in
from ops.bench.costs.finals import Finals, commits, send
from ops.bench.costs.meter import Cost, Costs, Meter, cost_of
from ops.bench.fold import GIVE_UP_SECONDS
from ops.bench.raw import BATCH, RawConnection
from ops.bench.rounds import quiet
from ops.bench.sample import prepared, sample
from ops.bench.server import BenchServer

LEAST, AIM = 0.35, 0.7
SIZES = (1, 10, 100)
EVENTS = {1: 300, 10: 1_000, 100: 3_000}
"""Events of a round by how many come at a time."""
AT_MOST = 1.2
"""How much dearer one event may be where the worker holds many owners in memory than where it holds few."""
_SEED = 7


@dataclass
class _Store:
    """A store with owners of one memory each, and who writes to it."""

    server: BenchServer
    tags: tuple[str, ...]
    log: RedisEventLog
    heads: dict[int, int] = field(default_factory=dict)

    def append(self, events: Sequence[Prepared]) -> None:
        for receipt in self.log.append(events):
            assert receipt.status == "appended", receipt
            partition, seq = parse_position(receipt.position or "")
            self.heads[partition] = max(seq, self.heads.get(partition, 0))


@dataclass
class _Found:
    ours: list[Cost] = field(default_factory=list)
    append: list[Cost] = field(default_factory=list)
    limit: list[Cost] = field(default_factory=list)


def measure(
    server: BenchServer, beside: BenchServer, texts: str, owners: int, sizes: Sequence[int], rounds: int, events: int
) -> list[dict[str, Any]]:
    """A row a size. `events`: of a round at most. The store goes on growing from round to round, as stores do."""
    cached = prepared(sample(owners, owners, only_created=True))
    ours, alone = (_Store(one, *_opened(one)) for one in (server, beside))
    worker = FoldWorker(server.client, ours.tags, "bench")
    for at in range(0, owners, BATCH):
        ours.append(cached[at : at + BATCH])
        alone.append(cached[at : at + BATCH])
        assert worker.drain(ours.heads, GIVE_UP_SECONDS)
    finals = Finals(ours.log.secrets_of({one.owner for one in cached}))
    _writes(ours, finals, {})
    counts = {size: max(min(events, EVENTS.get(size, 30 * size)), size) for size in sizes}
    ready = prepared(sample(sum(counts.values()) * rounds, owners, seed=_SEED, texts=texts, ids="live"))
    bodies, found, at = dict.fromkeys(sizes, 0), {size: _Found() for size in sizes}, 0
    for _ in range(rounds):
        for size, count in counts.items():
            part = ready[at : at + count]
            at += count
            bodies[size] += sum(len(one.body) for one in part)
            _round(ours, alone, worker, finals, part, size, found[size])
    worker.hand_over()
    ours.log.close()
    alone.log.close()
    return [_row(texts, owners, size, counts[size], bodies[size] / rounds, found[size]) for size in sizes]


def held(
    server: BenchServer, beside: BenchServer, texts: str, few: int, many: int, rounds: int, events: int
) -> dict[str, Any]:
    """One event at a time, with few and with many owners in the worker's memory: `times` is many to few, the client's CPU."""
    (least,), (most,) = (measure(server, beside, texts, number, (1,), rounds, events) for number in (few, many))
    times = round(most["client_us"] / least["client_us"], 2)
    return {"texts": texts, "owners": [few, many], "times": times, "at_most": AT_MOST, "few": least, "many": most}


def _opened(server: BenchServer) -> tuple[tuple[str, ...], RedisEventLog]:
    identity, log = server.new_log()
    return identity.tags, log


def _round(
    ours: _Store, alone: _Store, worker: FoldWorker, finals: Finals, part: Sequence[Prepared], size: int, found: _Found
) -> None:
    before = dict(ours.heads)
    with quiet():
        folded, appended = _together(ours, worker, part, size)
    with quiet(), Meter(alone.server) as watch:
        for at in range(0, len(part), size):
            alone.append(part[at : at + size])
    bare = watch.cost
    found.ours.append(folded.less(bare))
    found.append.append(bare._replace(wall=appended.wall, client=appended.client))
    order = {one.raw_id: number for number, one in enumerate(part)}
    written = sorted(_writes(ours, finals, before), key=lambda one: order[one.stored.raw_id])
    pipelines = commits(written, size, ours.tags)
    with quiet(), RawConnection(alone.server.socket) as connection:
        found.limit.append(cost_of(alone.server, lambda: send(connection, pipelines)))


def _together(ours: _Store, worker: FoldWorker, part: Sequence[Prepared], size: int) -> tuple[Cost, Cost]:
    """What folding took of the client and the clock, with all that the server did; and what appending took."""
    wall = client = waited = spent = 0.0
    with Meter(ours.server) as watch:
        for at in range(0, len(part), size):
            start, cpu = perf_counter(), process_time()
            ours.append(part[at : at + size])
            middle, cpu_middle = perf_counter(), process_time()
            done = worker.drain(ours.heads, GIVE_UP_SECONDS)
            wall += perf_counter() - middle
            client += process_time() - cpu_middle
            waited += middle - start
            spent += cpu_middle - cpu
            assert done, "the fold did not follow"
    return watch.cost._replace(wall=wall, client=client), Cost(waited, spent)


def _writes(ours: _Store, finals: Finals, before: dict[int, int]) -> list[Any]:
    return [
        one
        for partition, head in ours.heads.items()
        if head > before.get(partition, 0)
        for one in finals.writes(stored_in(ours.log, partition, before.get(partition, 0)))
    ]


def _row(texts: str, owners: int, size: int, count: int, bodies: float, found: _Found) -> dict[str, Any]:
    what = {"texts": texts, "traffic": "live", "at_a_time": size, "owners": owners, "workers": 1}
    told = Costs(what, count, bodies / count, found.ours, found.limit, LEAST if size == max(SIZES) else None, AIM)
    append = Costs({}, count, bodies / count, found.append, found.limit).as_dict()
    return told.as_dict() | {f"append_{name}": append[name] for name in ("client_us", "server_us", "aof_bytes")}
