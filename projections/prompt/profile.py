"""Who the user is, of what he said: the lasting ones among his typed memories. Pure.

No clock and no weight decides what stands here, so it is the same from turn to turn: identity, lasting preferences, skills and
lasting facts, of each the newest, told in the order in which they were said. A line leaves when it is negated, replaced, revised
by somebody else, merged or deleted, and when newer ones of its class take its place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from projections.checks import Check, unchecked
from projections.language.extraction.instructing import INSTRUCTION
from projections.language.times.bounds import bounded
from projections.memory.columns import Columns
from projections.memory.kind import is_statement
from projections.memory.record import CATEGORIES, Memory
from projections.prompt.lines import Rules, why_not
from projections.prompt.own_words import NOT_THE_USERS, OwnWords
from projections.views.view import OwnerView

MOST_LINES = {"identity": 8, "stable_preference": 8, "skill": 4, "fact": 4}
"""Classes that last, in the order of the profile, and how many lines each may have."""
MOST_LOOKED_AT = 100
"""Of each class the newest, where many may not stand here."""
MOST_FACTS = 2_000
"""Of the facts with a triple the newest, of which the lasting ones are looked at."""
LASTING = frozenset(
    {"has", "owns", "lives in", "works as", "works at", "is", "was born", "graduated from"}
) | frozenset({"有", "住在", "是", "上班于", "出生", "毕业于", "名字"})
"""Predicates of facts that are no events: what somebody has, and what holds of his people."""


class Profile(NamedTuple):
    """Who the user is."""

    shown: list[Memory]
    """By class; within a class in the order in which they were said."""
    left_out: Counter[str]
    """How many lasting memories may not stand here, by reason, among those that were looked at."""


def profile_of(view: OwnerView, rules: Rules, elsewhere: frozenset[str], check: Check = unchecked) -> Profile:
    """The profile of an owner, without what stands in every prompt anyway (`elsewhere`, by id).

    `check` is asked before each memory, of which up to twenty turns are read, and may end it.
    """
    columns, own = view.columns, view.index(OwnWords)
    standing = columns.standing()
    told = {columns.memories[row].content for one in elsewhere if (row := columns.row(one)) is not None}
    shown: list[Memory] = []
    left_out: Counter[str] = Counter()
    for category, most in MOST_LINES.items():
        found: list[Memory] = []
        for at, memory in enumerate(_newest(columns, standing, category)):
            check(at, MOST_LOOKED_AT)
            if len(found) == most:
                break
            if memory.id in elsewhere or memory.content in told:
                continue
            reason = _why_not(memory, rules)
            if reason is None and not own.holds(memory, columns, standing, rules):
                reason = NOT_THE_USERS
            if reason is None:
                found.append(memory)
                told.add(memory.content)
            else:
                left_out[reason] += 1
        shown += reversed(found)
    return Profile(shown, left_out)


def _newest(columns: Columns, standing: np.ndarray, category: str) -> Iterator[Memory]:
    """The newest statements of a class that stand, the newest first, as many as are looked at."""
    fact = category == "fact"
    wanted = (standing == Columns.LIVE) & (columns.category == CATEGORIES.index(category))
    if fact:
        wanted &= columns.backed != 0
    rows = np.flatnonzero(wanted)
    order = np.lexsort((columns.created_seq[rows], columns.created_at[rows]))[::-1]
    looked = 0
    for row in rows[order][: MOST_FACTS if fact else None].tolist():
        memory = columns.memories[row]
        if memory.kind == INSTRUCTION or not is_statement(memory) or (fact and not _lasts(memory)):
            continue
        looked += 1
        if looked > MOST_LOOKED_AT:
            return
        yield memory


def _lasts(memory: Memory) -> bool:
    """Whether a fact tells what is so, and not what happened."""
    return all(one.predicate in LASTING for one in memory.facts)


def _why_not(memory: Memory, rules: Rules) -> str | None:
    """Why it may not be told as what the user is."""
    if (reason := why_not(memory, rules)) is not None:
        return reason
    if memory.grounds_changed:
        return "grounds changed"
    if rules.corrected(memory.id):
        return "corrected"
    return "for a time" if bounded(memory.content, memory.worded_at, rules.zone) is not None else None
