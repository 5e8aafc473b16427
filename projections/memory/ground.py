"""The ground on which a memory stands in every prompt: an operator said so, or a reviewer promoted what an operator had
seen in use.

Tiers are folded as they are told. Whether something *always holds* needs a ground beside its tier, and the ground is of the
text: whoever puts other words into the memory takes it away.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from engramlog_server.events.parameters import DEFAULTS
from engramlog_server.events.standing import FIRM, REVIEWERS
from engramlog_server.projections.memory.record import Memory

OPERATOR, REVIEW = "operator", "review"
ORDINARY = 1.0
"""Importance at which memories begin."""
BORNE_OUT = DEFAULTS.promotion_importance - ORDINARY
"""What counted uses must have added: as much as lifts an ordinary memory to the question of promotion. A producer's own figure
of importance counts for nothing here, nor does what an owner's parameters say."""
WITNESSES = frozenset({"operator"})
"""Whose word for a use is evidence. All others' reach the log by whoever holds a token, under any of their names and dated at
will; so do the turns in which jobs find uses. When the log took them (format 2) shows when they were told, not that they happened:
whoever has a day's patience tells them one after the other. Until keys say who may tell uses, they are no evidence."""


def always_holds(memory: Memory) -> bool:
    """Whether it may stand in every prompt, whatever is asked."""
    return memory.ground is not None and memory.tier in FIRM


def borne_out(memory: Memory) -> bool:
    """Whether uses alone, whoever told them, would have made it worth asking a reviewer about."""
    return memory.upkeep is not None and memory.upkeep.earned >= BORNE_OUT


def witnessed(memory: Memory) -> bool:
    """Whether uses that an operator recorded alone would have."""
    return memory.upkeep is not None and memory.upkeep.witnessed >= BORNE_OUT


def of_promotion(memory: Memory, to: str, actor: str) -> str | None:
    """The ground after a promotion: an operator's word, or a reviewer's about what an operator saw in use and nothing denies."""
    if to not in FIRM:
        return None
    if actor == "operator":
        return OPERATOR
    sure = not memory.is_negated and not memory.conflicts
    return REVIEW if actor in REVIEWERS and sure and witnessed(memory) else memory.ground


class MergedGround(NamedTuple):
    """What a merge has of the sources whose words it keeps."""

    ground: str | None
    earned: float
    witnessed: float


def of_merge(summary: str, sources: Sequence[Memory], actor: str, tier: str) -> MergedGround:
    """Ground and earned importance of a merge: those of the source whose words it keeps. An operator answers for his own."""
    kept = [one for one in sources if one.content == summary]
    upkeeps = [one.upkeep for one in kept if one.upkeep is not None]
    ground = next((one.ground for one in kept if one.ground is not None), None)
    return MergedGround(
        OPERATOR if tier in FIRM and actor == "operator" else ground,
        max((one.earned for one in upkeeps), default=0.0),
        max((one.witnessed for one in upkeeps), default=0.0),
    )
