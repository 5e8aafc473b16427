"""Which embedder a setting names, also one that somebody brings, what is usual of its vectors, and one that remembers questions.

In some models all vectors lie in one corner: of multilingual-e5-small, unrelated texts have cosines about .78. Beside that
nothing stands out, whatever is asked. So what such vectors have in common, their mean, is taken away before they are compared;
and how far unrelated texts still differ tells what it means to stand out.

Under the bilingual model some statements are near to every question. So a share of the mean vector of questions is taken from
each question: measured on everyday facts in Chinese, .02 more of them are among the first ten.

An imported embedder (`package:object`) is an Embedder, or a function or class without arguments that gives one. It is not trusted:
shapes, numbers and lengths are checked, and whatever it raises becomes EmbedderFailed.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from functools import cache
from importlib import import_module
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

import numpy as np

from engramlog_server.events.errors import BadSetting, EmbedderFailed
from engramlog_server.projections.embedding import encoders
from engramlog_server.projections.embedding.encoders import MiniLM, UniversalEncoder
from engramlog_server.projections.embedding.meaning import (
    Embedded,
    EmbeddedQuestion,
    Embedder,
    Usual,
    Vectors,
    messages,
    pieces_in,
    whole_in,
)
from engramlog_server.projections.embedding.names import ALLOWED, embedder_kind
from engramlog_server.projections.embedding.openai import OpenAI
from engramlog_server.projections.language.text import holds_texts

COMMON = 0.35
"""Mean cosine of unrelated texts from which on they are taken to have a common part. Measured: .17 MiniLM, .07 USE, .78 E5."""


QUESTIONS = Path(__file__).with_name("questions_use.npy")
"""Mean whole vector of `fixed_messages` under the bilingual model; `python -m benchmarks.change` writes it."""
QUESTION_SHARE = 0.75


def usual_of(wholes: Vectors, model: str = "") -> Usual:
    """What is usual of a model by its whole vectors of plain messages, of length 1, shape (texts, d)."""
    places = np.triu_indices(len(wholes), 1)
    cosines = (wholes @ wholes.T)[places]
    centre: Vectors = wholes.mean(axis=0)
    questions = _questions() if model == encoders.USE_MODEL and centre.size == encoders.DIMENSIONS else None
    if float(cosines.mean()) < COMMON:
        return Usual(np.zeros_like(centre), float(cosines.std()), questions)
    apart = wholes - centre
    apart /= np.maximum(np.linalg.norm(apart, axis=1, keepdims=True), np.float32(1e-6))
    return Usual(centre, float((apart @ apart.T)[places].std()))


@cache
def _questions() -> Vectors:
    return QUESTION_SHARE * np.asarray(np.load(QUESTIONS), np.float32)


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
        found = _loaded(path, found)
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


def _loaded(path: str, factory: Any) -> Any:
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


_BUNDLED: Mapping[str, Callable[[], Embedder]] = {"minilm": MiniLM, "use": UniversalEncoder}
_E = TypeVar("_E", Embedded, EmbeddedQuestion)
MOST_QUESTIONS = 256
MOST_TEXTS = 32
"""Texts whose vectors are remembered: what is added is compared with memories, and a moment later stored."""
MOST_BYTES = 1 << 18
"""Of the vectors of a question or text; larger ones are not remembered, so all take 72 MiB at most."""


def embedder_named(setting: str, *, url: str | None = None, key: str | None = None) -> Embedder | None:
    """The embedder of a setting, with its questions remembered; None for `none`. Nothing is loaded or asked before first use.

    `url` (what comes before /embeddings) and `key` are for `openai:` alone, and otherwise passed over.
    Raises BadSetting: what is allowed, or which extra is to be installed.
    """
    known = embedder_kind(setting)
    if known is None:
        raise BadSetting(
            f"embedder: got {setting!r}; allowed: {ALLOWED}", setting="embedder", got=setting, allowed=ALLOWED
        )
    kind, name = known
    return None if kind == "none" else CachingEmbedder(_made(kind, name, url, key))


def _made(kind: str, name: str, url: str | None, key: str | None) -> Embedder:
    if kind in _BUNDLED:
        return _BUNDLED[kind]()
    return OpenAI(name, url=url, key=key) if kind == "openai" else imported_embedder(name)


class CachingEmbedder:
    """An Embedder that keeps the vectors of the last 256 questions and 32 texts of another. Safe for threads if the other is.

    With the first question, or when it is loaded, it measures what is usual of the model, and tells that with every question. Texts
    that the other refuses are left out; where it refuses all but one, nothing is usual. Of questions that come meanwhile none
    measures too: they wait for the one that does, and where it fails they fail with it.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._lock = Lock()
        self._kept: OrderedDict[str, EmbeddedQuestion] = OrderedDict()
        self._texts: OrderedDict[str, Embedded] = OrderedDict()
        self._measured_by: Future[Usual | None] | None = None
        """What is usual, or whoever measures it now; None before the first, and after one that failed."""
        self.is_loaded = False
        """Whether the model is in memory: it gave vectors. None leaves it before the process ends."""
        self.asked = {"memory": 0, "computed": 0}
        """How often a question's vectors were asked for, by where they came from."""
        holds_texts(self)

    def forget(self) -> None:
        """Keep no question and no text any more."""
        with self._lock:
            self._kept.clear()
            self._texts.clear()

    @property
    def model(self) -> str:
        """The other's."""
        return self._embedder.model

    @property
    def is_ready(self) -> bool:
        """Whether the model was loaded and measured: a question is embedded at once."""
        measured = self._measured_by
        return measured is not None and measured.done() and measured.exception() is None

    def load(self) -> None:
        """Load and measure the model, which the first question does otherwise. Raises EmbedderFailed."""
        self._measured()

    def texts(self, texts: Sequence[str]) -> list[Embedded]:
        """Vectors of texts, not to be changed: the next call with the same text returns the same arrays."""
        with self._lock:
            known = {text: self._texts[text] for text in texts if text in self._texts}
        missing = [text for text in dict.fromkeys(texts) if text not in known]
        if missing:
            made = dict(zip(missing, self._embedder.texts(missing), strict=True))
            self.is_loaded = True
            known |= made
            with self._lock:
                for text, one in list(made.items())[-MOST_TEXTS:]:
                    _remember(self._texts, text, one, MOST_TEXTS)
        return [known[text] for text in texts]

    def question(self, text: str) -> EmbeddedQuestion:
        """Vectors of a question, not to be changed: whoever asks the same is given the same arrays."""
        with self._lock:
            if text in self._kept:
                self._kept.move_to_end(text)
                self.asked["memory"] += 1
                return self._kept[text]
            self.asked["computed"] += 1
        found = self._embedder.question(text)
        self.is_loaded = True
        asked = found._replace(usual=self._measured())
        with self._lock:
            _remember(self._kept, text, asked, MOST_QUESTIONS)
        return asked

    def _measured(self) -> Usual | None:
        with self._lock:
            measured, mine = self._measured_by, self._measured_by is None
            if measured is None:
                measured = self._measured_by = Future()
        if not mine:
            return _awaited(measured)
        try:
            usual = self._measure()
        except BaseException as error:
            with self._lock:
                self._measured_by = None
            failed = isinstance(error, EmbedderFailed)
            measured.set_exception(error if failed else EmbedderFailed("the model was not measured", down=False))
            raise
        measured.set_result(usual)
        return usual

    def _measure(self) -> Usual | None:
        wholes = self._wholes(messages("plain"))
        if len(wholes) < 2:
            return None
        usual = usual_of(np.stack(wholes), self.model)
        usual.centre.setflags(write=False)
        return usual

    def _wholes(self, texts: Sequence[str]) -> list[Vectors]:
        """The texts' whole vectors, without those of texts that are refused."""
        # An endpoint is asked as for a question: somebody waits for it.
        embed = self._embedder.at_once if isinstance(self._embedder, OpenAI) else self._embedder.texts
        try:
            wholes = [one.whole for one in embed(texts)]
        except EmbedderFailed as error:
            if error.context.get("down") is not False:
                raise
        else:
            self.is_loaded = True
            return wholes
        return [whole for text in texts for whole in self._wholes([text])] if len(texts) > 1 else []


def _remember(kept: OrderedDict[str, _E], text: str, vectors: _E, most: int) -> None:
    """Keep the vectors of a text as the newest of `most`, unless they are too large."""
    vectors.whole.setflags(write=False)
    vectors.pieces.setflags(write=False)
    if vectors.whole.nbytes + vectors.pieces.nbytes <= MOST_BYTES:
        kept[text] = vectors
        kept.move_to_end(text)
        while len(kept) > most:
            kept.popitem(last=False)


def _awaited(measured: Future[Usual | None]) -> Usual | None:
    """What another measured. Raises an error of one's own where that failed: one that is shared is told of by all at once."""
    try:
        return measured.result()
    except EmbedderFailed as error:
        raise EmbedderFailed(error.message, **error.context) from error
