"""Appending a few or many events at a time, with the door's rules and without them, against XADD of the same entries.

Every round has texts of its own: what the rules remember of a text must not count for the next one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import count
from statistics import median
from typing import Any

from events.envelope import AnyEvent, encode
from events.log import Appendable
from events.marks import UNMARKED, Marker
from events.redis.log import RedisEventLog
from events.validation import read_events
from ops.bench.costs.backlog import stored_in
from ops.bench.costs.finals import entry_commands, send
from ops.bench.costs.meter import Cost, Costs, cost_of
from ops.bench.raw import RawConnection
from ops.bench.rounds import quiet
from ops.bench.sample import CLOCK, EVENTS_AN_OWNER, SEED, sample
from ops.bench.server import BenchServer
from projections.language.marks import MARKER
from projections.redis.debt import FoldDebt

SIZES = (1, 10, 100, 1_000)
EVENTS = {1: 500, 10: 2_000}
"""Events of a round by how many are sent at a time."""
Make = Callable[[Sequence[AnyEvent]], Callable[[int, int], Sequence[Appendable]]]


def measure(
    server: BenchServer, texts: str, events: int, sizes: Sequence[int], rounds: int, seeds: count[int] | None = None
) -> list[dict[str, Any]]:
    """A row a size from models, and one from JSON at the largest."""
    seeds = seeds or count(SEED)
    asked = [("models", _models, size) for size in sizes] + [("JSON", _json, max(sizes))]
    return [
        _row(server, texts, way, make, size, min(events, EVENTS.get(size, events)), rounds, seeds)
        for way, make, size in asked
    ]


def _row(
    server: BenchServer, texts: str, way: str, make: Make, size: int, events: int, rounds: int, seeds: count[int]
) -> dict[str, Any]:
    ours, bare, limits = list[Cost](), list[Cost](), list[Cost]()
    bodies = 0.0
    for _ in range(rounds):
        told = sample(events, max(events // EVENTS_AN_OWNER, 1), seed=next(seeds), texts=texts)
        parts = make(told)
        bare.append(_append(server, parts, events, size, UNMARKED))
        ours.append(_append(server, parts, events, size, MARKER))
        bodies += sum(len(encode(one)) for one in told) / events / rounds
        limits.append(_limit(server, size))
    what = {"texts": texts, "way": way, "at_a_time": size}
    without = median(one.client for one in bare) / events * 1e6
    return Costs(what, events, bodies, ours, limits).as_dict() | {"client_without_rules_us": round(without, 2)}


def _models(events: Sequence[AnyEvent]) -> Callable[[int, int], Sequence[Appendable]]:
    return lambda start, end: events[start:end]


def _json(events: Sequence[AnyEvent]) -> Callable[[int, int], Sequence[Appendable]]:
    raws = [encode(event) for event in events]
    return lambda start, end: read_events(raws[start:end], now=CLOCK)


def _append(
    server: BenchServer, parts: Callable[[int, int], Sequence[Appendable]], events: int, size: int, marker: Marker
) -> Cost:
    identity = server.new_store()
    log = RedisEventLog(server.client, identity.tags, read_debt=FoldDebt(identity.tags), marker=marker)
    log.head(0)

    def run() -> None:
        for at in range(0, events, size):
            for receipt in log.append(parts(at, at + size)):
                assert receipt.status == "appended", receipt

    with quiet():
        cost = cost_of(server, run)
    log.close()
    return cost


def _limit(server: BenchServer, size: int) -> Cost:
    """The entries that the store holds, once more, as many at a time."""
    tags = server.tags
    log = RedisEventLog(server.client, tags)
    stored = [one for partition in range(len(tags)) for one in stored_in(log, partition)]
    log.close()
    commands = [list(entry_commands(stored[at : at + size], tags)) for at in range(0, len(stored), size)]
    with quiet(), RawConnection(server.socket) as connection:
        return cost_of(server, partial(send, connection, commands))
