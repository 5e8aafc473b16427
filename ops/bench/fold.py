"""One worker's fold by the clock against raw pipelined XADD of the same bodies: the limit that releases before 0.3 were put to."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from consumers.fold.worker import FoldWorker
from events.envelope import Prepared, prepare
from ops.bench.raw import BATCH, xadd_raw
from ops.bench.rounds import Comparison, interleave, seconds
from ops.bench.sample import EVENTS_AN_OWNER, sample
from ops.bench.server import PARTITIONS, BenchServer

LIMIT = "raw pipelined XADD of the same bytes"
GIVE_UP_SECONDS = 600.0


def measure(server: BenchServer, events: int, rounds: int) -> list[Comparison]:
    """Many owners over 16 partitions, and one owner; change log on, from an empty build to the head of the log."""
    found = []
    for name, owners in (("many owners", max(events // EVENTS_AN_OWNER, 1)), ("one owner", 1)):
        ready = [prepare(event) for event in sample(events, owners)]
        timed = interleave(rounds, partial(fold_once, server, ready), partial(_limit, server, ready))
        found.append(Comparison(f"fold, {server.fsync}: {name}", LIMIT, "events", events, timed))
    return found


def fill(server: BenchServer, ready: Sequence[Prepared]) -> tuple[tuple[str, ...], dict[int, int]]:
    """A new store with these events; its tags and the head of each partition that has any."""
    identity, log = server.new_log()
    for at in range(0, len(ready), BATCH):
        log.append(ready[at : at + BATCH])
    heads = {p: seq for p in range(PARTITIONS) if (seq := log.head(p))}
    log.close()
    return identity.tags, heads


def fold_once(server: BenchServer, ready: Sequence[Prepared]) -> float:
    """Seconds from a worker's start, leases and all, to the last event's commit."""
    tags, heads = fill(server, ready)
    worker = FoldWorker(server.client, tags, "bench")
    taken = seconds(lambda: worker.drain(heads, GIVE_UP_SECONDS))
    assert worker.folded == len(ready), f"{worker.folded} of {len(ready)} events were folded"
    worker.hand_over()
    return taken


def _limit(server: BenchServer, ready: Sequence[Prepared]) -> float:
    identity = server.new_store()
    return seconds(lambda: xadd_raw(server.socket, ready, identity.tags))
