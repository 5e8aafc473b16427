"""The laws side by side: what each is, its thresholds, and the levels that modes read from it (memory.md, sections 6, 7, 9)."""

from __future__ import annotations

from dataclasses import replace

from engramlog_server.events.parameters import DEFAULTS, Parameters, problem_with, schema_of
from engramlog_server.projections.laws import LAWS, WEIGHTED
from engramlog_server.projections.laws.modes import Mode, due_levels, lasting, visibility
from engramlog_server.projections.memory.columns import Columns
from engramlog_server.projections.memory.record import ARCHIVE, FULL, SUMMARY, TAG, TRACE
from tests.given.events import (
    Told,
    accessed,
    at,
    created,
    folded,
    mentioned,
    parameters,
    reinforced,
)
from tests.rows import each_row

H = 1 / 24
"""An hour in days."""


def columns_of(*events: Told, base: Parameters = DEFAULTS) -> Columns:
    columns = Columns()
    columns.put_all(folded(*events, base=base).memories.values())
    return columns


def picked_up(**data: object) -> Told:
    """A memory that begins with a stability of 24 h."""
    return created(actor="judge", **data)


def level(name: str, columns: Columns, day: float, asked: Parameters = DEFAULTS, row: int = 0) -> int:
    law, now = LAWS[name], at(day)
    return int(due_levels(columns, law, law.weights(columns, now, asked), now, asked)[row])


# --- what a law is -------------------------------------------------------------------------------------------------


@each_row(
    ("name", "normal", "review"),
    [("weighted", 0.3, 0.01), ("ebbinghaus", 0.1, 0.0), ("consolidating", 0.3, 0.0), ("tiered", 0.2, 0.0)],
)
def test_the_thresholds_go_with_the_law_and_are_parameters(name: str, normal: float, review: float) -> None:
    law = LAWS[name]
    asked = replace(DEFAULTS, **{f"{name}_normal_threshold": 0.77, f"{name}_review_threshold": 0.11})
    assert [(law.normal_threshold(p), law.review_threshold(p)) for p in (DEFAULTS, asked)] == [
        (normal, review),
        (0.77, 0.11),
    ]


@each_row(("name", "parameter"), [("ebbinghaus", "decay_rate"), ("tiered", "factor")])
def test_a_law_reads_the_whole_curve_with_the_parameters_asked(name: str, parameter: str) -> None:
    """Nothing is integrated piecewise: the record is the same whenever the owner changed them."""
    asked = replace(DEFAULTS, confident_decay=0.5, fact_decay=0.4)
    there = folded(created(confidence=0.9), parameters(day=3, confident_decay=0.5, fact_decay=0.4)).memories["m"]
    back = folded(created(confidence=0.9)).memories["m"]
    readings = [LAWS[name].read(memory, at(6), asked) for memory in (there, back)]
    assert (readings[0], readings[0].factors[parameter]) == (readings[1], {"decay_rate": 0.5, "factor": 0.4}[parameter])


# --- the ends of the ebbinghaus law --------------------------------------------------------------------------------


@each_row(
    ("limit", "percent"), [(100.0, 99), (99.5, 99), (50.0, 49), (10.5, 10), (10.0, 9), (9.5, 9), (1.0, 0), (0.2, 0)]
)
def test_an_end_comes_when_the_rounded_strength_is_first_under_the_limit(limit: float, percent: int) -> None:
    """Whole or not: 10.5 is passed by 10, and 10 by 9. `ends` may tell it two microseconds late, never early."""
    law, asked = LAWS["ebbinghaus"], replace(DEFAULTS, archive_strength=limit)
    columns = columns_of(picked_up())
    end = int(law.ends(columns, asked).archived[0])
    found = [law.read(columns.memories[0], end + wait, asked).factors["strength"] for wait in (-2, 0)]
    assert found == [percent + 1, percent]


# --- the tiered law at the bounds of its parameters ----------------------------------------------------------------


