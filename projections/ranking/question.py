"""A question while it is searched for: the vectors of its meaning, how it was understood, and what matches it. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Protocol

import numpy as np

from engramlog_server.projections.embedding.meaning import EmbeddedQuestion, KnownVectors, Sense
from engramlog_server.projections.index.search_index import Scores
from engramlog_server.projections.language.contradiction.change import Alike
from engramlog_server.projections.language.keywords import asked_words
from engramlog_server.projections.language.text import tokens
from engramlog_server.projections.laws.law import Floats
from engramlog_server.projections.laws.modes import Flags, Visibility, visibility
from engramlog_server.projections.memory.columns import Rows
from engramlog_server.projections.ranking.conversation_terms import QuestionReading, read_question
from engramlog_server.projections.ranking.ranked import Plan, Ranked
from engramlog_server.projections.ranking.rankings import Direct, direct_hits
from engramlog_server.projections.ranking.search_request import BY_MEANING, FOLLOWING, Filter, SearchRequest
from engramlog_server.projections.shapes import MeaningCompared
from engramlog_server.projections.views.query import ViewQuery
from engramlog_server.projections.views.view import OwnerView

ViewHeld = Callable[[], AbstractContextManager[OwnerView]]
"""Gives an owner's view, held for the length of the block."""


@dataclass(slots=True)
class MeantQuestion:
    """A question of one call, as far as it is compared by meaning."""

    text: str
    compares: bool = True
    """False: it is to go by words."""
    alone: bool = False
    """Whether meaning alone is asked for: then what keeps it from being compared is raised."""
    past: bool = False
    """Whether it is about a past, where another embedder may have counted than today."""
    hidden: str | None = None
    """Why no embedder may see it."""
    embedded: dict[str, EmbeddedQuestion | str] = field(default_factory=dict)
    """Its vectors, by the name of the embedder that was asked; a text where it gave none: why."""
    told: MeaningCompared | None = None
    """What is to be told of it where there is no sense: why not, or that nothing has vectors yet."""


class Senses(Protocol):
    """A question's vectors, and beside them an owner's."""

    alike: Alike
    """How near texts are to each other."""

    def ask(self, owner: str, question: MeantQuestion, parameter: Callable[[], str], view: ViewHeld) -> None:
        """Ask for a question's vectors before any view is held, so that none waits for them, where it is known of whom.

        `parameter` tells the owner's parameter `embedder`, as it is now; `view` gives the owner's view where only that tells what
        counts, and the model is to be loaded.
        """

    def unused(self, parameter: str) -> str:
        """Why this process will not use what an owner's parameter names; empty where it will, or it names none."""

    def sense(self, view: OwnerView, owner: str, question: MeantQuestion) -> Sense | None:
        """The sense of a question under the model that counts for the view; None where there is nothing to compare it with.

        Raises EmbedderFailed or BadSetting where meaning alone was asked for. The caller holds the view's lock.
        """

    def stands_out(self, view: OwnerView, owner: str, text: str) -> float | None:
        """How far a text stands above idle ones (`projections.embedding.idle`); None if nothing is compared.

        The caller holds the view's lock.
        """

    def known_vectors(self, view: OwnerView, owner: str) -> KnownVectors | None:
        """The whole vectors that a view's rows have; None where none are kept. The caller holds the view's lock."""


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
        return _read(self, self.seen.showing(rows))

    def recalling(self, rows: Rows, before: Visibility) -> RunningSearch:
        """The same search, in which of what was withheld `before` these rows alone are shown, as long ago: others have no name."""
        there, now = before.shown, self.seen
        told = replace(now, shown=now.shown & there, reasons=np.where(there, now.reasons, before.reasons))
        recalled = np.zeros(there.size, dtype=bool)
        recalled[rows] = True
        seen, reading = told.showing(recalled), self.reading
        if reading is not None and reading.speakers:
            said_by = self.view.conversation.speaker[: there.size][seen.shown]
            reading = reading._replace(speakers=[one for one in reading.speakers if (said_by == one).any()])
        return replace(self, seen=seen, reading=reading, long_ago=frozenset(rows.tolist()))


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
