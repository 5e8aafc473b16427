"""Admission to the log: Redis is asked how it stands at most once a second while there is plenty of room, else oftener."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from operator import attrgetter, itemgetter
from threading import Lock
from time import monotonic
from typing import Any

import redis

from engramlog_server.events.admission import ACCESS_FULL, APPEND_FULL, Debt, Room, refusal
from engramlog_server.events.errors import StoreFull, StoreUnavailable
from engramlog_server.events.redis.wire import Wire, in_haste

LOOK_SECONDS = 1.0
ANSWER_SECONDS = 1.0
"""How long a node of a Cluster may take to tell, for all appends wait meanwhile; whoever does not is not counted."""
_PART = 8
"""Redis is asked again once this process has taken an eighth of the room that was left: a fast producer, or eight of them
at once, cannot pass the limit between two looks."""

ReadDebt = Callable[[Wire, str], Debt]
"""Down a wire what waits to be folded, of a Cluster at the node of this name."""


def no_debt(_wire: Wire, _node: str = "") -> Debt:
    """Where nothing is folded."""
    return Debt()


class _Standing:
    """How one server stood when it was looked at, and what this process took there since."""

    def __init__(self, room: Room) -> None:
        self.room, self.taken = room, 0

    def takes(self, wanted: int, most: float) -> StoreFull | None:
        """Take so many bytes, or why they do not fit."""
        self.taken += wanted
        left = self.room.left(most)
        if left is None or (left > 0 and self.taken <= left):
            return None
        self.taken -= wanted
        return StoreFull(refusal(self.room, wanted, most), retry_after=5, unfolded=self.room.debt.events)

    def is_near(self, wanted: int, most: float) -> bool:
        """Whether it is to be looked at again before so many bytes more are taken."""
        left = self.room.left(most)
        return left is not None and (self.taken + wanted) * _PART > left


class AppendAdmission:
    """Lets appends in while there is room for them and for their folding. Safe for threads."""

    def __init__(self, read_debt: ReadDebt = no_debt) -> None:
        self._read_debt = read_debt
        self._lock = Lock()
        self._nodes: dict[str, _Standing] = {}
        """By the name of a node; of one server alone by none."""
        self._looked = float("-inf")

    def refused(self, wire: Wire, wanted: Mapping[str, int], *, only_accesses: bool) -> dict[str, StoreFull]:
        """Take `wanted` bytes (`events.admission.append_bytes`) at each of these nodes, one server's name being "", and give those
        at which they do not fit, with why. A node that does not tell how it stands refuses nothing. Raises StoreError."""
        most = ACCESS_FULL if only_accesses else APPEND_FULL
        with self._lock:
            if monotonic() - self._looked > LOOK_SECONDS or any(
                name in self._nodes and self._nodes[name].is_near(size, most) for name, size in wanted.items()
            ):
                self._nodes = {name: _Standing(room) for name, room in rooms_by_node(wire, self._read_debt)}
                self._looked = monotonic()
            told = {name: self._nodes[name].takes(size, most) for name, size in wanted.items() if name in self._nodes}
        return {name: full for name, full in told.items() if full is not None}


def rooms_by_node(wire: Wire, read_debt: ReadDebt = no_debt) -> list[tuple[str, Room]]:
    """How each node of a Cluster that answers stands now, by its name; of one server alone that one, by none. Without a limit where
    it has none, or does not tell, and then no debt is asked for. Raises StoreUnavailable where one server does not answer."""
    if not wire.many:
        return [("", _room(wire, "", _memory(wire), read_debt))]
    rooms = list[tuple[str, Room]]()
    with in_haste(wire):
        for name, figures in memory_by_node(wire):
            with suppress(StoreUnavailable):
                rooms.append((name, _room(wire, name, figures, read_debt)))
    return rooms


def _room(wire: Wire, name: str, figures: tuple[int | None, int | None], read_debt: ReadDebt) -> Room:
    used, limit = figures
    return Room(used or 0) if used is None or limit is None else Room(used, limit, read_debt(wire, name))


def read_room(wire: Wire, read_debt: ReadDebt = no_debt) -> Room:
    """How Redis stands now, of a Cluster the node with the least room of those that answer."""
    rooms = [room for _, room in rooms_by_node(wire, read_debt)]
    limited = [(left, room) for room in rooms if (left := room.left(APPEND_FULL)) is not None]
    if limited:
        return min(limited, key=itemgetter(0))[1]
    return max(rooms, key=attrgetter("used"), default=Room())


def memory(wire: Wire) -> tuple[int | None, int | None]:
    """Bytes in use and maxmemory, None where it cannot be read, or has no limit; of a Cluster those of the fullest node."""
    if wire.many:
        return _fullest([figures for _, figures in memory_by_node(wire)])
    return _memory(wire)


def memory_by_node(wire: Wire) -> list[tuple[str, tuple[int | None, int | None]]]:
    """The same of each node by its name, of those that answer. Raises StoreUnavailable where nobody tells the nodes."""
    found = []
    for name, one in wire.servers():
        try:
            found.append((name, _memory(one, ANSWER_SECONDS)))
        except StoreUnavailable:
            continue
    return found


def _fullest(nodes: Sequence[tuple[int | None, int | None]]) -> tuple[int | None, int | None]:
    """Who has the largest share of its limit; without limits who has most in use."""
    told = [(used, limit) for used, limit in nodes if used is not None]
    return max(told, key=lambda one: (one[0] / one[1] if one[1] else 0.0, one[0]), default=(None, None))


def _memory(wire: Wire, timeout: float | None = None) -> tuple[int | None, int | None]:
    wire.send("INFO", "memory")
    try:
        answer: Any = wire.receive(timeout=timeout)
    except redis.ResponseError:
        return None, None
    fields = dict(line.split(":", 1) for line in answer.decode().splitlines() if ":" in line)
    return int(fields["used_memory"]), int(fields.get("maxmemory", "0")) or None


def memory_share(wire: Wire) -> float | None:
    """Used share of maxmemory; None where there is no limit or it cannot be read."""
    used, limit = memory(wire)
    return None if used is None or limit is None else used / limit
