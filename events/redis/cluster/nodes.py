"""What a cluster tells of its nodes: who holds slots, who follows whom, who is gone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from engramlog_server.events.errors import StoreUnavailable
from engramlog_server.events.redis.wire import Wire

GONE = frozenset({"fail", "noaddr"})
"""Flags of a node that the others take for gone."""


class KnownNode(NamedTuple):
    """One node, as another one has it."""

    name: str
    """host:port."""
    node_id: str
    follows: str
    """Id of the primary whose replica it is; "" of a primary."""
    slots: int
    gone: bool


def known_nodes(wire: Wire) -> list[KnownNode]:
    """All nodes, by name, as the first has it that answers; none where the store lies on one server. Raises StoreError."""
    if not wire.many:
        return []
    servers = wire.servers()
    for at, (_, server) in enumerate(servers):
        try:
            told = server.call("CLUSTER", "NODES").decode("utf-8", "replace")
        except StoreUnavailable:
            if at + 1 < len(servers):
                continue
            raise
        return sorted(read_nodes(told))
    return []


def read_nodes(told: str) -> list[KnownNode]:
    """The lines that CLUSTER NODES gives; one that shakes hands still is no node yet."""
    found = []
    for line in filter(None, told.splitlines()):
        node_id, address, flags, follows, _, _, _, _, *slots = line.split()
        known = set(flags.split(","))
        if "handshake" in known:
            continue
        name = address.partition(",")[0].partition("@")[0]
        many = sum(map(_slots_in, slots))
        found.append(KnownNode(name, node_id, "" if follows == "-" else follows, many, bool(known & GONE)))
    return found


def _slots_in(told: str) -> int:
    """How many a range holds; none of a slot that is on its way."""
    if told.startswith("["):
        return 0
    first, _, last = told.partition("-")
    return int(last or first) - int(first) + 1


class OtherNode(NamedTuple):
    """A node that the commands of a store do not reach, whose memory and files hold what it held all the same."""

    name: str
    what: str
    """What it is, in words."""
    primary: str
    """The name of the node that it follows; "" of one that follows none, or an unknown one."""


def others(nodes: Sequence[KnownNode]) -> list[OtherNode]:
    """All nodes that hold no slots, and those that are gone."""
    names = {one.node_id: one.name for one in nodes}
    found = []
    for one in nodes:
        primary = names.get(one.follows, "")
        if one.gone:
            found.append(OtherNode(one.name, "a node that is gone", primary))
        elif one.follows:
            found.append(OtherNode(one.name, f"a replica of {primary or 'an unknown node'}", primary))
        elif not one.slots:
            found.append(OtherNode(one.name, "a node without slots, which may have had some", ""))
    return found


def moving_slots(server: Wire) -> int:
    """How many slots are on their way away from a node, as it says itself; the answer of the wire to that node alone."""
    told = server.call("CLUSTER", "NODES").decode("utf-8", "replace")
    mine = next((line for line in told.splitlines() if "myself" in line), "")
    return mine.count("->-")
