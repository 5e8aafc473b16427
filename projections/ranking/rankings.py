"""The rankings beside the conversation's: by text alone, and as the sources published them. Pure.

`text`: BM25 with the weight under the owner's law as a tie-breaker. `published`: seed 001's score. `overlap`: the score of
seed 004, section 6. `associative`: its later one, which ranks what activation reaches among the direct hits.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from engramlog_server.projections.embedding.meaning import Sense
from engramlog_server.projections.index.search_index import Scores
from engramlog_server.projections.laws import LAWS
from engramlog_server.projections.laws.law import Floats
from engramlog_server.projections.laws.modes import Flags, Visibility
from engramlog_server.projections.memory.columns import Rows
from engramlog_server.projections.ranking.brought import MOST_ACTIVATED, admits_shown
from engramlog_server.projections.ranking.keyword_match import KeywordMatch, keyword_match, reached_rows
from engramlog_server.projections.ranking.published import Matched, hit, relevance_parts, score_parts, youth
from engramlog_server.projections.ranking.ranked import Ranked, added, best
from engramlog_server.projections.ranking.search_request import Filter, SearchRequest
from engramlog_server.projections.ranking.spreading import MOST_SEEDS, associative_score, spread
from engramlog_server.projections.views.query import ViewQuery
from engramlog_server.projections.views.view import OwnerView

WEIGHT_SHARE = 0.05
"""The most that a memory's weight adds to its score: decay orders near-ties and does not bury a right answer."""
MOST_PUBLISHED = 500
"""Memories for which the published score is computed, of each of: best text, keywords, nearest meaning."""


class Direct(NamedTuple):
    """Direct hits that the mode and the filters let through, aligned."""

    rows: Rows
    text: Floats
    """BM25 as b / (b + 8)."""


def direct_hits(view: OwnerView, matches: Scores, shown: Flags, allowed: Filter) -> Direct:
    """What of the matches may be a result."""
    kept = shown[matches.rows]
    kept[kept] = allowed.passing(matches.rows[kept])
    return Direct(matches.rows[kept], text_score(view, matches.scores[kept]))


def text_score(view: OwnerView, bm25: Floats) -> Floats:
    """BM25 as b / (b + 8), 0 to 1: comparable between answers (memory.md, section 11)."""
    return bm25 / (bm25 + view.parameters.search_text_half)


def seeds_of(found: Direct) -> list[tuple[int, float]]:
    """The best direct hits with their relevance; of equal ones the newer."""
    order = best(found.text, found.rows, MOST_SEEDS)
    return [(int(found.rows[at]), float(found.text[at])) for at in order]


def by_text(found: Direct, seen: Visibility) -> Ranked:
    """Text, and a little of the weight."""
    standing = np.maximum(seen.weights[found.rows], 0.0)
    bonus = WEIGHT_SHARE * standing / (1.0 + standing)
    return Ranked(found.rows, found.text + bonus, {"text": found.text, "weight": bonus}, {})


def cosines(sense: Sense | None, rows: Rows) -> Floats:
    """Cosine of the question's and the rows' whole vectors, without what all of the model's share, and not below 0.

    0 where a row has none; shape (len(rows),).
    """
    if sense is None:
        return np.zeros(rows.size)
    there, near = sense.known[rows], np.zeros(rows.size)
    near[there] = np.clip(sense.cosines(rows[there]), 0.0, 1.0)
    return near


class Relevance(NamedTuple):
    """Section 11's relevance of some rows, by its parts, and how their keywords matched."""

    parts: dict[str, Floats]
    keywords: KeywordMatch
    matched: Matched

    @property
    def whole(self) -> Floats:
        """0 to 1."""
        return added(self.parts, self.matched.text.size)


def relevance_of(
    asked: ViewQuery, query: str, rows: Rows, bm25: Floats, request: SearchRequest, sense: Sense | None
) -> Relevance:
    """The published relevance of rows with these BM25 scores, in the search mode that is asked for."""
    view = asked.view
    keywords = keyword_match(view, query, rows)
    matched = Matched(keywords.values, text_score(view, bm25), cosines(sense, rows))
    time = youth(view.columns, rows, asked.now, view.parameters)
    return Relevance(relevance_parts(matched, time, request.search_mode, view.parameters), keywords, matched)


