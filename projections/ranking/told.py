"""How a search is told: results with their reasons, what was understood, and what was withheld. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NotRequired, TypedDict

import numpy as np

from engramlog_server.projections.embedding.meaning import Sense
from engramlog_server.projections.laws.modes import REASONS, Withheld, reasons_told, secrets
from engramlog_server.projections.memory.columns import Rows
from engramlog_server.projections.memory.record import LEVELS
from engramlog_server.projections.ranking.brought import Step, path_told
from engramlog_server.projections.ranking.conversation_dates import TimeNamed, told
from engramlog_server.projections.ranking.conversation_weights import TERM_WEIGHTS
from engramlog_server.projections.ranking.keyword_match import KeywordMatched, expanded
from engramlog_server.projections.ranking.ranked import Plan, Ranked
from engramlog_server.projections.ranking.rankings import relevance_of, text_score
from engramlog_server.projections.ranking.running import RunningSearch, plain_bm25
from engramlog_server.projections.ranking.search_request import BY_MEANING
from engramlog_server.projections.ranking.senses import MeaningCompared
from engramlog_server.projections.views.query import card, told_beside
from engramlog_server.projections.views.records import Card


class Explanation(TypedDict):
    """Why a result stands where it stands."""

    score: dict[str, float]
    weights: NotRequired[dict[str, float] | None]
    terms: dict[str, float]
    law: str
    factors: dict[str, float]
    path: NotRequired[list[Step] | None]
    keywords: NotRequired[list[KeywordMatched] | None]
    replaces: NotRequired[list[str] | None]
    tags: NotRequired[list[str] | None]
    asked_by: NotRequired[list[str] | None]


class Hit(Card):
    """One search result."""

    score: float
    relevance: float
    weight: float
    explain: Explanation


class Expanded(TypedDict):
    """What a question was widened by."""

    original: list[str]
    synonyms: dict[str, dict[str, float]]
    related: dict[str, dict[str, float]]


class Understood(TypedDict):
    """Whom and what times the question names, under `conversation`."""

    times: list[TimeNamed]
    speakers: list[str]
    since: NotRequired[str | None]
    until: NotRequired[str | None]
    parts: NotRequired[list[str] | None]


MOST_WITHHELD = 5
"""Withheld memories named for each reason, the best matches."""


def results(
    this: RunningSearch, ranked: Ranked, order: Rows, replaced: Mapping[int, list[str]], plan: Plan
) -> list[Hit]:
    rows = ranked.rows[order]
    memories = [this.view.columns.memories[int(row)] for row in rows]
    brought = _brought(this, [memory.id for memory in memories]) if this.request.reasons else []
    relevance = relevance_of(this.asked, this.query, rows, plain_bm25(this, rows), this.request, this.sense)
    whole = relevance.whole
    levels, results = this.seen.levels_of(rows).tolist(), list[Hit]()
    for number, (at, memory) in enumerate(zip(order, memories, strict=True)):
        row = int(rows[number])
        reading = this.view.law.read(memory, this.asked.now, this.view.parameters)
        explained: Explanation = {"score": {}, "terms": {}, "law": this.view.law.name, "factors": {}}
        if this.request.reasons:
            explained = _explained(this, ranked, int(at), brought[number], reading.factors)
        _tell_more(this, ranked, row, replaced, explained)
        if row in plan.brought:
            explained["asked_by"] = [plan.parts[one] for one in plan.brought[row]]
        if this.request.reasons and this.request.ranking == "published":
            explained["keywords"] = relevance.keywords.matched(number)
        result: Hit = {
            **card(memory, LEVELS[levels[number]]),
            **told_beside(this.view, memory),
            "score": round(float(ranked.scores[at]), 6),
            "relevance": round(float(whole[number]), 6),
            "weight": round(reading.weight, 6),
            "explain": explained,
        }
        if row in this.long_ago:
            result["long_ago"] = True
        results.append(result)
    return results


def _brought(this: RunningSearch, ids: list[str]) -> list[dict[str, float]]:
    reading = this.reading
    return (
        this.view.explain(this.query, ids)
        if reading is None
        else this.view.explain_of(reading.counted, ids, reading.weighing)
    )


def _explained(
    this: RunningSearch, ranked: Ranked, at: int, bm25: Mapping[str, float], factors: Mapping[str, float]
) -> Explanation:
    """The parts of a score, which add up to it, with the weight of each where it has one; and the terms of the text."""
    score = {name: round(value, 6) if (value := part.item(at)) else 0.0 for name, part in ranked.parts.items()}
    law, told = this.view.law.name, {name: round(value, 6) for name, value in factors.items()}
    if this.reading is None:
        text = float(text_score(this.view, np.array(sum(bm25.values()))))
        return {"score": score, "terms": _terms(bm25, text), "law": law, "factors": told}
    score = {name: value for name, value in score.items() if value}
    weights = {name: TERM_WEIGHTS[name] for name in score if name in TERM_WEIGHTS}
    return {
        "score": score,
        "weights": weights,
        "terms": _terms(bm25, score.get("text", 0.0)),
        "law": law,
        "factors": told,
    }


def _tell_more(
    this: RunningSearch, ranked: Ranked, row: int, replaced: Mapping[int, list[str]], explained: Explanation
) -> None:
    """What an explanation tells only where there is something to tell."""
    if row in replaced:
        explained["replaces"] = replaced[row]
    if row in ranked.ways:
        explained["path"] = path_told(this.view.columns, ranked.ways[row])
    if this.request.filters.tags or this.request.filters.feeling is not None:
        explained["tags"] = list(this.view.context(row).tags)


def _terms(bm25: Mapping[str, float], text: float) -> dict[str, float]:
    """What each term of the query brought to the text score as it is told."""
    whole = sum(bm25.values())
    return {term: round(value / whole * text, 6) for term, value in bm25.items()}


def understood_as(this: RunningSearch, plan: Plan) -> Understood:
    """Whom and what times the question names, as far as they count in the ranking; and its parts, where each has its share."""
    told = _named(this)
    if plan.parts:
        told["parts"] = list(plan.parts)
    return told


def _named(this: RunningSearch) -> Understood:
    reading, columns, shown = this.reading, this.view.columns, this.seen.shown
    if reading is None:
        return {"times": [], "speakers": []}
    said = columns.created_at[shown] if reading.times.phrases else shown[:0]
    within = (int(said.min()), int(said.max())) if said.size else None
    index = this.view.conversation
    rows = [int(np.argmax(shown & (index.speaker[: shown.size] == speaker))) for speaker in reading.speakers]
    return {
        "times": told(reading.times, this.query, within),
        "speakers": [speaker for row in rows if (speaker := columns.memories[row].speaker) is not None],
    }


def widened(this: RunningSearch) -> Expanded:
    """What else the question's keywords are looked for by."""
    found = expanded(this.view, this.query)
    if this.request.ranking not in BY_MEANING:  # the others go by the words as they are
        return {"original": list(found.original), "synonyms": {}, "related": {}}
    synonyms, related = ({word: dict(alike) for word, alike in part.items()} for part in found[1:])
    return {"original": list(found.original), "synonyms": synonyms, "related": related}


