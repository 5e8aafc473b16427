"""Whatever byte is changed on whichever node, a verification says so; a sound store on a cluster has nothing to say."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import NamedTuple

import pytest
import redis

from engramlog_server.projections.redis.create import StoreIdentity
from tests.given.clusters.cluster import GivenCluster
from tests.integration.clusters.on_nodes import of_node
from tests.integration.live import Live, live_store
from tests.tampering import findings, flipped, flips, populate

FLIPS = 25
"""On each node, over every kind of key that lies there."""


class OnNode(NamedTuple):
    """The part of a store that lies on one node."""

    client: redis.Redis
    identity: StoreIdentity


@pytest.fixture
def live(redis_cluster: GivenCluster) -> Iterator[Live]:
    with live_store(redis_cluster.url) as store:
        populate(store)
        yield store


def test_a_changed_byte_is_found_on_each_of_the_nodes(redis_cluster: GivenCluster, live: Live) -> None:
    assert findings(live) == []
    for number, node in enumerate(redis_cluster.primaries()):
        unfound = list[str]()
        with of_node(node) as client:
            for flip in flips(OnNode(client, live.identity), Random(number), FLIPS):
                with flipped(client, flip):
                    if not findings(live, flip.key):
                        unfound.append(f"{flip.key!r}: {flip.told}")
        assert unfound == [], node
    assert findings(live) == []


def test_a_key_that_nothing_writes_is_found_on_each_of_the_nodes(redis_cluster: GivenCluster, live: Live) -> None:
    for tag in live.identity.tags:
        key = f"{{{tag}}}:strange"
        redis_cluster.node_of(key).ask("SET", key, "1")
        assert [one["key"] for one in findings(live, key.encode())] == [key]
        redis_cluster.node_of(key).ask("DEL", key)
    for number in range(30):
        key = f"engramlog:strange:{number}"
        redis_cluster.node_of(key).ask("SET", key, "1")
        assert key in str(findings(live)), redis_cluster.node_of(key)
        redis_cluster.node_of(key).ask("DEL", key)
