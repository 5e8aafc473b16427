"""Two nodes that answer what a test says, and a clock that only pauses move."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from engramlog_server.events.redis import cluster as cluster_module
from engramlog_server.events.redis import slot_map
from tests.doubles.cluster_nodes import Clock, FakeCluster


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock of all that tries again."""
    found = Clock()
    for module in (cluster_module, slot_map):
        monkeypatch.setattr(module, "monotonic", found.read)
    monkeypatch.setattr(cluster_module, "sleep", found.sleep)
    return found


@pytest.fixture
def cluster() -> Iterator[FakeCluster]:
    """Two nodes that share the slots."""
    with FakeCluster() as given:
        yield given