def embedded(sense: Sense) -> MeaningCompared:
    """Which model, and how many of the memories that hold text have vectors of it."""
    return {"model": sense.model, "embedded": int(sense.known.sum()), "of": sense.wanted}


def withheld(this: RunningSearch) -> list[Withheld]:
    """How many matches were left out, by reason, with the best of them by id."""
    view, seen, matches = this.view, this.seen, this.matches
    left = np.flatnonzero(seen.reasons[matches.rows] >= 0)
    if not this.allowed.is_open:
        left = left[this.allowed.passing(matches.rows[left])]
    withheld = np.full(len(view.columns), -1, dtype=np.int8)
    withheld[matches.rows[left]] = seen.reasons[matches.rows[left]]
    # Secrets stand in no index, so which of them match is not known: every one is told, in debug mode too.
    withheld[secrets(view.columns)] = REASONS.index("sensitive")
    left = left[np.argsort(-matches.scores[left], kind="stable")]
    answer: list[Withheld] = []
    for one in reasons_told(withheld, this.asked.mode):
        number = REASONS.index(one["reason"])
        rows = [row for row in matches.rows[left].tolist() if withheld[row] == number][:MOST_WITHHELD]
        ids = [] if one["reason"] == "sensitive" else [view.columns.memories[row].id for row in rows]
        answer.append({**one, "ids": ids})
    return answer
