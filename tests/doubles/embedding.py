"""An embedder for tests: words hashed into unit vectors, the same on every machine; and stores of its vectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import blake2b

import numpy as np

from engramlog_server.events.errors import EmbedderFailed
from engramlog_server.projections.embedding.meaning import Embedded, EmbeddedQuestion, Vectors
from engramlog_server.projections.language.text import tokens

DIMENSIONS = 32


class WordEmbedder:
    """A word's vector hangs on its letters alone, a text's is the sum of its words': texts that share words are near."""

    def __init__(self, model: str = "words/1", *, refuses: str = "", dimensions: int = DIMENSIONS) -> None:
        self.model = model
        self.asked: list[list[str]] = []
        """The texts of every call."""
        self.questions: list[str] = []
        self.before: Callable[[Sequence[str]], None] = lambda _texts: None
        """Called before every call."""
        self.down = False
        self.alias: dict[str, str] = {}
        """Words, without their endings, that have the vector of another."""
        self._refuses = refuses
        self._dimensions = dimensions

    @property
    def embedded(self) -> list[str]:
        """Every text that was embedded, in order, as often as it was."""
        return [text for texts in self.asked for text in texts]

    def texts(self, texts: Sequence[str]) -> list[Embedded]:
        """Fails where it is down, and where a text holds the word that it refuses."""
        self.before(texts)
        if self.down or (self._refuses and any(self._refuses in text for text in texts)):
            raise EmbedderFailed("the endpoint does not answer" if self.down else "a text was refused")
        self.asked.append(list(texts))
        return [Embedded(*self._vectors(tokens(text))) for text in texts]

    def question(self, text: str) -> EmbeddedQuestion:
        """As a text, with its words."""
        self.questions.append(text)
        words = tokens(text)
        return EmbeddedQuestion(*self._vectors(words), tuple(words))

    def _vectors(self, words: Sequence[str]) -> tuple[Vectors, Vectors]:
        pieces = np.array([self._word(word) for word in words], np.float32).reshape(-1, self._dimensions)
        whole = pieces.sum(axis=0) if len(pieces) else np.eye(1, self._dimensions, dtype=np.float32)[0]
        return (whole / np.linalg.norm(whole)).astype(np.float32), pieces

    def _word(self, word: str) -> Vectors:
        word = self.alias.get(word, word)
        seed = int.from_bytes(blake2b(word.encode(), digest_size=8).digest(), "big")
        vector = np.random.default_rng(seed).standard_normal(self._dimensions).astype(np.float32)
        return vector / np.float32(np.linalg.norm(vector))
