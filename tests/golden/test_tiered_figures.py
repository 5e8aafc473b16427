"""The figures of the tiered law (seed 003): its later decay table, boost limits and reviewer, and what they give."""

from __future__ import annotations

import pytest

from engramlog_server.events.parameters import DEFAULTS, Parameters
from engramlog_server.projections.laws import LAWS
from engramlog_server.projections.laws.law import FOREVER
from engramlog_server.projections.memory.columns import Columns
from engramlog_server.projections.memory.record import DAY, Memory
from tests.given.events import Told, accessed, at, created, folded, graded, mentioned, reinforced, revised
from tests.rows import each_row

LAW = LAWS["tiered"]
H = 1 / 24
"""An hour in days."""
MICRO = 1 / DAY


def fact(*events: Told, base: Parameters = DEFAULTS, **data: object) -> Memory:
    return folded(created(kind="fact", **data), *events, base=base).memories["m"]


def episode(*events: Told, **data: object) -> Memory:
    return folded(created(kind="episode", **data), *events).memories["m"]


def weight(memory: Memory, day: float) -> float:
    """As read; checks that the columns say the same."""
    columns = Columns()
    columns.put(memory)
    read = LAW.read(memory, at(day), DEFAULTS).weight
    assert float(LAW.weights(columns, at(day), DEFAULTS)[0]) == pytest.approx(read, rel=1e-12)
    return read


def shown(value: float) -> str:
    return f"{value:.4f}"


# --- the steps (the later decay table) -----------------------------------------------------------------------------

FACT_STEPS = [
    (-3, "1.0000"), (0, "1.0000"), (4.999, "1.0000"), (5 - MICRO, "1.0000"), (5, "0.8500"), (9.999, "0.8500"),
    (10, "0.7225"), (15, "0.6141"), (20, "0.5220"), (25, "0.4437"), (45, "0.2316"), (50 - MICRO, "0.2316"), (50, "0.1969"),
    (365, "0.0000"),
]  # fmt: skip
EPISODE_STEPS = [
    (-3, "1.0000"), (0, "1.0000"), (2.999, "1.0000"), (3 - MICRO, "1.0000"), (3, "0.6000"), (5.999, "0.6000"),
    (6, "0.3600"), (6.999, "0.3600"), (7 - MICRO, "0.3600"), (7, "0.0000"), (14, "0.0000"),
]  # fmt: skip


@each_row(("days", "figure"), FACT_STEPS)
def test_a_fact_falls_to_85_percent_every_five_days(days: float, figure: str) -> None:
    assert shown(weight(fact(), days)) == figure


@each_row(("days", "figure"), EPISODE_STEPS)
def test_an_episode_falls_to_60_percent_every_three_days_and_is_gone_after_seven(days: float, figure: str) -> None:
    assert shown(weight(episode(), days)) == figure


@each_row("tier", ["system", "core"])
@each_row("days", [0, 7, 365, 36_500])
def test_system_and_core_never_fall(tier: str, days: int) -> None:
    assert weight(fact(tier=tier, importance=0.4), days) == 0.4


@each_row(
    ("kind", "tier", "found"),
    [
        ("episode", None, "episode"), ("core", None, "core"), ("preference", None, "fact"), ("episode", "core", "core"),
        ("core", "episode", "episode"),
    ],
)  # fmt: skip
def test_the_tier_follows_from_the_kind_where_none_is_told(kind: str, tier: str | None, found: str) -> None:
    assert folded(created(kind=kind, tier=tier)).memories["m"].tier == found


@each_row(
    ("event", "figure"),
    [
        (accessed(day=8), "1.0000"), (graded(day=8), "1.0000"), (mentioned(day=8), "0.7225"), (revised(day=8), "0.7225"),
        (reinforced(day=8, outcome="manual_review"), "0.7225"), (reinforced(day=8, outcome="task_success"), "0.7225"),
    ],
    ids=["access", "grade", "mention", "revision", "review by hand", "success"],
)  # fmt: skip
def test_steps_are_counted_from_the_last_access_and_from_nothing_else_that_shows_activity(
    event: Told, figure: str
) -> None:
    assert shown(weight(fact(event), 12)) == figure


def test_an_episode_is_gone_seven_days_after_its_creation_however_often_it_is_used() -> None:
    found = episode(accessed(day=6.5), reinforced(day=6.9))
    assert (shown(weight(found, 7 - MICRO)), weight(found, 7)) == ("1.3000", 0)


