"""One worker's fold against one RQ job per event that does nothing: what a queue of jobs costs before any work."""

from __future__ import annotations

import logging
from typing import Any

import redis
from rq import Queue, SimpleWorker

from events.envelope import prepare
from ops.bench.fold import fold_once
from ops.bench.rounds import Comparison, interleave, seconds
from ops.bench.sample import EVENTS_AN_OWNER, sample
from ops.bench.server import BenchServer

LIMIT = "an RQ worker doing one empty job per event (JSON serializer, no fork)"


def nothing(position: str) -> None:
    """The whole job: an event's position comes in, nothing is done."""
    del position


def measure(server: BenchServer, events: int, rounds: int) -> list[Comparison]:
    """A ratio above one means that the fold is so many times faster. Enqueuing is not counted."""
    ready = [prepare(event) for event in sample(events, max(events // EVENTS_AN_OWNER, 1))]
    timed = interleave(rounds, lambda: fold_once(server, ready), lambda: _jobs(server, events))
    return [Comparison(f"fold against jobs, {server.fsync}", LIMIT, "events", events, timed)]


def _jobs(server: BenchServer, events: int) -> float:
    server.client.flushall()
    client: Any = redis.Redis(unix_socket_path=str(server.socket), socket_timeout=120.0)
    queue = Queue("bench", connection=client, serializer="json")
    ready = [queue.prepare_data(nothing, (f"0:{number}",), result_ttl=0) for number in range(1, events + 1)]
    queue.enqueue_many(ready)
    worker = SimpleWorker([queue], connection=client, serializer="json")
    worker.log.setLevel(logging.ERROR)
    taken = seconds(lambda: worker.work(burst=True, logging_level="ERROR"))
    left = queue.count
    client.close()
    assert left == 0, f"{left} jobs were not done"
    return taken
