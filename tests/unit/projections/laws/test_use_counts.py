"""A use that went well keeps a memory alive under the weighted law as under the others, where the owner's parameter has it so."""

from __future__ import annotations

import pytest

from engramlog_server.events.parameters import DEFAULTS, Parameters
from engramlog_server.projections.laws.law import WEIGHTED
from engramlog_server.projections.memory.columns import Columns
from engramlog_server.projections.memory.record import Memory
from tests.given.events import (
    Told,
    at,
    created,
    folded,
    parameters,
    profile,
    reinforced,
)
from tests.given.views import found, viewed
from tests.rows import each_row

WEEKS = 44
LESSON = created("Let the kiln cool overnight before you open it", "lesson", 0, category="fact", kind="lesson")
PUBLISHED = Parameters(use_activates=False)


def used(outcome: str = "task_success", weeks: int = WEEKS) -> list[Told]:
    return [reinforced("lesson", 7 * week, outcome) for week in range(1, weeks + 1)]


def lesson(*told: Told) -> Memory:
    return folded(*told).memories["lesson"]


def weight(memory: Memory, day: float, how: Parameters = DEFAULTS) -> float:
    return WEIGHTED.read(memory, at(day), how).unclipped


WELL = ("task_success", "used", "manual_review")
COUNTED = [("weighted", outcome) for outcome in WELL] + [("ebbinghaus", outcome) for outcome in WELL]
COUNTED.append(("tiered", "used"))
"""What each law takes for a use; consolidating goes by revisions and accesses."""


@each_row(("law", "outcome"), COUNTED)
def test_a_lesson_used_each_week_is_found_as_fresh(law, outcome) -> None:
    view = viewed(profile(law), LESSON, *used(outcome))
    result = found(view, "how long must the kiln cool?", 7 * WEEKS + 1)["lesson"]
    assert "long_ago" not in result
    assert result["level"] == "full"


def test_under_the_published_setting_the_weight_is_what_it_was() -> None:
    day = 7 * WEEKS + 1
    assert weight(lesson(LESSON, *used()), day) == pytest.approx(1.1 / (1 + 0.01 * 1 / 1.1))
    assert weight(lesson(LESSON, *used()), day, PUBLISHED) == pytest.approx(1.1 / (1 + 0.01 * day / 1.1))
    strict = viewed(parameters(use_activates=False), LESSON, *used())
    assert found(strict, "how long must the kiln cool?", day + 60, include_faded=False) == {}


@each_row("day", [0, 1, 60, 7 * WEEKS, 7 * WEEKS + 40, 7 * WEEKS + 400])
@each_row("how", [DEFAULTS, PUBLISHED], ids=["default", "published"])
def test_one_memory_and_a_column_are_read_alike(day, how) -> None:
    memory, columns = lesson(LESSON, *used()), Columns()
    columns.put(memory)
    assert WEIGHTED.weights(columns, at(day), how)[0] == pytest.approx(weight(memory, day, how), rel=1e-12)
