"""The meaning of a question, by which it is compared in addition to its words."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Unpack

from api.requests.searching import SearchTerms, semantic_refused
from api.requests.secrets import QUERY_HIDDEN, is_secret
from api.requests.timelines import LineTerms
from api.services.histories import Histories
from events.errors import refused
from events.log import EventLog
from events.parameters import DEFAULTS, Parameters
from events.text.embedder_names import NONE, STORE
from projections.choices import RANKINGS
from projections.embedding.choosing import compares_nothing
from projections.embedding.meaning import KnownVectors, Sense
from projections.language.contradiction.change import Alike, no_model
from projections.ranking.search_request import BY_MEANING
from projections.ranking.senses import MeantQuestion, Senses
from projections.redis.view import RedisViews
from projections.views.view import OwnerView


class MeaningReader(Histories):
    """Asks for all of it before any view is held. Safe for threads."""

    def __init__(self, log: EventLog, views: RedisViews, meanings: Senses | None = None) -> None:
        super().__init__(log, views)
        self._meanings = meanings
        self.alike: Alike = no_model if meanings is None else meanings.alike

    @property
    def compares_meaning(self) -> bool:
        """Whether there may be an embedder: which one counts is known of each owner."""
        return self._meanings is not None

    def unused_embedder(self, parameter: str) -> str:
        """Why this process will not use the embedder that an owner's parameter names; empty where it will, or it names none."""
        if self._meanings is not None:
            return self._meanings.unused(parameter)
        return "" if parameter in (STORE, NONE) else compares_nothing(parameter)

    def sense_of(self, view: OwnerView, owner: str, question: MeantQuestion) -> Sense | None:
        """A question's meaning beside that of a view's memories; None where it is not compared, which the question may tell."""
        sense = None if self._meanings is None else self._meanings.sense(view, owner, question)
        if sense is None and question.alone:
            raise semantic_refused()
        return sense

    def stands_out(self, owner: str, text: str, **times: Unpack[LineTerms]) -> float | None:
        """How far a text stands above idle ones (`projections.embedding.idle`); None if nothing is compared."""
        if self._meanings is None or is_secret(text):
            return None
        with self.snapshot(owner, **times) as snapshot:
            return self._meanings.stands_out(snapshot.view, owner, text)

    def vectors_of(self, view: OwnerView, owner: str) -> KnownVectors | None:
        """The vectors of a view's memories; None where there is no embedder."""
        return None if self._meanings is None else self._meanings.known_vectors(view, owner)

    def question_of(self, owner: str, query: str, terms: SearchTerms, **times: Unpack[LineTerms]) -> MeantQuestion:
        """A question as far as it is compared by meaning; its vectors are asked for before any view is held, where that can be.

        `times`: what was said of who may be asked by what the answer waits for counts; of a past what counted then is loaded, not
        what counts today. Raises as the wait, and the way to that past, does.
        """
        mode = terms.get("search_mode", "hybrid")
        compares = mode != "keyword" and terms.get("ranking", RANKINGS[0]) in BY_MEANING
        past = (times.get("as_of"), times.get("known")) != (None, None)
        question = MeantQuestion(query, compares=compares, alone=compares and mode == "semantic", past=past)
        if self._meanings is None or not compares:
            return question
        if is_secret(query):
            if question.alone:
                raise refused(
                    "search_mode", mode, "keyword or hybrid: a query that looks like a secret goes to no embedder"
                )
            question.hidden = QUERY_HIDDEN
        self._meanings.ask(
            owner,
            question,
            lambda: self._parameters(owner, times.get("after")).embedder,
            lambda: self._view_of(owner, times),
        )
        return question

    @contextmanager
    def _view_of(self, owner: str, times: LineTerms) -> Iterator[OwnerView]:
        with self.snapshot(owner, **times) as snapshot:
            yield snapshot.view

    def _parameters(self, owner: str, after: str | None) -> Parameters:
        found = self.glance(owner, after=after)
        return DEFAULTS if found is None else found.view.parameters
