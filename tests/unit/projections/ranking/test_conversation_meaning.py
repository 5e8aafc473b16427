"""Meaning mixed into the conversation ranking: small vectors made by hand, so that every figure can be followed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from projections.embedding.meaning import EmbeddedQuestion, JoinedPieces, Sense, Usual, Vectors
from projections.laws.law import Floats
from projections.memory.columns import Rows
from projections.ranking.conversation_meaning import (
    SETTINGS,
    legible,
    meaning_values,
    meant,
    nearness_of_withheld,
    only_meant,
)
from projections.ranking.conversation_question import QuestionReading, read_question
from projections.ranking.conversation_terms import Stage, over_best
from projections.ranking.rankings import cosines
from projections.views.view import OwnerView
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
    share = SETTINGS.whole_share
    assert found.own.tolist() == pytest.approx([1, share / (1 - share), 0, 0, 0])
    assert found.text[1] == 0
    assert found.meaning[0] == 0


def test_meaning_counts_more_if_the_texts_lack_the_words_of_the_question() -> None:
    view, shares = view_of(*TEXTS), []
    for query in ("violin", "violin lessons", "lessons for beginners"):
        reading, own = heard_in(view, query)
        found = meant(view, query, reading, own, ALL, sense_of(ONE_NEAR))
        shares.append(float(found.meaning[1] / max(found.text[0] + found.meaning[1], 1e-9)))
    assert shares == sorted(shares)
    assert (shares[0], shares[2]) == (pytest.approx(SETTINGS.whole_share), 1)


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


def test_a_row_without_vectors_is_guessed_at_by_its_text_and_lowers_the_share() -> None:
    view = view_of(*TEXTS)
    reading, own = heard_in(view)
    half = sense_of(ONE_NEAR, known=[False, True, True, False])
    found = meant(view, QUERY, reading, own, ALL, half)
    share = SETTINGS.whole_share / 4
    assert found.own.tolist() == pytest.approx([1, share / (1 - share + SETTINGS.guessed * share), 0, 0, 0])


def test_rows_that_came_after_the_vectors_were_read_have_none() -> None:
    view = view_of(*TEXTS)
    reading, own = heard_in(view)
    found = meant(view, QUERY, reading, own, ALL, sense_of(ONE_NEAR[:2]))
    share = SETTINGS.whole_share / 4
    assert found.own.tolist() == pytest.approx([1, share / (1 - share), 0, 0, 0])


def test_without_any_vector_the_ranking_is_that_by_text() -> None:
    view = view_of(*TEXTS)
    reading, own = heard_in(view)
    found = meant(view, QUERY, reading, own, ALL, sense_of(ONE_NEAR, known=[False] * 4))
    assert found.own.tolist() == own.tolist()
    assert not found.meaning.any()


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


def test_a_question_the_embedder_cannot_read_is_answered_by_text_alone() -> None:
    view = view_of("小提琴课在周二", "雨下了一天", "猫在睡觉", "晚饭很好")
    reading, own = heard_in(view, "小提琴课")
    blind = sense_of(ONE_NEAR, [vectors(EAST)] * 4, ("", "", "", ""), asked=vectors(EAST, EAST, EAST, EAST))
    assert meant(view, "小提琴课", reading, own, ALL, blind).own.tolist() == own.tolist()


def test_a_single_memory_is_found_by_meaning() -> None:
    view = view_of("a bow for the cello")
    reading, own = heard_in(view)
    assert meant(view, QUERY, reading, own, np.arange(1), sense_of(vectors(EAST))).own.tolist() == [1, 0]


def test_the_best_counts_little_beside_text_where_even_it_hardly_stands_out() -> None:
    view = view_of(*TEXTS[:2])
    reading, own = heard_in(view)
    found = meant(view, QUERY, reading, own, np.arange(2), sense_of(vectors(NORTH, (0.05, 0.99875))))
    # Cosines 0, 0.05 and four strangers: mean 0.00833, deviation 0.01863, so a rise of 0.03235, less than 0.1.
    assert found.own[1] == pytest.approx(0.4 * 0.3235 / 0.6, abs=1e-3)


def test_what_is_not_shown_has_no_part_in_it() -> None:
    view = view_of(*TEXTS)
    reading, own = heard_in(view)
    found = meant(view, QUERY, reading, own, np.array([0, 2, 3]), sense_of(ONE_NEAR))
    assert found.own.tolist() == [1, 0, 0, 0, 0]


def test_by_meaning_alone_text_counts_nothing_and_rows_without_vectors_are_not_found() -> None:
    view = view_of(*TEXTS)
    reading, _ = heard_in(view)
    found = only_meant(view, reading, ALL, sense_of(vectors(EAST, EAST, NORTH, NORTH), known=[False, True, True, True]))
    assert found.own.tolist() == [0, 1, 0, 0, 0]
    assert not found.text.any()


def test_a_view_without_shown_memories_gives_nothing() -> None:
    view = view_of(*TEXTS)
    reading, own = heard_in(view)
    nobody = np.zeros(0, dtype=np.int64)
    assert not meant(view, QUERY, reading, np.zeros_like(own), nobody, sense_of(ONE_NEAR)).own.any()
    assert not only_meant(view, reading, nobody, sense_of(ONE_NEAR)).own.any()


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


def test_of_an_owner_of_one_memory_with_a_common_part_what_is_near_is_found_and_what_is_not_is_not() -> None:
    view = view_of("a bow for the cello")
    reading, _ = heard_in(view)
    for whole, near in ((EAST, 1.0), (NORTH, 0.0)):
        sense = sense_of(crowded(whole), usual=CENTRE, towards=crowded(EAST)[0])
        assert only_meant(view, reading, np.arange(1), sense).own[0] == pytest.approx(near, abs=1e-5)


def test_how_far_unrelated_texts_differ_decides_what_it_is_to_stand_out() -> None:
    view = view_of(*TEXTS[:2])
    reading, own = heard_in(view)
    hardly = vectors(NORTH, (0.05, 0.99875))
    near = []
    for spread in (0.05, 0.1, 0.4):
        usual = Usual(np.zeros(2, np.float32), spread)
        near.append(float(meant(view, QUERY, reading, own, np.arange(2), sense_of(hardly, usual=usual)).own[1]))
    # A rise of 0.03235 (above): more than half of 0.05, so it counts fully; then 0.647 and 0.16175 of it.
    assert near == pytest.approx([0.4 / 0.6, 0.647 * 0.4 / 0.6, 0.16175 * 0.4 / 0.6], abs=1e-3)


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


@each_row("model", SETTINGS.measured)
def test_a_model_of_whole_vectors_has_the_shares_that_were_measured_for_it(model: str) -> None:
    notes = view_of(*TEXTS)
    talk = talk_of(*TALK)
    shares = SETTINGS.measured[model]
    for view, share, turns in ((notes, shares.notes, False), (talk, shares.dialogue, True)):
        reading, own = heard_in(view)
        assert reading.dialogue is turns
        found = meant(view, QUERY, reading, own, ALL, sense_of(ONE_NEAR, model=model))
        ratio = share / (1 - share)
        assert found.own[1] / found.own[0] == pytest.approx(ratio)


def test_the_published_ranking_reads_cosines_without_the_common_part_and_none_of_rows_without_vectors() -> None:
    crowd = crowded(NORTH, EAST, (-1.0, 0.0), EAST)
    crowd[3] = 0
    sense = sense_of(crowd, usual=CENTRE, towards=crowded(EAST)[0], known=[True, True, True, False])
    assert cosines(sense, np.array([1, 0, 2, 3])).tolist() == pytest.approx([1, 0, 0, 0], abs=1e-5)
    assert cosines(None, ALL).tolist() == [0, 0, 0, 0]


def test_a_model_that_tells_nothing_apart_brings_nothing_near() -> None:
    view = view_of(*TEXTS)
    reading, own = heard_in(view)
    same = sense_of(vectors(EAST, EAST, EAST, EAST), usual=Usual(vectors(EAST)[0], 0.0))
    found = meant(view, QUERY, reading, own, ALL, same)
    assert found.meaning.tolist() == [0, 0, 0, 0, 0]
    assert np.isfinite(found.own).all()


CENTRED = Usual(vectors(NORTH)[0] * np.float32(0.5), 0.1)


@each_row("usual", [None, CENTRED])
def test_the_cosines_of_some_rows_are_those_of_all_whoever_asked_before(usual: Usual | None) -> None:
    wholes = vectors(NORTH, EAST, NORTH, EAST)
    alone = {row: sense_of(wholes, usual=usual).cosines(np.array([row]))[0] for row in range(4)}
    sense = sense_of(wholes, usual=usual)
    for rows in ([3], [0, 2], [2, 1, 0], []):
        assert sense.cosines(np.array(rows, dtype=np.int64)).tolist() == [alone[row] for row in rows]
