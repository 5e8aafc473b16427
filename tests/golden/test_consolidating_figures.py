"""The figures of the consolidating law (seed 000): published ones, and what its formulas give where it gives none."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engramlog_server.events.catalogue import Imported
from engramlog_server.events.parameters import DEFAULTS, Parameters
from engramlog_server.projections.laws import LAWS
from engramlog_server.projections.laws.law import (
    FOREVER,
    adaptive_half_life,
    base_half_life,
    consolidation,
    consolidations,
)
from engramlog_server.projections.memory.columns import Columns
from engramlog_server.projections.memory.record import Memory
from tests.given.events import Told, accessed, at, created, folded, graded, mentioned, moment, reinforced, revised
from tests.rows import each_row

LAW = LAWS["consolidating"]
TO_FOUR_FIFTHS = 9.657842846620868
"""Days after which half of 30 days' decay leaves 0.8: -30 * log2(0.8)."""


def shown(value: float) -> str:
    return f"{value:.4f}"


def only(*events: Told) -> Memory:
    return folded(*events).memories["m"]


def accesses(count: int, day: float = 0) -> list[Told]:
    return [accessed(day=day, count=count)] if count else []


def settled_at(memory: Memory, day: float, asked: Parameters = DEFAULTS) -> tuple[str, str]:
    """The consolidation as one memory's reading tells it, and as the columns do."""
    columns = Columns()
    columns.put(memory)
    return (
        shown(LAW.read(memory, at(day), asked).factors["consolidation"]),
        shown(float(consolidations(columns, at(day), asked)[0])),
    )


# --- consolidation (section 1.3) -----------------------------------------------------------------------------------


@each_row(
    ("count", "age", "recency", "figure"),
    [
        (0, 0, 1.0, "0.3000"), (99, 365, 1.0, "1.0000"), (9, 36.5, 0.8, "0.5100"), (0, 0, 0.0, "0.0000"),
        (1_000, 0, 0.0, "0.5000"), (0, 10_000, 0.0, "0.2000"), (0, -5, 1.0, "0.3000"),
    ],
)  # fmt: skip
def test_the_consolidation_is_as_published(count: int, age: float, recency: float, figure: str) -> None:
    assert shown(consolidation(count, age, recency, DEFAULTS)) == figure


@each_row(
    ("events", "day", "figure"),
    [
        ([created()], 0, "0.3000"), ([created(), *accesses(99), revised(day=365)], 365, "1.0000"),
        ([created(), *accesses(9), revised(day=36.5 - TO_FOUR_FIFTHS)], 36.5, "0.5100"),
        ([created(), *accesses(99), revised(day=3650)], 3650, "1.0000"), ([created(), *accesses(9)], 0, "0.5500"),
    ],
    ids=["new", "a hundred times in a year", "ten times in a tenth of a year", "after ten years", "ten times at once"],
)  # fmt: skip
def test_the_consolidation_of_a_history_is_as_published(events: list[Told], day: float, figure: str) -> None:
    assert settled_at(only(*events), day) == (figure, figure)


@each_row(
    ("count", "figure"),
    [(0, "0.0000"), (1, "0.1505"), (5, "0.3891"), (9, "0.5000"), (50, "0.8538"), (99, "1.0000"), (10_000, "1.0000")],
)
def test_accesses_count_on_a_logarithmic_scale_that_ends_at_a_hundred(count: int, figure: str) -> None:
    assert shown(LAW.read(only(created(), *accesses(count)), at(1), DEFAULTS).factors["frequency"]) == figure


@each_row(
    ("days", "longevity", "recency"),
    [(0, "0.0000", "1.0000"), (30, "0.0822", "0.5000"), (60, "0.1644", "0.2500"), (365, "1.0000", "0.0002")],
)
def test_age_adds_up_to_a_year_and_recency_halves_every_thirty_days(days: int, longevity: str, recency: str) -> None:
    found = LAW.read(only(created()), at(days), DEFAULTS).factors
    assert (shown(found["longevity"]), shown(found["recency"])) == (longevity, recency)


def test_a_revision_makes_it_recent_and_a_mention_or_a_use_does_not() -> None:
    """Seed 000 goes by `updated_at`; accesses count, and move it no more than mentions do."""
    found = [
        LAW.read(only(created(), event), at(30), DEFAULTS).factors["days"]
        for event in (revised(day=30), mentioned(day=30), reinforced(day=30), accessed(day=30))
    ]
    assert found == [0, 30, 30, 30]


