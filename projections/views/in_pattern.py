"""What a pattern rests on, and which patterns rest on a memory, as far as that may be told. Pure."""

from __future__ import annotations

from engramlog_server.projections.index.correction_index import CorrectionIndex
from engramlog_server.projections.memory.columns import Columns, state_of
from engramlog_server.projections.memory.pattern import is_pattern
from engramlog_server.projections.memory.record import Memory
from engramlog_server.projections.views.query import card, clipped, moment, status
from engramlog_server.projections.views.records import InPattern, PatternTold
from engramlog_server.projections.views.view import OwnerView

MOST_PATTERNS = 20
"""Patterns told of one memory, the first made."""


def pattern_told(view: OwnerView, memory: Memory) -> PatternTold:
    """What a pattern rests on, the oldest first (`evidence`), and which patterns rest on a memory (`patterns`); else nothing.

    Of what does not stand by itself no word is told, only that it does not.
    """
    found: PatternTold = {}
    if is_pattern(memory):
        pieces = [one for one in map(view.get, memory.summarises) if one is not None]
        found["evidence"] = [_told(one) for one in pieces]
    rows = view.index(CorrectionIndex).patterns_of(memory.id)
    known = map(view.columns.memories.__getitem__, rows)
    resting = [one for one in known if state_of(one) < Columns.REJECTED and not view.hides(one.id)]
    if resting:
        found["patterns"] = [_told(one) for one in resting[:MOST_PATTERNS]]
    return found


def _told(memory: Memory) -> InPattern:
    stands = state_of(memory) in (Columns.LIVE, Columns.MERGED)
    text = clipped(card(memory, "full")["memory"]) if stands else None
    return {"id": memory.id, "memory": text, "status": status(memory), "created_at": moment(memory.created_at)}
