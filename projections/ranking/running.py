"""A search while it runs: the question as it was understood, and what matches it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from engramlog_server.projections.embedding.meaning import Sense
from engramlog_server.projections.index.search_index import Scores
from engramlog_server.projections.language.asked_words import asked_words
from engramlog_server.projections.language.text import tokens
from engramlog_server.projections.laws.law import Floats
from engramlog_server.projections.laws.modes import Flags, Visibility, visibility
from engramlog_server.projections.memory.columns import Rows
from engramlog_server.projections.ranking.conversation_terms import QuestionReading, read_question
from engramlog_server.projections.ranking.ranked import Plan, Ranked
from engramlog_server.projections.ranking.rankings import Direct, direct_hits
from engramlog_server.projections.ranking.search_request import BY_MEANING, FOLLOWING, Filter, SearchRequest
from engramlog_server.projections.views.query import ViewQuery
from engramlog_server.projections.views.view import OwnerView

NO_SCORES = Scores(np.zeros(0, dtype=np.int64), np.zeros(0), [])
MOST_EXPLAINED = 100
"""Rows up to which explaining each is quicker than scoring all."""


@dataclass(frozen=True, slots=True)
class RunningSearch:
    """One search as it is understood: what is asked of which view, what it shows, and what matches."""

    asked: ViewQuery
    query: str
    request: SearchRequest
    sense: Sense | None
    """None where meaning is not asked for, or cannot be compared."""
    seen: Visibility
    allowed: Filter
    reading: QuestionReading | None
    """The question as the conversation ranking understands it, under that ranking."""
    matches: Scores
    asked_words: frozenset[str]
    """The words that tell what the question is about, without names and days that the ranking knows."""
    long_ago: frozenset[int] = frozenset()
    """Rows that are shown although age alone withholds them."""

    @property
    def view(self) -> OwnerView:
        """The view that is asked."""
        return self.asked.view

    def without(self, rows: Rows, reason: str) -> RunningSearch:
        """The same, but that these rows are withheld for a reason."""
        return replace(self, seen=self.seen.without(rows, reason)) if rows.size else self

    def showing(self, rows: Flags) -> RunningSearch:
        """The same search where these rows are shown too."""
        return _read(self, _shown(self.seen, self.seen.shown | rows))

    def recalling(self, rows: Rows, before: Visibility) -> RunningSearch:
        """The same search, in which of what was withheld `before` these rows alone are shown, as long ago: others have no name."""
        there, now = before.shown, self.seen
        told = replace(now, shown=now.shown & there, reasons=np.where(there, now.reasons, before.reasons))
        recalled = np.zeros(there.size, dtype=bool)
        recalled[rows] = True
        seen, reading = _shown(told, told.shown | recalled), self.reading
        if reading is not None and reading.speakers:
            said_by = self.view.conversation.speaker[: there.size][seen.shown]
            reading = reading._replace(speakers=[one for one in reading.speakers if (said_by == one).any()])
        return replace(self, seen=seen, reading=reading, long_ago=frozenset(rows.tolist()))


def _shown(seen: Visibility, shown: Flags) -> Visibility:
    return replace(seen, shown=shown, reasons=np.where(shown, np.int8(-1), seen.reasons))


def understood(asked: ViewQuery, query: str, request: SearchRequest, sense: Sense | None) -> RunningSearch:
    """A question read by an owner's view, under its ranking and filters."""
    view, now, mode = asked
    seen = visibility(view.columns, view.law, now, view.parameters, mode)
    if request.search_mode == "keyword" or request.ranking not in BY_MEANING:
        sense = None
    allowed = Filter(view, request.filters, seen.weights)
    matches = NO_SCORES if request.ranking == "conversation" else view.matches(query)
    return _read(RunningSearch(asked, query, request, sense, seen, allowed, None, matches, asked_words(query)), seen)


def part_understood(whole: RunningSearch, part: str) -> RunningSearch:
    """A part of a question by its words; `whole` as it was understood, which tells what is shown and let through."""
    return _read(replace(whole, query=part, sense=None), whole.seen)


def _read(this: RunningSearch, seen: Visibility) -> RunningSearch:
    """The search with its question read where these rows are shown: who is not shown has no name."""
    if this.request.ranking != "conversation":
        return replace(this, seen=seen)
    by_meaning = this.sense is not None
    reading = read_question(this.view, this.query, this.asked.now, seen.shown, by_meaning=by_meaning)
    words = asked_words(this.query) - (set(tokens(this.query)) - set(reading.sequence))
    return replace(this, seen=seen, reading=reading, matches=reading.matches, asked_words=words)


def direct(this: RunningSearch) -> Direct:
    """What matches by words, is shown and passes the filters."""
    return direct_hits(this.view, this.matches, this.seen.shown, this.allowed)


def plain_bm25(this: RunningSearch, rows: Rows) -> Floats:
    """Plain BM25 of rows by all words of the query, whatever the ranking counts; 0 where none matches."""
    if this.reading is not None and rows.size <= MOST_EXPLAINED:
        ids = [this.view.columns.memories[int(row)].id for row in rows]
        return np.array([sum(terms.values()) for terms in this.view.explain(this.query, ids)])
    matches = this.matches if this.reading is None else this.view.matches(this.query)
    scores = np.zeros(len(this.view.columns))
    scores[matches.rows] = matches.scores
    found: Floats = scores[rows]
    return found


class Ranking(NamedTuple):
    """Everything that answers a question, before it is cut into pages."""

    this: RunningSearch
    ranked: Ranked
    replaced: Mapping[int, list[str]]
    """Row -> ids of the memories that it replaced and that match."""
    plan: Plan = Plan()
    """How the question was taken apart."""

    @property
    def follows(self) -> bool:
        """Whether what is current stands first in it."""
        return self.this.request.ranking in FOLLOWING
