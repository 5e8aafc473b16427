"""One node of a cluster on loopback: what it tells of itself and of the others."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import redis
from redis.crc import key_slot

from tests.given.clusters.server import PortServer
from tests.given.clusters.view import Known, view_of


class ClusterNode(PortServer):
    """One node of a cluster."""

    node_id = ""
    cut_off = False
    """Whether it was made a replica that gets no more writes."""

    def view(self) -> dict[str, Known]:
        """Id -> what it knows of that node. Raises redis.RedisError."""
        return view_of(self.ask("CLUSTER", "NODES").decode())

    def is_fine(self) -> bool:
        """Whether it serves, as it has it. Raises redis.RedisError."""
        return b"cluster_state:ok" in self.ask("CLUSTER", "INFO")

    def kept_view(self) -> dict[str, Known]:
        """What it knew last, of its file: that of a node that is gone tells what it owned."""
        lines = (self.folder / "nodes.conf").read_text().splitlines()
        return view_of("\n".join(line for line in lines if not line.startswith("vars ")))

    def linked(self) -> set[int]:
        """Of a primary: the ports of the replicas that get its every write. Raises redis.RedisError."""
        told: dict[str, Any] = self.info("replication")
        links = [one for name, one in told.items() if name.startswith("slave") and isinstance(one, dict)]
        return {int(link["port"]) for link in links if link["state"] == "online"}


def slot_of(slot_or_key: int | str | bytes) -> int:
    """The slot itself, or that of a key."""
    if isinstance(slot_or_key, int):
        return slot_or_key
    return int(key_slot(slot_or_key.encode() if isinstance(slot_or_key, str) else slot_or_key))


def answered(fact: Callable[[], bool]) -> Callable[[], bool]:
    """The fact; it is not so while a node does not answer."""

    def holds() -> bool:
        with suppress(redis.RedisError):
            return fact()
        return False

    return holds
