"""Which node holds which slot: redis-py's own map of a cluster, one for all wires of a process, asked for anew where it is old."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock
from time import monotonic
from typing import Any, NamedTuple

import redis
from redis.cluster import ClusterNode, NodesManager
from redis.exceptions import MovedError, RedisClusterException

from events.errors import StoreMismatch, StoreUnavailable
from events.redis.address import Place
from events.redis.wire import AGAIN

REFRESH_SECONDS = 0.1
"""How soon after an answer the nodes are asked again at the earliest, for all threads together."""


class Node(NamedTuple):
    """A node, and how to reach it."""

    name: str
    """host:port, as the cluster tells it."""
    client: redis.Redis


class SlotMap:
    """The slots of a cluster and the nodes that hold them. Safe for threads."""

    def __init__(self, places: Sequence[Place], options: dict[str, Any]) -> None:
        """`places`: nodes to begin with. `options`: of each connection, for redis-py."""
        self._places = places
        self._options = options
        self._nodes: NodesManager | None = None
        self._lock = Lock()
        self._asked_at = float("-inf")

    def node_of(self, slot: int) -> Node:
        """The primary that holds a slot. Raises StoreUnavailable where none does, or nobody tells."""
        manager = self._known()
        try:
            return _reached(manager, manager.get_node_from_slot(slot))
        except RedisClusterException as error:
            raise StoreUnavailable(
                f"no node of the cluster holds slot {slot}; {AGAIN}", retry_after=1, not_done=True
            ) from error

    def primaries(self) -> list[Node]:
        """All primaries, by name. Raises StoreUnavailable."""
        manager = self._known()
        held = {id(nodes[0]): nodes[0] for nodes in list(manager.slots_cache.values()) if nodes}
        return sorted(_reached(manager, node) for node in held.values())

    def replicas_of(self) -> dict[str, list[str]]:
        """By primary the names of its replicas, as the cluster tells them. Raises StoreUnavailable."""
        found: dict[str, set[str]] = {}
        for nodes in list(self._known().slots_cache.values()):
            if nodes:
                found.setdefault(nodes[0].name, set()).update(node.name for node in nodes[1:])
        return {name: sorted(replicas) for name, replicas in sorted(found.items())}

    def beside(self, name: str) -> redis.Redis:
        """A client of a node that holds no slots, by its name, such as a replica; nothing is connected yet."""
        host, _, port = name.rpartition(":")
        return redis.Redis(host.strip("[]"), int(port), **self._options)

    def slots_of(self) -> dict[str, int]:
        """By primary how many slots it holds. Raises StoreUnavailable."""
        found: dict[str, int] = {}
        for nodes in list(self._known().slots_cache.values()):
            if nodes:
                found[nodes[0].name] = found.get(nodes[0].name, 0) + 1
        return dict(sorted(found.items()))

    def moved(self, error: MovedError) -> None:
        """Take in that a slot lies elsewhere, as a node said."""
        manager = self._known()
        if error.host:
            manager.move_slot(error)
        else:
            self.refresh()

    def refresh(self) -> None:
        """Ask the nodes anew, unless that was just done. Keeps what is known where none answers."""
        with self._lock:
            if self._nodes is None or monotonic() - self._asked_at < REFRESH_SECONDS:
                return
            self._asked_at = monotonic()
            try:
                self._nodes.initialize()
            except (RedisClusterException, redis.RedisError, OSError):
                return

    def close(self) -> None:
        """Close what redis-py keeps open."""
        with self._lock:
            manager, self._nodes = self._nodes, None
        if manager is not None:
            manager.close()

    def _known(self) -> NodesManager:
        with self._lock:
            if self._nodes is None:
                self._nodes = self._first()
                self._asked_at = monotonic()
            return self._nodes

    def _first(self) -> NodesManager:
        startup = [ClusterNode(place.host, place.port) for place in self._places]  # type: ignore[no-untyped-call]
        try:
            return NodesManager(startup, require_full_coverage=False, dynamic_startup_nodes=True, **self._options)
        except RedisClusterException as error:
            cause = error.__cause__
            told = ", ".join(map(str, self._places))
            if isinstance(cause, RedisClusterException):
                raise StoreMismatch(
                    f"none of {told} is a node of a Redis Cluster; allowed of one server: redis://, of Sentinels: redis+sentinel://;"
                    " nothing was written",
                    mode="standalone",
                ) from error
            if isinstance(cause, redis.AuthenticationError):
                raise StoreUnavailable(
                    f"the cluster's nodes do not let us in ({cause}): check the user and password of its URL"
                ) from error
            raise StoreUnavailable(
                f"no node of the cluster answers ({told}: {cause}); {AGAIN}", retry_after=1, not_done=True
            ) from error
        except (redis.RedisError, OSError) as error:
            raise StoreUnavailable(f"no node of the cluster answers ({error}); {AGAIN}", retry_after=1) from error


def _reached(manager: NodesManager, node: ClusterNode) -> Node:
    """With a client, which a node that was told of in passing has none of yet."""
    if node.redis_connection is None:
        manager.create_redis_connections([node])  # type: ignore[no-untyped-call]
    assert node.redis_connection is not None
    return Node(node.name, node.redis_connection)
