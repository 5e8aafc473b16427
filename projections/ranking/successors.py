"""What is current comes first: a memory that replaced another stands above it, and is found in the old one's words. Pure.

The lift is a part of the score of its own, `current`, so that a result still tells why it stands where it stands. Where the mode
withholds what was replaced, its match counts for what replaced it: asking in the old words finds the correction.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from projections.index.search_index import Scores
from projections.laws.modes import Flags
from projections.memory.columns import Columns
from projections.memory.corrections import successor_of
from projections.memory.record import SECRET
from projections.ranking.ranked import Ranked
from projections.views.view import OwnerView

ABOVE = 1e-6
"""By how much what is current stands above what it replaced."""
MOST = 200
"""Replaced memories that are looked at, the best matches first."""


class Lifted(NamedTuple):
    """A ranking with what is current above what it replaced."""

    ranked: Ranked
    replaced: dict[int, list[str]]
    """Row -> ids of the memories that it replaced and that match."""


def with_successors(
    view: OwnerView, found: Scores, ranked: Ranked, shown: Flags, allowed: Callable[[int], bool]
) -> Lifted:
    """`found`: what matches, with the score that it would lend if it is withheld; `allowed`: what filters let through."""
    columns = view.columns
    place = {row: at for at, row in enumerate(ranked.rows.tolist())}
    worths = dict(zip(found.rows.tolist(), found.scores.tolist(), strict=True))
    worths |= dict(zip(ranked.rows.tolist(), ranked.scores.tolist(), strict=True))
    rows = np.array(list(worths), dtype=np.int64)
    negated = rows[columns.conflict[rows] >= Columns.KEEP].tolist()
    if not negated:
        return Lifted(ranked, {})
    negated.sort(key=lambda row: (-worths[row], row))
    wanted: dict[int, float] = {}
    replaced: dict[int, list[str]] = {}
    for row in negated[:MOST]:
        worth = worths[row]
        successor = successor_of(columns, row)
        if successor is None or not shown[successor] or columns.sensitivity[successor] >= SECRET:
            continue
        if not allowed(successor):
            continue
        score = float(ranked.scores[place[row]]) + ABOVE if row in place else worth
        wanted[successor] = max(wanted.get(successor, 0.0), round(score, 6))
        replaced.setdefault(successor, []).append(columns.memories[row].id)
    return Lifted(_lifted(ranked, place, wanted), replaced)


def _lifted(ranked: Ranked, place: dict[int, int], wanted: dict[int, float]) -> Ranked:
    """The ranking with the part `current`; rows that did not match by themselves are added."""
    missing = [row for row in wanted if row not in place]
    size = ranked.rows.size + len(missing)
    current = np.zeros(size)
    for row, score in wanted.items():
        if row in place:
            current[place[row]] = max(0.0, round(score - float(ranked.scores[place[row]]), 6))
    current[ranked.rows.size :] = [wanted[row] for row in missing]
    if not current.any():
        return ranked
    zeros = np.zeros(len(missing))
    parts = {name: np.concatenate([part, zeros]) for name, part in ranked.parts.items()} | {"current": current}
    scores = np.concatenate([ranked.scores, zeros]) + current
    return Ranked(np.concatenate([ranked.rows, np.array(missing, dtype=np.int64)]), scores, parts, ranked.ways)
