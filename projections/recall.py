"""Search: which memories answer a question, in what order and why, and what else they bring to mind. Pure.

Four rankings can be chosen. `conversation`, the default: text, and what its place in a conversation says. `text`: BM25 with the
weight under the owner's law as a tie-breaker. `overlap`: the score of seed 004, section 6. `associative`: its later one, which
ranks what activation reaches among the direct hits.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from projections import conversation
from projections.brought import MOST_ACTIVATED, admits_shown, brought_to_mind, path_told
from projections.context import contextual_match
from projections.conversation_question import Heard, hear
from projections.conversation_weights import WEIGHTS
from projections.laws import LAWS
from projections.laws.law import Floats
from projections.memory import LEVELS
from projections.modes import REASONS, Visibility, reasons_told, secrets, visibility
from projections.query import Asked, card
from projections.ranked import Ranked, added, best
from projections.search_index import Rows, Scores
from projections.spreading import MOST_SEEDS, associative_score, spread
from projections.successors import Lifted, with_successors
from projections.view import OwnerView

TEXT_HALF = 8.0
"""BM25 score at which the text term is one half: b / (b + 8), memory.md section 11; never scaled by the best hit."""
WEIGHT_SHARE = 0.05
"""The most that a memory's weight adds to its score: decay orders near-ties and does not bury a right answer."""
RANKINGS = ("conversation", "text", "overlap", "associative")


class Wish(NamedTuple):
    """What a search asks beside its words."""

    ranking: str = RANKINGS[0]
    tags: tuple[str, ...] = ()
    """Context tags, any of which must be there; more of them count more."""
    feeling: str | None = None
    """positive, negative or urgent: a tag that must be there."""
    project: str | None = None
    """Ranks memories of this project higher under `overlap`; filters nothing."""
    associations: bool = False
    """Whether to tell also what the hits bring to mind, over associations and triples."""


class _Found(NamedTuple):
    """Direct hits that the mode and the wish let through, aligned."""

    rows: Rows
    text: Floats
    """BM25 as b / (b + 8)."""


PLAIN = Wish()


def search(asked: Asked, query: str, limit: int, wish: Wish = PLAIN) -> dict[str, Any]:
    """The best `limit` matches that the mode shows, each with why it stands where it stands, and what was withheld."""
    view, now, mode = asked
    seen = visibility(view.columns, view.law, now, view.parameters, mode)
    heard = hear(view, query, now, seen.shown) if wish.ranking == "conversation" else None
    matches = view.matches(query) if heard is None else heard.matches
    found = _let_through(view, matches, seen, wish)
    ranked, replaced = _current_first(asked, matches, _rank(asked, query, found, seen, wish, heard), seen, wish, heard)
    order = best(ranked.scores, ranked.rows, limit)
    answer: dict[str, Any] = {
        "results": _results(asked, query, ranked, order, seen, wish, heard, replaced),
        "withheld": _withheld(view, matches, seen, mode),
    }
    if wish.associations:
        answer["associated"] = brought_to_mind(asked, query, _seeds(found), set(ranked.rows[order].tolist()), seen)
    return answer


def _let_through(view: OwnerView, matches: Scores, seen: Visibility, wish: Wish) -> _Found:
    kept = seen.shown[matches.rows]
    if _filters(wish):
        for place in np.flatnonzero(kept):
            kept[place] = _wished(view, int(matches.rows[place]), wish)
    bm25 = matches.scores[kept]
    return _Found(matches.rows[kept], bm25 / (bm25 + TEXT_HALF))


def _filters(wish: Wish) -> bool:
    return bool(wish.tags) or wish.feeling is not None


def _wished(view: OwnerView, row: int, wish: Wish) -> bool:
    """Whether a memory has one of the tags, and the feeling, that are asked for."""
    tags = view.context(row).tags
    named = not wish.tags or contextual_match(wish.tags, tags) > 0
    return named and (wish.feeling is None or wish.feeling in tags)


def _rank(asked: Asked, query: str, found: _Found, seen: Visibility, wish: Wish, heard: Heard | None) -> Ranked:
    if heard is not None:
        wished = partial(_wished, asked.view, wish=wish) if _filters(wish) else None
        ranked = conversation.rank(asked.view, heard, seen.shown, seen.weights, wished)
    elif wish.ranking == "overlap":
        ranked = _by_overlap(asked, query, found, wish)
    elif wish.ranking == "associative":
        ranked = _by_activation(asked, query, found, seen, wish)
    else:
        standing = np.maximum(seen.weights[found.rows], 0.0)
        bonus = WEIGHT_SHARE * standing / (1.0 + standing)
        ranked = Ranked(found.rows, found.text + bonus, {"text": found.text, "weight": bonus}, {})
    if wish.tags and ranked.rows.size:
        tags = [asked.view.context(int(row)).tags for row in ranked.rows]
        share = np.round(WEIGHT_SHARE * np.array([contextual_match(wish.tags, one) for one in tags]), 6)
        ranked = ranked._replace(scores=ranked.scores + share, parts={**ranked.parts, "context": share})
    return ranked


