"""Rebuilding every partition, against reading and decoding the log and one HSET of each final record."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from consumers.fold.rebuild import rebuild_partition
from consumers.fold.worker import FoldWorker
from events.partitions import LogKeys
from events.redis.log import RedisEventLog, entries
from events.redis.wire import Wire
from ops.bench.costs.backlog import stored_in
from ops.bench.costs.finals import Command, Finals, hsets, send
from ops.bench.costs.meter import Cost, Costs, cost_of
from ops.bench.fold import GIVE_UP_SECONDS, fill
from ops.bench.raw import PAGE, RawConnection
from ops.bench.rounds import quiet
from ops.bench.sample import EVENTS_AN_OWNER, prepared, sample
from ops.bench.server import BenchServer
from projections.fold.builds import BuildKeys
from projections.fold.partition import decode_all
from projections.redis.retire import drop_build

_COMMANDS = 500
"""HSETs in one write."""


def measure(server: BenchServer, texts: str, events: int, rounds: int) -> dict[str, Any]:
    """One row. The limit writes into the same server, which holds the log."""
    owners = max(events // EVENTS_AN_OWNER, 1)
    ready = prepared(sample(events, owners, texts=texts))
    tags, heads = fill(server, ready)
    worker = FoldWorker(server.client, tags, "bench")
    assert worker.drain(heads, GIVE_UP_SECONDS)
    worker.hand_over()
    records = _records(server, tags)
    ours, limit = list[Cost](), list[Cost]()
    for _ in range(rounds):
        with quiet():
            ours.append(
                cost_of(server, lambda: [rebuild_partition(server.client, tag, holder="bench") for tag in tags])
            )
        _forget(server, tags)
        with quiet(), RawConnection(server.socket) as connection:
            limit.append(cost_of(server, lambda: _limit(connection, tags, records)))
        server.client.unlink(*{command[1] for commands in records.values() for command in commands})
    body = sum(len(one.body) for one in ready) / len(ready)
    return Costs({"texts": texts, "owners": owners}, len(ready), body, ours, limit).as_dict()


def _records(server: BenchServer, tags: Sequence[str]) -> dict[str, list[Command]]:
    """The HSETs of each partition, by its tag."""
    log = RedisEventLog(server.client, tags)
    found = {}
    for partition, tag in enumerate(tags):
        stored = stored_in(log, partition)
        written = Finals(log.secrets_of({one.owner for one in stored})).writes(stored)
        found[tag] = list(hsets(written, tags, entries=False))
    log.close()
    return found


def _limit(connection: RawConnection, tags: Sequence[str], records: dict[str, list[Command]]) -> None:
    for tag in tags:
        for page in _pages(connection, tag):
            decode_all(entries(page))
        commands = records[tag]
        send(connection, (commands[at : at + _COMMANDS] for at in range(0, len(commands), _COMMANDS)))


def _pages(connection: RawConnection, tag: str) -> Iterator[list[Any]]:
    after = b"0-1"
    while True:
        (page,) = connection.pipeline([("XRANGE", LogKeys(tag).stream, b"(" + after, "+", "COUNT", str(PAGE))])
        yield page
        if len(page) < PAGE:
            return
        after = page[-1][0]


def _forget(server: BenchServer, tags: Sequence[str]) -> None:
    """Drop the builds that were replaced, so that rounds do not differ by what lies about."""
    wire = Wire(server.client)
    for tag in tags:
        answer = wire.call("HGETALL", LogKeys(tag).meta)
        for name in answer[::2]:
            if name.startswith(b"old:"):
                drop_build(wire, BuildKeys(tag, name.decode()[4:]))
                wire.call("HDEL", LogKeys(tag).meta, name)
    wire.close()
