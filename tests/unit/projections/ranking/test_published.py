"""The published search formula (seed 001), worked by hand, and what bounds its parts."""

from __future__ import annotations

from math import log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from events.parameters import DEFAULTS, Parameters
from projections.choices import SEARCH_MODES
from projections.memory.columns import Columns, Rows
from projections.ranking.published import Matched, hit, interaction, kind_priority, relevance_parts, score_parts, youth
from projections.ranking.ranked import added
from tests.examples import examples
from tests.given.events import Told, accessed, at, created, folded
from tests.rows import each_row

SHARES = st.floats(0, 1)


def columns_of(*events: Told) -> Columns:
    """The columns of a history."""
    columns = Columns()
    columns.put_all(folded(*events).memories.values())
    return columns


def every(columns: Columns) -> Rows:
    """All rows."""
    return np.arange(len(columns), dtype=np.int64)


def one(k: float, text: float, cosine: float) -> Matched:
    """A single row's matches."""
    return Matched(np.array([k]), np.array([text]), np.array([cosine]))


@each_row(
    ("mode", "k", "text", "cosine", "time", "relevance"),
    [
        ("hybrid", 1.0, 1.0, 0.0, 1.0, 1.0), ("hybrid", 0.5, 0.4, 0.9, 0.75, 0.4 * 0.5 + 0.4 * 0.9 + 0.2 * 0.75),
        ("hybrid", 0.5, 0.9, 0.4, 0.75, 0.4 * 0.5 + 0.4 * 0.9 + 0.2 * 0.75),
        ("hybrid", 0.0, 0.0, 0.3, 0.5, 0.4 * 0.3 + 0.2 * 0.5), ("keyword", 0.8, 0.9, 0.9, 1.0, (0.4 * 0.8 + 0.2) / 0.6),
        ("keyword", 0.0, 0.9, 0.0, 0.5, 0.1 / 0.6), ("semantic", 1.0, 1.0, 0.6, 0.5, (0.4 * 0.6 + 0.1) / 0.6),
    ],
)  # fmt: skip
def test_relevance_as_worked_by_hand(mode, k, text, cosine, time, relevance) -> None:
    parts = relevance_parts(one(k, text, cosine), np.array([time]), mode, DEFAULTS)
    assert added(parts, 1)[0] == pytest.approx(relevance, abs=1e-12)


def test_in_hybrid_the_nearer_of_text_and_meaning_counts_and_is_the_one_told() -> None:
    told = relevance_parts(one(0, 0.2, 0.7), np.array([1.0]), "hybrid", DEFAULTS)
    assert (told["text"][0], told["meaning"][0]) == (0, pytest.approx(0.28))
    told = relevance_parts(one(0, 0.7, 0.2), np.array([1.0]), "hybrid", DEFAULTS)
    assert (told["text"][0], told["meaning"][0]) == (pytest.approx(0.28), 0)


@given(SHARES, SHARES, SHARES, SHARES, st.sampled_from(SEARCH_MODES))
def test_relevance_lies_in_0_to_1(k, text, cosine, time, mode) -> None:
    relevance = added(relevance_parts(one(k, text, cosine), np.array([time]), mode, DEFAULTS), 1)[0]
    assert -1e-12 <= relevance <= 1 + 1e-12


def test_a_hit_needs_keyword_text_or_meaning() -> None:
    matched = Matched(np.array([0, 0.1, 0, 0]), np.array([0, 0, 0.1, 0]), np.array([0, 0, 0, 0.1]))
    assert hit(matched).tolist() == [False, True, True, True]


@each_row(("day", "expected"), [(0, 1.0), (30, 0.75), (60, 0.625), (365, 0.5 + 0.5 * 0.5 ** (365 / 30))])
def test_youth_halves_towards_one_half_every_thirty_days(day, expected) -> None:
    columns = columns_of(created())
    assert youth(columns, every(columns), at(day), DEFAULTS)[0] == pytest.approx(expected, abs=1e-12)


def test_what_is_dated_after_the_question_counts_as_made_now() -> None:
    columns = columns_of(created(day=5))
    assert youth(columns, every(columns), at(1), DEFAULTS).tolist() == [1.0]


def test_youth_halves_as_fast_as_the_owner_says() -> None:
    columns = columns_of(created())
    assert youth(columns, every(columns), at(10), Parameters(search_time_days=10.0))[0] == pytest.approx(0.75)


@each_row(
    ("accesses", "since", "expected"),
    [
        (0, 3, 0.0), (1, 0, 0.5 * log(2) / log(100) + 0.5), (1, 30, 0.5 * log(2) / log(100) + 0.25), (9, 60, 0.25 + 0.125),
        (99, 0, 1.0), (500, 0, 1.0),
    ],
)  # fmt: skip
def test_interaction_as_worked_by_hand(accesses, since, expected) -> None:
    columns = columns_of(created(), *([accessed("m", day=1, count=accesses)] if accesses else []))
    assert interaction(columns, every(columns), at(1 + since), DEFAULTS)[0] == pytest.approx(expected, abs=1e-9)


def test_kinds_have_their_priorities() -> None:
    kinds = ("user_preference", "command_output", "note")
    columns = columns_of(*(created(of=kind, kind=kind) for kind in kinds))
    assert kind_priority(columns, every(columns)).tolist() == [1.0, 0.6, 0.3]


def test_the_score_is_seven_tenths_relevance_two_interaction_and_one_kind() -> None:
    columns = columns_of(created(kind="user_preference"), accessed("m", count=9))
    relevance = {"keyword": np.array([0.4]), "text": np.array([0.2]), "time": np.array([0.2])}
    told = score_parts(columns, every(columns), relevance, at(0), DEFAULTS)
    assert {name: pytest.approx(part[0]) for name, part in told.items()} == {
        "keyword": 0.28,
        "text": 0.14,
        "time": 0.14,
        "interaction": 0.2 * (0.25 + 0.5),
        "kind": 0.1,
    }


@settings(max_examples=examples(40))
@given(st.integers(1, 2_000), st.floats(0, 4_000), st.sampled_from(["user_preference", "command_output", "x"]))
def test_a_score_never_exceeds_one(accesses, day, kind) -> None:
    columns = columns_of(created(kind=kind), accessed("m", count=accesses))
    ones = {"keyword": np.array([0.4]), "text": np.array([0.4]), "time": np.array([0.2])}
    told = added(score_parts(columns, every(columns), ones, at(day), DEFAULTS), 1)[0]
    assert 0 <= told <= 1 + 1e-12


def test_shares_of_nothing_make_nothing_relevant() -> None:
    parameters = Parameters(search_keyword_share=0.0, search_text_share=0.0, search_time_share=0.0)
    for mode in SEARCH_MODES:
        assert added(relevance_parts(one(1, 1, 1), np.array([1.0]), mode, parameters), 1).tolist() == [0.0]
