"""The reviewer by rule (seed 003): promote, keep or delete, asked once for each crossing of a threshold.

Only owners under the tiered profile are reviewed. What the seed asks of a model is here a rule that anyone can read: only
identity, lasting preferences and skills are promoted, never a passing state or mere frequency; and only what is passing,
unconfirmed and unused is let go.
"""

from __future__ import annotations

import numpy as np

from events.catalogue import MemoryDeleted, MemoryKept, MemoryPromoted
from events.envelope import from_micros
from projections.columns import NEVER, Columns
from projections.laws.tiered import fallen_at, lower_threshold
from projections.lifecycle.decision import Decision
from projections.memory import Memory
from projections.view import OwnerView

LASTING = frozenset({"identity", "stable_preference", "skill"})
PASSING = frozenset({"temporary", "short_term_preference"})


def reviews(view: OwnerView, now: int) -> list[Decision]:
    """The reviewer's answers to what is asked by `now`, microseconds."""
    if view.state.profile != "tiered":
        return []
    columns, parameters = view.columns, view.parameters
    asked = (columns.state == Columns.LIVE) & (columns.tier >= Columns.FACT)
    risen = np.flatnonzero(asked & (columns.promotion_at > NEVER) & (columns.promotion_at <= now))
    decisions = [_promotion(columns.memories[row], int(columns.promotion_at[row])) for row in risen]
    least = np.where(columns.kept != 0, lower_threshold(parameters), parameters.decay_review_importance)
    due = fallen_at(columns, least, parameters)
    asked[risen] = False  # one question at a time
    crossed = columns.importance >= least  # what never stood above has crossed nothing
    fallen = np.flatnonzero(asked & crossed & (due <= now) & (due > columns.restored_at))
    return decisions + [_decay(columns.memories[row], int(due[row])) for row in fallen]


def _promotion(memory: Memory, due_at: int) -> Decision:
    at = from_micros(due_at)
    if memory.category in LASTING and not memory.is_negated and not memory.conflicts:
        data = MemoryPromoted(memory_id=memory.id, from_=memory.tier, to="core", due_at=at)  # type: ignore[arg-type]
        return _decided(memory, "promote", due_at, f"{memory.category}: it lasts", data)
    reason = (
        "negated"
        if memory.is_negated
        else "in conflict"
        if memory.conflicts
        else f"{memory.category}: often is not lasting"
    )
    return _decided(memory, "keep", due_at, reason, MemoryKept(memory_id=memory.id, reason=reason, due_at=at))


def _decay(memory: Memory, due_at: int) -> Decision:
    at, asked_again = from_micros(due_at), memory.upkeep is not None and memory.upkeep.kept
    reason = _may_go(memory, asked_again)
    if reason is not None:
        return _decided(
            memory, "delete", due_at, reason, MemoryDeleted(memory_id=memory.id, policy="auto_cleanup", due_at=at)
        )
    reason = "it still says something"
    return _decided(memory, "keep", due_at, reason, MemoryKept(memory_id=memory.id, reason=reason, due_at=at))


def _may_go(memory: Memory, asked_again: bool) -> str | None:
    """Why a memory that has decayed may be deleted, or None."""
    if memory.verified or memory.sensitivity >= 2 or memory.category in LASTING:
        return None
    if memory.is_superseded and memory.superseded_by:
        return "something newer replaced it"
    if memory.category in PASSING and memory.mention_count == 1:
        return f"{memory.category}, said once"
    if asked_again and memory.mention_count == 1 and memory.access_count == 0 and not memory.facts:
        return "said once and never asked for"
    return None


def _decided(
    memory: Memory, action: str, due_at: int, reason: str, data: MemoryPromoted | MemoryKept | MemoryDeleted
) -> Decision:
    return Decision("review", action, (memory.id,), due_at, memory.changed_seq, reason, data)
