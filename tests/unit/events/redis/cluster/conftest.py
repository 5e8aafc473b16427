"""Two nodes that answer what a test says, and a clock that only pauses move."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from engramlog_server.events.redis.cluster import routing, slot_map
from engramlog_server.events.redis.cluster import wire as wire_module
from tests.doubles.cluster_nodes import Clock, FakeCluster


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock of all that tries again."""
    found = Clock()
    for module in (routing, routing, slot_map, wire_module):
        monkeypatch.setattr(module, "monotonic", found.read)
    monkeypatch.setattr(wire_module, "sleep", found.sleep)
    return found


@pytest.fixture
def cluster() -> Iterator[FakeCluster]:
    """Two nodes that share the slots."""
    with FakeCluster() as given:
        yield given
