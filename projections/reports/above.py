"""Why one memory stands above another for a question: each part of both scores, and the rules that act beside them. Pure.

The ranking is the search's own (`recall.ranking_of`): ranks and scores are those that a search tells.
"""

from __future__ import annotations

from typing import NamedTuple, TypedDict

import numpy as np

from engramlog_server.projections.embedding.meaning import Sense
from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.scripts import begins_with_han, holds_han
from engramlog_server.projections.language.text import tokens
from engramlog_server.projections.laws.modes import reasons_told, secrets
from engramlog_server.projections.memory.record import SECRET, Memory
from engramlog_server.projections.ranking.question import Ranking, RunningSearch
from engramlog_server.projections.ranking.ranked import Ranked
from engramlog_server.projections.ranking.recall import ranking_of
from engramlog_server.projections.ranking.search_request import Filter, Filters, SearchRequest
from engramlog_server.projections.ranking.successors import interrupted
from engramlog_server.projections.views.query import ViewQuery, card, corrections_of


class Absent(TypedDict):
    """Why a memory is not among the results."""

    why: str
    reason: str | None
    shown_by: str | None
    filters: list[str]


class RuleTold(TypedDict):
    """A rule that acts beside what matches."""

    rule: str
    of: str
    others: list[str]


class TermBeside(TypedDict):
    """One part of both scores."""

    term: str
    first: float | None
    second: float | None
    difference: float | None


class AboveSide(TypedDict):
    """One of two memories under a question's ranking."""

    id: str
    memory: str | None
    rank: int | None
    score: float | None
    weight: float
    holds: list[str]
    lacks: list[str]
    absent: Absent | None


_WORD = regex(r"\w+")
PLACES = 9
"""Decimal places of parts and differences: more than a search tells, so that they add up."""


class Outranked(NamedTuple):
    """Two memories under one ranking."""

    first: AboveSide
    second: AboveSide
    terms: list[TermBeside]
    """The most decisive first; where one of the two is not ranked, the other's parts alone."""
    difference: float | None
    """Score of the first less that of the second; None where one is not ranked."""
    rules: list[RuleTold]
    order: str
    """`above`, `below`, or `neither` where neither is ranked."""
    tied: bool
    """Whether the scores are equal, so that the newer memory stands above."""


def compared(
    asked: ViewQuery, query: str, ids: tuple[str, str], request: SearchRequest, sense: Sense | None = None
) -> Outranked:
    """Two memories of the view that is asked, by id, under a request's ranking, mode and filters."""
    ranking = ranking_of(asked, query, request, sense)
    columns = asked.view.columns
    rows = [row for row in map(columns.row, ids) if row is not None]
    places = [_place(ranking.ranked, row) for row in rows]
    sides = [_side(ranking, query, row, place, sense) for row, place in zip(rows, places, strict=True)]
    first, second = places
    scores = ranking.ranked.scores
    difference, tied = None, False
    order = "neither"
    if first is not None and second is not None:
        difference = round(float(scores[first] - scores[second]), PLACES)
        tied = float(scores[first]) == float(scores[second])
        order = "above" if sides[0]["rank"] < sides[1]["rank"] else "below"  # type: ignore[operator]
    elif first is not None or second is not None:
        order = "below" if first is None else "above"
    return Outranked(
        sides[0], sides[1], _terms(ranking.ranked, first, second), difference, _rules(ranking, rows), order, tied
    )


def _place(ranked: Ranked, row: int) -> int | None:
    found = np.flatnonzero(ranked.rows == row)
    return int(found[0]) if found.size else None


def _rank(ranked: Ranked, place: int) -> int:
    """From 1, as `ranked.best` orders: of equal scores the newer row first."""
    score, row = ranked.scores[place], ranked.rows[place]
    above = (ranked.scores > score) | ((ranked.scores == score) & (ranked.rows > row))
    return 1 + int(np.count_nonzero(above))


def _terms(ranked: Ranked, first: int | None, second: int | None) -> list[TermBeside]:
    found: list[TermBeside] = []
    for name, part in ranked.parts.items():
        here, there = (None if place is None else round(float(part[place]), PLACES) for place in (first, second))
        if not here and not there:
            continue
        share = None if here is None or there is None else round(here - there, PLACES)
        found.append({"term": name, "first": here, "second": there, "difference": share})
    return sorted(found, key=lambda one: (-abs(one["difference"] or 0.0), -(one["first"] or one["second"] or 0.0)))


