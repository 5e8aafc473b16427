"""When the tiered law asks a reviewer (seed 003, its review mechanism and memory.md, section 9): promotion and decay."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from engramlog_server.events.parameters import DEFAULTS, Parameters
from engramlog_server.projections.laws.law import FOREVER, effective_importance, fallen_at, review_threshold_of
from engramlog_server.projections.memory.columns import Columns
from engramlog_server.projections.memory.record import DAY, Memory
from tests.given.events import (
    Told,
    accessed,
    at,
    created,
    folded,
    graded,
    kept,
    mentioned,
    moment,
    promoted,
    reinforced,
)
from tests.rows import each_row

H = 1 / 24
"""An hour in days."""


def fact(*events: Told, base: Parameters = DEFAULTS, **data: object) -> Memory:
    return folded(created(kind="fact", **data), *events, base=base).memories["m"]


def episode(*events: Told, **data: object) -> Memory:
    return folded(created(kind="episode", **data), *events).memories["m"]


def asked_on(memory: Memory, asked: Parameters = DEFAULTS) -> float | None:
    """The day on which a reviewer is asked whether it may go, with no further event."""
    columns = Columns()
    columns.put(memory)
    found = int(fallen_at(columns, np.array([review_threshold_of(memory, asked)]), asked)[0])
    return None if found == FOREVER else (found - at(0)) / DAY


# --- the reviewer --------------------------------------------------------------------------------------------------

CROSSINGS = [
    ("just reached", 2.2, [reinforced(day=1)], at(1)), ("just under", 2.19, [reinforced(day=1)], None),
    ("created so", 2.5, [], at(0)), ("up once, and used on", 2.4, [reinforced(day=1), reinforced(day=2 - H)], at(1)),
    ("up, down, and up by a use", 2.4, [reinforced(day=1), reinforced(day=7)], at(7)),
    ("up, down, and up by a look", 2.6, [accessed(day=6)], at(6)),
    ("up, down, and up by a grade", 2.6, [graded(day=6)], at(6)),
    ("looked at before it fell", 2.6, [accessed(day=4), accessed(day=8)], at(0)),
    ("a mention lifts nothing", 2.6, [mentioned(day=6)], at(0)),
    ("a look that tells of an earlier one", 2.6, [accessed(day=6), accessed(day=3)], at(6)),
    ("a look long ago that is told today", 2.6, [accessed(day=20, last_day=1)], at(0)),
    ("answered", 2.6, [kept(day=1, due_at=moment(0))], None),
    ("answered, and used above", 2.6, [kept(day=1, due_at=moment(0)), reinforced(day=2)], None),
    ("answered, down, and up again", 2.6, [kept(day=1, due_at=moment(0)), accessed(day=6)], at(6)),
    ("promoted", 2.6, [promoted(day=1)], None), ("promoted, and used", 2.6, [promoted(day=1), reinforced(day=9)], None),
]  # fmt: skip


@each_row(("importance", "events", "asked"), [c[1:] for c in CROSSINGS], ids=[c[0] for c in CROSSINGS])
def test_promotion_is_asked_once_each_time_the_importance_rises_to_two_and_a_half(
    importance: float, events: list[Told], asked: int | None
) -> None:
    upkeep = fact(*events, importance=importance).upkeep
    assert (upkeep.promotion_at if upkeep else None) == asked


def test_a_fact_falls_under_a_half_on_day_25_and_kept_under_a_fifth_thirty_days_later() -> None:
    """0.85 ** 5 = 0.4437; then 0.5 * 0.85 ** 6 = 0.1886."""
    there = [fact(), fact(kept(day=25, due_at=moment(25)))]
    again = fact(kept(day=25, due_at=moment(25)), kept(day=55, due_at=moment(55)))
    assert [(asked_on(memory), memory.importance) for memory in (*there, again)] == [(25, 1.0), (55, 0.5), (85, 0.5)]


@each_row(
    ("events", "day"),
    [
        ([accessed(day=8)], 33), ([reinforced(day=8)], 8 + 30), ([kept(day=26, due_at=moment(25)), accessed(day=30)], 60),
        ([kept(day=26, due_at=moment(25)), reinforced(day=30)], 30 + 15), ([promoted(day=8)], None),
    ],
    ids=["looked at", "used", "kept and looked at", "kept and lifted above", "core"],
)  # fmt: skip
def test_what_happens_moves_the_day_on_which_a_reviewer_is_asked(events: list[Told], day: float | None) -> None:
    """1.15 * 0.85 ** 5 = 0.5103 is not under a half after a use; one more step is. 0.725 * 0.85 ** 3 = 0.4453."""
    found = fact(*events)
    assert asked_on(found) == day


@each_row(("importance", "day"), [(1.0, 6), (0.84, 6), (0.83, 3), (0.49, 0), (2.9, 7)])
def test_a_reviewer_is_asked_of_an_episode_before_it_is_gone(importance: float, day: float) -> None:
    assert asked_on(episode(importance=importance)) == day


STEPPED = [
    (importance, factor, least)
    for importance in (0.3, 0.5, 1.0, 1.234567, 2.9)
    for factor in (0.0, 0.25, 0.5, 0.6, 0.85, 0.99)
    for least in (0.05, 0.2, 0.25, 0.5, 1.0)
]


@each_row(("importance", "factor", "least"), STEPPED)
def test_when_it_falls_is_what_stepping_by_hand_finds(importance: float, factor: float, least: float) -> None:
    asked = replace(DEFAULTS, fact_decay=factor)
    found = fact(importance=importance)
    columns = Columns()
    columns.put(found)
    day = 0
    while effective_importance(found, at(day), asked) >= least:
        day += 5
    assert int(fallen_at(columns, np.array([least]), asked)[0]) == at(day)


@each_row(("factor", "least"), [(1.0, 0.5), (0.85, 0.0), (0.0, 0.0)])
def test_what_never_falls_so_far_is_never_asked_of(factor: float, least: float) -> None:
    columns = Columns()
    columns.put(fact())
    assert int(fallen_at(columns, np.array([least]), replace(DEFAULTS, fact_decay=factor))[0]) == FOREVER
