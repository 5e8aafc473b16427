"""Vectors of the memories of a conversation set, kept in memory and packed as a store packs them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Protocol

import numpy as np

from engramlog_server.projections.embedding.choosing import LettersIndex
from engramlog_server.projections.embedding.embedder import embedder_named
from engramlog_server.projections.embedding.meaning import (
    NO_SECRET,
    EmbeddedQuestion,
    Embedder,
    JoinedPieces,
    Sense,
    Vectors,
    content_key,
    embedded_text,
    fixed_messages,
    nearness,
    usual,
)
from engramlog_server.projections.embedding.vectors import pack, unpack_pieces, unpack_whole
from engramlog_server.projections.memory.columns import Rows
from engramlog_server.projections.views.view import OwnerView

BATCH = 64
"""Texts embedded in one call."""


class Meanings(Protocol):
    """Compares a question with the memories of a view."""

    def fill(self, views: Iterable[OwnerView]) -> None:
        """Embed every memory that has no vector yet."""

    def asked(self, view: OwnerView, text: str) -> Sense:
        """The question next to the vectors of the view."""

    def stands_out(self, view: OwnerView, text: str) -> float:
        """How far a text stands above idle ones in the view."""


class MemoryVectors:
    """Vectors of one embedder, by the content of a memory."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.model = embedder.model
        self._fixed: Vectors | None = None
        self._packed: dict[bytes, tuple[bytes, bytes]] = {}
        self.question = lru_cache(maxsize=8)(embedder.question)

    def fill(self, views: Iterable[OwnerView]) -> None:
        """Embed every memory that has no vector yet."""
        texts = {
            content_key(NO_SECRET, text): text for view in views for row in view.columns if (text := embedded_text(row))
        }
        # Texts of similar length together: a batch takes as long as its longest text.
        missing = sorted((key for key in texts if key not in self._packed), key=lambda key: len(texts[key]))
        for start in range(0, len(missing), BATCH):
            keys = missing[start : start + BATCH]
            vectors = self._embedder.texts([texts[key] for key in keys])
            self._packed.update((key, pack(one)) for key, one in zip(keys, vectors, strict=True))

    def asked(self, view: OwnerView, text: str) -> Sense:
        """The question next to the vectors of the view."""
        return self.sense(view, self.question(text))

    def stands_out(self, view: OwnerView, text: str) -> float:
        """How far a text stands above idle ones in the view."""
        sense = self.asked(view, text)
        wholes = sense.wholes[sense.known]
        if self._fixed is None:
            self._fixed = np.stack([one.whole for one in self._embedder.texts(fixed_messages())])
        return nearness(wholes, self._fixed, usual(wholes, self._fixed), sense.question.whole)

    def sense(self, view: OwnerView, question: EmbeddedQuestion) -> Sense:
        """An embedded question next to the vectors of the view."""
        index = view.meaning(self.model, NO_SECRET)
        index.fit(question.whole.size)
        if missing := index.missing():
            index.take({key: unpack_whole(self._packed[key][0]) for key in missing if key in self._packed})

        def pieces(rows: Rows) -> JoinedPieces:
            found = [self._pieces(index.key(row), question) for row in rows.tolist()]
            return JoinedPieces.of(found, question.pieces.shape[1])

        return Sense(self.model, question, index.wholes, index.known, pieces, index.wanted)

    def _pieces(self, key: bytes, question: EmbeddedQuestion) -> Vectors:
        packed = self._packed.get(key)
        return unpack_pieces(packed[1]) if packed is not None and packed[1] else question.pieces[:0]


class VectorsByLetters:
    """Two embedders: each conversation uses the one that `auto` chooses for its letters."""

    def __init__(self, latin: MemoryVectors, other: MemoryVectors) -> None:
        self._latin, self._other = latin, other

    def fill(self, views: Iterable[OwnerView]) -> None:
        """Embed every memory that has no vector yet."""
        views = list(views)
        for vectors in (self._latin, self._other):
            vectors.fill(view for view in views if self._of(view) is vectors)

    def asked(self, view: OwnerView, text: str) -> Sense:
        """The question next to the vectors of the view."""
        return self._of(view).asked(view, text)

    def stands_out(self, view: OwnerView, text: str) -> float:
        """How far a text stands above idle ones in the view."""
        return self._of(view).stands_out(view, text)

    def _of(self, view: OwnerView) -> MemoryVectors:
        return self._other if view.index(LettersIndex).of_other_letters else self._latin


def meanings_named(name: str) -> Meanings | None:
    """`words`: None; `auto`: MiniLM and USE by letters; else one embedder by its setting. Raises BadSetting."""
    if name == "words":
        return None
    if name == "auto":
        return VectorsByLetters(_vectors("minilm"), _vectors("use"))
    return _vectors(name)


def _vectors(name: str) -> MemoryVectors:
    embedder = embedder_named(name)
    assert embedder is not None, name
    return MemoryVectors(embedder)
