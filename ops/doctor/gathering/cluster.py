"""What the nodes of a Redis Cluster tell of each other, and of themselves."""

from __future__ import annotations

from api.services.auditing.supervision import info
from events.errors import StoreUnavailable
from events.redis.cluster.nodes import known_nodes, moving_slots
from events.redis.wire import Wire
from ops.clock import now_micros
from ops.doctor.deciding import cluster as decide
from ops.doctor.finding import CheckFinding
from ops.doctor.gathering.redis import tags_on
from ops.doctor.reaching import ReachedStore


def look_at_cluster(reached: ReachedStore) -> list[CheckFinding]:
    """Slots, replicas, releases, clocks, where partitions lie; nothing where the store lies on one server. Raises StoreError."""
    wire = reached.wire()
    try:
        return _look(wire, reached) if wire.many else []
    finally:
        wire.close()


def _look(wire: Wire, reached: ReachedStore) -> list[CheckFinding]:
    nodes, moving = known_nodes(wire), 0
    version, full, apart, held = dict[str, str](), dict[str, str | None](), dict[str, int](), dict[str, int]()
    for name, server in wire.servers():
        held[name] = len(tags_on(wire, name, reached))
        try:
            version[name] = f"Redis {info(server, 'server').get('redis_version', 'unknown')}"
            moving += moving_slots(server)
            (told,) = server.pipeline([["CONFIG", "GET", "cluster-require-full-coverage"]])
            before = now_micros()
            seconds, micros = server.call("TIME")
        except StoreUnavailable:
            continue  # that it does not answer is told of the node itself
        full[name] = told[1].decode() if isinstance(told, list) and len(told) == 2 else None
        apart[name] = int(seconds) * 1_000_000 + int(micros) - (before + now_micros()) // 2
    return [
        decide.nodes_there(nodes),
        decide.slots(nodes, moving),
        decide.followed(nodes),
        decide.covered(full),
        decide.versions(version),
        decide.clocks(apart),
        *([] if reached.identity is None else [decide.places(held)]),
    ]
