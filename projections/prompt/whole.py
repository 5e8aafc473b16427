"""What a block brings up for a turn: what is close to it and, where it asks, what answers it as a whole. Pure.

Whether anything is brought up is for the threshold to say. Where something passes it and the turn asks, the block need not stop
at what is close: an agent that gets half of an answer tells half of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from projections.choices import MOST_RESULTS
from projections.index.conversation_index import NONE
from projections.language.asking.parts import asked_parts, asks
from projections.language.conversation_words import ends_asking
from projections.laws.modes import Visibility
from projections.memory.record import LEVELS, Memory
from projections.prompt.gathering import Always, AskedTurn, Close, Valued, Wanted, closest
from projections.prompt.keeping import made_at
from projections.prompt.lines import Rules, said_already, why_not
from projections.views.corrected import seen_at
from projections.views.view import OwnerView

MOST_ANSWERING = 10
"""Memories for a turn that asks for one thing."""
MOST_TOGETHER = 20
"""For one that asks for several, and where the agent wants the whole answer."""
OPENING = 3
"""Of the best matches, how many bring the turn that answers them or that they answer."""


def brought_up(
    view: OwnerView, now: int, found: Sequence[Valued], asked: AskedTurn, wanted: Wanted, rules: Rules, holds: Always
) -> tuple[list[Close], list[int]]:
    """What the searches found for a turn, in the order of the block; and how many of each were close enough.

    At most five where the turn asks nothing, or `wanted.whole` is false. `whole` true: whatever the threshold.
    """
    close, counts = closest(view, found, asked, wanted.threshold, rules, holds, MOST_RESULTS)
    if not found or wanted.whole is False or not (wanted.whole or (close and asks(asked.text))):
        return close, counts
    plan = asked_parts(asked.text)
    most = MOST_TOGETHER if wanted.whole or plan.many or plan.parts else MOST_ANSWERING
    told = {one.memory_id: one for one in close}
    for one in _answering(view, seen_at(view, now, "normal"), found[0]):
        memory = view.get(one.memory_id)
        if len(told) >= most:
            break
        if memory is None or one.memory_id in told or one.memory_id in holds.ids:
            continue
        if not said_already(memory, asked.talk, asked.text) and why_not(memory, rules) is None:
            told[one.memory_id] = one
    kept = list(told.values())
    if plan.ordered:
        return sorted(kept, key=lambda one: made_at(view, one.memory_id)), counts
    return sorted(kept, key=lambda one: one.long_ago), counts


def _answering(view: OwnerView, seen: Visibility, search: Valued) -> Iterator[Close]:
    """What one search found, best first; beside the best what answers it, or what it answers."""
    for at, (result, value) in enumerate(zip(search.results, search.closeness, strict=True)):
        yield Close(result["id"], result["level"], round(value, 6), bool(result.get("long_ago", False)))
        row = view.columns.row(result["id"])
        if at < OPENING and row is not None:
            for beside in _beside(view, row):
                if seen.shown[beside]:
                    level = LEVELS[int(seen.levels_of(np.array([beside]))[0])]
                    yield Close(view.columns.memories[beside].id, level, None, False)


def _beside(view: OwnerView, row: int) -> list[int]:
    """The turn after one that ends in a question, and the question before one that follows it, by another speaker."""
    view.conversation.settle()
    index = view.conversation
    before, after = int(index.previous[row]), int(index.next[row])
    found = []
    if after != NONE and _asks(view.columns.memories[row]) and index.speaker[after] != index.speaker[row]:
        found.append(after)
    if before != NONE and _asks(view.columns.memories[before]) and index.speaker[before] != index.speaker[row]:
        found.append(before)
    return found


def _asks(memory: Memory) -> bool:
    return ends_asking(memory.content)
