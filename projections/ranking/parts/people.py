"""Who is meant by a name or a role, as the owner's own memories say it: `my sister is called Anna`. Pure.

Only what the mode shows and the filters let through is read, and of that the best matches alone.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from projections.index.search_index import Scores
from projections.language.asking.roles import Somebody, may_name, names_in, role_words, roles_in
from projections.language.text import tokens
from projections.ranking.ranked import best
from projections.ranking.running import RunningSearch

LOOKED_AT = 50
"""Memories that are read for who somebody is: so many matches of the question, and so many of the name or the role."""
_NAME_COUNTS = 3.0


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
