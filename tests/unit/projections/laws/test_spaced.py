"""Spaced repetition: SM-2 worked out by hand, FSRS as its package has it, and when a review is due."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise

import fsrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramlog_server.events.envelope import EPOCH, from_micros
from engramlog_server.events.parameters import DEFAULTS
from engramlog_server.projections.laws.spaced import graded, interval_days, review_due_at, review_importance
from engramlog_server.projections.memory.record import Memory, ReviewSchedule, with_changes
from tests.given.events import at, created, folded
from tests.rows import each_row

FSRS = replace(DEFAULTS, scheduler="fsrs")
Review = tuple[int, float]
"""A grade, and the day on which it was given."""

reviews = st.lists(st.tuples(st.integers(0, 5), st.floats(0, 40_000)), min_size=1, max_size=20)


def schedules(told: Iterable[Review]) -> list[ReviewSchedule]:
    """The schedule after each review."""
    found: list[ReviewSchedule] = []
    for grade, day in told:
        found.append(graded(found[-1] if found else None, grade, at(day)))
    return found


def daily(*grades: int) -> list[ReviewSchedule]:
    return schedules((grade, day) for day, grade in enumerate(grades))


def memory(**changes: object) -> Memory:
    return with_changes(folded(created()).memories["m"], **changes)


@each_row(
    ("case", "grades", "eases", "intervals", "repetitions"),
    [
        ("at once, every time", (5, 5, 5, 5), (2.6, 2.7, 2.8, 2.9), (1, 6, 16.8, 48.72), (1, 2, 3, 4)),
        ("a 4 leaves the ease", (4, 4, 4, 4), (2.5, 2.5, 2.5, 2.5), (1, 6, 15, 37.5), (1, 2, 3, 4)),
        ("a 3 lowers it", (3, 3, 3, 3), (2.36, 2.22, 2.08, 1.94), (1, 6, 12.48, 24.2112), (1, 2, 3, 4)),
        (
            "a failure begins anew, and its mark on the ease stays", (4, 3, 2, 5, 5, 5),
            (2.5, 2.36, 2.04, 2.14, 2.24, 2.34), (1, 6, 1, 1, 6, 14.04), (1, 2, 0, 1, 2, 3),
        ),
        (
            "the ease has a floor", (0, 0, 0, 3, 3, 3), (1.7, 1.3, 1.3, 1.3, 1.3, 1.3), (1, 1, 1, 1, 6, 7.8),
            (0, 0, 0, 1, 2, 3),
        ),
        ("a 1 and a 2 from the start", (1, 2), (1.96, 1.64), (1, 1), (0, 0)),
    ],
)  # fmt: skip
def test_sm2_follows_its_table(
    case: str,
    grades: tuple[int, ...],
    eases: tuple[float, ...],
    intervals: tuple[float, ...],
    repetitions: tuple[int, ...],
) -> None:
    found = daily(*grades)
    assert [(one.grade, one.ease, one.interval, one.repetitions) for one in found] == list(
        zip(grades, eases, intervals, repetitions, strict=True)
    )


@each_row(
    ("grade", "stability", "days"),
    [(0, 0.212, 1), (1, 0.212, 1), (2, 0.212, 1), (3, 1.2931, 1), (4, 2.3065, 2), (5, 8.2956, 8)],
)
def test_a_first_grade_gives_the_published_stability_of_fsrs(grade: int, stability: float, days: float) -> None:
    found = graded(None, grade, at(0))
    assert (found.stability, found.fsrs_interval) == (stability, days)


RATINGS = dict(enumerate([fsrs.Rating.Again] * 3 + [fsrs.Rating.Hard, fsrs.Rating.Good, fsrs.Rating.Easy]))


@each_row(
    "told",
    [
        pytest.param([(4, 0), (4, 2), (5, 13), (3, 60), (4, 100.5)], id="reviewed when due"),
        pytest.param([(4, 0), (4, 0.2), (5, 0.9), (2, 0.95), (4, 1.9499), (4, 1.96)], id="several times a day"),
        pytest.param([(0, 0), (2, 1), (1, 9), (5, 40), (0, 400), (4, 401)], id="forgotten time and again"),
    ],
)
def test_fsrs_is_the_package_s_own_scheduler(told: list[Review]) -> None:
    scheduler = fsrs.Scheduler(learning_steps=(), relearning_steps=(), enable_fuzzing=False)
    card = fsrs.Card(card_id=7, due=EPOCH)
    for (grade, day), found in zip(told, schedules(told), strict=True):
        card, _ = scheduler.review_card(card, RATINGS[grade], from_micros(at(day)))
        assert (found.stability, found.difficulty) == pytest.approx((card.stability, card.difficulty), rel=1e-5)
        assert from_micros(found.graded_at) + timedelta(days=found.fsrs_interval) == card.due


def test_a_late_grade_counts_as_given_at_the_newest_and_moves_no_time_back() -> None:
    before = schedules([(4, 0), (4, 10)])[-1]
    late = graded(before, 2, at(3))
    assert late == graded(before, 2, at(10))
    assert (late.graded_at, late.grade, late.repetitions) == (at(10), 2, 0)


@given(reviews)
def test_every_grade_leaves_the_schedule_within_its_bounds(told: list[Review]) -> None:
    for one in schedules(told):
        assert one.ease >= 1.3
        assert 0 < one.interval <= 36_500
        assert 1 <= one.fsrs_interval <= 36_500
        assert one.fsrs_interval == int(one.fsrs_interval)
        assert one.stability > 0
        assert 1 <= one.difficulty <= 10


@given(
    st.floats(1.3, 5),
    st.floats(1, 36_500),
    st.integers(0, 20),
    st.floats(0.001, 1e6),
    st.floats(1, 10),
    st.floats(0, 9_999),
)
def test_a_better_grade_is_never_due_earlier(
    ease: float, interval: float, repetitions: int, stability: float, difficulty: float, elapsed: float
) -> None:
    before = ReviewSchedule(at(0), 4, ease, interval, repetitions, stability, difficulty, 1.0)
    for worse, better in pairwise(graded(before, grade, at(elapsed)) for grade in range(6)):
        assert worse.ease <= better.ease
        assert worse.interval <= better.interval
        assert worse.fsrs_interval <= better.fsrs_interval


@each_row(
    ("accesses", "days"),
    [(0, 1), (1, 2), (2, 4), (3, 8), (4, 16), (5, 32), (6, 64), (7, 90), (8, 90), (1_000_000, 90)],
)
def test_before_a_first_grade_the_accesses_double_the_interval(accesses: int, days: float) -> None:
    assert interval_days(memory(access_count=accesses), DEFAULTS) == days


@each_row(
    ("case", "changes", "due"),
    [
        ("never accessed: from the last change", {"updated_at": at(3)}, at(4)),
        ("accessed: from there", {"updated_at": at(3), "last_accessed_at": at(2), "access_count": 3}, at(10)),
        (
            "graded: from the grade, whatever the accesses",
            {"schedule": daily(4, 4)[-1], "last_accessed_at": at(9)},
            at(7),
        ),
        ("a part of a day counts", {"schedule": daily(5, 5, 5)[-1]}, at(18.8)),
    ],
)
def test_a_review_is_due_an_interval_after_the_last_look(case: str, changes: dict[str, object], due: int) -> None:
    assert review_due_at(memory(**changes), DEFAULTS) == due


@each_row(
    ("confidence", "consolidation", "emotion", "importance"),
    [
        (0.6, 0.3, 0.0, 0.33), (0.6, 0.51, 0.5, 0.543), (0.6, 0.51, -0.5, 0.543), (1.0, 1.0, -1.0, 1.0),
        (0.0, 0.0, 0.0, 0.0),
    ],
)  # fmt: skip
def test_importance_joins_confidence_consolidation_and_the_strength_of_the_emotion(
    confidence: float, consolidation: float, emotion: float, importance: float
) -> None:
    assert review_importance(confidence, consolidation, emotion, DEFAULTS) == pytest.approx(importance, rel=1e-12)
