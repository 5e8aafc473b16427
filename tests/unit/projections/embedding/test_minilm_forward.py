"""The encoder in numpy, beside the same arithmetic written token by token."""

from __future__ import annotations

from math import erfc, exp, sqrt

import numpy as np
import pytest

from engramlog_server.projections.embedding import encoders
from engramlog_server.projections.embedding.encoders import Array, ModelWeights, forward, weights_of

WIDTH, WIDE, WORDS, LONGEST = 24, 40, 50, 16
HEADS = 12


def tensors(layers: int = 2) -> dict[str, Array]:
    """Small random weights under the names of the published file."""
    chance = np.random.default_rng(7)

    def some(*shape: int) -> Array:
        return chance.standard_normal(shape).astype(np.float32) * np.float32(0.4)

    made = {
        "embeddings.word_embeddings.weight": some(WORDS, WIDTH),
        "embeddings.position_embeddings.weight": some(LONGEST, WIDTH),
        "embeddings.token_type_embeddings.weight": some(2, WIDTH),
        "embeddings.LayerNorm.weight": 1 + some(WIDTH),
        "embeddings.LayerNorm.bias": some(WIDTH),
    }
    shapes = {
        "attention.self.query": (WIDTH, WIDTH),
        "attention.self.key": (WIDTH, WIDTH),
        "attention.self.value": (WIDTH, WIDTH),
        "attention.output.dense": (WIDTH, WIDTH),
        "intermediate.dense": (WIDE, WIDTH),
        "output.dense": (WIDTH, WIDE),
    }
    for layer in range(layers):
        prefix = f"encoder.layer.{layer}."
        for name, shape in shapes.items():
            made[f"{prefix}{name}.weight"], made[f"{prefix}{name}.bias"] = some(*shape), some(shape[0])
        for name in ("attention.output.LayerNorm", "output.LayerNorm"):
            made[f"{prefix}{name}.weight"], made[f"{prefix}{name}.bias"] = 1 + some(WIDTH), some(WIDTH)
    return made


def plainly(parts: dict[str, Array], text: list[int]) -> Array:
    """One text after the definition of BERT, in float64."""
    named = {name: value.astype(np.float64) for name, value in parts.items()}

    def linear(name: str, x: np.ndarray) -> np.ndarray:
        return named[f"{name}.weight"] @ x + named[f"{name}.bias"]

    def norm(name: str, x: np.ndarray) -> np.ndarray:
        return (x - x.mean()) / sqrt(x.var() + 1e-12) * named[f"{name}.weight"] + named[f"{name}.bias"]

    def attend(layer: str, states: list[np.ndarray], at: int) -> np.ndarray:
        heads, size = [], WIDTH // HEADS
        for head in range(HEADS):
            part = slice(head * size, (head + 1) * size)
            query = linear(f"{layer}attention.self.query", states[at])[part]
            keys = [linear(f"{layer}attention.self.key", state)[part] for state in states]
            values = [linear(f"{layer}attention.self.value", state)[part] for state in states]
            shares = [exp(float(query @ key) / sqrt(size)) for key in keys]
            heads.append(sum(share / sum(shares) * value for share, value in zip(shares, values, strict=True)))
        return linear(f"{layer}attention.output.dense", np.concatenate(heads))

    states = [
        norm(
            "embeddings.LayerNorm",
            named["embeddings.word_embeddings.weight"][token]
            + named["embeddings.position_embeddings.weight"][at]
            + named["embeddings.token_type_embeddings.weight"][0],
        )
        for at, token in enumerate(text)
    ]
    for layer in ("encoder.layer.0.", "encoder.layer.1."):
        attended = [
            norm(f"{layer}attention.output.LayerNorm", attend(layer, states, at) + state)
            for at, state in enumerate(states)
        ]
        wide = [linear(f"{layer}intermediate.dense", state) for state in attended]
        active = [np.array([x * 0.5 * erfc(-x / sqrt(2)) for x in one]) for one in wide]
        states = [
            norm(f"{layer}output.LayerNorm", linear(f"{layer}output.dense", one) + state)
            for one, state in zip(active, attended, strict=True)
        ]
    return np.array(states, np.float32)


@pytest.fixture(scope="module")
def weights() -> ModelWeights:
    return weights_of(tensors())


TEXTS = [[1, 2, 3], [4], [5, 6, 7], [8, 9], list(range(10, 26)), [3, 2, 1], [49]]


def test_every_token_has_the_vector_of_the_definition(weights: ModelWeights) -> None:
    parts = tensors()
    for text, found in zip(TEXTS, forward(weights, TEXTS), strict=True):
        np.testing.assert_allclose(found, plainly(parts, text), atol=2e-4)


def test_a_text_has_the_same_vectors_alone_and_among_others(weights: ModelWeights) -> None:
    for text, found in zip(TEXTS, forward(weights, TEXTS), strict=True):
        np.testing.assert_allclose(found, forward(weights, [text])[0], atol=1e-5)


def test_batches_change_nothing(weights: ModelWeights, monkeypatch: pytest.MonkeyPatch) -> None:
    at_once = forward(weights, TEXTS)
    monkeypatch.setattr(encoders, "TOKENS_AT_ONCE", 4)
    for one, other in zip(at_once, forward(weights, TEXTS), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5)


def test_a_missing_tensor_is_named() -> None:
    parts = tensors()
    del parts["encoder.layer.1.output.dense.bias"]
    with pytest.raises(KeyError, match=r"encoder\.layer\.1\.output\.dense\.bias"):
        weights_of(parts)
