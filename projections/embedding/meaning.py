"""Meaning: what an embedder gives, how near a text is to a question, and whether a message needs memory. Pure.

An embedder gives every text one **whole** vector and, where it can, **pieces**: one vector a token or sentence. Pieces find
what a whole vector blurs (measured), and are looked at for the best candidates only. Vectors of somebody else's code are checked
and made of length 1.

If its words leave open whether a message needs memory, its nearness to the owner's memories decides:

    score    = best cosine with a memory + personal - idle     each the mean of the three best cosines with fixed messages
    nearness = (score - mean) / standard deviation             of the scores of the idle messages, each without itself
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from engramlog_server.events.cipher import SECRET_BYTES
from engramlog_server.events.envelope import keyed
from engramlog_server.events.errors import EmbedderFailed
from engramlog_server.projections.language.lexicon import rows
from engramlog_server.projections.memory.columns import Rows
from engramlog_server.projections.memory.record import SECRET, Memory

Vectors = npt.NDArray[np.float32]
Floats = npt.NDArray[np.float64]
LEAST_LENGTH = 1e-3
"""Shorter differences from the centre are no direction: their components are rounding."""
KEY_BYTES = 14
"""With its header Redis keeps such a name in 16 bytes, and one of 16 in 32."""
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


class JoinedPieces(NamedTuple):
    """The pieces of some texts end to end: they are compared with a question in one product."""

    vectors: Vectors
    """All of length 1, shape (pieces, d)."""
    counts: Rows
    """How many of them each text has, in the order of texts."""

    @classmethod
    def of(cls, texts: Sequence[Vectors], dimensions: int) -> JoinedPieces:
        """Those of texts that are read one by one; of other dimensions than told a text has none."""
        counts = np.array([len(one) if one.shape[1] == dimensions else 0 for one in texts], dtype=np.int64)
        fitting = [one for one, count in zip(texts, counts.tolist(), strict=True) if count]
        return cls(np.concatenate(fitting) if fitting else np.zeros((0, dimensions), np.float32), counts)


class KnownVectors(NamedTuple):
    """Which rows of a view have which vectors: all of length 1, and comparable with each other."""

    wholes: Vectors
    """Shape (rows, d); zeros where a row has none."""
    known: npt.NDArray[np.bool_]
    """Which rows have vectors, shape (rows,)."""
    unread: npt.NDArray[np.bool_] | None = None
    """Which rows have vectors that tell nothing, as the model reads not their language, shape (rows,); None: none."""
    model: str = ""
    """Whose vectors they are."""


class Usual(NamedTuple):
    """What is usual of a model's whole vectors (`projections.embedding.embedder.usual_of`)."""

    centre: Vectors
    """What all have in common, shape (d,); zero where that is little."""
    spread: float
    """Standard deviation of the cosines of unrelated texts, without what is common."""
    questions: Vectors | None = None
    """What is taken from a question's whole before it is compared, shape (d,); None: nothing."""


class EmbeddedQuestion(NamedTuple):
    """A question's vectors, all of length 1, and the words its pieces stand for."""

    whole: Vectors
    pieces: Vectors
    words: tuple[str, ...]
    """For each piece the word it is, or is part of, as written in the question."""
    usual: Usual | None = None
    """What is usual of the model; None where it was not measured."""


class Embedder(Protocol):
    """What turns text into vectors. Raises EmbedderFailed where it cannot; never gives a vector that is not finite."""

    @property
    def model(self) -> str:
        """Name and version: vectors of different models are never compared."""

    def texts(self, texts: Sequence[str]) -> list[Embedded]:
        """Vectors of texts, in their order; any text, also an empty or a very long one."""

    def question(self, text: str) -> EmbeddedQuestion:
        """Vectors of a question."""


@dataclass(frozen=True)
class Sense:
    """A question's meaning, beside the vectors of the rows that have some; for as long as these stay as they are."""

    model: str
    question: EmbeddedQuestion
    wholes: Vectors
    """By row of the view, shape (rows, d); zeros where a row has none."""
    known: npt.NDArray[np.bool_]
    """Which rows have vectors, shape (rows,)."""
    pieces: Callable[[Rows], JoinedPieces]
    """The pieces of rows, in their order."""
    wanted: int
    """How many rows hold text, and so should have vectors."""

    def cosines(self, rows: Rows) -> Floats:
        """Cosine of the question and of each of the rows, which have vectors, without what all of the model's vectors share.

        Less what the row has in common with questions at large, where `usual` has that.
        """
        found: Floats = self._of_all[rows]
        return found

    @cached_property
    def _of_all(self) -> Floats:
        """The same of all rows: a ranking, what it withholds and what it tells ask for some of them each."""
        asked, usual = self.question.whole, self.question.usual
        if usual is not None and usual.questions is not None:
            asked = asked - usual.questions
        if usual is None or not usual.centre.any():
            return (self.wholes @ asked).astype(np.float64)
        centre = usual.centre.astype(np.float64)
        towards = asked - centre
        towards /= max(float(np.linalg.norm(towards)), LEAST_LENGTH)
        # Of length 1, so the distance to the centre follows from the product with it: no copy of all vectors is made.
        beside = (self.wholes @ usual.centre).astype(np.float64)
        lengths = np.sqrt(np.maximum(1.0 - 2.0 * beside + float(centre @ centre), LEAST_LENGTH**2))
        along = (self.wholes @ towards.astype(np.float32)).astype(np.float64)
        return np.clip((along - float(centre @ towards)) / lengths, -1.0, 1.0)


