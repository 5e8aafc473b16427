"""Meaning: what an embedder gives, how its vectors are packed, and how near a text is to a question. Pure.

An embedder gives every text one **whole** vector and, where it can, **pieces**: one vector a token or sentence. Pieces find
what a whole vector blurs (measured: ADR 0017), and are looked at for the best candidates only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from events.entry import SECRET_BYTES, keyed
from projections.memory.columns import Rows
from projections.memory.record import SECRET, Memory

Vectors = npt.NDArray[np.float32]
KEY_BYTES = 16
NO_SECRET = bytes(SECRET_BYTES)
"""Stands for a secret where no store keeps one: of an evaluation, whose vectors lie in one's own file, and of an owner whose secret
was lost, of whom no vector is ever stored."""
_PURPOSE = b"vector"


class Embedded(NamedTuple):
    """A text's vectors, all of length 1."""

    whole: Vectors
    """Shape (d,)."""
    pieces: Vectors
    """Shape (pieces, d); (0, d) where the embedder gives whole vectors only."""


class KnownVectors(NamedTuple):
    """Which rows of a view have which vectors: all of length 1, and comparable with each other."""

    wholes: Vectors
    """Shape (rows, d); zeros where a row has none."""
    known: npt.NDArray[np.bool_]
    """Which rows have vectors, shape (rows,)."""


class EmbeddedQuestion(NamedTuple):
    """A question's vectors, all of length 1, and the words its pieces stand for."""

    whole: Vectors
    pieces: Vectors
    words: tuple[str, ...]
    """For each piece the word it is, or is part of, as written in the question."""


class Embedder(Protocol):
    """What turns text into vectors. Raises EmbedderFailed where it cannot; never gives a vector that is not finite."""

    @property
    def model(self) -> str:
        """Name and version: vectors of different models are never compared."""

    def texts(self, texts: Sequence[str]) -> list[Embedded]:
        """Vectors of texts, in their order; any text, also an empty or a very long one."""

    def question(self, text: str) -> EmbeddedQuestion:
        """Vectors of a question."""


class Sense(NamedTuple):
    """A question's meaning, beside the vectors of the rows that have some."""

    model: str
    question: EmbeddedQuestion
    wholes: Vectors
    """By row of the view, shape (rows, d); zeros where a row has none."""
    known: npt.NDArray[np.bool_]
    """Which rows have vectors, shape (rows,)."""
    pieces: Callable[[Rows], list[Vectors]]
    """The pieces of rows, in their order, each of shape (pieces, d); (0, d) where a row has none."""
    wanted: int
    """How many rows hold text, and so should have vectors."""


def embedded_text(memory: Memory) -> str:
    """What of a memory is embedded: its content; nothing of what is purged or secret."""
    return "" if memory.sensitivity >= SECRET or memory.purged_at is not None else memory.content


def content_key(secret: bytes, text: str) -> bytes:
    """The name of a text's vectors, 16 bytes: a hash of its content, keyed with its owner's secret.

    So a name confirms no guess of the text, and the same text of another owner has another name.
    """
    return keyed(secret, _PURPOSE, text.encode(), KEY_BYTES)
