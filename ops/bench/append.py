"""Appending in batches of 1,000 against redis-py's pipelined XADD of the same bytes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from events.envelope import Prepared, encode, prepare
from events.log import Appendable
from events.partitions import LogKeys, partition_of
from events.redis.log import RedisEventLog
from events.validation import read_events
from ops.bench.rounds import Comparison, Target, interleave, seconds
from ops.bench.sample import CLOCK, EVENTS_AN_OWNER, sample
from ops.bench.server import BenchServer

BATCH = 1_000
LIMIT = "redis-py's pipelined XADD of the same bytes"
FROM_MODELS, FROM_JSON = Target(least=0.8), Target(least=0.4)


def measure(server: BenchServer, events: int, rounds: int) -> list[Comparison]:
    """From models already built, and from raw JSON through validation."""
    models = sample(events, max(events // EVENTS_AN_OWNER, 1))
    raws = [encode(event) for event in models]
    ready = [prepare(event) for event in models]
    ways: list[tuple[str, Target, Callable[[int], Sequence[Appendable]]]] = [
        ("models already built", FROM_MODELS, lambda at: models[at : at + BATCH]),
        ("raw JSON through validation", FROM_JSON, lambda at: read_events(raws[at : at + BATCH], now=CLOCK)),
    ]
    return [
        Comparison(
            f"append, {server.fsync}: {name}",
            LIMIT,
            "events",
            events,
            interleave(rounds, lambda make=make: _ours(server, events, make), lambda: _limit(server, ready)),  # type: ignore[misc]
            target if server.fsync == "everysec" else Target(),
        )
        for name, target, make in ways
    ]


def _ours(server: BenchServer, events: int, make: Callable[[int], Sequence[Appendable]]) -> float:
    _, log = server.new_log()
    _append(log, make(0)[:1])  # connected, script loaded
    _, log = server.new_log()

    def run() -> None:
        for at in range(0, events, BATCH):
            _append(log, make(at))

    taken = seconds(run)
    log.close()
    return taken


def _append(log: RedisEventLog, events: Sequence[Appendable]) -> None:
    for receipt in log.append(events):
        assert receipt.status == "appended", receipt


def _limit(server: BenchServer, ready: Sequence[Prepared]) -> float:
    identity = server.new_store()
    client = server.ordinary_client()
    client.ping()
    streams = [f"raw:{LogKeys(tag).stream}" for tag in identity.tags]

    def run() -> None:
        for at in range(0, len(ready), BATCH):
            pipe: Any = client.pipeline(transaction=False)
            for event in ready[at : at + BATCH]:
                fields = {"t": event.kind, "i": event.raw_id, "o": event.owner, "e": event.body}
                pipe.xadd(streams[partition_of(event.owner, len(streams))], fields)
            pipe.execute()

    taken = seconds(run)
    client.close()
    return taken
