"""The rankings beside the conversation's: by text alone, and as the sources published them. Pure.

`text`: BM25 with the weight under the owner's law as a tie-breaker. `published`: seed 001's score. `overlap`: the score of
seed 004, section 6. `associative`: its later one, which ranks what activation reaches among the direct hits.

The published formula of search (seed 001, sections 3.3.1 and 3.3.2; memory.md, section 11):

    k         mean over the query's keywords of the best match x keyword weight          (`keyword_match`)
    text      b / (b + 8) of BM25, a parameter, never scaled by the best hit
    cosine    of the question's and the memory's whole vectors, not below 0
    t         0.5 + 0.5 * 0.5 ** (age in days / 30)
    relevance hybrid 0.4 k + 0.4 max(text, cosine) + 0.2 t; keyword (0.4 k + 0.2 t) / 0.6; semantic (0.4 cosine + 0.2 t) / 0.6
    score     0.7 relevance + 0.2 interaction + 0.1 kind

Every result has `relevance`, whatever the ranking: it is comparable between answers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log, sqrt
from typing import Any, NamedTuple

import numpy as np

from engramlog_server.events.parameters import Parameters
from engramlog_server.projections.embedding.meaning import Sense
from engramlog_server.projections.index.search_index import Scores
from engramlog_server.projections.language.keywords import without_question_words
from engramlog_server.projections.laws import LAWS
from engramlog_server.projections.laws.law import Floats
from engramlog_server.projections.laws.modes import Flags, Visibility
from engramlog_server.projections.memory.columns import Columns, Rows
from engramlog_server.projections.memory.record import DAY
from engramlog_server.projections.ranking.associations import (
    MOST_ACTIVATED,
    MOST_SEEDS,
    admits_shown,
    associative_score,
    spread,
)
from engramlog_server.projections.ranking.keyword_match import KeywordMatch, keyword_match, reached_rows
from engramlog_server.projections.ranking.ranked import Ranked, added, best
from engramlog_server.projections.ranking.search_request import Filter, SearchRequest
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
    bonus = np.round(WEIGHT_SHARE * standing / (1.0 + standing), 6)
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


PREFERENCE, OUTPUT = "user_preference", "command_output"
"""Kinds with a priority of their own."""
RELEVANCE_SHARE, INTERACTION_SHARE, KIND_SHARE = 0.7, 0.2, 0.1
"""What relevance, interaction and kind count in the score."""
KIND_PRIORITIES = {PREFERENCE: 1.0, OUTPUT: 0.6}
OTHER_KIND = 0.3
FULL_ACCESSES = 100
"""Accesses at which the interaction term is full."""


class Matched(NamedTuple):
    """How well rows match, aligned, each in [0, 1]."""

    keyword: Floats
    text: Floats
    cosine: Floats


def hit(matched: Matched) -> np.ndarray:
    """Which rows are results at all: k + text + cosine > 0."""
    return matched.keyword + matched.text + matched.cosine > 0


def relevance_parts(matched: Matched, time: Floats, mode: str, parameters: Parameters) -> dict[str, Floats]:
    """What adds up to the relevance in a search mode, by name: `keyword`, `text` or `meaning`, and `time`."""
    by_keyword, by_text = parameters.search_keyword_share, parameters.search_text_share
    by_time = parameters.search_time_share
    if mode == "hybrid":
        nearer = matched.cosine > matched.text
        return {
            "keyword": by_keyword * matched.keyword,
            "text": by_text * np.where(nearer, 0.0, matched.text),
            "meaning": by_text * np.where(nearer, matched.cosine, 0.0),
            "time": by_time * time,
        }
    first, share, values = (
        ("keyword", by_keyword, matched.keyword) if mode == "keyword" else ("meaning", by_text, matched.cosine)
    )
    whole = max(share + by_time, 1e-12)  # both 0: an owner's choice, under which nothing is relevant
    return {first: share * values / whole, "time": by_time * time / whole}


def youth(columns: Columns, rows: Rows, now: int, parameters: Parameters) -> Floats:
    """t: from 1 for a memory made now down to 0.5, half of the way every 30 days; one of the future counts as made now."""
    days = np.maximum(now - columns.created_at[rows], 0) / DAY
    fallen: Floats = 0.5 + 0.5 * 0.5 ** (days / parameters.search_time_days)
    return fallen


def interaction(columns: Columns, rows: Rows, now: int, parameters: Parameters) -> Floats:
    """0.5 min(ln(1 + accesses) / ln 100, 1) + 0.5 * 0.5 ** (days since the last access / 30); 0 if never accessed."""
    counts, accessed = columns.access_count[rows], columns.last_accessed_at[rows]
    often = np.minimum(np.log1p(np.maximum(counts, 0)) / log(FULL_ACCESSES), 1.0)
    days = np.maximum(now - accessed, 0) / DAY
    lately = np.where(counts > 0, 0.5 ** (np.minimum(days, 1e6) / parameters.search_time_days), 0.0)
    together: Floats = 0.5 * often + 0.5 * lately
    return together


def kind_priority(columns: Columns, rows: Rows) -> Floats:
    """user_preference before command_output before any other kind."""
    priorities = np.array([KIND_PRIORITIES.get(kind, OTHER_KIND) for kind in columns.kinds] or [0.0])
    found: Floats = priorities[columns.kind[rows]] if rows.size else np.zeros(0)
    return found


def score_parts(
    columns: Columns, rows: Rows, relevance: dict[str, Floats], now: int, parameters: Parameters
) -> dict[str, Floats]:
    """What adds up to the published score: the parts of the relevance, interaction and kind, each with its share."""
    share = RELEVANCE_SHARE
    return {name: share * part for name, part in relevance.items()} | {
        "interaction": INTERACTION_SHARE * interaction(columns, rows, now, parameters),
        "kind": KIND_SHARE * kind_priority(columns, rows),
    }


def closeness(relevance: float, coverage: float, score: float, best: float) -> float:
    """How close a search result is to the turn, 0 to 1: what the threshold is compared with.

    The greater of the published relevance (memory.md, section 11) and sqrt(coverage * score / best): how many of the turn's
    words it holds, and how near it stands to the best result. The published relevance alone hardly ever reaches 0.7 for turns
    as people say them.
    """
    standing = min(max(score / best, 0.0), 1.0) if best > 0 else 0.0
    return min(1.0, max(relevance, sqrt(min(max(coverage, 0.0), 1.0) * standing)))


def closenesses(view: OwnerView, query: str, results: Sequence[Mapping[str, Any]]) -> list[float]:
    """`closeness` of each result of a search, best first as it answered; 0 for what the view knows no more.

    What replaced something holds the words of that too: it is found in them.
    """
    rows = [_rows(view, result) for result in results]
    wanted, flat = without_question_words(query), [row for several in rows for row in several]
    known = view.coverage(wanted, np.array(flat, dtype=np.int64)) if flat and wanted.strip() else np.zeros(len(flat))
    held = iter(known.tolist())
    best = results[0]["score"] if results else 0.0
    return [
        closeness(result["relevance"], max(next(held) for _ in several), result["score"], best) if several else 0.0
        for result, several in zip(results, rows, strict=True)
    ]


def _rows(view: OwnerView, result: Mapping[str, Any]) -> list[int]:
    """The row of a result and of what it replaced; none where the view knows it no more."""
    if view.columns.row(result["id"]) is None:
        return []
    ids = (result["id"], *result.get("explain", {}).get("replaces", ()))
    return [row for row in map(view.columns.row, ids) if row is not None]