@each_row(("event", "count"), [(accessed(day=1, count=4), 4), (graded(day=1), 1), (mentioned(day=1), 0)])
def test_what_counts_as_an_access(event: Told, count: int) -> None:
    assert only(created(), event).access_count == count


def test_the_score_of_an_older_record_is_computed_anew_from_its_counters() -> None:
    brought = Imported(access_count=9, updated_at=moment(30), consolidation_score=0.99)
    assert settled_at(only(created(imported=brought)), 30) == ("0.5664", "0.5664")


# --- the half-life (section 1.4) -----------------------------------------------------------------------------------


@each_row(("consolidated", "days"), [(0.0, 30), (0.3, 48), (0.5, 60), (0.51, 60.6), (1.0, 90)], ids=str)
def test_the_half_life_grows_from_thirty_to_ninety_days(consolidated: float, days: float) -> None:
    assert adaptive_half_life(30, consolidated, DEFAULTS) == pytest.approx(days, rel=1e-12)


@each_row(
    ("events", "day", "days"),
    [
        ([created()], 0, 48), ([created()], 100_000, 42), ([created(), *accesses(99), revised(day=365)], 365, 90),
    ],
    ids=["new", "old and untouched", "settled"],
)  # fmt: skip
def test_the_half_life_of_a_history_is_that_of_its_consolidation(events: list[Told], day: float, days: float) -> None:
    assert LAW.read(only(*events), at(day), DEFAULTS).factors["half_life"] == pytest.approx(days, rel=1e-12)


@each_row(
    ("kind", "base", "weight"),
    [("episode", 7, "0.0612"), ("lesson", 90, "0.8580"), ("note", 30, "0.5945"), ("教训", 90, "0.8580")],
)
def test_each_kind_may_have_its_own_half_life(kind: str, base: float, weight: str) -> None:
    asked = replace(DEFAULTS, half_life_by_kind="episode=7,lesson=90,教训=90")
    memories = folded(created(kind=kind), created(of="n", kind="tool")).memories
    columns = Columns()
    columns.put_all(memories.values())
    assert [
        base_half_life(kind, asked),
        shown(LAW.read(memories["m"], at(30), asked).weight),
        shown(float(LAW.weights(columns, at(30), asked)[0])),
    ] == [base, weight, weight]


# --- the weight ----------------------------------------------------------------------------------------------------

WEIGHTS = [
    # days untouched, then the weight after 0, 9 and 99 accesses
    (0, "1.0000", "1.0000", "1.0000"),
    (7, "0.8989", "0.9230", "0.9378"),
    (30, "0.5945", "0.6851", "0.7430"),
    (60, "0.3197", "0.4458", "0.5349"),
    (90, "0.1700", "0.2887", "0.3842"),
    (180, "0.0319", "0.0874", "0.1519"),
    (365, "0.0024", "0.0118", "0.0298"),
]


@each_row(("days", "never", "ten", "hundred"), WEIGHTS)
def test_what_is_often_accessed_lasts_longer(days: int, never: str, ten: str, hundred: str) -> None:
    """0.5 ** (days / half-life), from the published formulas; thresholds read the same."""
    found = [LAW.read(only(created(), *accesses(n)), at(days), DEFAULTS) for n in (0, 9, 99)]
    assert [shown(reading.weight) for reading in found] == [never, ten, hundred]
    assert all(reading.weight == reading.unclipped for reading in found)


@each_row(("count", "gain", "days"), [(99, 0.0, 52), (0, 2.0, 62), (99, 2.0, 112)])
def test_what_is_accessed_a_hundred_times_stays_in_normal_mode_twice_as_long_as_at_a_fixed_half_life(
    count: int, gain: float, days: int
) -> None:
    """Seed 000's expected gain, twice to three times; whole days over which the weight is at least 0.3."""
    asked = replace(DEFAULTS, half_life_gain=gain)
    found = only(created(), *accesses(count))
    least = LAW.normal_threshold(asked)
    assert sum(LAW.read(found, at(day), asked).weight >= least for day in range(1, 400)) == days


def test_the_score_archives_and_deletes_nothing_by_itself() -> None:
    columns = Columns()
    columns.put_all(folded(created(), created(of="n", kind="episode"), *accesses(3)).memories.values())
    assert [ends.tolist() for ends in LAW.ends(columns, DEFAULTS)] == [[FOREVER] * 2] * 2
