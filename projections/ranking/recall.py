"""Search: which memories answer a question, in what order and why, and what else they bring to mind. Pure.

The rankings are in `conversation` (the default) and `rankings`; what all of them owe is here: filters, what is current before
what it replaced, reasons that add up, and what was withheld.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from projections.embedding.meaning import Sense
from projections.index.search_index import Scores
from projections.laws.law import Floats
from projections.laws.modes import REASONS, Visibility, reasons_told, secrets, visibility
from projections.memory.columns import Columns, Rows
from projections.memory.record import LEVELS
from projections.memory.tags import contextual_match
from projections.ranking import conversation, conversation_meaning
from projections.ranking.brought import brought_to_mind, path_told
from projections.ranking.conversation_dates import told
from projections.ranking.conversation_question import QuestionReading, hear
from projections.ranking.conversation_weights import TERM_WEIGHTS, WEIGHTS
from projections.ranking.keyword_match import expanded
from projections.ranking.ranked import Ranked, best
from projections.ranking.rankings import (
    MOST_PUBLISHED,
    WEIGHT_SHARE,
    Direct,
    by_activation,
    by_overlap,
    by_published,
    by_text,
    direct_hits,
    relevance_of,
    seeds_of,
    text_score,
)
from projections.ranking.search_request import BY_MEANING, PLAIN, Filter, SearchRequest
from projections.ranking.successors import Lifted, with_successors
from projections.views.query import ViewQuery, card, conflicts_told
from projections.views.view import OwnerView

MOST_EXPLAINED = 100
"""Rows up to which explaining each is quicker than scoring all."""
MOST_WITHHELD = 5
"""Withheld memories named for each reason, the best matches."""


@dataclass(frozen=True, slots=True)
class _Search:
    """One search, understood."""

    asked: ViewQuery
    query: str
    wish: SearchRequest
    sense: Sense | None
    """None where meaning is not asked for, or cannot be compared."""
    seen: Visibility
    wished: Filter
    heard: QuestionReading | None
    """The question as the conversation ranking understands it, under that ranking."""
    matches: Scores

    @property
    def view(self) -> OwnerView:
        """The view that is asked."""
        return self.asked.view


def search(
    asked: ViewQuery, query: str, limit: int, wish: SearchRequest = PLAIN, sense: Sense | None = None, offset: int = 0
) -> dict[str, Any]:
    """The best `limit` matches after `offset` that the mode shows, each with its reasons, and what was withheld.

    `sense`: the question's meaning; without, hybrid goes by words. How many results there are in all is told as `total`.
    """
    this = _understood(asked, query, wish, sense)
    ranked, replaced = _current_first(this, _ranked(this))
    ranked = _relevant(this, ranked)
    pages = best(ranked.scores, ranked.rows, offset + limit)
    order = pages[offset:]
    answer: dict[str, Any] = {
        "results": _results(this, ranked, order, replaced),
        "total": int(ranked.rows.size),
        "search_mode": this.wish.search_mode,
        "understood": _heard(this),
        "expanded": _widened(this),
        "meaning": None if this.sense is None else _embedded(this.sense),
        "withheld": _withheld(this),
    }
    if wish.associations:
        shown = set(ranked.rows[pages].tolist())
        answer["associated"] = brought_to_mind(asked, query, seeds_of(_direct(this)), shown, this.seen)
    return answer


def _understood(asked: ViewQuery, query: str, wish: SearchRequest, sense: Sense | None) -> _Search:
    view, now, mode = asked
    seen = visibility(view.columns, view.law, now, view.parameters, mode)
    if wish.search_mode == "keyword" or wish.ranking not in BY_MEANING:
        sense = None
    heard = hear(view, query, now, seen.shown) if wish.ranking == "conversation" else None
    matches = view.matches(query) if heard is None else heard.matches
    return _Search(asked, query, wish, sense, seen, Filter(view, wish.filters, seen.weights), heard, matches)


def _direct(this: _Search) -> Direct:
    return direct_hits(this.view, this.matches, this.seen.shown, this.wished)


def _ranked(this: _Search) -> Ranked:
    wish, asked, seen = this.wish, this.asked, this.seen
    if this.heard is not None:
        passing = None if this.wished.is_open else this.wished.passing
        asking = None
        if this.sense is not None:
            asking = conversation.Asking(this.query, this.sense, wish.search_mode == "semantic")
        ranked = conversation.rank(this.view, this.heard, seen.shown, seen.weights, passing, asking)
    elif wish.ranking == "published":
        ranked = by_published(asked, this.query, this.matches, seen, this.wished, wish, this.sense)
    elif wish.ranking == "overlap":
        ranked = by_overlap(asked, this.query, _direct(this), wish.near_project)
    elif wish.ranking == "associative":
        ranked = by_activation(asked, this.query, _direct(this), seen, this.wished)
    else:
        ranked = by_text(_direct(this), seen)
    tags = wish.filters.tags
    if tags and ranked.rows.size:
        held = [asked.view.context(int(row)).tags for row in ranked.rows]
        share = np.round(WEIGHT_SHARE * np.array([contextual_match(tags, one) for one in held]), 6)
        ranked = ranked._replace(scores=ranked.scores + share, parts={**ranked.parts, "context": share})
    return ranked


def _current_first(this: _Search, ranked: Ranked) -> Lifted:
    """What replaced a match stands above it, under the rankings by text; those of the sources stay as published."""
    if this.wish.ranking not in ("conversation", "text"):
        return Lifted(ranked, {})
    found = _lending(this)
    return with_successors(this.view, found, ranked, this.seen.shown, this.wished.passes)


def _lending(this: _Search) -> Scores:
    """What is negated and matches, by words or by meaning, with the score that it lends to what replaced it."""
    matches, conflict = this.matches, this.view.columns.conflict
    negated = np.flatnonzero(conflict[matches.rows] >= Columns.KEEP)
    rows, bm25 = matches.rows[negated], matches.scores[negated]
    if this.heard is None:
        return Scores(rows, text_score(this.view, bm25), [])
    worth = np.zeros(len(this.view.columns))
    if this.wish.search_mode != "semantic":
        worth[rows] = WEIGHTS.text * bm25 / max(float(matches.scores.max(initial=0.0)), 1e-9)
    if this.sense is not None:
        near = conversation_meaning.nearness_of_withheld(
            this.query, this.sense, this.seen.shown, conflict >= Columns.KEEP
        )
        share = 1.0 if this.wish.search_mode == "semantic" else near.share
        worth *= 1.0 - share
        worth[near.rows] += WEIGHTS.meaning * share * near.values
    rows = np.flatnonzero(worth)
    return Scores(rows, worth[rows], [])


def _relevant(this: _Search, ranked: Ranked) -> Ranked:
    """What is at least as relevant as asked for, of the best; everything where nothing is asked."""
    least = this.wish.filters.least_relevance
    if least <= 0 or not ranked.rows.size:
        return ranked
    order = best(ranked.scores, ranked.rows, MOST_PUBLISHED)
    rows = ranked.rows[order]
    kept = order[relevance_of(this.asked, this.query, rows, _bm25(this, rows), this.wish, this.sense).whole >= least]
    parts = {name: part[kept] for name, part in ranked.parts.items()}
    return Ranked(ranked.rows[kept], ranked.scores[kept], parts, ranked.ways)


def _bm25(this: _Search, rows: Rows) -> Floats:
    """Plain BM25 of rows by all words of the query, whatever the ranking counts; 0 where none matches."""
    if this.heard is not None and rows.size <= MOST_EXPLAINED:
        ids = [this.view.columns.memories[int(row)].id for row in rows]
        return np.array([sum(terms.values()) for terms in this.view.explain(this.query, ids)])
    matches = this.matches if this.heard is None else this.view.matches(this.query)
    scores = np.zeros(len(this.view.columns))
    scores[matches.rows] = matches.scores
    found: Floats = scores[rows]
    return found


def _results(this: _Search, ranked: Ranked, order: Rows, replaced: Mapping[int, list[str]]) -> list[dict[str, Any]]:
    rows = ranked.rows[order]
    memories = [this.view.columns.memories[int(row)] for row in rows]
    brought = _brought(this, [memory.id for memory in memories])
    relevance = relevance_of(this.asked, this.query, rows, _bm25(this, rows), this.wish, this.sense)
    whole = relevance.whole
    levels, results = this.seen.levels_of(rows).tolist(), []
    for number, (at, memory, bm25) in enumerate(zip(order, memories, brought, strict=True)):
        row = int(rows[number])
        reading = this.view.law.read(memory, this.asked.now, this.view.parameters)
        results.append(
            {
                **(card(memory, LEVELS[levels[number]]) | conflicts_told(this.view, memory)),
                "score": round(float(ranked.scores[at]), 6),
                "relevance": round(float(whole[number]), 6),
                "weight": round(reading.weight, 6),
                "explain": _explained(this, ranked, int(at), bm25)
                | {
                    "law": this.view.law.name,
                    "factors": {name: round(value, 6) for name, value in reading.factors.items()},
                }
                | _only_told(this, ranked, row, replaced)
                | ({"keywords": relevance.keywords.matched(number)} if this.wish.ranking == "published" else {}),
            }
        )
    return results


def _brought(this: _Search, ids: list[str]) -> list[dict[str, float]]:
    heard = this.heard
    return (
        this.view.explain(this.query, ids)
        if heard is None
        else this.view.explain_of(heard.counted, ids, heard.weighing)
    )


def _explained(this: _Search, ranked: Ranked, at: int, bm25: Mapping[str, float]) -> dict[str, Any]:
    """The parts of a score, which add up to it, with the weight of each where it has one; and the terms of the text."""
    score = {name: round(value, 6) if (value := part.item(at)) else 0.0 for name, part in ranked.parts.items()}
    if this.heard is None:
        return {"score": score, "terms": _terms(bm25, float(text_score(this.view, np.array(sum(bm25.values())))))}
    score = {name: value for name, value in score.items() if value}
    weights = {name: TERM_WEIGHTS[name] for name in score if name in TERM_WEIGHTS}
    return {"score": score, "weights": weights, "terms": _terms(bm25, score.get("text", 0.0))}


def _only_told(this: _Search, ranked: Ranked, row: int, replaced: Mapping[int, list[str]]) -> dict[str, Any]:
    """What an explanation tells only where there is something to tell."""
    found: dict[str, Any] = {}
    if row in replaced:
        found["replaces"] = replaced[row]
    if row in ranked.ways:
        found["path"] = path_told(this.view.columns, ranked.ways[row])
    if this.wish.filters.tags or this.wish.filters.feeling is not None:
        found["tags"] = list(this.view.context(row).tags)
    return found


def _terms(bm25: Mapping[str, float], text: float) -> dict[str, float]:
    """What each term of the query brought to the text score as it is told."""
    whole = sum(bm25.values())
    return {term: round(value / whole * text, 6) for term, value in bm25.items()}


def _heard(this: _Search) -> dict[str, Any]:
    """Whom and what times the question names, as far as they count in the ranking."""
    heard, columns, shown = this.heard, this.view.columns, this.seen.shown
    if heard is None:
        return {"times": [], "speakers": []}
    said = columns.created_at[shown] if heard.times.phrases else shown[:0]
    within = (int(said.min()), int(said.max())) if said.size else None
    index = this.view.conversation
    rows = [int(np.argmax(shown & (index.speaker[: shown.size] == speaker))) for speaker in heard.speakers]
    return {"times": told(heard.times, this.query, within), "speakers": [columns.memories[row].speaker for row in rows]}


def _widened(this: _Search) -> dict[str, Any]:
    """What else the question's keywords are looked for by."""
    found = expanded(this.view, this.query)
    if this.wish.ranking not in BY_MEANING:  # the others go by the words as they are
        return {"original": list(found.original), "synonyms": {}, "related": {}}
    synonyms, related = ({word: dict(alike) for word, alike in part.items()} for part in found[1:])
    return {"original": list(found.original), "synonyms": synonyms, "related": related}


