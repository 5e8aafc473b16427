"""Meanings: an embedder beside the stored vectors, which together say how near a question is to what an owner's view holds."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from time import monotonic
from typing import Any

from events.errors import BadSetting, EmbedderFailed
from projections.embedding.meaning import EmbeddedQuestion, Embedder, KnownVectors, Sense, Vectors, embedded_text
from projections.index.meaning_index import MeaningIndex
from projections.memory.columns import Rows
from projections.redis.vectors import RedisVectors
from projections.views.view import OwnerView

REST_SECONDS, MOST_REST_SECONDS = 10.0, 60.0
"""How long an embedder that did not answer is left alone, twice as long each time: searches by words need not wait for it."""


class Meanings:
    """Questions and vectors under one model. Safe for threads; a view's lock is its caller's.

    The embedder is made at first need: what never asks for a meaning does not load a model.
    """

    def __init__(self, embedder: Callable[[], Embedder], vectors: RedisVectors) -> None:
        self._make = embedder
        self._made: Embedder | None = None
        self._making = Lock()
        self.vectors = vectors
        self._lock = Lock()
        self._failed: EmbedderFailed | None = None
        self._until, self._rest = 0.0, REST_SECONDS
        self._trying = False

    @property
    def embedder(self) -> Embedder:
        """The embedder, made once. Raises what making it raises, such as BadSetting where its model is not there."""
        with self._making:
            if self._made is None:
                self._made = self._make()
            return self._made

    @property
    def made(self) -> Embedder | None:
        """The embedder, where it was needed already."""
        return self._made

    @property
    def model(self) -> str:
        """The model whose vectors are compared."""
        return self.embedder.model

    def question(self, text: str) -> EmbeddedQuestion:
        """A question's vectors. Raises EmbedderFailed.

        After a failure that was not the question's own the embedder rests, and everybody is refused at once; then one
        question tries it while the others are still refused.
        """
        with self._lock:
            if self._failed is not None and (self._trying or monotonic() < self._until):
                raise EmbedderFailed(str(self._failed), **self._failed.context)
            self._trying = self._failed is not None
        try:
            asked = self.embedder.question(text)
        except EmbedderFailed as error:
            if error.context.get("down") is not False:
                with self._lock:
                    self._failed, self._until = error, monotonic() + self._rest
                    self._rest = min(2 * self._rest, MOST_REST_SECONDS)
            raise
        finally:
            with self._lock:
                self._trying = False
        with self._lock:
            self._failed, self._rest = None, REST_SECONDS
        return asked

    def sense(self, view: OwnerView, owner: str, question: EmbeddedQuestion) -> Sense:
        """The question beside the vectors of the view's rows, for as long as the view's lock is held.

        One round trip where nothing changed. Raises StoreError.
        """
        index = self._level(view, owner, question.whole.size)
        model, nothing = self.model, question.pieces[:0]

        def pieces(rows: Rows) -> list[Vectors]:
            keys = [index.key(int(row)) if index.known[int(row)] else b"" for row in rows]
            found = self.vectors.pieces(owner, model, [key for key in keys if key])
            fitting = {key: some for key, some in found.items() if some.shape[1] == nothing.shape[1]}
            return [fitting.get(key, nothing) for key in keys]

        return Sense(model, question, index.wholes, index.known, pieces, index.wanted)

    def known_vectors(self, view: OwnerView, owner: str) -> KnownVectors | None:
        """The vectors of the view's rows, for as long as the view's lock is held; None where the embedder cannot be made.

        Nothing is embedded for it. Raises StoreError.
        """
        try:
            index = self._level(view, owner, None)
        except (BadSetting, EmbedderFailed):
            return None
        return KnownVectors(index.wholes, index.known)

    def coverage(self, view: OwnerView, owner: str) -> dict[str, Any]:
        """How many of the view's rows have a vector: model, embedded, of (rows with text), share (1 of none); JSON-ready.

        Where the embedder cannot be made, `failed` tells why, and no model is named.
        """
        try:
            index = self._level(view, owner, None)
        except BadSetting as error:
            of = sum(1 for memory in view.columns if embedded_text(memory))
            return {"model": None, "embedded": 0, "of": of, "share": 0.0 if of else 1.0, "failed": error.message}
        embedded = int(index.known.sum())
        share = round(embedded / index.wanted, 4) if index.wanted else 1.0
        return {"model": self.model, "embedded": embedded, "of": index.wanted, "share": share}

    def _level(self, view: OwnerView, owner: str, dimensions: int | None) -> MeaningIndex:
        """The view's index, level with what is stored."""
        level, index = self.vectors.changes(owner, self.model), view.known_meaning(self.model)
        if (
            index is None or index.level != level
        ):  # a secret that was lost or came back shows in the vectors named by it
            index = view.meaning(self.model, self.vectors.secret(owner))
        if dimensions is not None:
            index.fit(dimensions)
        wanted = index.to_ask(level)
        found = self.vectors.wholes(owner, self.model, wanted, index.dimensions or None) if wanted else {}
        index.answered(level, wanted, found)
        return index
