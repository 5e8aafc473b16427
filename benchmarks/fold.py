"""Folding a backlog by one worker against raw XADD of the same entries, and the memory that an event takes."""

from __future__ import annotations

from typing import Any

from benchmarks.events import prepared, sample
from benchmarks.measure import compared, cost_of
from benchmarks.output import Row
from benchmarks.raw import xadd_raw
from benchmarks.server import BenchServer
from benchmarks.store import fill, fold


def measure(server: BenchServer, events: int, rounds: int) -> list[Row]:
    """A row for many owners and one for a single owner; bytes of Redis per event in the log, and with everything folded."""
    rows = []
    for name, owners in (("fold, many owners", None), ("fold, one owner", 1)):
        ready, ours, limit, logged, folded = prepared(sample(events, owners)), [], [], 0, 0
        for _ in range(rounds):
            server.new_store()
            empty = _bytes(server)
            tags, heads = fill(server, ready)
            logged = _bytes(server) - empty
            done = list[int]()
            ours.append(cost_of(server, lambda: done.append(fold(server, tags, heads))))  # noqa: B023 - called at once
            assert done == [len(ready)], f"{done} of {len(ready)} events were folded"
            folded = _bytes(server) - empty
            tags = server.new_store().tags
            limit.append(cost_of(server, lambda: xadd_raw(server.socket, ready, tags)))  # noqa: B023
        row = compared(name, events, ours, "raw XADD", limit)
        rows.append(row | {"bytes in the log": round(logged / events), "bytes folded": round(folded / events)})
    return rows


def _bytes(server: BenchServer) -> int:
    info: Any = server.client.info("memory")
    return int(info["used_memory"])