def _embedded(sense: Sense) -> dict[str, Any]:
    """Which model, and how many of the memories that hold text have vectors of it."""
    return {"model": sense.model, "embedded": int(sense.known.sum()), "of": sense.wanted}


def _withheld(this: _Search) -> list[dict[str, Any]]:
    """How many matches were left out, by reason, with the best of them by id."""
    view, seen, matches = this.view, this.seen, this.matches
    left = np.flatnonzero(seen.reasons[matches.rows] >= 0)
    if not this.wished.is_open:
        left = left[this.wished.passing(matches.rows[left])]
    withheld = np.full(len(view.columns), -1, dtype=np.int8)
    withheld[matches.rows[left]] = seen.reasons[matches.rows[left]]
    # Secrets stand in no index, so which of them match is not known: every one is told, in debug mode too.
    withheld[secrets(view.columns)] = REASONS.index("sensitive")
    left = left[np.argsort(-matches.scores[left], kind="stable")]
    answer = reasons_told(withheld, this.asked.mode)
    for one in answer:
        number = REASONS.index(str(one["reason"]))
        rows = [row for row in matches.rows[left].tolist() if withheld[row] == number][:MOST_WITHHELD]
        one["ids"] = [] if one["reason"] == "sensitive" else [view.columns.memories[row].id for row in rows]
    return answer
