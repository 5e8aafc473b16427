"""Meaning mixed into the conversation ranking: small vectors made by hand, so that every figure can be followed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from engramlog_server.projections.embedding.meaning import EmbeddedQuestion, JoinedPieces, Sense, Usual, Vectors
from engramlog_server.projections.laws.law import Floats
from engramlog_server.projections.memory.columns import Rows
from engramlog_server.projections.ranking.conversation import (
    MEANING,
    QuestionReading,
    Stage,
    legible,
    meaning_values,
    meant,
    nearness_of_withheld,
    only_meant,
    over_best,
    read_question,
)
from engramlog_server.projections.views.view import OwnerView
from tests.given.events import at, created
from tests.given.views import viewed
from tests.rows import each_row

QUERY = "violin"
TEXTS = ("violin strings", "a bow for the cello", "rain all day", "the cat sleeps")
EAST, NORTH, BETWEEN = (1.0, 0.0), (0.0, 1.0), (0.6, 0.8)


def vectors(*rows: Sequence[float]) -> Vectors:
    return np.array(rows, dtype=np.float32).reshape(-1, 2)


def view_of(*texts: str) -> OwnerView:
    return viewed(*(created(text, f"m{number}", number) for number, text in enumerate(texts)))


def heard_in(view: OwnerView, query: str = QUERY) -> tuple[QuestionReading, Floats]:
    """The question as heard, and the text of every row over the best, with a last 0."""
    reading = read_question(view, query, at(99), np.ones(len(view), dtype=bool))
    own = np.zeros(len(view) + 1)
    own[reading.matches.rows] = reading.matches.scores
    return reading, over_best(own)


def sense_of(
    wholes: Vectors,
    pieces: Sequence[Vectors] = (),
    words: tuple[str, ...] = (),
    known: Sequence[bool] | None = None,
    asked: Vectors | None = None,
    usual: Usual | None = None,
    model: str = "hand-made",
    towards: Vectors | None = None,
) -> Sense:
    """The question points east; without `words` its embedder gives wholes only."""
    flags = np.ones(len(wholes), dtype=bool) if known is None else np.array(known)
    whole = vectors(EAST)[0] if towards is None else towards
    question = EmbeddedQuestion(whole, vectors() if asked is None else asked, words, usual)
    held = list(pieces) or [vectors()] * len(wholes)

    def pieces_of(rows: Rows) -> JoinedPieces:
        return JoinedPieces.of([held[row] for row in rows.tolist()], wholes.shape[1])

    return Sense(model, question, wholes, flags, pieces_of, len(wholes))


ALL = np.arange(len(TEXTS))
ONE_NEAR = vectors(NORTH, EAST, NORTH, NORTH)


def test_what_shares_no_word_is_found_by_its_whole() -> None:
    view = view_of(*TEXTS)
    reading, own = heard_in(view)
    assert own.tolist() == [1, 0, 0, 0, 0]
    found = meant(view, QUERY, reading, own, ALL, sense_of(ONE_NEAR))
    share = MEANING.whole_share
    assert found.own.tolist() == pytest.approx([1, share / (1 - share), 0, 0, 0])
    assert found.text[1] == 0
    assert found.meaning[0] == 0


def test_text_and_meaning_add_up_to_the_relevance_and_the_best_has_1() -> None:
    view = view_of(*TEXTS)
    reading, own = heard_in(view)
    found = meant(view, QUERY, reading, own, ALL, sense_of(vectors(BETWEEN, EAST, NORTH, BETWEEN)))
    assert found.own == pytest.approx(found.text + found.meaning)
    assert found.own.max() == pytest.approx(1)
    assert found.own[-1] == 0
    stage = Stage(
        view.conversation, np.array([1, 3]), found.own, np.zeros(len(view)), False, np.ones(len(view), dtype=bool)
    )
    values = meaning_values(reading, stage, found)
    assert values["text"] + values["meaning"] == pytest.approx(found.own[[1, 3]])


def test_the_best_match_of_a_rare_word_counts_and_not_that_of_a_word_nobody_searches_by() -> None:
    view = view_of(*TEXTS)
    reading, own = heard_in(view, "the violin")
    asked, words = vectors(NORTH, EAST), ("the", "violin")
    pieces = [vectors(NORTH), vectors(NORTH, EAST), vectors(NORTH), vectors(NORTH)]
    found = meant(view, "the violin", reading, own, ALL, sense_of(ONE_NEAR, pieces, words, asked=asked))
    assert found.meaning[1] == pytest.approx(found.own.max())
    assert found.meaning[[0, 2, 3]].tolist() == [0, 0, 0]


@each_row(
    ("query", "words", "share"),
    [
        ("violin lessons", ("violin", "lessons"), 1.0), ("小提琴课", ("", "", "", ""), 0.0),
        ("violin 小提琴", ("violin", "", "", ""), 6 / 9), ("小提琴课", ("小", "提", "琴", "课"), 1.0),
        ("?!", ("", ""), 0.0), ("小提琴课", (), 1.0),
    ],
)  # fmt: skip
def test_how_much_of_a_question_can_be_read(query, words, share) -> None:
    asked = vectors(*[EAST] * len(words))
    assert legible(query, EmbeddedQuestion(vectors(EAST)[0], asked, words)) == pytest.approx(share)


COMMON = 0.9
"""The length of what all vectors share: cosines of unrelated texts are about its square, .81."""


def crowded(*rows: Sequence[float]) -> Vectors:
    """The same vectors, of length 1, in one corner of a space of one dimension more."""
    apart = vectors(*rows) * np.float32(np.sqrt(1 - COMMON**2))
    return np.column_stack([apart, np.full(len(apart), COMMON, np.float32)])


CENTRE = Usual(np.array([0, 0, COMMON], np.float32), 0.2)
CROWDED = crowded(NORTH, EAST, NORTH, NORTH)


def test_vectors_that_share_a_large_common_part_find_what_they_find_without_it() -> None:
    view = view_of(*TEXTS)
    reading, own = heard_in(view)
    plain = sense_of(ONE_NEAR)
    shared = sense_of(CROWDED, usual=CENTRE, towards=crowded(EAST)[0])
    for ask in (
        lambda sense: meant(view, QUERY, reading, own, ALL, sense),
        lambda sense: only_meant(view, reading, ALL, sense),
    ):
        np.testing.assert_allclose(ask(shared).own, ask(plain).own, atol=1e-5)
    found = only_meant(view, reading, ALL, shared).own
    assert found.tolist() == pytest.approx([0, 1, 0, 0, 0], abs=1e-5)


def test_a_withheld_row_lends_what_it_would_lend_without_the_common_part() -> None:
    reading, _ = heard_in(view_of(*TEXTS))
    shown, wanted = np.array([True, False, True, True]), np.array([False, True, False, False])
    crowd = sense_of(CROWDED, usual=CENTRE, towards=crowded(EAST)[0])
    plain = nearness_of_withheld(QUERY, reading, sense_of(ONE_NEAR), shown, wanted)
    shared = nearness_of_withheld(QUERY, reading, crowd, shown, wanted)
    assert shared.rows.tolist() == plain.rows.tolist() == [1]
    np.testing.assert_allclose(shared.values, plain.values, atol=1e-5)


TALK = ("violin strings", "a bow", "rain all day", "a cat")
"""Two speakers in turn."""


def talk_of(*texts: str) -> OwnerView:
    return viewed(
        *(
            replace(created(text, f"m{at}", at / 1440, who, speaker=who, source=who), extra={"session_id": "s"})
            for at, text in enumerate(texts)
            for who in [("user", "assistant")[at % 2]]
        )
    )


@each_row("model", MEANING.measured)
def test_a_model_of_whole_vectors_has_the_shares_that_were_measured_for_it(model: str) -> None:
    notes = view_of(*TEXTS)
    talk = talk_of(*TALK)
    shares = MEANING.measured[model]
    for view, share, turns in ((notes, shares.notes, False), (talk, shares.dialogue, True)):
        reading, own = heard_in(view)
        assert reading.dialogue is turns
        found = meant(view, QUERY, reading, own, ALL, sense_of(ONE_NEAR, model=model))
        ratio = share / (1 - share)
        assert found.own[1] / found.own[0] == pytest.approx(ratio)
