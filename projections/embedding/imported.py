"""An embedder that somebody brings, named by where Python imports it from: `package:object`.

The object is an Embedder, or a function or class without arguments that gives one. Nothing that it gives is believed: shapes,
numbers and lengths are checked, and whatever it raises becomes EmbedderFailed.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from threading import Lock
from typing import Any

from engramlog_server.events.errors import BadSetting, EmbedderFailed
from engramlog_server.projections.embedding.meaning import (
    Embedded,
    EmbeddedQuestion,
    Embedder,
    Vectors,
    pieces_in,
    whole_in,
)

MOST_NAME = 120
_ALLOWED = (
    f"an object with model (a text of 1 to {MOST_NAME} printable characters), texts(texts) and question(text), as "
    "engramlog_server.projections.embedding.meaning.Embedder has them, or what gives one when called without arguments"
)
_REFUSES = (ValueError, TypeError, LookupError, ArithmeticError, AssertionError)
"""What is taken to be about a text; after anything else the embedder is taken to be down."""


def imported_embedder(path: str) -> Embedder:
    """The embedder at `package:object`. Importing and making it happens here; loading its model is its own affair.

    Raises BadSetting: what cannot be imported, or what was got and what is allowed.
    """
    module, _, name = path.partition(":")
    try:
        found: Any = import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except Exception as error:
        raise _refused(path, f"which cannot be imported ({type(error).__name__})") from error
    if isinstance(found, type) or not _is_embedder(found):
        found = _made(path, found)
    if not _is_embedder(found):
        raise _refused(path, f"an object of the kind {type(found).__name__}")
    try:
        model = found.model
    except Exception as error:
        raise _refused(path, f"an embedder whose model fails ({type(error).__name__})") from error
    if not (isinstance(model, str) and 0 < len(model) <= MOST_NAME and model.isprintable() and model.strip() == model):
        raise _refused(path, f"an embedder whose model is {str(model)[:MOST_NAME]!r}")
    return CheckedEmbedder(path, model, found)


class CheckedEmbedder:
    """An Embedder around another's: its vectors are checked and made of length 1. One thread at a time is let through."""

    def __init__(self, path: str, model: str, embedder: Any) -> None:
        self._whose = f"the embedder {path}"
        self._model = model
        self._embedder = embedder
        self._lock = Lock()
        self._dimensions: int | None = None

    @property
    def model(self) -> str:
        """As the other named it when it was made."""
        return self._model

    def texts(self, texts: Sequence[str]) -> list[Embedded]:
        """The other's, checked. Raises EmbedderFailed where it fails, or gives what are no vectors of these texts."""
        if not texts:
            return []
        with self._lock:
            try:
                got = list(self._embedder.texts(list(texts)))
                parts = [(one.whole, one.pieces) for one in got]
            except Exception as error:
                raise self._failed(error) from error
            if len(got) != len(texts):
                raise EmbedderFailed(f"{self._whose} gave {len(got)} vectors for {len(texts)} texts", down=False)
            return [Embedded(*self._checked(whole, pieces)) for whole, pieces in parts]

    def question(self, text: str) -> EmbeddedQuestion:
        """The other's, checked."""
        with self._lock:
            try:
                got = self._embedder.question(text)
                whole, pieces, words = got.whole, got.pieces, tuple(got.words)
            except Exception as error:
                raise self._failed(error) from error
            whole, pieces = self._checked(whole, pieces)
        if len(words) != len(pieces) or not all(isinstance(word, str) for word in words):
            raise EmbedderFailed(f"{self._whose} gave {len(words)} words for {len(pieces)} pieces", down=False)
        return EmbeddedQuestion(whole, pieces, words)

    def _checked(self, whole: Any, pieces: Any) -> tuple[Vectors, Vectors]:
        unit = whole_in(whole, self._whose, self._dimensions)
        parts = pieces_in(pieces, self._whose, unit.size)
        self._dimensions = unit.size
        return unit, parts

    def _failed(self, error: Exception) -> EmbedderFailed:
        if isinstance(error, EmbedderFailed):
            return error
        # Only its kind is told: a message may quote a text.
        return EmbedderFailed(f"{self._whose} failed ({type(error).__name__})", down=not isinstance(error, _REFUSES))


def _made(path: str, factory: Any) -> Any:
    if not callable(factory):
        raise _refused(path, f"an object of the kind {type(factory).__name__}")
    try:
        return factory()
    except BadSetting:
        raise
    except Exception as error:
        raise _refused(path, f"which fails when called ({type(error).__name__})") from error


def _is_embedder(found: Any) -> bool:
    kind = type(found)
    # Asked of the kind first: a property that fails is there all the same.
    return (hasattr(kind, "model") or "model" in getattr(found, "__dict__", ())) and all(
        callable(getattr(found, name, None)) for name in ("texts", "question")
    )


def _refused(path: str, got: str) -> BadSetting:
    return BadSetting(
        f"embedder: got {path}, {got}; allowed: {_ALLOWED}", setting="embedder", got=path, allowed=_ALLOWED
    )
