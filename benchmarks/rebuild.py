"""Rebuilding every partition against raw XRANGE of the same log."""

from __future__ import annotations

from benchmarks.events import prepared, sample
from benchmarks.measure import Cost, compared, cost_of
from benchmarks.output import Row
from benchmarks.raw import xrange_raw
from benchmarks.server import BenchServer
from benchmarks.store import fill, fold
from engramlog_server.consumers.fold.rebuild import rebuild_partition


def measure(server: BenchServer, events: int, rounds: int) -> list[Row]:
    """One row: all partitions one after another, from nothing to the switch."""
    ready, ours, limit = prepared(sample(events)), list[Cost](), list[Cost]()
    for _ in range(rounds):
        tags, heads = fill(server, ready)
        fold(server, tags, heads)
        found = list[int]()
        limit.append(cost_of(server, lambda: found.append(xrange_raw(server.socket, tags))))  # noqa: B023 - called at once
        assert found == [len(ready)]
        ours.append(
            cost_of(server, lambda: [rebuild_partition(server.client, tag, holder="bench") for tag in tags])  # noqa: B023
        )
    return [compared("rebuild", events, ours, "raw XRANGE", limit)]
