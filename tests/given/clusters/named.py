"""A client of an empty Redis by the name of its kind, for tests that run on each kind."""

from __future__ import annotations

import pytest
import redis

from engramlog_server.events.redis.server import connect
from tests.given.clusters.cluster import GivenCluster
from tests.servers import fake_client


def client_named(name: str, request: pytest.FixtureRequest) -> redis.Redis:
    """Of `fakeredis`, a real server such as `valkey`, or `redis-cluster`: three nodes that share the slots."""
    if name == "fakeredis":
        return fake_client()
    if name == "redis-cluster":
        cluster: GivenCluster = request.getfixturevalue("redis_cluster")
        return connect(cluster.url)
    found: redis.Redis = request.getfixturevalue("redis_servers").get(name).client()
    return found
