"""Admission to the log: Redis is asked how it stands at most once a second while there is plenty of room, else oftener."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from operator import attrgetter, itemgetter
from threading import Lock
from time import monotonic
from typing import Any

import redis

from events.admission import ACCESS_FULL, APPEND_FULL, Debt, Room, refusal
from events.errors import StoreFull, StoreUnavailable
from events.redis.haste import in_haste
from events.redis.wire import Wire

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


class AppendAdmission:
    """Lets appends in while there is room for them and for their folding. Safe for threads."""

    def __init__(self, read_debt: ReadDebt = no_debt) -> None:
        self._read_debt = read_debt
        self._lock = Lock()
        self._room = Room()
        self._looked = float("-inf")
        self._taken = 0
        """Bytes that this process took since it looked."""

    def admit(self, wire: Wire, wanted: int, *, only_accesses: bool) -> None:
        """Take `wanted` bytes (`events.admission.append_bytes`). Raises StoreFull where they do not fit."""
        most = ACCESS_FULL if only_accesses else APPEND_FULL
        with self._lock:
            self._taken += wanted
            if monotonic() - self._looked > LOOK_SECONDS or self._is_near(most):
                self._room, self._taken = read_room(wire, self._read_debt), wanted
                self._looked = monotonic()
            left = self._room.left(most)
            if left is not None and (left <= 0 or self._taken > left):
                self._taken -= wanted
                raise StoreFull(refusal(self._room, wanted, most), retry_after=5, unfolded=self._room.debt.events)

    def _is_near(self, most: float) -> bool:
        left = self._room.left(most)
        return left is not None and self._taken * _PART > left


def read_room(wire: Wire, read_debt: ReadDebt = no_debt) -> Room:
    """How Redis stands now, of a Cluster the node with the least room; without a limit where it has none, or does not tell, and
    then no debt is asked for."""
    if wire.many:
        return _least_room(wire, read_debt)
    used, limit = _memory(wire)
    return Room(used or 0) if used is None or limit is None else Room(used, limit, read_debt(wire, ""))


def _least_room(wire: Wire, read_debt: ReadDebt) -> Room:
    """Of the nodes that answer: what lies on one that was lost takes no events, and keeps those on others from none."""
    rooms = list[Room]()
    with in_haste(wire):
        for name, (used, limit) in memory_by_node(wire):
            with suppress(StoreUnavailable):
                rooms.append(Room(used or 0, limit, Debt() if limit is None else read_debt(wire, name)))
    limited = [(left, one) for one in rooms if (left := one.left(APPEND_FULL)) is not None]
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
