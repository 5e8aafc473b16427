"""One log folded from nothing again and again, by one, two and three worker processes in turn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ops.bench.scale.fold_process import MASTER
from ops.bench.scale.servers import Nodes
from ops.bench.scale.workers import await_folded, fold_workers
from projections.fold.builds import FIRST_BUILD, BuildKeys
from projections.redis.retire import drop_build


class Folded(NamedTuple):
    """One backlog, folded: microseconds of CPU an event, and who folded how much of it."""

    workers: int
    fold_us: float
    redis_us: float
    shares: tuple[int, ...]
    partitions: tuple[int, ...]


def fold_again(nodes: Nodes, events: int, workers: int, *, sealed: bool = False) -> Folded:
    """Drop what is folded, and have so many workers fold it. The store must be one that `grow` left."""
    with nodes.store(MASTER if sealed else None) as (_, wire):
        for tag in nodes.tags:
            drop_build(wire, BuildKeys(tag, FIRST_BUILD))
        with fold_workers(nodes, workers, sealed=sealed) as running:
            before = nodes.used()
            for one in running:
                one.begin()
            await_folded(wire, nodes.tags)
            redis = nodes.used().cpu - before.cpu
            held = tuple(len(one.taken().held) for one in running)
            taken = [one.end() for one in running]
    shares = tuple(one.folded for one in taken)
    assert sum(shares) == events, "not every event was folded once"
    return Folded(workers, sum(one.cpu for one in taken) / events * 1e6, redis / events * 1e6, shares, held)


def evenness(shares: Sequence[int]) -> float:
    """The largest share over the mean."""
    return max(shares) * len(shares) / sum(shares)
