"""What the tests of procedures have in common: a Redis of one's own, and events that are appended past every command."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from engramlog_server.events.catalogue import MemoryCreated
from engramlog_server.events.envelope import (
    Prepared,
    canonical,
    from_micros,
    new_event_id,
    prepare,
    prepare_body,
    utc_text,
)
from engramlog_server.events.redis.log import RedisEventLog
from engramlog_server.events.redis.server import connect
from engramlog_server.events.redis.wire import open_wire
from engramlog_server.events.validation import make_event
from engramlog_server.projections.redis.create import read_identity
from tests.acceptance.runbook.night import Night
from tests.chaos.cast import Server

TEA = "I drink tea in the morning"


def private(night: Night) -> str:
    """The address of the data folder's Redis."""
    return f"unix://{night.data / 'redis.sock'}"


def pid_of_redis(night: Night) -> int:
    """The process of the data folder's Redis."""
    return int(json.loads((night.data / "server.json").read_text())["pid"])


@contextmanager
def redis_of_ones_own(folder: Path, name: str = "redis", port: int = 0) -> Iterator[Server]:
    """A redis-server on a socket, and on a port where one is given; ended by its id."""
    server = Server(folder, name, port=port)
    try:
        server.start()
        yield server
    finally:
        server.close()


def told(url: str, owner: str, content: str) -> str:
    """Append a memory past every command, so that nobody folds it; its position."""
    data = MemoryCreated(memory_id=new_event_id(), content=content, category="fact", kind="fact", source="user")

    def event(now: int) -> Prepared:
        return prepare(make_event(data, owner=owner, occurred_at=from_micros(now), actor="user", now=now))

    return _appended(url, event)


def unreadable(url: str, owner: str) -> str:
    """Append an event of a version that this release does not know, as a newer one would; its position."""
    event_id = new_event_id()
    document = {"event_id": event_id, "type": "MemoryCreated", "schema_version": 9, "owner": owner, "data": {}}
    return _appended(url, lambda _now: prepare_body(event_id, "MemoryCreated", 9, owner, canonical(document)))


def _appended(url: str, event: Callable[[int], Prepared]) -> str:
    client = connect(url)
    try:
        identity = read_identity(open_wire(client))
        assert identity is not None
        log = RedisEventLog(client, identity.tags)
        (receipt,) = log.append([event(log.now())])
        assert receipt.position is not None
        return receipt.position
    finally:
        client.close()


def an_event(memory: str) -> str:
    """An envelope as a producer keeps it, to send it again: a line of JSON."""
    data = {"memory_id": memory, "content": "I have two cats", "category": "fact", "kind": "fact", "source": "user"}
    of = {"event_id": new_event_id(), "type": "MemoryCreated", "schema_version": 1, "owner": "alice", "actor": "user"}
    return json.dumps(of | {"occurred_at": utc_text(datetime.now(UTC)), "data": data})