def embedded_text(memory: Memory) -> str:
    """What of a memory is embedded: its content; nothing of what is purged or secret."""
    return "" if memory.sensitivity >= SECRET or memory.purged_at is not None else memory.content


def content_key(secret: bytes, text: str) -> bytes:
    """The name of a text's vectors, 14 bytes: a hash of its content, keyed with its owner's secret.

    So a name confirms no guess of the text, and the same text of another owner has another name.
    """
    return keyed(secret, _PURPOSE, text.encode(), KEY_BYTES)


_Wide = npt.NDArray[np.float64]
MOST_DIMENSIONS = 0xFFFF
"""What the header of a stored vector has room for."""
MOST_PIECES = 4_096
"""Of one text or question."""


def whole_in(got: Any, whose: str, dimensions: int | None) -> Vectors:
    """A whole vector of length 1, shape (d,). Raises EmbedderFailed where it is none: its shape, not finite, zero."""
    numbers = _numbers(got, whose)
    if numbers.ndim != 1 or not 0 < numbers.size <= MOST_DIMENSIONS or dimensions not in (None, numbers.size):
        raise _none(whose, f"of the shape {numbers.shape}, not ({dimensions or 'd'},)")
    whole: Vectors = units(numbers[None], whose)[0]
    return whole


def pieces_in(got: Any, whose: str, dimensions: int) -> Vectors:
    """Pieces of length 1, shape (pieces, d); any empty array is (0, d). Raises EmbedderFailed where they are none."""
    numbers = _numbers(got, whose)
    if not numbers.size:
        return np.zeros((0, dimensions), np.float32)
    if numbers.ndim != 2 or numbers.shape[1] != dimensions or len(numbers) > MOST_PIECES:
        raise _none(whose, f"pieces of the shape {numbers.shape}, not (up to {MOST_PIECES}, {dimensions})")
    return units(numbers, whose)


def _numbers(got: Any, whose: str) -> _Wide:
    try:
        numbers = np.asarray(got, np.float64)
    except (ValueError, TypeError, OverflowError):
        raise _none(whose, f"of the kind {type(got).__name__}, not numbers") from None
    if not np.isfinite(numbers).all():
        raise _none(whose, "that is not finite")
    return numbers


def units(numbers: _Wide, whose: str) -> Vectors:
    """Rows of length 1. Raises EmbedderFailed where one is zero."""
    largest = np.abs(numbers).max(axis=1, keepdims=True)
    if not largest.all():
        raise _none(whose, "that is zero")
    scaled = numbers / largest  # so that squares of very large or small components stay finite
    units: Vectors = (scaled / np.linalg.norm(scaled, axis=1, keepdims=True)).astype(np.float32)
    return units


def _none(whose: str, what: str) -> EmbedderFailed:
    return EmbedderFailed(f"{whose} gave a vector {what}", down=False)


_SHRINK = 10
"""Vectors of which the mean counts half: a handful have in common what they are about."""


def centred(wholes: Vectors) -> Vectors:
    """Vectors without n / (n + 10) of their mean, of length 1; one that is nothing else stays as it is. Shape (n, d)."""
    mean = wholes.mean(axis=0) * (len(wholes) / (len(wholes) + _SHRINK))
    apart = wholes - mean
    length = np.linalg.norm(apart, axis=1, keepdims=True)
    found: Vectors = np.where(length > 1e-6, apart / np.maximum(length, 1e-6), wholes).astype(np.float32)
    return found


NEAR, SURE = -0.3, 1.8
"""Nearness from which a message gets a few lines, and from which it counts as one that needs memory.

A few lines too many cost less than a memory that is not found, so `NEAR` is low.
"""
_ALIKE = 3
"""Fixed messages of each kind that a message is compared with: the nearest."""


@cache
def messages(kind: str) -> tuple[str, ...]:
    """The messages of a kind in `lexicon/messages.tsv`: idle, personal or plain."""
    cells = (row["english"] or row["chinese"] for row in rows("messages") if row["kind"] == (kind,))
    return tuple(map(", ".join, cells))


def fixed_messages() -> tuple[str, ...]:
    """Those that a message is compared with, idle ones first."""
    return messages("idle") + messages("personal")


class IdleScores(NamedTuple):
    """Scores of the idle messages in an owner's store."""

    mean: float
    spread: float


def usual(wholes: Vectors, fixed: Vectors) -> IdleScores:
    """What idle messages reach among an owner's vectors, shape (rows, d); `fixed`: vectors of `fixed_messages`."""
    idle = len(messages("idle"))
    scores = (wholes @ fixed[:idle].T).max(axis=0) + np.array(
        [_personal(fixed[at], np.delete(fixed, at, axis=0)) for at in range(idle)]
    )
    return IdleScores(float(scores.mean()), max(float(scores.std()), 1e-6))


def nearness(wholes: Vectors, fixed: Vectors, idle: IdleScores, asked: Vectors) -> float:
    """How far a message stands above idle ones, in standard deviations of these; negative if it stands below their mean."""
    return (float((wholes @ asked).max()) + _personal(asked, fixed) - idle.mean) / idle.spread


def _personal(asked: Vectors, fixed: Vectors) -> float:
    """How much nearer a message is to the personal messages, the last of `fixed`, than to the idle ones."""
    cosines, at = fixed @ asked, len(fixed) - len(messages("personal"))
    return float(np.sort(cosines[at:])[-_ALIKE:].mean() - np.sort(cosines[:at])[-_ALIKE:].mean())
