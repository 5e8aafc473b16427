"""A question of several parts: each brings its share of the first ten, so that what is shown answers all of it. Pure.

The whole question keeps its first places. Behind them whichever part has the fewest among the first ten brings its best match that
is not there yet, the whole question among them. What a part brings in is lifted by a part of the score of its own, `share`.

A name may stand for a role, as the owner's own memories say it: `my sister is called Anna`. Of these only what the mode shows and
the filters let through is read, and of that the best matches alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from engramlog_server.projections.index.search_index import Scores
from engramlog_server.projections.language.asking.parts import MOST_PARTS, asked_parts
from engramlog_server.projections.language.asking.roles import (
    Somebody,
    may_name,
    names_in,
    renamed,
    role_words,
    roles_in,
)
from engramlog_server.projections.language.text import tokens
from engramlog_server.projections.ranking.ranked import Plan, Ranked, best
from engramlog_server.projections.ranking.running import RunningSearch

SHOWN = 10
"""Places among which every part has its share."""
KEPT = 5
"""Of these, the first that are the whole question's own."""
ABOVE = 1e-6
PART = "share"
"""What a result calls it: what its score is more by."""
LOOKED_AT = 50
"""Memories that are read for who somebody is: so many matches of the question, and so many of the name or the role."""
_NAME_COUNTS = 3.0
Ranks = Callable[[str], tuple[Ranked, Mapping[int, list[str]]]]
"""The ranking of a text by itself, with what each row replaced."""


def plan_of(this: RunningSearch) -> Plan:
    """The parts of a question, at most five; of one that is one thing, how else it says whom it means."""
    asked = asked_parts(this.query)
    people = people_meant(this)
    if asked.parts:
        told = dict.fromkeys([*asked.parts, *(said for part in asked.parts for said in renamed(part, people))])
        return Plan(asked.way, tuple(told)[:MOST_PARTS], asked.many, asked.ordered)
    others = tuple(renamed(this.query, people))
    return Plan("named" if others else "whole", others, asked.many, asked.ordered)


@dataclass(frozen=True, slots=True)
class Shared:
    """A ranking in which every part has its share."""

    ranked: Ranked
    replaced: Mapping[int, list[str]]
    plan: Plan


def shared(this: RunningSearch, ranked: Ranked, replaced: Mapping[int, list[str]], plan: Plan, ranks: Ranks) -> Shared:
    """The ranking of the whole question, with what its parts bring among the first ten."""
    if not plan.parts:
        return Shared(ranked, replaced, plan)
    whole = _first(ranked)
    lists, replacing = [], dict[int, list[str]]()
    for part in plan.parts:
        found, replaces = ranks(part)
        lists.append([row for row in _first(found) if this.seen.shown[row]])
        replacing |= replaces
    first = _in_turn(whole, lists)
    brought = {row: [at for at, one in enumerate(lists) if row in one[:SHOWN]] for row in first}
    brought = {row: parts for row, parts in brought.items() if parts and row not in whole[:KEPT]}
    lifted = _lifted(ranked, first)
    more = {row: replacing[row] for row in brought if row in replacing and row not in replaced}
    return Shared(lifted, {**replaced, **more}, replace(plan, brought=brought))


def _first(ranked: Ranked) -> list[int]:
    """The rows that stand first, with some more for those that others have brought already."""
    found: list[int] = ranked.rows[best(ranked.scores, ranked.rows, 2 * SHOWN)].tolist()
    return found


def _in_turn(whole: Sequence[int], lists: Sequence[Sequence[int]]) -> list[int]:
    """The first ten rows: the whole question's first, then of whichever part, or the whole, has the fewest there its next best.

    A row counts for the part that ranks it best.
    """
    first, had = dict.fromkeys(whole[:KEPT]), [0] * len(lists) + [min(KEPT, len(whole))]
    for row in first:
        places = [(one.index(row), at) for at, one in enumerate(lists) if row in one]
        if places:
            had[min(places)[1]] += 1
    waiting = [[row for row in one if row not in first] for one in (*lists, whole)]
    while len(first) < SHOWN and any(waiting):
        at = min((at for at, one in enumerate(waiting) if one), key=lambda at: (had[at], at))
        row = waiting[at].pop(0)
        if row not in first:
            first[row] = None
            had[at] += 1
    return list(first)


def _lifted(ranked: Ranked, first: Sequence[int]) -> Ranked:
    """The ranking with these rows first, in this order; those that are not in it are added."""
    place = {row: at for at, row in enumerate(ranked.rows.tolist())}
    missing = [row for row in first if row not in place]
    place |= {row: ranked.rows.size + at for at, row in enumerate(missing)}
    own = np.concatenate([ranked.scores, np.zeros(len(missing))])
    others = np.ones(own.size, dtype=bool)
    others[[place[row] for row in first]] = False
    least = float(own[others].max()) if others.any() else 0.0
    share = np.zeros(own.size)
    for row in reversed(first):
        at = place[row]
        share[at] = max(0.0, round(least + ABOVE - own[at], 6))
        least = float(own[at] + share[at])
    if not share.any() and not missing:
        return ranked
    zeros = np.zeros(len(missing))
    parts = {name: np.concatenate([part, zeros]) for name, part in ranked.parts.items()} | {PART: share}
    rows = np.concatenate([ranked.rows, np.array(missing, dtype=np.int64)])
    return Ranked(rows, own + share, parts, ranked.ways)


def people_meant(this: RunningSearch) -> list[Somebody]:
    """Whom the owner's memories introduce, of those that the question may name. Nothing is read where it names nobody."""
    if this.reading is None or not may_name(this.query):
        return []
    found = _introduced(this, this.matches)
    roles, names = roles_in(this.query), names_in(this.query)
    if not found and roles:
        found = _introduced(this, this.view.matches_of(_once(" ".join(roles)), this.reading.weighing))
    if not found and names:
        terms = _role_terms() | dict.fromkeys(tokens(" ".join(names)), _NAME_COUNTS)
        found = _introduced(this, this.view.matches_of(terms, this.reading.weighing))
    return found


@cache
def _role_terms() -> dict[str, float]:
    return _once(" ".join(role_words()))


def _once(text: str) -> dict[str, float]:
    return dict.fromkeys(tokens(text), 1.0)


def _introduced(this: RunningSearch, matches: Scores) -> list[Somebody]:
    shown = this.seen.shown[matches.rows]
    rows, scores = matches.rows[shown], matches.scores[shown]
    kept = rows[best(scores, rows, LOOKED_AT)]
    if kept.size:
        kept = kept[this.allowed.passing(np.asarray(kept))]
    told = kept[this.view.columns.sensitivity[kept] <= this.request.most_sensitive]
    return [one for row in told.tolist() for one in this.view.people(row)]
