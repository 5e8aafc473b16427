"""The ground on which a memory stands in every prompt: an operator said so, or a reviewer promoted what use had borne out.

Tiers are folded as they are told. Whether something *always holds* needs a ground beside its tier, and the ground is of the
text: whoever puts other words into the memory takes it away.
"""

from __future__ import annotations

from collections.abc import Sequence

from events.parameters import DEFAULTS
from events.standing import FIRM, REVIEWERS
from projections.memory import Memory

OPERATOR, REVIEW = "operator", "review"
ORDINARY = 1.0
"""Importance at which memories begin."""
BORNE_OUT = DEFAULTS.promotion_importance - ORDINARY
"""What counted uses must have added: as much as lifts an ordinary memory to the question of promotion. A producer's own figure
of importance counts for nothing here, nor does what an owner's parameters say."""


def always_holds(memory: Memory) -> bool:
    """Whether it may stand in every prompt, whatever is asked."""
    return memory.ground is not None and memory.tier in FIRM


def borne_out(memory: Memory) -> bool:
    """Whether uses alone would have made it worth asking a reviewer about."""
    return memory.upkeep is not None and memory.upkeep.earned >= BORNE_OUT


def of_promotion(memory: Memory, to: str, actor: str) -> str | None:
    """The ground after a promotion: an operator's word, or a reviewer's about what is borne out and not in doubt."""
    if to not in FIRM:
        return None
    if actor == "operator":
        return OPERATOR
    sure = not memory.is_negated and not memory.conflicts
    return REVIEW if actor in REVIEWERS and sure and borne_out(memory) else memory.ground


def of_merge(summary: str, sources: Sequence[Memory], actor: str, tier: str) -> tuple[str | None, float]:
    """Ground and earned importance of a merge: those of the source whose words it keeps. An operator answers for his own."""
    kept = [one for one in sources if one.content == summary]
    earned = max((one.upkeep.earned for one in kept if one.upkeep is not None), default=0.0)
    if tier in FIRM and actor == "operator":
        return OPERATOR, earned
    return next((one.ground for one in kept if one.ground is not None), None), earned
