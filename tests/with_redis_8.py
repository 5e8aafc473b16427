"""The fixtures of `conftest` with Redis 8 besides, for the `conftest` of a folder where that is cheap."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import redis

from tests.conftest import EVERY_SERVER
from tests.servers import RedisServer, Servers, fake_client


@pytest.fixture(params=["fakeredis", *EVERY_SERVER])
def redis_client(request: pytest.FixtureRequest) -> Iterator[redis.Redis]:
    """A client of an empty Redis: fakeredis, Valkey, Redis 7 and 8."""
    name = request.param
    client = fake_client() if name == "fakeredis" else request.getfixturevalue("redis_servers").get(name).client()
    yield client
    client.close()


@pytest.fixture(params=EVERY_SERVER)
def redis_server(request: pytest.FixtureRequest, redis_servers: Servers) -> RedisServer:
    """An empty real server: Valkey, Redis 7 and 8."""
    return redis_servers.get(request.param)
