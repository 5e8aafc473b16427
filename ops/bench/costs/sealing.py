"""What sealing costs: the same work at a store that is sealed and at one that lies open, in turn, by CPU and by bytes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from statistics import median
from typing import Any, NamedTuple

from consumers.fold.worker import FoldWorker
from events.envelope import AnyEvent, Prepared, prepare
from events.redis.log import RedisEventLog
from events.sealing.key_ring import KEY_BYTES, KeyRing
from ops.bench.costs.meter import Cost, cost_of
from ops.bench.fold import GIVE_UP_SECONDS
from ops.bench.rounds import quiet
from ops.bench.sample import EVENTS_AN_OWNER, sample
from ops.bench.server import BenchServer
from projections.language.marks import MARKER
from projections.redis.debt import FoldDebt
from projections.redis.view import RedisViews

SIZES = (1, 100)
"""Events of one request of an append."""
SINGLE = 1_000
"""Events of a round that are appended one by one."""
MEMORIES = 2_000
"""Of the owner whose view is loaded."""
_MASTER = bytes(range(KEY_BYTES))


class _Work(NamedTuple):
    """One kind of work: made ready at a store that is sealed or not, then done, and measured."""

    name: str
    unit: str
    many: int
    run: Callable[[BenchServer, bool], Cost]


def measure(server: BenchServer, texts: Sequence[str], events: int, rounds: int) -> dict[str, Any]:
    """A row a kind of work and set of texts; and bytes an event, of the log alone and with what is folded."""
    rows, space = list[dict[str, Any]](), list[dict[str, Any]]()
    for name in texts:
        told = sample(events, max(events // EVENTS_AN_OWNER, 1), texts=name)
        one = sample(MEMORIES, 1, texts=name, only_created=True)
        ready, owner = [prepare(event) for event in told], [prepare(event) for event in one]
        rows += [_row(server, name, work, rounds) for work in _works(told, ready, owner)]
        space.append({"texts": name, **{key: _space(server, ready, sealed) for key, sealed in _BOTH}})
    return {"costs": rows, "bytes": space}


_BOTH = (("open", False), ("sealed", True))


def _works(told: Sequence[AnyEvent], ready: Sequence[Prepared], owner: Sequence[Prepared]) -> list[_Work]:
    found = [
        _Work(f"append, {size} at a time", "event", many, partial(_append, told[:many], size))
        for size in SIZES
        for many in (min(SINGLE, len(told)) if size == 1 else len(told),)
    ]
    found.append(_Work("fold", "event", len(ready), partial(_fold, ready)))
    found.append(_Work("loading an owner", "memory", len(owner), partial(_load, owner)))
    found.append(_Work("reading the log", "event", len(ready), partial(_read, ready)))
    return found


def _row(server: BenchServer, texts: str, work: _Work, rounds: int) -> dict[str, Any]:
    both = [(work.run(server, False), work.run(server, True)) for _ in range(rounds)]
    ratios = [sealed.cpu / lies_open.cpu for lies_open, sealed in both]

    def each(at: int, field: str) -> float:
        return round(float(median(getattr(pair[at], field) for pair in both)) / work.many * 1e6, 2)

    return {
        "what": work.name,
        "texts": texts,
        "unit": work.unit,
        "count": work.many,
        "rounds": rounds,
        "open_us": each(0, "cpu"),
        "sealed_us": each(1, "cpu"),
        "open_client_us": each(0, "client"),
        "sealed_client_us": each(1, "client"),
        "cost": round(median(ratios), 3),
        "cost_min": round(min(ratios), 3),
        "cost_max": round(max(ratios), 3),
    }


def _log(server: BenchServer, sealed: bool) -> RedisEventLog:
    identity = server.new_store(master=KeyRing([_MASTER]) if sealed else None)
    return RedisEventLog(server.client, identity.tags, read_debt=FoldDebt(identity.tags), marker=MARKER)


def _filled(server: BenchServer, ready: Sequence[Prepared], sealed: bool) -> RedisEventLog:
    log = _log(server, sealed)
    for at in range(0, len(ready), 500):
        log.append(ready[at : at + 500])
    return log


def _append(told: Sequence[AnyEvent], size: int, server: BenchServer, sealed: bool) -> Cost:
    log = _log(server, sealed)
    log.head(0)

    def run() -> None:
        for at in range(0, len(told), size):
            assert all(one.written for one in log.append(told[at : at + size]))

    with quiet():
        cost = cost_of(server, run)
    log.close()
    return cost


def _fold(ready: Sequence[Prepared], server: BenchServer, sealed: bool) -> Cost:
    log = _filled(server, ready, sealed)
    worker, heads = FoldWorker(server.client, server.tags, "bench"), _heads(log)
    with quiet():
        cost = cost_of(server, lambda: worker.drain(heads, GIVE_UP_SECONDS))
    assert worker.folded == len(ready), f"{worker.folded} of {len(ready)} events were folded"
    worker.hand_over()
    log.close()
    return cost


def _load(ready: Sequence[Prepared], server: BenchServer, sealed: bool) -> Cost:
    log = _filled(server, ready, sealed)
    worker = FoldWorker(server.client, server.tags, "bench")
    assert worker.drain(_heads(log), GIVE_UP_SECONDS)
    worker.hand_over()
    views = RedisViews(server.client, server.tags)

    def run() -> None:
        with views.view(ready[0].owner) as (view, _):
            assert len(view) == len(ready)

    with quiet():
        cost = cost_of(server, run)
    views.close()
    log.close()
    return cost


def _read(ready: Sequence[Prepared], server: BenchServer, sealed: bool) -> Cost:
    log = _filled(server, ready, sealed)
    heads = _heads(log)

    def run() -> None:
        found = 0
        for partition, head in heads.items():
            for after in range(0, head, 500):
                found += len(log.read(partition, after))
        assert found == len(ready)

    with quiet():
        cost = cost_of(server, run)
    log.close()
    return cost


def _space(server: BenchServer, ready: Sequence[Prepared], sealed: bool) -> dict[str, float]:
    """Bytes an event above an empty store: of the log alone, and with what is folded of it."""
    _log(server, sealed).close()
    empty = _used(server)
    log = _filled(server, ready, sealed)
    alone = _used(server) - empty
    worker = FoldWorker(server.client, server.tags, "bench")
    assert worker.drain(_heads(log), GIVE_UP_SECONDS)
    worker.hand_over()
    folded = _used(server) - empty
    log.close()
    return {"log": round(alone / len(ready), 1), "folded": round(folded / len(ready), 1)}


def _heads(log: RedisEventLog) -> dict[int, int]:
    return {partition: seq for partition in range(log.partitions) if (seq := log.head(partition))}


def _used(server: BenchServer) -> int:
    return int(server.client.info("memory")["used_memory_dataset"])
