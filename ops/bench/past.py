"""Long histories: an as-of answer, folded from the owner's own events, and what happened to one memory, asked by a new reader."""

from __future__ import annotations

from time import perf_counter, process_time
from typing import Any

from api.services.reading import Reader
from events.envelope import prepare
from events.partitions import partition_of
from events.redis.log import RedisEventLog
from ops.bench import past_view
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
    beside = past_view.measure(views, log)
    views.close()
    log.close()
    histories = [_history(server, tags, f"{OWNER}-m{number + 1}") for number in range(rounds + 1)]
    middle = sorted(taken)[len(taken) // 2]
    return {
        "events": events,
        "rounds": rounds,
        "milliseconds": round(middle * 1e3, 1),
        "microseconds_an_event": round(middle / events * 1e6, 1),
        "aim": AIM_MICROSECONDS,
        **beside,
        "history_first_cpu_milliseconds": histories[0],
        "history_cpu_milliseconds": sorted(histories[1:])[rounds // 2],
    }


def _history(server: BenchServer, tags: tuple[str, ...], memory_id: str) -> float:
    """CPU of what happened to one memory, milliseconds: a reader that holds nothing; the first that asks makes the index."""
    views, log = RedisViews(server.client, tags), RedisEventLog(server.client, tags)
    start = process_time()
    Reader(log, views).history(OWNER, memory_id, limit=100)
    taken = process_time() - start
    views.close()
    log.close()
    return round(taken * 1e3, 1)
