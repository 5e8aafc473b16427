"""What an owner's memories say that no longer holds, as answers tell it, and which of them leave normal mode for it. Pure.

A memory leaves where the question asks for nothing else that it says: what it shares with the question stands in the part that
was corrected. Where nothing is asked, it leaves if it says nothing else at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from engramlog_server.projections.index.correction_index import CorrectionIndex, Strengths
from engramlog_server.projections.language.drawn import Drawn
from engramlog_server.projections.laws.law import Law
from engramlog_server.projections.laws.modes import Mode, Visibility, visibility
from engramlog_server.projections.memory.columns import Rows
from engramlog_server.projections.memory.corrections import BELOW, GONE, Correction
from engramlog_server.projections.views.view import OwnerView

NOTHING_ASKED = frozenset[str]()


def corrections_in(view: OwnerView, memory_id: str) -> Sequence[Correction]:
    """What a memory, or a turn, says that no longer holds, the last negated first."""
    return view.index(CorrectionIndex).said_in(view.columns, memory_id)


def strengths(view: OwnerView) -> Strengths:
    """How strongly each row may be corrected, shape (rows,)."""
    return view.index(CorrectionIndex).strengths(view.columns)


def corrections_of(view: OwnerView, row: int) -> Sequence[Correction]:
    """What a row says that no longer holds, as far as it stands below what holds now."""
    found = view.index(CorrectionIndex).of(view.columns, row)
    return [one for one in found if one.strength >= BELOW]


def asked_for(
    view: OwnerView, row: int, corrections: Sequence[Correction], asked: frozenset[str]
) -> Sequence[Correction]:
    """Those of a row's corrections that a question asks for: all where the row says nothing else and none is named."""
    if any(one.old.id == view.columns.memories[row].id for one in corrections):
        return corrections
    index, columns = view.index(CorrectionIndex), view.columns
    named = [one for one in corrections if not index.drawn(columns, row, [one]).inside.isdisjoint(asked)]
    return named if named or index.drawn(columns, row, corrections).rest else corrections


def leaving(view: OwnerView, rows: Iterable[int], asked: frozenset[str] = NOTHING_ASKED) -> Rows:
    """Those of these rows that normal mode withholds as corrected where these words are asked for."""
    index, strong = view.index(CorrectionIndex), strengths(view)
    found = [row for row in rows if strong[row] == GONE and _leaves(index.leaving(view.columns, row), asked)]
    return np.array(found, dtype=np.int64)


def _leaves(part: Drawn | None, asked: frozenset[str]) -> bool:
    if part is None or not part.rest.isdisjoint(asked):
        return False
    return not part.rest or not part.inside.isdisjoint(asked)


def seen_at(view: OwnerView, now: int, mode: Mode, law: Law | None = None, *, secret: bool = True) -> Visibility:
    """What a mode shows at `now` (microseconds since 1970) where nothing is asked, and why not the rest; by the owner's law unless
    another is told. `secret`: as `visibility` has it."""
    found = visibility(view.columns, law or view.law, now, view.parameters, mode, secret=secret)
    if mode != "normal":
        return found
    return found.without(leaving(view, np.flatnonzero(found.shown & (strengths(view) == GONE)).tolist()), "corrected")
