"""What is usual of a model's vectors: what all have in common, and how far unrelated texts differ."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramlog_server.projections.embedding.embedder import usual_of
from engramlog_server.projections.embedding.meaning import (
    EmbeddedQuestion,
    JoinedPieces,
    Sense,
    Usual,
    Vectors,
    messages,
)

SIZE = 64


def unrelated(common: float, seed: int = 1, count: int = len(messages("plain"))) -> Vectors:
    """Vectors of length 1 at chance, of which a part of length `common` is the same in all."""
    apart = np.random.default_rng(seed).standard_normal((count, SIZE))
    apart[:, 0] = 0
    apart /= np.linalg.norm(apart, axis=1, keepdims=True)
    apart *= np.sqrt(1 - common**2)
    apart[:, 0] = common
    return apart.astype(np.float32)


def sense_of(asked: Vectors, wholes: Vectors, usual: Usual | None) -> Sense:
    nothing = np.zeros((0, SIZE), np.float32)
    question = EmbeddedQuestion(asked, nothing, (), usual)
    return Sense("m", question, wholes, np.ones(len(wholes), bool), lambda rows: JoinedPieces.of([], SIZE), len(wholes))


def test_a_large_common_part_is_the_centre_and_the_spread_is_that_of_what_remains() -> None:
    usual = usual_of(unrelated(0.9))
    assert usual.centre[0] == pytest.approx(0.9, abs=1e-6)
    assert usual.spread == pytest.approx(usual_of(unrelated(0.0)).spread, rel=0.2)


def test_without_a_centre_cosines_are_those_of_the_vectors_themselves() -> None:
    wholes, asked = unrelated(0.0, 2, 5), unrelated(0.0, 3, 1)[0]
    for usual in (None, Usual(np.zeros(SIZE, np.float32), 0.1)):
        found = sense_of(asked, wholes, usual).cosines(np.array([4, 0]))
        np.testing.assert_array_equal(found, (wholes @ asked)[[4, 0]].astype(np.float64))


def test_what_questions_have_in_common_is_taken_from_a_question() -> None:
    wholes, asked, questions = unrelated(0.0, 2, 5), unrelated(0.0, 3, 1)[0], unrelated(0.0, 4, 1)[0]
    found = sense_of(asked, wholes, Usual(np.zeros(SIZE, np.float32), 0.1, questions)).cosines(np.arange(5))
    np.testing.assert_allclose(found, wholes @ asked - wholes @ questions, atol=1e-6)


@given(common=st.floats(0.7, 0.95), seed=st.integers(0, 1_000))
def test_cosines_are_those_between_the_differences_from_the_centre(common: float, seed: int) -> None:
    usual = usual_of(unrelated(common))
    wholes, asked = unrelated(common, seed, 9), unrelated(common, seed + 1, 1)[0]
    apart, towards = wholes - usual.centre, asked - usual.centre
    plain = apart @ towards / np.linalg.norm(apart, axis=1) / np.linalg.norm(towards)
    found = sense_of(asked, wholes, usual).cosines(np.arange(9))
    np.testing.assert_allclose(found, plain, atol=2e-5)
    assert (np.abs(found) <= 1).all()