@each_row("name", ["fact_decay_days", "episode_decay_days"])
@each_row("event", [reinforced(day=1), accessed(day=1)], ids=["a use", "an access"])
def test_the_shortest_period_allowed_is_a_step_that_can_be_counted(name: str, event: Told) -> None:
    """A step of no microsecond at all would be a division by zero in `evolve`, which puts the owner aside."""
    least = schema_of(name)["minimum"]
    made = created(importance=2.6, kind=name.removesuffix("_decay_days"))
    found = folded(parameters(**{name: least}), made, event).memories["m"]
    assert 0 <= LAWS["tiered"].read(found, at(1.1), replace(DEFAULTS, **{name: least})).weight < found.importance
    assert problem_with(name, least / 2)


# --- levels --------------------------------------------------------------------------------------------------------

LEVELS = [
    # law, day, level of a memory that nobody touches
    ("weighted", 29.9, FULL),
    ("weighted", 30, SUMMARY),
    ("weighted", 364, SUMMARY),
    ("consolidating", 29.9, FULL),
    ("consolidating", 30, SUMMARY),
    ("consolidating", 89.9, SUMMARY),
    ("consolidating", 90, TAG),
    ("consolidating", 180, TRACE),
    ("consolidating", 365, ARCHIVE),
    ("tiered", 30, SUMMARY),
    ("tiered", 49.9, SUMMARY),
    ("tiered", 90, TAG),
    ("tiered", 180, ARCHIVE),
    ("ebbinghaus", 56.49 * H, FULL),
    ("ebbinghaus", 56.5 * H, ARCHIVE),
]


@each_row(("name", "day", "found"), LEVELS)
def test_the_level_due_goes_by_idle_days_and_from_tag_down_by_the_law(name: str, day: float, found: int) -> None:
    """W is 0.72 after 180 days; 0.5 ** (90 / 35.2) = 0.17; 0.85 ** 36 = 0.003, under the weight that archives."""
    assert level(name, columns_of(picked_up()), day) == found


def test_a_mention_brings_the_level_back_and_a_look_only_what_its_law_goes_by() -> None:
    mentioned_late, looked_at = (columns_of(picked_up(), event) for event in (mentioned(day=89), accessed(day=89)))
    names = ("ebbinghaus", "consolidating", "tiered")
    assert [[level(name, columns, 90) for name in names] for columns in (mentioned_late, looked_at)] == [
        [ARCHIVE, FULL, FULL],
        [SUMMARY, TAG, SUMMARY],
    ]


def test_a_memory_about_occupation_falls_at_doubled_days() -> None:
    columns = columns_of(picked_up(sensitivity=1))
    days = (59.9, 60, 179.9, 180, 359.9, 360, 729.9, 730)
    asked = replace(DEFAULTS, archive_weight=0.0)
    assert [level("consolidating", columns, day, asked) for day in days] == [
        *(FULL, SUMMARY, SUMMARY, TAG, TAG, TRACE, TRACE, ARCHIVE)
    ]
    assert [level("consolidating", columns, day) for day in (359.9, 360)] == [TAG, ARCHIVE]


SPARED = [
    ({}, False), ({"category": "identity"}, True), ({"tier": "core"}, True), ({"tier": "system"}, True),
    ({"kind": "core"}, True), ({"kind": "episode"}, False), ({"sensitivity": 1}, False), ({"sensitivity": 2}, True),
    ({"sensitivity": 3}, True), ({"importance": 2.99}, False), ({"importance": 3.0}, True),
]  # fmt: skip


@each_row(("data", "spared"), SPARED, ids=[str(s[0]) for s in SPARED])
def test_identity_core_and_sensitive_memories_stay_full_under_every_law(data: dict[str, object], spared: bool) -> None:
    columns = columns_of(picked_up(**data))
    found = {level(name, columns, 36_500) == FULL for name in LAWS}
    assert (bool(lasting(columns)[0]), found) == (spared, {spared})


@each_row("mode", ["normal", "review"])
def test_what_weighs_as_much_as_the_threshold_is_shown_and_what_weighs_less_is_not(mode: Mode) -> None:
    columns, now = columns_of(created()), at(3)
    weight = float(WEIGHTED.weights(columns, now, DEFAULTS)[0])
    for threshold, shown in ((weight, True), (weight + 1e-9, False)):
        asked = replace(DEFAULTS, weighted_normal_threshold=threshold, weighted_review_threshold=threshold)
        assert visibility(columns, WEIGHTED, now, asked, mode).shown.tolist() == [shown]
