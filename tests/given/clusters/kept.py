"""Clusters that many tests of one process share, each formed when it is first asked for."""

from __future__ import annotations

import pytest

from tests.given.clusters.cluster import GivenCluster
from tests.servers import MISSING_NAMED, server_named

SHARED_TIMEOUT_MS = 10_000
"""Nobody breaks a shared one: a node that a busy machine lets wait is not to be taken for gone."""


class KeptClusters:
    """By the name of a server: `valkey`, `redis-7`, `redis-8`."""

    def __init__(self) -> None:
        self._running: dict[str, GivenCluster] = {}

    def get(self, name: str) -> GivenCluster:
        """The cluster, as good as new. Skips the test where there is no such server."""
        if name not in self._running:
            binary = server_named(name)
            if binary is None:
                pytest.skip(MISSING_NAMED[name])
            self._running[name] = GivenCluster(binary, node_timeout_ms=SHARED_TIMEOUT_MS)
        cluster = self._running[name]
        cluster.reset()
        return cluster

    def close(self) -> None:
        """End them all."""
        for cluster in self._running.values():
            cluster.close()
