"""A plain Redis beside a cluster: queues of jobs do not run on a cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tests.given.clusters.cluster import GivenCluster
from tests.given.clusters.ports import HOST, free_ports
from tests.given.clusters.server import PortServer


@contextmanager
def queue_beside(cluster: GivenCluster) -> Iterator[PortServer]:
    """One on a port of loopback, which ends with the cluster's test."""
    (port,) = free_ports(1)
    folder = cluster.folder / "queue"
    settings = {"bind": HOST, "port": str(port), "dir": str(folder), "save": "", "appendonly": "yes"}
    server = PortServer(cluster.binary, folder, port, settings)
    try:
        server.start()
        yield server
    finally:
        server.close()
