"""The encoder of all-MiniLM-L6-v2: six BERT layers of 384 dimensions, as numpy. Pure; the weights are an argument.

Linear layers run over all tokens of a batch at once, attention over runs of texts of equal length; so nothing is padded, and
no text sees another. A text's vectors hang on its batch by rounding alone, about 1e-6 a component.

GELU is x * Phi(x). Here Phi(x) is 1 / (1 + exp(-x * p(x^2))) with p fitted for the least absolute error of x * Phi(x), which is
below 4e-6 for every x in float32: a ninth of the time of the usual approximation of erf (Abramowitz and Stegun, 7.1.26).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from math import sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

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
