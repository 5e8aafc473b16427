"""Rebuilding every partition against raw XRANGE of the same log."""

from __future__ import annotations

from collections.abc import Sequence

from consumers.redis_rebuild import rebuild_partition
from consumers.redis_worker import FoldWorker
from events.envelope import Prepared, prepare
from ops.bench.fold import GIVE_UP_SECONDS, fill
from ops.bench.raw import xrange_raw
from ops.bench.rounds import Comparison, Target, interleave, seconds
from ops.bench.sample import EVENTS_AN_OWNER, sample
from ops.bench.server import BenchServer

LIMIT = "raw XRANGE of the log, pages of 500"
TARGET = Target(least=0.15)


def measure(server: BenchServer, events: int, rounds: int) -> list[Comparison]:
    """Many owners over 16 partitions, one after another, from nothing to the switch."""
    ready = [prepare(event) for event in sample(events, max(events // EVENTS_AN_OWNER, 1))]
    timed = interleave(rounds, lambda: _ours(server, ready), lambda: _limit(server, ready))
    return [Comparison(f"rebuild, {server.fsync}", LIMIT, "events", events, timed, TARGET)]


def _ours(server: BenchServer, ready: Sequence[Prepared]) -> float:
    tags, heads = fill(server, ready)
    worker = FoldWorker(server.client, tags, "bench")
    assert worker.drain(heads, GIVE_UP_SECONDS)
    worker.hand_over()

    def run() -> None:
        for tag in tags:
            rebuild_partition(server.client, tag, holder="bench")

    return seconds(run)


def _limit(server: BenchServer, ready: Sequence[Prepared]) -> float:
    tags, _ = fill(server, ready)
    found: list[int] = []
    taken = seconds(lambda: found.append(xrange_raw(server.socket, tags)))
    assert found == [len(ready)]
    return taken
