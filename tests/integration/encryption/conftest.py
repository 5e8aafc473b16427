"""A store that is not sealed yet."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.unsealed import Unsealed
from tests.servers import RedisServer


@pytest.fixture
def store(redis_server: RedisServer, tmp_path: Path) -> Iterator[Unsealed]:
    unsealed = Unsealed(redis_server, tmp_path)
    yield unsealed
    unsealed.client.close()