def _current_first(
    asked: Asked, matches: Scores, ranked: Ranked, seen: Visibility, wish: Wish, heard: Heard | None
) -> Lifted:
    """What replaced a match stands above it, under the rankings by text; the two of the ebbinghaus source stay as published."""
    if wish.ranking not in ("conversation", "text"):
        return Lifted(ranked, {})

    def lend(bm25: Floats) -> Floats:
        if heard is None:
            return bm25 / (bm25 + TEXT_HALF)
        return WEIGHTS.text * bm25 / max(float(matches.scores.max(initial=0.0)), 1e-9)

    return with_successors(asked.view, matches, ranked, seen.shown, lend, partial(_wished, asked.view, wish=wish))


def _strengths(view: OwnerView, rows: Rows, now: int) -> Floats:
    """Ebbinghaus strength of rows, 0 to 1, whatever the owner's profile."""
    return LAWS["ebbinghaus"].weights(view.columns.only(rows), now, view.parameters)


def _by_overlap(asked: Asked, query: str, found: _Found, wish: Wish) -> Ranked:
    """2 overlap + 0.5 strength + 0.3 of the project asked for + 0.3 confidence (seed 004, section 6).

    Overlap is the share of the query's terms that the memory's text and keywords hold.
    """
    view, rows = asked.view, found.rows
    projects = np.array(
        [wish.project is not None and view.columns.memories[int(row)].project == wish.project for row in rows]
    )
    parts = {
        "overlap": 2.0 * view.coverage(query, rows),
        "strength": 0.5 * _strengths(view, rows, asked.now),
        "project": 0.3 * projects.astype(np.float64),
        "confidence": 0.3 * view.columns.confidence[rows],
    }
    return Ranked(rows, added(parts, rows.size), parts, {})


def _by_activation(asked: Asked, query: str, found: _Found, seen: Visibility, wish: Wish) -> Ranked:
    """(0.6 keyword + 0.4 activation) * strength: the best hits spread, and what they reach stands among them (section 11.2).

    Activation may pass through what lacks the tags asked for, but only what has them is a result.
    """
    view = asked.view
    seeds = _seeds(found)
    reached = spread(seeds, view.associations, view.parameters, MOST_ACTIVATED, admits_shown(seen))
    ways = {one.row: one for one in reached if not _filters(wish) or _wished(view, one.row, wish)}
    direct = set(found.rows.tolist())
    rows = np.concatenate([found.rows, np.array([r for r in ways if r not in direct], dtype=np.int64)]).astype(np.int64)
    best = max((relevance for _, relevance in seeds), default=1.0)
    activation = {row: relevance / best for row, relevance in seeds} | {
        row: one.activation for row, one in ways.items()
    }
    strength, none = 100.0 * _strengths(view, rows, asked.now), np.zeros(rows.size)
    active = np.array([activation.get(int(row), 0.0) for row in rows])
    parts = {
        "keyword": associative_score(view.coverage(query, rows), none, strength),
        "activation": associative_score(none, active, strength),
    }
    return Ranked(rows, added(parts, rows.size), parts, ways)


def _seeds(found: _Found) -> list[tuple[int, float]]:
    """The best direct hits with their relevance; of equal ones the newer."""
    order = best(found.text, found.rows, MOST_SEEDS)
    return [(int(found.rows[at]), float(found.text[at])) for at in order]


def _results(
    asked: Asked,
    query: str,
    ranked: Ranked,
    order: Rows,
    seen: Visibility,
    wish: Wish,
    heard: Heard | None,
    replaced: Mapping[int, list[str]],
) -> list[dict[str, Any]]:
    view, now, _ = asked
    rows = [int(ranked.rows[at]) for at in order]
    memories = [view.columns.memories[row] for row in rows]
    ids = [memory.id for memory in memories]
    brought = view.explain(query, ids) if heard is None else view.explain_of(heard.terms, ids, heard.weighing)
    results = []
    for at, row, memory, bm25 in zip(order, rows, memories, brought, strict=True):
        reading = view.law.read(memory, now, view.parameters)
        score = {name: round(float(part[at]), 6) for name, part in ranked.parts.items()}
        if heard is not None:
            score = {name: value for name, value in score.items() if value}
        explained: dict[str, Any] = {
            "score": score,
            "terms": _terms(bm25, None if heard is None else score.get("text", 0.0)),
            "law": view.law.name,
            "factors": {name: round(value, 6) for name, value in reading.factors.items()},
        }
        if row in replaced:
            explained["replaces"] = replaced[row]
        if row in ranked.ways:
            explained["path"] = path_told(view.columns, ranked.ways[row])
        if _filters(wish):
            explained["tags"] = list(view.context(row).tags)
        results.append(
            {
                **card(memory, LEVELS[int(seen.levels[row])]),
                "score": round(float(ranked.scores[at]), 6),
                "weight": round(reading.weight, 6),
                "explain": explained,
            }
        )
    return results


def _terms(bm25: Mapping[str, float], text: float | None) -> dict[str, float]:
    """What each term of the query brought to the text score, which is b / (b + 8) unless told."""
    whole = sum(bm25.values())
    told = whole / (whole + TEXT_HALF) if text is None else text
    return {term: round(value / whole * told, 6) for term, value in bm25.items()}


def _withheld(view: OwnerView, matches: Scores, seen: Visibility, mode: Any) -> list[dict[str, object]]:
    withheld = np.full(len(view.columns), -1, dtype=np.int8)
    withheld[matches.rows] = seen.reasons[matches.rows]
    # Secrets stand in no index, so which of them match is not known: every one is told, in debug mode too.
    withheld[secrets(view.columns)] = REASONS.index("sensitive")
    return reasons_told(withheld, mode)
