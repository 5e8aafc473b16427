"""Bytes in Redis: an event's at commits of 1, 10 and 500 events, and those of an owner with one event."""

from __future__ import annotations

from typing import Any

from consumers.fold.worker import FoldWorker
from events.envelope import Prepared, prepare
from events.redis.log import RedisEventLog
from ops.bench.fold import GIVE_UP_SECONDS
from ops.bench.sample import EVENTS_AN_OWNER, sample
from ops.bench.server import BenchServer

COMMITS = (1, 10, 500)


def measure(server: BenchServer, events: int) -> dict[str, Any]:
    """Used memory above an empty store, divided; `log` is what the events alone take, before anything is folded."""
    ready = [prepare(event) for event in sample(events, max(events // EVENTS_AN_OWNER, 1))]
    body = sum(len(one.body) for one in ready) / len(ready)
    single = [prepare(event) for event in sample(events, events)]
    return {
        "events": events,
        "body_bytes": round(body, 1),
        "bytes_an_event_by_commit": {str(size): _grown(server, ready, size) for size in COMMITS},
        "bytes_an_event_log_alone": _grown(server, ready, 0),
        "bytes_an_owner_with_one_event": _grown(server, single, 500),
    }


def _grown(server: BenchServer, ready: list[Prepared], commit: int) -> float:
    """Bytes an event, all appended and, `commit` events at a time, folded."""
    identity, log = server.new_log()
    empty = _used(server)
    step = commit or 500
    worker = FoldWorker(server.client, identity.tags, "bench") if commit else None
    for at in range(0, len(ready), step):
        log.append(ready[at : at + step])
        if worker is not None:
            assert worker.drain(_heads(log), GIVE_UP_SECONDS)
    if worker is not None:
        worker.hand_over()
    used = _used(server) - empty
    log.close()
    return round(used / len(ready), 1)


def _heads(log: RedisEventLog) -> dict[int, int]:
    return {partition: seq for partition in range(log.partitions) if (seq := log.head(partition))}


def _used(server: BenchServer) -> int:
    return int(server.client.info("memory")["used_memory_dataset"])
