"""What of a turn no longer holds: statements taken from it that were negated since, and what holds in their place. Pure.

A turn stays as it was said, and stays to be found; the typed memories made of it are what gets negated. So whoever shows a turn
as knowledge has to say what became of it, or tells again what its speaker took back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from projections.memory.columns import Columns
from projections.memory.kind import is_statement
from projections.memory.record import Memory


class Correction(NamedTuple):
    """A statement that no longer holds."""

    old: Memory
    now: Memory | None
    """What holds in its place; None where nothing does."""


def corrections(columns: Columns) -> Mapping[str, Sequence[Correction]]:
    """Turn id -> the live memories made of it that are negated, the last ones negated first."""
    rows = np.flatnonzero((columns.conflict != Columns.HELD) & (columns.state == Columns.LIVE))
    found: dict[str, list[Correction]] = {}
    for row in rows[np.argsort(-columns.negated_at[rows], kind="stable")]:
        memory = columns.memories[int(row)]
        if is_statement(memory):
            now = successor_of(columns, int(row))
            if now is not None and columns.state[now] != Columns.LIVE:
                now = None
            correction = Correction(memory, None if now is None else columns.memories[now])
            for turn in memory.source_turns:
                found.setdefault(turn, []).append(correction)
    return found


def successor_of(columns: Columns, row: int) -> int | None:
    """The row of what holds now in place of a negated memory, at the end of its successors; None if nothing does."""
    seen = {row}
    while True:
        memory = columns.memories[row]
        following = memory.superseded_by if memory.is_negated else memory.merged_into
        if following is None:
            return row if len(seen) > 1 and not memory.is_negated else None
        found = columns.row(following)
        if found is None or found in seen:
            return None
        seen.add(found)
        row = found