def by_published(
    asked: ViewQuery,
    query: str,
    matches: Scores,
    seen: Visibility,
    allowed: Filter,
    request: SearchRequest,
    sense: Sense | None,
) -> Ranked:
    """Seed 001's score of what matches by text, keyword (prefixes and synonyms too) or meaning."""
    view = asked.view
    bm25 = np.zeros(len(view.columns))
    bm25[matches.rows] = matches.scores
    rows = _reached(view, query, matches, seen, allowed, sense)
    relevance = relevance_of(asked, query, rows, bm25[rows], request, sense)
    kept = hit(relevance.matched)
    parts = score_parts(view.columns, rows, relevance.parts, asked.now, view.parameters)
    # Rounded before they are added, so that what is told adds up to the score that is told.
    parts = {name: np.round(part[kept], 6) for name, part in parts.items()}
    parts = {name: part for name, part in parts.items() if part.any()}
    return Ranked(rows[kept], added(parts, int(kept.sum())), parts, {})


def _reached(
    view: OwnerView, query: str, matches: Scores, seen: Visibility, allowed: Filter, sense: Sense | None
) -> Rows:
    """The rows for which the score is computed, ascending: of what may be shown the best texts, keywords, meanings."""

    def admitted(rows: Rows) -> Rows:
        shown = rows[seen.shown[rows]]
        return shown[allowed.passing(shown)]

    scores = np.zeros(len(view.columns))
    scores[matches.rows] = matches.scores
    texts = admitted(matches.rows)
    found = [texts[best(scores[texts], texts, MOST_PUBLISHED)], reached_rows(view, query, MOST_PUBLISHED, admitted)]
    if sense is not None:
        near = admitted(np.flatnonzero(sense.known))
        found.append(near[best(cosines(sense, near), near, MOST_PUBLISHED)])
    rows: Rows = np.unique(np.concatenate(found).astype(np.int64))
    return rows


def _strengths(view: OwnerView, rows: Rows, now: int) -> Floats:
    """Ebbinghaus strength of rows, 0 to 1, whatever the owner's profile."""
    return LAWS["ebbinghaus"].weights(view.columns.only(rows), now, view.parameters)


def by_overlap(asked: ViewQuery, query: str, found: Direct, near_project: str | None) -> Ranked:
    """2 overlap + 0.5 strength + 0.3 of the project asked for + 0.3 confidence (seed 004, section 6).

    Overlap is the share of the query's terms that the memory's text and keywords hold.
    """
    view, rows = asked.view, found.rows
    projects = np.array(
        [near_project is not None and view.columns.memories[int(row)].project == near_project for row in rows]
    )
    parts = {
        "overlap": 2.0 * view.coverage(query, rows),
        "strength": 0.5 * _strengths(view, rows, asked.now),
        "project": 0.3 * projects.astype(np.float64),
        "confidence": 0.3 * view.columns.confidence[rows],
    }
    return Ranked(rows, added(parts, rows.size), parts, {})


def by_activation(asked: ViewQuery, query: str, found: Direct, seen: Visibility, allowed: Filter) -> Ranked:
    """(0.6 keyword + 0.4 activation) * strength: the best hits spread, and what they reach stands among them (section 11.2).

    Activation may pass through what the filters leave out, but only what they let through is a result.
    """
    view = asked.view
    seeds = seeds_of(found)
    reached = spread(seeds, view.associations, view.parameters, MOST_ACTIVATED, admits_shown(seen))
    ways = {one.row: one for one in reached if allowed.passes(one.row)}
    direct = set(found.rows.tolist())
    rows = np.concatenate([found.rows, np.array([r for r in ways if r not in direct], dtype=np.int64)]).astype(np.int64)
    most = max((relevance for _, relevance in seeds), default=1.0)
    activation = {row: relevance / most for row, relevance in seeds} | {
        row: one.activation for row, one in ways.items()
    }
    strength, none = 100.0 * _strengths(view, rows, asked.now), np.zeros(rows.size)
    active = np.array([activation.get(int(row), 0.0) for row in rows])
    parts = {
        "keyword": associative_score(view.coverage(query, rows), none, strength),
        "activation": associative_score(none, active, strength),
    }
    return Ranked(rows, added(parts, rows.size), parts, ways)
