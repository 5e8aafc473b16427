"""What a node says of who holds which slots: the answer to CLUSTER SLOTS, read with distrust. Pure."""

from __future__ import annotations

from typing import Any, NamedTuple

from engramlog_server.events.redis.address import ServerPlace

SLOTS = 16_384
NONE = ""
"""The name of no node."""
MOST_NODES = 1_024
"""Nodes, replicas among them, of which a map is taken; a cluster has up to 1,000."""
_MOST_HOST = 255
_UNKNOWN = (None, b"", b"?")
"""A host that the node does not know, or that is the one it was asked at."""
_PRIMARY = 2
"""Where a row names its primary; first and last slot stand before it, replicas after it."""


class NotACluster(ValueError):
    """An answer that no node of a cluster gives."""


class ToldSlots(NamedTuple):
    """A map of slots."""

    slots: list[str]
    """By slot the name of its primary."""
    replicas: dict[str, set[str]]
    """By primary the names of its replicas."""
    places: dict[str, ServerPlace]
    """By name where a node is."""

    @property
    def covered(self) -> int:
        """How many slots have a node."""
        return SLOTS - self.slots.count(NONE)


def place_of(host: Any, port: Any) -> ServerPlace | None:
    """A place that can be; None of a host or port that nobody has."""
    name = host.decode("utf-8", "replace") if isinstance(host, bytes) else host
    if not isinstance(name, str) or not 0 < len(name) <= _MOST_HOST or not name.isascii() or not name.isprintable():
        return None
    if set(name) & set(" /@,?#[]") or not isinstance(port, int) or not 0 < port < 65_536:
        return None
    return ServerPlace(name, port)


def read_slots(answer: Any, asked: str) -> ToldSlots:
    """The map in an answer to CLUSTER SLOTS; `asked`: the host that was asked, which a node may leave out. Raises NotACluster."""
    told = ToldSlots([NONE] * SLOTS, {}, {})
    try:
        for row in answer:
            first, last, names = int(row[0]), int(row[1]), _names(row[_PRIMARY:], asked, told.places)
            if not 0 <= first <= last < SLOTS:
                raise NotACluster(f"slots {first} to {last}")
            told.slots[first : last + 1] = [names[0]] * (last + 1 - first)
            told.replicas.setdefault(names[0], set()).update(names[1:])
    except (TypeError, ValueError, IndexError) as error:
        raise NotACluster(f"its answer to CLUSTER SLOTS cannot be read: {error}") from error
    return told


def _names(nodes: Any, asked: str, places: dict[str, ServerPlace]) -> list[str]:
    """The nodes of a row by name, the primary first. A replica whose place cannot be is left out."""
    found = []
    for number, node in enumerate(nodes):
        place = place_of(asked if node[0] in _UNKNOWN else node[0], node[1])
        if place is None:
            if not number:
                raise NotACluster("a primary without a place")
            continue
        places.setdefault(str(place), place)
        if len(places) > MOST_NODES:
            raise NotACluster(f"more than {MOST_NODES:,} nodes")
        found.append(str(place))
    return found
