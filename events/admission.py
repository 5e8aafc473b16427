"""Whether there is room for what is to be appended: memory in use, and what folding the log will still take.

An event that is accepted takes memory twice: in the log, and as what it is folded into. Appends are refused so early that
all that is in the log can still be folded; else a full store could answer no question about what it accepted.
Figures are bytes of Redis's memory, measured: a folded event takes about 1.05 to 1.25 of its body and 240
more, one of an owner who is new about 600 on top.
"""

from __future__ import annotations

from typing import NamedTuple

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
