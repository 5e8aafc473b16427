"""Rebuilding every partition by the clock against raw XRANGE of the same log: the limit that releases before 0.3 were put to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from consumers.fold.rebuild import rebuild_partition
from consumers.fold.worker import FoldWorker
from events.envelope import Prepared, prepare
from events.partitions import LogKeys
from ops.bench.fold import GIVE_UP_SECONDS, fill
from ops.bench.raw import PAGE, xrange_raw
from ops.bench.rounds import Comparison, interleave, seconds
from ops.bench.sample import EVENTS_AN_OWNER, sample
from ops.bench.server import BenchServer

LIMIT = "raw XRANGE of the log, pages of 500"
CLIENT_LIMIT = "redis-py's XRANGE of the log, pages of 500"


def measure(server: BenchServer, events: int, rounds: int) -> list[Comparison]:
    """Many owners over 16 partitions, one after another, from nothing to the switch; against two ways to read the log."""
    ready = [prepare(event) for event in sample(events, max(events // EVENTS_AN_OWNER, 1))]
    by_client: list[float] = []
    timed = interleave(rounds, lambda: _ours(server, ready), lambda: _limit(server, ready, by_client))
    against_client = tuple((ours, limit) for (ours, _), limit in zip(timed, by_client, strict=True))
    what = f"rebuild, {server.fsync}"
    return [
        Comparison(what, LIMIT, "events", events, timed),
        Comparison(what, CLIENT_LIMIT, "events", events, against_client),
    ]


def _ours(server: BenchServer, ready: Sequence[Prepared]) -> float:
    tags, heads = fill(server, ready)
    worker = FoldWorker(server.client, tags, "bench")
    assert worker.drain(heads, GIVE_UP_SECONDS)
    worker.hand_over()

    def run() -> None:
        for tag in tags:
            rebuild_partition(server.client, tag, holder="bench")

    return seconds(run)


def _limit(server: BenchServer, ready: Sequence[Prepared], by_client: list[float]) -> float:
    tags, _ = fill(server, ready)
    found: list[int] = []
    taken = seconds(lambda: found.append(xrange_raw(server.socket, tags)))
    client = server.ordinary_client()
    client.ping()
    by_client.append(seconds(lambda: found.append(_xrange_by_client(client, tags))))
    client.close()
    assert found == [len(ready)] * 2
    return taken


def _xrange_by_client(client: Any, tags: Sequence[str]) -> int:
    count = 0
    for tag in tags:
        after = "0"
        while page := client.xrange(LogKeys(tag).stream, f"({after}", "+", count=PAGE):
            count += len(page)
            after = page[-1][0].decode()
    return count
