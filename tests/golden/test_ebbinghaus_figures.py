"""The figures of the Ebbinghaus law (seed 004): published ones, and what its formulas give where it gives none."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engramlog_server.events.catalogue import Imported
from engramlog_server.events.parameters import DEFAULTS, Parameters
from engramlog_server.projections.laws import LAWS
from engramlog_server.projections.laws.law import decay_rate, retention, strength
from engramlog_server.projections.memory.columns import Columns
from engramlog_server.projections.memory.record import HOUR, Memory
from tests.given.events import Told, accessed, at, created, folded, moment, parameters, reinforced
from tests.rows import each_row

LAW = LAWS["ebbinghaus"]
H = 1 / 24
"""An hour in days."""


def picked_up(*events: Told, base: Parameters = DEFAULTS, **data: object) -> Memory:
    """A memory that the judge noted, so that S begins at 24 h, after these events."""
    return folded(created(actor="judge", **data), *events, base=base).memories["m"]


def columns_of(memory: Memory) -> Columns:
    columns = Columns()
    columns.put(memory)
    return columns


def strength_at(memory: Memory, day: float, asked: Parameters = DEFAULTS) -> float:
    return LAW.read(memory, at(day), asked).factors["strength"]


def ends_in_hours(memory: Memory, asked: Parameters = DEFAULTS) -> tuple[float, float]:
    """Hours from creation to archive and deletion."""
    archived, deleted = (int(ends[0]) for ends in LAW.ends(columns_of(memory), asked))
    return (archived - memory.created_at) / HOUR, (deleted - memory.created_at) / HOUR


# --- the curve (sections 2.1 and 4.1) ------------------------------------------------------------------------------


@each_row(
    ("hours", "retained", "percent"),
    [(0, "1.0000", 100), (12, "0.6065", 61), (24, "0.3679", 37), (48, "0.1353", 14), (72, "0.0498", 5)],
)
def test_a_new_memory_fades_as_published(hours: int, retained: str, percent: int) -> None:
    reading = LAW.read(picked_up(), at(hours * H), DEFAULTS)
    assert [
        (f"{retention(hours, 24, 1):.4f}", strength(retention(hours, 24, 1))),
        (f"{reading.factors['retention']:.4f}", reading.factors["strength"]),
        reading.weight,
    ] == [(retained, percent), (retained, percent), percent / 100]


@each_row(("hours", "percent"), [(0, 100), (24, 87), (48, 75), (72, 65), (168, 37)])
def test_a_memory_made_by_hand_fades_seven_times_more_slowly(hours: int, percent: int) -> None:
    """exp(-hours / 168), from seed 004, section 4.2."""
    assert strength_at(folded(created()).memories["m"], hours * H) == percent


# --- stability at first (sections 3.3 and 4.2) ---------------------------------------------------------------------


@each_row(
    ("actor", "turns", "hours"),
    [
        ("user", (), 168), ("operator", (), 168), ("user", ("t1",), 24), ("operator", ("t1",), 24), ("judge", (), 24),
        ("assistant", (), 24), ("system", (), 24), ("judge", ("t1",), 24),
    ],
)  # fmt: skip
def test_who_made_it_and_from_what_decides_on_the_first_stability(
    actor: str, turns: tuple[str, ...], hours: int
) -> None:
    assert folded(created(actor=actor, source_turns=turns)).memories["m"].stability == hours


def test_the_first_stability_is_that_in_force_at_the_creation() -> None:
    before, after = created(actor="judge"), created(of="n", actor="judge")
    memories = folded(before, parameters(initial_stability=48.0), after).memories
    assert [memories[i].stability for i in ("m", "n")] == [24, 48]


@each_row(
    ("accesses", "confidence", "hours"),
    [
        (5, 0.8, 122.4), (0, 0.0, 24.0), (None, 0.5, 48.0), (0, 1.0, 72.0), (1, 0.6, 64.8), (10, 0.6, 172.8),
        (11, 0.6, 172.8), (1_000_000, 1.0, 192.0),
    ],
)  # fmt: skip
@each_row("actor", ["judge", "operator"])
def test_an_older_record_without_stability_gets_one_from_accesses_and_confidence(
    actor: str, accesses: int | None, confidence: float, hours: float
) -> None:
    event = created(actor=actor, confidence=confidence, imported=Imported(access_count=accesses))
    assert folded(event).memories["m"].stability == pytest.approx(hours, rel=1e-12)


def test_an_older_record_keeps_the_stability_and_the_clock_that_it_brings() -> None:
    brought = Imported(stability=300.5, last_reinforced_at=moment(-3), reinforce_count=7, access_count=9)
    found = folded(created(actor="operator", imported=brought)).memories["m"]
    assert (found.stability, found.last_reinforced_at, found.reinforce_count) == (300.5, at(-3), 7)


@each_row(
    ("brought", "clock"),
    [
        (Imported(), at(0)),
        (Imported(updated_at=moment(4)), at(4)),
        (Imported(updated_at=moment(4), last_reinforced_at=moment(2)), at(2)),
    ],
    ids=["creation", "update", "reinforcement"],
)
def test_the_clock_of_an_older_record_begins_at_its_reinforcement_else_update_else_creation(
    brought: Imported, clock: int
) -> None:
    assert folded(created(imported=brought)).memories["m"].last_reinforced_at == clock


def test_the_accesses_of_an_older_record_count_as_reinforcements() -> None:
    assert folded(created(imported=Imported(access_count=5))).memories["m"].reinforce_count == 5


# --- reinforcement (section 4.2) -----------------------------------------------------------------------------------

REINFORCEMENTS = [
    (accessed(via="recall", day=1), 28.8, True), (accessed(via="detail", day=1), 28.8, True),
    (accessed(via="injection", day=1), 28.8, True), (accessed(via="association", day=1), 26.4, True),
    (reinforced(outcome="used", day=1), 28.8, True), (reinforced(outcome="task_success", day=1), 48.0, True),
    (reinforced(outcome="manual_review", day=1), 36.0, True), (reinforced(outcome="task_failure", day=1), 19.2, False),
]  # fmt: skip


@each_row(("event", "hours", "restarts"), REINFORCEMENTS)
def test_each_reinforcement_multiplies_the_stability_and_all_but_a_failure_restart_the_clock(
    event: Told, hours: float, restarts: bool
) -> None:
    found = picked_up(event)
    assert (found.stability, found.last_reinforced_at) == (
        pytest.approx(hours, rel=1e-12),
        at(1) if restarts else at(0),
    )
    assert (strength_at(found, 1) == 100) is restarts


CHAINS = [
    ("recalled twice, then a success", ["recall", "recall", "task_success"], 69.12),
    ("a failure takes back most of a recall", ["recall", "task_failure"], 23.04),
    ("eight successes", ["task_success"] * 8, 6144.0),
    ("nine reach the year that is most", ["task_success"] * 9, 8760.0),
    ("more of them add nothing", ["task_success"] * 12, 8760.0),
    ("a failure then takes from the year, not from more", ["task_success"] * 12 + ["task_failure"], 7008.0),
    ("thirteen failures", ["task_failure"] * 13, 1.319413953331),
    ("fifteen end at the hour that is least", ["task_failure"] * 15, 1.0),
    ("more of them take nothing", ["task_failure"] * 20, 1.0),
    ("a success then doubles the hour", ["task_failure"] * 20 + ["task_success"], 2.0),
    ("a recall a day for a month", ["recall"] * 30, 5697.031531194),
]


def typer_option(word: str, day: float) -> Told:
    return accessed(via=word, day=day) if word == "recall" else reinforced(outcome=word, day=day)


@each_row(("words", "hours"), [chain[1:] for chain in CHAINS], ids=[chain[0] for chain in CHAINS])
def test_reinforcements_follow_each_other_between_an_hour_and_a_year(words: list[str], hours: float) -> None:
    found = picked_up(*(typer_option(word, day) for day, word in enumerate(words, 1)))
    assert found.stability == pytest.approx(hours, rel=1e-9)


@each_row("hits", [1, 2, 500])
def test_an_access_event_reinforces_once_however_often_it_was_shown(hits: int) -> None:
    found = picked_up(accessed(day=1, count=hits))
    assert (found.stability, found.reinforce_count) == (pytest.approx(28.8, rel=1e-12), 1)


@each_row(("days", "percent"), [(0, 100), (7, 98), (30, 90), (90, 74), (365, 29)])
def test_what_was_recalled_every_day_of_a_month_lasts_where_what_was_not_is_gone(days: int, percent: int) -> None:
    """S = 24 * 1.2 ** 30 and rate 0.8 after five; the contrast that seed 004 simulates (section 11.4)."""
    often = picked_up(*(accessed(day=day) for day in range(1, 31)))
    assert (strength_at(often, 30 + days), strength_at(picked_up(), 30 + days)) == (percent, 0)


@each_row(("restarts", "percent"), [(False, 8), (True, 100)])
def test_failing_lifts_a_faded_memory_only_where_the_owner_asked_for_the_published_way(
    restarts: bool, percent: int
) -> None:
    """14 before: exp(-48 / 24); then exp(-48 / 19.2), or a new start."""
    asked = replace(DEFAULTS, failure_restarts_clock=restarts)
    found = picked_up(reinforced(day=2, outcome="task_failure"), base=asked)
    assert (strength_at(picked_up(), 2), strength_at(found, 2)) == (14, percent)


# --- the decay rate (section 4.3) ----------------------------------------------------------------------------------

RATES = [
    # confidence, reinforcements, kind, rate, strength after 24 h at S = 24
    (0.6, 0, "lesson", 1.0, 37),
    (0.79, 4, "lesson", 1.0, 37),
    (0.8, 0, "lesson", 0.7, 50),
    (1.0, 4, "lesson", 0.7, 50),
    (0.6, 5, "lesson", 0.8, 45),
    (0.6, 0, "pitfall", 0.9, 41),
    (0.8, 5, "lesson", 0.56, 57),
    (0.8, 0, "pitfall", 0.63, 53),
    (0.6, 5, "pitfall", 0.72, 49),
    (0.8, 5, "pitfall", 0.504, 60),
    (0.8, 500, "pitfall", 0.504, 60),
]


def brought(confidence: float, count: int, kind: str, rate: float | None = None) -> Memory:
    older = Imported(stability=24.0, reinforce_count=count, decay_rate=rate)
    return folded(created(confidence=confidence, kind=kind, imported=older)).memories["m"]


@each_row(("confidence", "count", "kind", "rate", "percent"), RATES)
def test_confidence_use_and_pitfalls_slow_the_fading(
    confidence: float, count: int, kind: str, rate: float, percent: int
) -> None:
    found = brought(confidence, count, kind)
    assert (decay_rate(found, DEFAULTS), strength_at(found, 1)) == (pytest.approx(rate, rel=1e-12), percent)
    assert float(LAW.weights(columns_of(found), at(1), DEFAULTS)[0]) == percent / 100


@each_row(("least", "rate"), [(0.5, 0.504), (0.504001, 0.504001), (0.6, 0.6), (2.0, 2.0)])
def test_no_decay_rate_that_is_computed_is_under_the_least(least: float, rate: float) -> None:
    found = brought(0.9, 9, "pitfall")
    assert decay_rate(found, replace(DEFAULTS, min_decay=least)) == pytest.approx(rate, rel=1e-12)


def test_by_default_the_least_is_a_half() -> None:
    asked = replace(DEFAULTS, pitfall_decay=0.1)
    found = brought(0.9, 9, "pitfall")
    assert (decay_rate(found, asked), strength_at(found, 1, asked)) == (0.5, 61)


@each_row(("rate", "percent"), [(2.0, 14), (1.0, 37), (0.5, 61)])
def test_a_decay_rate_that_an_older_record_brings_holds_whatever_would_be_computed(rate: float, percent: int) -> None:
    found = brought(0.9, 9, "pitfall", rate)
    assert (decay_rate(found, DEFAULTS), strength_at(found, 1)) == (rate, percent)


def test_the_fifth_reinforcement_slows_the_fading() -> None:
    found = [decay_rate(picked_up(*(accessed(day=day) for day in range(1, 1 + n))), DEFAULTS) for n in (4, 5, 6)]
    assert found == [1.0, 0.8, 0.8]


# --- archive and deletion (section 4.4) ----------------------------------------------------------------------------


@each_row(
    ("memory", "archived", "deleted"),
    [
        (picked_up(), 56.5, 74.4),
        (folded(created()).memories["m"], 395.5, 521.0),
        (picked_up(confidence=0.8), 80.7, 106.3),
        (brought(0.6, 0, "lesson", 2.0), 28.2, 37.2),
    ],
    ids=["new", "made by hand", "confident", "twice as fast"],
)
def test_the_rounded_strength_archives_and_then_deletes(memory: Memory, archived: float, deleted: float) -> None:
    """S / rate * ln(100 / 9.5) and ln(100 / 4.5)."""
    assert ends_in_hours(memory) == (pytest.approx(archived, abs=0.05), pytest.approx(deleted, abs=0.05))


def test_after_72_hours_a_new_memory_is_archived_and_not_yet_deleted() -> None:
    """4.98 rounds to 5, which is not under 5."""
    archived, deleted = ends_in_hours(picked_up())
    assert (strength_at(picked_up(), 3), archived < 72 < deleted) == (5, True)


PUBLISHED = {
    "initial_stability": 24, "manual_stability": 168, "max_stability": 8760, "archive_strength": 10, "delete_strength": 5,
    "reinforce_recall": 1.2, "reinforce_task_success": 2.0, "reinforce_task_failure": 0.8, "reinforce_manual_review": 1.5,
    "reinforce_association": 1.1,
}  # fmt: skip


def test_the_defaults_are_those_of_the_published_configuration() -> None:
    """Seed 004, section 4.5."""
    assert {name: getattr(DEFAULTS, name) for name in PUBLISHED} == PUBLISHED
