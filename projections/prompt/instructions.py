"""Standing instructions in a prompt: what the user himself asked for, from then on. Pure.

A memory of that kind is shown only where the words are a user's own: a turn that he said, that stands unchanged, and in which the
rules of extraction find this very instruction. So no memory that somebody else writes, revises or merges puts one here, and
neither does what an assistant or a tool says. It stands here whatever its weight, until it is negated, replaced or deleted.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from projections.language.extraction.instructing import INSTRUCTION
from projections.memory.columns import Columns
from projections.memory.record import Memory
from projections.prompt.lines import Chosen, Rules, why_not
from projections.prompt.own_words import NOT_THE_USERS, own_words

MOST_INSTRUCTIONS = 10
MOST_LOOKED_AT = 100
"""Of the newest, where many may not stand here."""


def standing_instructions(columns: Columns, rules: Rules) -> Chosen:
    """The newest standing instructions that hold, at most `MOST_INSTRUCTIONS`, and why others do not stand here."""
    standing = columns.standing()
    live = np.flatnonzero((standing == Columns.LIVE) & (columns.kind == columns.kind_number(INSTRUCTION)))
    found = [columns.memories[int(row)] for row in live]
    found.sort(key=lambda one: (-one.created_at, -one.created_seq, one.id))
    shown: list[Memory] = []
    left_out: Counter[str] = Counter()
    for memory in found[:MOST_LOOKED_AT]:
        if len(shown) == MOST_INSTRUCTIONS:
            break
        reason = why_not(memory, rules) or (None if _is_the_users(memory, columns, standing, rules) else NOT_THE_USERS)
        if reason is None:
            shown.append(memory)
        else:
            left_out[reason] += 1
    return Chosen(shown, left_out)


def _is_the_users(memory: Memory, columns: Columns, standing: np.ndarray, rules: Rules) -> bool:
    """Whether a turn of the user that stands unchanged asks for it, in its own words."""
    return any(one.kind == INSTRUCTION for one in own_words(memory, columns, standing, rules))
