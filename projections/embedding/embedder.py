"""Which embedder a setting names, and an embedder that remembers questions."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from threading import Lock
from typing import TypeVar

import numpy as np

from engramlog_server.events.errors import BadSetting, EmbedderFailed
from engramlog_server.projections.embedding.imported import imported_embedder
from engramlog_server.projections.embedding.meaning import Embedded, EmbeddedQuestion, Embedder, Usual, Vectors
from engramlog_server.projections.embedding.minilm import MiniLM
from engramlog_server.projections.embedding.names import ALLOWED, embedder_kind
from engramlog_server.projections.embedding.openai import OpenAI
from engramlog_server.projections.embedding.use import UniversalEncoder
from engramlog_server.projections.embedding.usual import TEXTS, usual_of

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
        wholes = self._wholes(TEXTS)
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
