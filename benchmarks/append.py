"""Appending against raw XADD of the same entries."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from benchmarks.events import CLOCK, prepared, sample
from benchmarks.measure import compared, cost_of
from benchmarks.output import Row
from benchmarks.raw import xadd_raw
from benchmarks.server import BenchServer
from engramlog_server.events.envelope import encode
from engramlog_server.events.log import Appendable
from engramlog_server.events.redis.log import RedisEventLog
from engramlog_server.events.validation import read_events

SIZES = (1, 100, 1_000)
"""Events in one request."""
MOST_REQUESTS = 1_000


def measure(server: BenchServer, events: int, rounds: int) -> list[Row]:
    """A row for each size of request, from prepared events, and one from raw JSON with its validation."""
    models = sample(events)
    ready, raws = prepared(models), [encode(event) for event in models]
    ways: list[tuple[str, int, Callable[[int, int], Sequence[Appendable]]]] = [
        (f"append, {size} in a request", size, lambda at, size: ready[at : at + size]) for size in SIZES
    ]
    ways.append(
        ("append, JSON, 1,000 in a request", 1_000, lambda at, size: read_events(raws[at : at + size], now=CLOCK))
    )
    rows = []
    for name, size, make in ways:
        count, ours, limit = min(events, size * MOST_REQUESTS), [], []
        for _ in range(rounds):
            _, log = server.new_log()
            ours.append(cost_of(server, lambda: _append(log, make, count, size)))  # noqa: B023 - called at once
            log.close()
            tags = server.new_store().tags
            limit.append(cost_of(server, lambda: xadd_raw(server.socket, ready[:count], tags)))  # noqa: B023
        rows.append(compared(name, count, ours, "raw XADD", limit))
    return rows


def _append(log: RedisEventLog, make: Callable[[int, int], Sequence[Appendable]], count: int, size: int) -> None:
    for at in range(0, count, size):
        for receipt in log.append(make(at, size)):
            assert receipt.status == "appended", receipt
