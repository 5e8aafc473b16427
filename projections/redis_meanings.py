"""Meanings: an embedder beside the stored vectors, which together say how near a question is to what an owner's view holds."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from time import monotonic
from typing import Any

from events.errors import EmbedderFailed
from projections.meaning import EmbeddedQuestion, Embedder, Sense, Vectors
from projections.meaning_index import MeaningIndex
from projections.redis_vectors import RedisVectors
from projections.search_index import Rows
from projections.view import OwnerView

KEPT_QUESTIONS = 64
REST_SECONDS = 10.0
"""How long an embedder that did not answer is left alone: searches by words need not wait for it, one after the other."""


class Meanings:
    """Questions and vectors under one model. Safe for threads; a view's lock is its caller's.

    The embedder is made at first need: what never asks for a meaning does not load a model.
    """

    def __init__(self, embedder: Callable[[], Embedder], vectors: RedisVectors) -> None:
        self._make = embedder
        self._made: Embedder | None = None
        self._making = Lock()
        self.vectors = vectors
        self._questions: OrderedDict[str, EmbeddedQuestion] = OrderedDict()
        self._lock = Lock()
        self._failed: tuple[float, EmbedderFailed] | None = None
        """Until when it is left alone, and why."""

    @property
    def embedder(self) -> Embedder:
        """The embedder, made once. Raises what making it raises, such as BadSetting where its model is not there."""
        with self._making:
            if self._made is None:
                self._made = self._make()
            return self._made

    @property
    def model(self) -> str:
        """The model whose vectors are compared."""
        return self.embedder.model

    def question(self, text: str) -> EmbeddedQuestion:
        """A question's vectors; the latest are kept, so that asking before a view is held spares its waiting.

        Raises EmbedderFailed, and for `REST_SECONDS` after that at once, for any question that is not kept.
        """
        with self._lock:
            if text in self._questions:
                self._questions.move_to_end(text)
                return self._questions[text]
            if self._failed is not None and monotonic() < self._failed[0]:
                raise EmbedderFailed(str(self._failed[1]))
        try:
            asked = self.embedder.question(text)
        except EmbedderFailed as error:
            with self._lock:
                self._failed = monotonic() + REST_SECONDS, error
            raise
        with self._lock:
            self._failed = None
            self._questions[text] = asked
            while len(self._questions) > KEPT_QUESTIONS:
                self._questions.popitem(last=False)
        return asked

    def sense(self, view: OwnerView, owner: str, query: str) -> Sense:
        """The question beside the vectors of the view's rows, for as long as the view's lock is held.

        One round trip where nothing changed. Raises EmbedderFailed where the question cannot be embedded, StoreError.
        """
        question = self.question(query)
        index = self._level(view, owner, question.whole.size)
        model, nothing = self.model, question.pieces[:0]

        def pieces(rows: Rows) -> list[Vectors]:
            keys = [index.key(int(row)) if index.known[int(row)] else b"" for row in rows]
            found = self.vectors.pieces(owner, model, [key for key in keys if key])
            fitting = {key: some for key, some in found.items() if some.shape[1] == nothing.shape[1]}
            return [fitting.get(key, nothing) for key in keys]

        return Sense(model, question, index.wholes, index.known, pieces, index.wanted)

    def coverage(self, view: OwnerView, owner: str) -> dict[str, Any]:
        """How many of the view's rows have a vector: model, embedded, of (rows with text), share (1 of none); JSON-ready."""
        index = self._level(view, owner, None)
        embedded = int(index.known.sum())
        share = round(embedded / index.wanted, 4) if index.wanted else 1.0
        return {"model": self.model, "embedded": embedded, "of": index.wanted, "share": share}

    def _level(self, view: OwnerView, owner: str, dimensions: int | None) -> MeaningIndex:
        """The view's index, level with what is stored."""
        index = view.meaning(self.model)
        if dimensions is not None:
            index.fit(dimensions)
        level = self.vectors.changes(owner, self.model)
        wanted = index.to_ask(level)
        found = self.vectors.wholes(owner, self.model, wanted, index.dimensions or None) if wanted else {}
        index.answered(level, wanted, found)
        return index
