"""Search in one owner's memories: p50 and p95 beside the sum of the parts that it cannot do without."""

from __future__ import annotations

from random import Random
from statistics import median, quantiles
from time import perf_counter
from typing import Any

import numpy as np

from events.envelope import micros, prepare
from events.partitions import partition_of
from ops.bench.sample import CLOCK, SEED, STARTS, sample
from ops.bench.sentences import chinese, english
from ops.bench.server import BenchServer
from ops.bench.store import filled
from projections.query import Asked
from projections.recall import search
from projections.redis_view import RedisViews
from projections.view import OwnerView

SIZES = (1_000, 10_000, 100_000)
QUERIES = 200
RESULTS = 10
OWNER = "owner-00000"
NOW = micros(STARTS) + 40 * 86_400_000_000


def measure(server: BenchServer, sizes: tuple[int, ...] = SIZES, queries: int = QUERIES) -> list[dict[str, Any]]:
    """One row a size. `parts`: text top-k, all weights, one round trip, each asked in the same turn as the whole."""
    return [_one(server, size, queries) for size in sizes]


def _one(server: BenchServer, size: int, queries: int) -> dict[str, Any]:
    tags = filled(server, [prepare(event) for event in sample(size, 1, only_created=True)])
    views = RedisViews(server.client, tags)
    start = perf_counter()
    with views.view(OWNER) as (view, _):
        loaded = perf_counter() - start
        assert len(view) == size
    chance = Random(SEED + size)
    asked = [" ".join((english if n % 2 else chinese)(chance).split()[:6]) for n in range(queries)]
    times: dict[str, list[float]] = {name: [] for name in ("whole", "text", "weights", "round_trip")}
    wire_key = f"{{{tags[partition_of(OWNER, len(tags))]}}}:meta"
    for query in asked:
        with views.view(OWNER) as (view, _):
            times["text"].append(_timed(lambda v=view, q=query: _text(v, q)))
            times["weights"].append(_timed(lambda v=view: v.law.weights(v.columns, CLOCK, v.parameters)))
        times["round_trip"].append(_timed(lambda: server.client.hget(wire_key, "seq")))
        times["whole"].append(_timed(lambda q=query: _whole(views, q)))
    views.close()
    parts = [sum(row) for row in zip(times["text"], times["weights"], times["round_trip"], strict=True)]
    ratios = [whole / part for whole, part in zip(times["whole"], parts, strict=True)]
    return {
        "memories": size,
        "queries": queries,
        **{f"{name}_ms": _spread(found) for name, found in times.items()},
        "parts_ms": _spread(parts),
        "whole_to_parts": round(median(ratios), 3),
        "cold_load_ms": round(loaded * 1e3, 1),
    }


def _whole(views: RedisViews, query: str) -> None:
    with views.view(OWNER) as (view, _):
        search(Asked(view, NOW, "review"), query, RESULTS)


def _text(view: OwnerView, query: str) -> None:
    found = view.matches(query)
    if found.rows.size > RESULTS:
        np.argpartition(-found.scores, RESULTS)[:RESULTS]


def _timed(work: Any) -> float:
    start = perf_counter()
    work()
    return perf_counter() - start


def _spread(found: list[float]) -> dict[str, float]:
    return {"p50": round(median(found) * 1e3, 3), "p95": round(quantiles(found, n=20)[-1] * 1e3, 3)}