@each_row(("events", "day"), [([], 7), ([accessed(day=6)], 7), ([reinforced(day=30)], 7)])
def test_the_law_deletes_an_episode_at_seven_days_and_nothing_else(events: list[Told], day: float) -> None:
    columns = Columns()
    columns.put_all(
        [episode(*events), *folded(created(of="n", kind="fact"), created(of="o", tier="core")).memories.values()]
    )
    archived, deleted = LAW.ends(columns, DEFAULTS)
    assert (archived.tolist(), deleted.tolist()) == ([FOREVER] * 3, [at(day), FOREVER, FOREVER])


# --- boosts (cool-down and limit of a day) -------------------------------------------------------------------------

USES = [
    # hours of the uses, importance after the last
    ([0], 1.3),
    ([0, 2], 1.6),
    ([0, 2, 4], 1.9),
    ([0, 2, 4, 6], 2.0),
    ([0, 2, 4, 6, 8, 10, 23], 2.0),
    ([0, 1], 1.3),
    ([0, 1.999], 1.3),
    ([0, 1, 2], 1.6),
    ([0, 1.5, 3], 1.6),
    ([0, 2, 4, 6, 24], 2.3),
    ([0, 2, 4, 6, 24, 26], 2.6),
    ([0, 2, 4, 6, 23.9], 2.0),
    ([0, 20, 22, 23, 24, 26, 28], 2.3),
]


@each_row(("hours", "importance"), USES, ids=str)
def test_uses_boost_once_in_two_hours_and_by_one_in_any_day(hours: list[float], importance: float) -> None:
    """0.3, 0.3, 0.3, 0.1; the cool-down begins at a boost that counted, and a day ends as the next begins."""
    assert fact(*(reinforced(day=hour * H) for hour in hours)).importance == importance


def test_the_boosts_of_a_day_are_three_tenths_thrice_and_then_one_tenth() -> None:
    found = fact(*(reinforced(day=hour * H) for hour in (0, 2, 4, 6, 8)))
    assert found.upkeep is not None
    assert [boost.amount for boost in found.upkeep.boosts] == [0.3, 0.3, 0.3, 0.1]


@each_row("outcome", ["task_success", "task_failure", "manual_review"])
def test_only_a_use_boosts(outcome: str) -> None:
    found = fact(reinforced(day=1, outcome=outcome))
    assert (found.importance, found.upkeep) == (1.0, None)


@each_row(("day", "importance"), [(1, 1.3), (5, 1.15), (10, 1.0225), (20, 0.822006), (365, 0.300007)], ids=str)
def test_a_use_takes_the_decayed_value_first_and_decays_from_there(day: float, importance: float) -> None:
    """0.85 ** floor(day / 5) + 0.3, to six decimals."""
    found = fact(reinforced(day=day))
    assert [found.importance, weight(found, day), weight(found, day + 4.99), weight(found, day + 5)] == [
        importance,
        importance,
        importance,
        pytest.approx(importance * 0.85, rel=1e-12),
    ]


@each_row(("importance", "tier"), [(2.69, "fact"), (2.7, "core"), (2.8, "core")])
def test_reaching_three_makes_it_core_for_good(importance: float, tier: str) -> None:
    found = fact(reinforced(day=1), importance=importance)
    assert (found.tier, weight(found, 36_500) == found.importance) == (tier, tier == "core")


def test_eight_uses_within_two_days_take_a_new_fact_to_core_and_ask_once_on_the_way() -> None:
    """1.3, 1.6, 1.9, 2.0 on the first day; 2.3, 2.6, 2.9, 3.0 on the second."""
    uses = [reinforced(day=day + hour * H) for day in (0, 1) for hour in (0, 2, 4, 6)]
    found = [fact(*uses[:n]) for n in range(1, 9)]
    assert [(memory.importance, memory.tier) for memory in found] == [
        (1.3, "fact"),
        (1.6, "fact"),
        (1.9, "fact"),
        (2.0, "fact"),
        (2.3, "fact"),
        (2.6, "fact"),
        (2.9, "fact"),
        (3.0, "core"),
    ]
    assert [memory.upkeep.promotion_at for memory in found if memory.upkeep] == [None] * 5 + [at(1 + 2 * H)] * 3
