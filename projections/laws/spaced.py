"""Spaced repetition: when a memory is due for review (seed 000, section 4.1; seed 004, section 2.2).

Before its first grade a memory's accesses say when it is due; from then on the grading scheduler alone does. Every
grade is folded under both schedulers, SM-2 and FSRS, so that an owner may switch and read the same history. SM-2 here
changes the ease at every grade, failures too, and multiplies by the changed ease; its intervals are days with fractions.
FSRS is the `fsrs` package at its published parameters, unfuzzed and without learning steps: it counts whole days.
"""

from __future__ import annotations

from datetime import timedelta
from functools import cache
from typing import TYPE_CHECKING, TypeVar

from engramlog_server.events.envelope import EPOCH
from engramlog_server.events.parameters import Parameters
from engramlog_server.projections.laws.law import Floats
from engramlog_server.projections.memory.record import DAY, Memory, ReviewSchedule

if TYPE_CHECKING:
    from fsrs import Scheduler

FIRST_EASE = 2.5
LEAST_EASE = 1.3
PASSED = 3
"""Least grade of a review that succeeded."""
MOST_DAYS = 36_500
_Number = TypeVar("_Number", float, Floats)
OUTCOME_GRADES = {"task_success": 5, "task_failure": 2}
"""Grades that the outcomes of `MemoryReinforced` stand for; the others grade nothing."""


def graded(schedule: ReviewSchedule | None, grade: int, at: int) -> ReviewSchedule:
    """The schedule after a grade from 0 (forgotten) to 5 (at once), given `at` microseconds since 1970.

    A grade that arrives late (`at` before `graded_at`) counts as given at `graded_at`, which never moves back.
    """
    since = at if schedule is None else max(at, schedule.graded_at)
    ease, interval, repetitions = _sm2(schedule, grade)
    stability, difficulty, fsrs_interval = _fsrs(schedule, grade, since)
    return ReviewSchedule(since, grade, ease, interval, repetitions, stability, difficulty, fsrs_interval)


def interval_days(memory: Memory, parameters: Parameters) -> float:
    """Days in (0, 36500] from the last access, or from the last grade once there is one, to the next review."""
    schedule = memory.schedule
    if schedule is not None:
        return schedule.fsrs_interval if parameters.scheduler == "fsrs" else schedule.interval
    if memory.access_count == 0:
        return 1.0
    return float(min(2 ** min(memory.access_count, 7), parameters.review_most_days))


def review_due_at(memory: Memory, parameters: Parameters) -> int:
    """When the next review is due, microseconds since 1970.

    Counted from the last grade; before any, from the last access; before any, from `updated_at`.
    """
    if memory.schedule is not None:
        since = memory.schedule.graded_at
    else:
        since = memory.updated_at if memory.last_accessed_at is None else memory.last_accessed_at
    return since + round(interval_days(memory, parameters) * DAY)


def review_importance(confidence: _Number, consolidation: _Number, emotion: _Number, parameters: Parameters) -> _Number:
    """How much a review matters, in [0, 1] at the default shares; confidence and consolidation in [0, 1], emotion in [-1, 1]."""
    return (
        parameters.review_confidence_share * confidence
        + parameters.review_consolidation_share * consolidation
        + parameters.review_emotion_share * abs(emotion)
    )


def _sm2(schedule: ReviewSchedule | None, grade: int) -> tuple[float, float, int]:
    """Ease, interval in days and repetitions after a grade: 1 day, 6 days, then the last interval times the new ease."""
    ease, interval, repetitions = (
        (FIRST_EASE, 0.0, 0) if schedule is None else (schedule.ease, schedule.interval, schedule.repetitions)
    )
    missing = 5 - grade
    ease = max(round(ease + 0.1 - missing * (0.08 + missing * 0.02), 6), LEAST_EASE)
    if grade < PASSED:
        return ease, 1.0, 0
    if repetitions == 0:
        return ease, 1.0, 1
    if repetitions == 1:
        return ease, 6.0, 2
    return ease, min(round(interval * ease, 6), float(MOST_DAYS)), repetitions + 1


def _fsrs(schedule: ReviewSchedule | None, grade: int, at: int) -> tuple[float, float, float]:
    """FSRS stability in days, difficulty in [1, 10] and interval in whole days after a grade.

    Grades 0 to 2 are the package's Again, 3 Hard, 4 Good, 5 Easy. Rounded, as they come from exp and pow.
    """
    from fsrs import Card, Rating, State  # noqa: PLC0415 - most commands and most histories have no grade

    # Only the time between two grades counts, so the last one stands at the epoch; an id and a due date must be
    # given, or the package reads the clock.
    if schedule is None:
        card, moment = Card(card_id=1, due=EPOCH), EPOCH
    else:
        card = Card(
            card_id=1,
            state=State.Review,
            stability=schedule.stability,
            difficulty=schedule.difficulty,
            due=EPOCH,
            last_review=EPOCH,
        )
        moment = EPOCH + timedelta(microseconds=at - schedule.graded_at)
    after, _ = _scheduler().review_card(card, Rating(max(grade - 1, 1)), moment)
    assert after.stability is not None
    assert after.difficulty is not None
    return round(after.stability, 6), round(after.difficulty, 6), float((after.due - moment).days)


@cache
def _scheduler() -> Scheduler:
    from fsrs import Scheduler  # noqa: PLC0415 - as above

    return Scheduler(learning_steps=(), relearning_steps=(), maximum_interval=MOST_DAYS, enable_fuzzing=False)
