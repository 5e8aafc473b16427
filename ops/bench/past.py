"""The time of an as-of answer: the owner's own events read back and folded, without the live state."""

from __future__ import annotations

from time import perf_counter
from typing import Any

from api.services.reading import Reader
from events.envelope import prepare
from events.partitions import partition_of
from events.redis.log import RedisEventLog
from ops.bench.sample import sample
from ops.bench.search import OWNER
from ops.bench.server import BenchServer
from ops.bench.store import filled
from projections.redis.view import RedisViews

AIM_MICROSECONDS = 50


def measure(server: BenchServer, events: int, rounds: int) -> dict[str, Any]:
    """Median over positions near the head, so that no round finds the last one's answer kept."""
    tags = filled(server, [prepare(event) for event in sample(events, 1)])
    views, log = RedisViews(server.client, tags), RedisEventLog(server.client, tags)
    reader = Reader(log, views)
    partition = partition_of(OWNER, len(tags))
    reader.list(OWNER)
    taken = []
    for number in range(rounds):
        start = perf_counter()
        reader.search(OWNER, "coffee", mode="review", as_of=f"{partition}:{events - number}")
        taken.append(perf_counter() - start)
    views.close()
    log.close()
    middle = sorted(taken)[len(taken) // 2]
    return {
        "events": events,
        "rounds": rounds,
        "milliseconds": round(middle * 1e3, 1),
        "microseconds_an_event": round(middle / events * 1e6, 1),
        "aim": AIM_MICROSECONDS,
    }
