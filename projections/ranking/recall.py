"""Search: which memories answer a question, in what order and why, and what else they bring to mind. Pure.

The rankings are in `conversation` and `rankings`; what all owe is here: filters, what is current first, reasons, what was withheld.
"""

from __future__ import annotations

from typing import NotRequired, TypedDict

import numpy as np

from engramlog_server.projections.embedding.meaning import Sense
from engramlog_server.projections.laws.modes import Withheld
from engramlog_server.projections.memory.tags import contextual_match
from engramlog_server.projections.ranking import conversation
from engramlog_server.projections.ranking.behind_evidence import behind_evidence
from engramlog_server.projections.ranking.brought import Associated, brought_to_mind
from engramlog_server.projections.ranking.long_ago import with_long_ago
from engramlog_server.projections.ranking.outdated import admits, lending, without_corrected
from engramlog_server.projections.ranking.parts.in_parts import plan_of, shared
from engramlog_server.projections.ranking.ranked import Ranked, best
from engramlog_server.projections.ranking.rankings import (
    MOST_PUBLISHED,
    WEIGHT_SHARE,
    by_activation,
    by_overlap,
    by_published,
    by_text,
    relevance_of,
    seeds_of,
)
from engramlog_server.projections.ranking.running import (
    Ranking,
    RunningSearch,
    direct,
    part_understood,
    plain_bm25,
    understood,
)
from engramlog_server.projections.ranking.search_request import FOLLOWING, PLAIN, SearchRequest
from engramlog_server.projections.ranking.senses import MeaningCompared
from engramlog_server.projections.ranking.successors import Lifted, with_successors
from engramlog_server.projections.ranking.told import (
    Expanded,
    Hit,
    Understood,
    embedded,
    results,
    understood_as,
    widened,
    withheld,
)
from engramlog_server.projections.views.query import ViewQuery


class SearchResults(TypedDict):
    """The answer to a search."""

    results: list[Hit]
    associated: NotRequired[list[Associated]]
    total: int
    search_mode: str
    understood: Understood
    expanded: Expanded
    meaning: MeaningCompared | None
    withheld: list[Withheld]
    offset: int
    next: str | None
    mode: str


def ranking_of(asked: ViewQuery, query: str, request: SearchRequest, sense: Sense | None = None) -> Ranking:
    """All matches that the mode shows and the filters let through, with their scores."""
    this, (ranked, replaced) = with_long_ago(whole := understood(asked, query, request, sense), _current_first)
    if this.reading is None or not request.parts or (request.search_mode == "semantic" and this.sense is not None):
        return Ranking(this, _relevant(this, ranked), replaced)

    def ranks(part: str) -> Lifted:
        return with_long_ago(part_understood(whole, part), _current_first)[1]

    found = shared(this, ranked, replaced, plan_of(this), ranks)
    return Ranking(this, _relevant(this, found.ranked), found.replaced, found.plan)


def search(
    asked: ViewQuery,
    query: str,
    limit: int,
    request: SearchRequest = PLAIN,
    sense: Sense | None = None,
    offset: int = 0,
) -> SearchResults:
    """The best `limit` matches after `offset` that the mode shows, each with its reasons, and what was withheld.

    `sense`: the question's meaning; without, hybrid goes by words. How many results there are in all is told as `total`.
    """
    this, ranked, replaced, plan = ranking_of(asked, query, request, sense)
    pages = best(ranked.scores, ranked.rows, offset + limit)
    answer: SearchResults = {
        "results": results(this, ranked, pages[offset:], replaced, plan),
        "total": int(ranked.rows.size),
        "search_mode": this.request.search_mode,
        "understood": understood_as(this, plan),
        "expanded": widened(this),
        "meaning": None if this.sense is None else embedded(this.sense),
        "withheld": withheld(this),
        "offset": offset,
        "next": None,
        "mode": asked.mode,
    }
    if request.associations:
        near = seeds_of(direct(this))
        shown = set(ranked.rows[pages].tolist())
        answer["associated"] = brought_to_mind(asked, query, near, shown, this.seen, admits(this))
    return answer


def _ranked(this: RunningSearch) -> Ranked:
    request, asked, seen = this.request, this.asked, this.seen
    if this.reading is not None:
        passing = None if this.allowed.is_open else this.allowed.passing
        asking = None
        if this.sense is not None:
            asking = conversation.Asking(this.query, this.sense, request.search_mode == "semantic")
        ranked = conversation.rank(this.view, this.reading, seen.shown, seen.weights, passing, asking)
    elif request.ranking == "published":
        ranked = by_published(asked, this.query, this.matches, seen, this.allowed, request, this.sense)
    elif request.ranking == "overlap":
        ranked = by_overlap(asked, this.query, direct(this), request.near_project)
    elif request.ranking == "associative":
        ranked = by_activation(asked, this.query, direct(this), seen, this.allowed)
    else:
        ranked = by_text(direct(this), seen)
    tags = request.filters.tags
    if tags and ranked.rows.size:
        held = [asked.view.context(int(row)).tags for row in ranked.rows]
        share = np.round(WEIGHT_SHARE * np.array([contextual_match(tags, one) for one in held]), 6)
        ranked = ranked._replace(scores=ranked.scores + share, parts={**ranked.parts, "context": share})
    return ranked


def _current_first(this: RunningSearch) -> tuple[RunningSearch, Lifted]:
    """What replaced a match stands above it, under the rankings by text; those of the sources stay as published."""
    this, vacated = without_corrected(this, _ranked)
    vacated = vacated._replace(ranked=behind_evidence(this, vacated.ranked))
    if this.request.ranking not in FOLLOWING:
        return this, Lifted(vacated.ranked, {})
    return this, with_successors(this, vacated, lending(this))


def _relevant(this: RunningSearch, ranked: Ranked) -> Ranked:
    """What is at least as relevant as asked for, of the best; everything where nothing is asked."""
    least = this.request.filters.least_relevance
    if least <= 0 or not ranked.rows.size:
        return ranked
    order = best(ranked.scores, ranked.rows, MOST_PUBLISHED)
    rows = ranked.rows[order]
    kept = order[
        relevance_of(this.asked, this.query, rows, plain_bm25(this, rows), this.request, this.sense).whole >= least
    ]
    return ranked.only(kept)
