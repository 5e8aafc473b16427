"""A use that went well keeps a memory alive under the weighted law as under the others, where the owner's parameter has it so."""

from __future__ import annotations

import pytest

from events.parameters import DEFAULTS, Parameters
from projections.laws.modes import effective_levels
from projections.laws.weighted import LAW
from projections.lifecycle.sweep import sweep
from projections.memory.columns import Columns
from projections.memory.record import Memory
from tests.given.events import (
    Told,
    accessed,
    at,
    created,
    deleted,
    folded,
    mentioned,
    merged,
    parameters,
    profile,
    reinforced,
    restored,
    revised,
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
    return LAW.read(memory, at(day), how).unclipped


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


def test_a_failure_and_a_mere_showing_activate_nothing() -> None:
    for told in (reinforced("lesson", 100, "task_failure"), accessed("lesson", day=100)):
        assert lesson(LESSON, told).used_at is None
        assert weight(lesson(LESSON, told), 200) == weight(lesson(LESSON), 200)


def test_the_newest_use_counts_and_one_that_is_told_late_moves_nothing_back() -> None:
    told = lesson(LESSON, reinforced("lesson", 50, "used"), reinforced("lesson", 20, "task_success"))
    assert told.used_at == at(50)
    assert told.last_activated_at == at(0)


def test_a_mention_after_the_last_use_counts_as_before() -> None:
    both = lesson(LESSON, reinforced("lesson", 50, "used"), mentioned("lesson", 60))
    assert weight(both, 90) == weight(lesson(LESSON, mentioned("lesson", 60)), 90)


def test_a_merge_keeps_the_newest_use_of_its_sources() -> None:
    other = created("Open the kiln in the morning", "other", 1, category="fact", kind="lesson")
    story = (LESSON, other, reinforced("lesson", 40, "used"), merged("lesson", "other", into="both", day=50))
    assert folded(*story).memories["both"].used_at == at(40)


def test_neither_a_revision_nor_a_deletion_undone_forgets_the_use() -> None:
    told = lesson(
        LESSON,
        reinforced("lesson", 40, "used"),
        revised("Let the kiln cool for a night", "lesson", 41),
        deleted("lesson", 42),
        restored("lesson", 43),
    )
    assert told.used_at == at(40)


@each_row("day", [0, 1, 60, 7 * WEEKS, 7 * WEEKS + 40, 7 * WEEKS + 400])
@each_row("how", [DEFAULTS, PUBLISHED], ids=["default", "published"])
def test_one_memory_and_a_column_are_read_alike(day, how) -> None:
    memory, columns = lesson(LESSON, *used()), Columns()
    columns.put(memory)
    assert LAW.weights(columns, at(day), how)[0] == pytest.approx(weight(memory, day, how), rel=1e-12)


def test_levels_are_idle_since_the_last_use_and_sweeps_see_it_so() -> None:
    columns = Columns()
    columns.put(lesson(LESSON, *used()))
    now, levels = at(7 * WEEKS + 31), []
    for how in (DEFAULTS, PUBLISHED):
        levels.append(int(effective_levels(columns, LAW, LAW.weights(columns, now, how), now, how)[0]))
    assert levels == [1, 3]


def test_a_sweep_compresses_what_was_used_only_once_it_is_idle_since() -> None:
    due = {}
    for how in (True, False):
        view = viewed(parameters(use_activates=how), LESSON, *used(weeks=10))
        due[how] = [one.due_at for one in sweep(view, at(7 * 10 + 31))]
    assert due == {True: [at(70 + 30)], False: [at(30)]}