def _side(ranking: Ranking, query: str, row: int, place: int | None, sense: Sense | None) -> AboveSide:
    this, ranked = ranking.this, ranking.ranked
    memory = this.view.columns.memories[row]
    holds, lacks = _words(this, query, memory)
    return {
        "id": memory.id,
        "memory": None if memory.purged_at is not None else card(memory, "full")["memory"],
        "rank": None if place is None else _rank(ranked, place),
        "score": None if place is None else round(float(ranked.scores[place]), PLACES),
        "weight": round(float(this.seen.weights[row]), 6),
        "holds": holds,
        "lacks": lacks,
        "absent": None if place is not None else _absent(ranking, query, row, holds, sense),
    }


def _words(this: RunningSearch, query: str, memory: Memory) -> tuple[list[str], list[str]]:
    """Which of the question's words a memory holds, words like them too, and which not; nothing where no text of it is searched."""
    if memory.sensitivity >= SECRET or memory.purged_at is not None:
        return [], []
    asked = list(dict.fromkeys(tokens(query) if this.reading is None else this.reading.terms))
    pairs = any(len(term) > 1 and begins_with_han(term) for term in asked)  # then single characters only repeat these
    asked = [term for term in asked if not (pairs and len(term) == 1 and begins_with_han(term))]
    held = this.view.explain(query, [memory.id])[0]
    if this.reading is not None:
        held = held | this.view.explain_of(this.reading.counted, [memory.id], this.reading.weighing)[0]
    alike = [word for word in held if word not in asked and not (len(word) == 1 and begins_with_han(word))]
    written = _as_written(query)
    holds = [word for word in asked if word in held] + alike
    return [written.get(word, word) for word in holds], [written.get(word, word) for word in asked if word not in held]


def _as_written(query: str) -> dict[str, str]:
    """Term -> the word of the question that it was cut from."""
    found: dict[str, str] = {}
    for word in _WORD.findall(query):
        if not holds_han(word):
            for term in tokens(word):
                found.setdefault(term, word)
    return found


def _absent(ranking: Ranking, query: str, row: int, holds: list[str], sense: Sense | None) -> Absent:
    """Why a memory is no result, the strongest reason first."""
    this, request = ranking.this, ranking.this.request
    reasons = this.seen.reasons[row : row + 1].copy()
    if secrets(this.view.columns)[row]:
        return {"why": "withheld", "reason": "sensitive", "shown_by": "get --reveal", "filters": []}
    if reasons[0] >= 0:
        told = reasons_told(reasons, this.asked.mode)[0]
        return {"why": "withheld", "reason": told["reason"], "shown_by": told["shown_by"], "filters": []}
    if failing := _failing(this, row):
        return {"why": "filtered", "reason": None, "shown_by": None, "filters": failing}
    if request.filters.least_relevance > 0:
        open_ones = request.filters._replace(least_relevance=0.0)
        other = ranking_of(this.asked, query, request._replace(filters=open_ones), sense).ranked
        if _place(other, row) is not None:
            return {"why": "filtered", "reason": None, "shown_by": None, "filters": ["min_relevance"]}
    matches = bool(holds) and request.search_mode != "semantic"
    return {"why": "too_weak" if matches else "no_match", "reason": None, "shown_by": None, "filters": []}


def _failing(this: RunningSearch, row: int) -> list[str]:
    """Names of the filters that a memory does not pass."""
    untold, found = Filters(), list[str]()
    for name, value in this.request.filters._asdict().items():
        if value != getattr(untold, name) and name != "least_relevance":
            alone = Filter(this.view, untold._replace(**{name: value}), this.seen.weights)
            if not alone.passes(row):
                found.append(name)
    return found


def _rules(ranking: Ranking, rows: list[int]) -> list[RuleTold]:
    """What acts on the two beside what they match by."""
    this, ranked = ranking.this, ranking.ranked
    memories, found = this.view.columns.memories, list[RuleTold]()
    bounds = (
        [(old, new) for old, new in interrupted(this, ranked) if {old, new} == set(rows)] if ranking.follows else []
    )
    for row in rows:
        name, place = memories[row].id, _place(ranked, row)
        lifted = place is not None and float(ranked.parts.get("current", np.zeros(ranked.rows.size))[place]) > 0
        if row in ranking.replaced or lifted:
            found.append({"rule": "current_first", "of": name, "others": ranking.replaced.get(row, [])})
        if corrections := corrections_of(this.view, row):
            now = [one.now.id for one in corrections if one.now is not None]
            found.append({"rule": "corrected", "of": name, "others": list(dict.fromkeys(now))})
        if row in ranked.ways:
            found.append({"rule": "associated", "of": name, "others": []})
    for old, new in bounds:
        found.append({"rule": "for_a_time", "of": memories[new].id, "others": [memories[old].id]})
    return found
