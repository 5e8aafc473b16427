"""What no longer holds, and what holds in its place: the links between memories that say so. Pure.

A turn stays as it was said; the typed memories made of it are what gets negated. So whoever shows a turn, or an account of
several, as knowledge has to say what became of it, or tells again what its speaker took back. Which rows these are is kept by
`projections.index.correction_index`.
"""

from __future__ import annotations

from typing import NamedTuple

from engramlog_server.projections.memory.columns import Columns
from engramlog_server.projections.memory.record import Memory

TOLD, BELOW, GONE = 1, 2, 3
"""How much a correction does: it is told; what it corrects also stands below what holds now; and leaves normal mode."""


class Correction(NamedTuple):
    """Something that was said and no longer holds."""

    old: Memory
    """What says it by itself: a statement, or a turn that somebody negated."""
    now: Memory | None
    """What holds in its place; None where nothing is known to."""
    at: int
    """Since when, microseconds since 1970."""
    strength: int
    """TOLD, BELOW or GONE."""
    beside: bool = False
    """Whether what is corrected was made also of the turn that says what holds now."""


def holding_now(columns: Columns, row: int) -> Memory | None:
    """What holds now in place of a negated memory: its last successor, or where none was ever named the turn that took it back.

    None where that is hidden: what was deleted is not told again.
    """
    *_, last = _line(columns, row)
    memory = columns.memories[last]
    if not memory.is_negated:
        return memory if last != row and columns.state[last] == Columns.LIVE else None
    if memory.superseded_by is not None:
        return None
    turn = memory.negations[-1].turn_id if memory.negations else None
    said = columns.row(turn) if turn is not None else None
    if said is None or columns.state[said] != Columns.LIVE or columns.memories[said].is_negated:
        return None
    return columns.memories[said]


def line_of(columns: Columns, row: int) -> list[tuple[str, Memory | None]]:
    """All that decides what holds in place of a memory, by id: it, its successors, the turn that took it back; None for what is
    not known here.
    """
    line = [columns.memories[one] for one in _line(columns, row)]
    last = line[-1]
    named = [
        one for one in (following(last), last.negations[-1].turn_id if last.negations else None) if one is not None
    ]
    rows = ((one, columns.row(one)) for one in named)
    return [
        *((one.id, one) for one in line),
        *((one, None if at is None else columns.memories[at]) for one, at in rows),
    ]


def following(memory: Memory) -> str | None:
    """What stands for a memory: its successor, or what it was merged into."""
    return memory.superseded_by if memory.is_negated else memory.merged_into


def _line(columns: Columns, row: int) -> list[int]:
    """A row and its successors, each once, as far as they are known."""
    line = [row]
    while (successor := following(columns.memories[row])) is not None:
        found = columns.row(successor)
        if found is None or found in line:
            break
        line.append(row := found)
    return line
