"""Whether there is room for what is to be appended: memory in use, and what folding the log will still take.

An event that is accepted takes memory twice: in the log, and as what it is folded into. Appends are refused so early that
all that is in the log can still be folded; else a full store could answer no question about what it accepted.
Figures are bytes of Redis's memory, measured: a folded event takes about 1.05 to 1.25 of its body and 240
more, one of an owner who is new about 600 on top.

Redis is asked how it stands at most once a second while there is plenty of room, else oftener.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from operator import attrgetter, itemgetter
from threading import Lock
from time import monotonic
from typing import Any, NamedTuple

import redis

from engramlog_server.events.errors import StoreFull, StoreUnavailable
from engramlog_server.events.redis.wire import Wire, in_haste

APPEND_FULL = 0.85
"""Share of maxmemory from which appends are refused; access events from 0.75: the rest belongs to commits and operators."""
ACCESS_FULL = 0.75

_LOG_A_BYTE, _LOG_AN_EVENT = 1.25, 200
_FOLD_A_BYTE, _FOLD_AN_EVENT, _FOLD_AN_OWNER = 1.3, 300, 800
_ENOUGH = 0.01
"""Share of maxmemory that unfolded events must take to be named in a refusal."""


class Debt(NamedTuple):
    """What is in the log and not yet folded: events, bytes of their bodies, and owners of whom nothing is folded."""

    events: int = 0
    body_bytes: int = 0
    new_owners: int = 0

    @property
    def bytes(self) -> int:
        """About how much memory folding it will take, rather more than less."""
        return fold_bytes(self.events, self.body_bytes) + _FOLD_AN_OWNER * self.new_owners


class Room(NamedTuple):
    """How Redis stands: bytes in use, its maxmemory (None: no limit), and what waits to be folded."""

    used: int = 0
    limit: int | None = None
    debt: Debt = Debt()

    @property
    def used_share(self) -> float:
        """Share of maxmemory in use; 0 without a limit."""
        return self.used / self.limit if self.limit else 0.0

    @property
    def debt_share(self) -> float:
        """Share of maxmemory that folding will still take; 0 without a limit."""
        return self.debt.bytes / self.limit if self.limit else 0.0

    def left(self, most: float) -> int | None:
        """Bytes up to this share of maxmemory once all is folded, negative beyond it; None without a limit."""
        return None if self.limit is None else int(most * self.limit) - self.used - self.debt.bytes


def fold_bytes(events: int, body_bytes: int) -> int:
    """About how much memory so many events of so many bytes take once they are folded, beside the log."""
    return int(_FOLD_A_BYTE * body_bytes) + _FOLD_AN_EVENT * events


def append_bytes(events: int, body_bytes: int) -> int:
    """About how much memory appending so many events of so many bytes takes: in the log, and folded."""
    return int(_LOG_A_BYTE * body_bytes) + _LOG_AN_EVENT * events + fold_bytes(events, body_bytes)


def refusal(room: Room, wanted: int, most: float) -> str:
    """Why an append that takes so many bytes is refused, and what to do."""
    because, cure = "", "raise maxmemory or free memory"
    if room.limit and wanted >= _ENOUGH * room.limit:
        because = f", and this request would take about {wanted / room.limit:.0%} once it is folded"
    if room.debt_share >= _ENOUGH:
        because += f", and folding the {room.debt.events:,} events that wait will take about {room.debt_share:.0%} more"
        cure = f"let folding catch up (`engramlog status` tells the lag), or {cure}"
    return (
        f"Redis uses {room.used_share:.0%} of its maxmemory{because}; appends are refused from {most:.0%} on, so that what"
        f" is in the log can be folded: {cure}, then send the same request again"
    )


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
        """Take `wanted` bytes (`append_bytes`) at each of these nodes, one server's name being "", and give those
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
