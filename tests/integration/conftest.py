"""One real server, and a key service, for tests that need no other."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.given.key_service import FakeKeyService, fake_key_service
from tests.servers import RedisServer, Servers


@pytest.fixture
def server(redis_servers: Servers) -> RedisServer:
    return redis_servers.get("valkey")


@pytest.fixture
def service() -> Iterator[FakeKeyService]:
    with fake_key_service() as running:
        yield running
