"""A commit to a slot that is on its way to another node is written whole, or not at all."""

from __future__ import annotations

from typing import Any

import pytest
import redis

from engramlog_server.projections.redis.store import COMMIT
from tests.chaos.cast import wait_until
from tests.given.clusters.cluster import GivenCluster
from tests.given.clusters.kept import SHARED_TIMEOUT_MS
from tests.given.clusters.node import ClusterNode, answered, slot_of
from tests.servers import wheel_server

CHECKPOINT, STREAM = "{c}:checkpoint", "{c}:stream"
TAIL, PACKS, MOMENTS, PARKED, STUCK = "{c}:tail", "{c}:packs", "{c}:moments", "{c}:parked", "{c}:q"
KEYS = [CHECKPOINT, STREAM, TAIL, PACKS, MOMENTS, PARKED, STUCK]
MADE_ANEW: dict[str, tuple[list[Any], dict[str, Any]]] = {
    "a tail that is closed and begun anew": (
        ["CLOSE", 3, 2, 4, "first", "APPEND", 3, 1, "more"],
        {TAIL: b"more", PACKS: {b"zero": b"pack", b"first": b"tail"}},
    ),
    "a tail that is closed for good": (
        ["CLOSE", 3, 2, 4, "first", "HSET", 4, 2, "second", "large"],
        {TAIL: None, PACKS: {b"zero": b"pack", b"first": b"tail", b"second": b"large"}},
    ),
    "moments that are forgotten": (["FORGET", 5, 2, "head", "new"], {MOMENTS: {b"head": b"new"}}),
    "parked events that are others now": (["DEL", 6, 0, "RPUSH", 6, 2, "4", "5"], {PARKED: [b"4", b"5"]}),
    "parked events that are none any more": (["DEL", 6, 0], {PARKED: []}),
    "one who is freed while another one is stuck": (
        ["HDEL", 7, 1, "ada", "HSET", 7, 2, "ben", "stuck"],
        {STUCK: {b"ben": b"stuck"}},
    ),
    "the last one who is freed": (["HDEL", 7, 1, "ada"], {STUCK: {}}),
}


def laid(node: ClusterNode) -> None:
    """What lies there before the commit."""
    node.ask("HSET", CHECKPOINT, "epoch", "7", "seq", "3")
    node.ask("XADD", STREAM, "5-0", "t", "kind", "i", "event")
    node.ask("SET", TAIL, "tail")
    node.ask("HSET", PACKS, "zero", "pack")
    node.ask("HSET", MOMENTS, "head", "old", "m1", "old", "m2", "old")
    node.ask("RPUSH", PARKED, "1", "2", "3")
    node.ask("HSET", STUCK, "ada", "stuck")


def there(client: redis.Redis, key: str) -> Any:
    """What lies under a key, of whatever kind."""
    read = {TAIL: client.get, PACKS: client.hgetall, MOMENTS: client.hgetall, STUCK: client.hgetall}
    return client.lrange(key, 0, -1) if key == PARKED else read[key](key)


@pytest.fixture(scope="module")
def cluster() -> Any:
    with GivenCluster(wheel_server(), replicas=0, node_timeout_ms=SHARED_TIMEOUT_MS) as one:
        yield one


@pytest.mark.parametrize("moving", [False, True], ids=["at rest", "on the move"])
@pytest.mark.parametrize("name", MADE_ANEW)
def test_what_is_made_anew_in_a_commit_is_written_whole(cluster: GivenCluster, name: str, moving: bool) -> None:
    writes, expected = MADE_ANEW[name]
    slot = slot_of(CHECKPOINT)
    source = cluster.node_of(slot)
    source.ask("DEL", *KEYS)
    laid(source)
    to = next(node for node in cluster.primaries() if node is not source)
    if moving:
        cluster.begin_move(slot, to)
    checkpoint = ["HSET", 1, 2, "seq", "5"]
    try:
        answer = source.ask("EVAL", COMMIT.body, len(KEYS), *KEYS, "7", "3", "5", "event", *checkpoint, *writes)
    finally:
        if moving:
            cluster.move_keys(slot)
            cluster.end_move(slot)
    found = dict[str, Any]()

    def is_read() -> bool:
        with cluster.node_of(slot).client() as client:
            found.update({key: there(client, key) for key in expected})
        return True

    wait_until(
        answered(is_read), "the slot's owner answers"
    )  # nodes may still settle whose a slot is that was moved before
    assert (answer, found) == ([b"ok"], expected)
