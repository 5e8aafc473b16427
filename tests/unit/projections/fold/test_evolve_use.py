"""A memory in use: shown, put to use, graded, promoted, kept (memory.md, sections 2 and 9)."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engramlog_server.events.envelope import decode
from engramlog_server.events.parameters import DEFAULTS, Parameters, changed
from engramlog_server.projections.fold.owner import OwnerState, fold_event
from engramlog_server.projections.memory.record import DAY, HOUR, Boost, Memory, Upkeep
from tests.examples import examples
from tests.given.events import (
    Told,
    accessed,
    at,
    created,
    folded,
    graded,
    memory,
    parameters,
    reinforced,
    stored,
    told,
)
from tests.rows import each_row

H = 1 / 24
"""An hour in days."""
PICKED_UP = memory.given(created(actor="judge"))


def only(*events: Told, base: Parameters = DEFAULTS, **data: object) -> Memory:
    """A fact after these events."""
    return folded(created(actor="judge", **data), *events, base=base).memories["m"]


def reason_of(*events: Told) -> str:
    """What the change log says of the last event."""
    reason: str = told(folded(created(), *events).entries)[-1]["reason"]
    return reason


# --- shown ---------------------------------------------------------------------------------------------------------


@each_row(("via", "hours"), [("recall", 28.8), ("detail", 28.8), ("injection", 28.8), ("association", 26.4)])
@each_row("count", [1, 9])
def test_an_access_counts_every_time_it_was_shown_and_reinforces_once(via: str, hours: float, count: int) -> None:
    found = only(accessed(day=3, via=via, count=count))
    assert (found.access_count, found.reinforce_count, found.stability) == (count, 1, pytest.approx(hours, rel=1e-12))
    assert (found.last_accessed_at, found.last_reinforced_at) == (at(3), at(3))


# --- put to use ----------------------------------------------------------------------------------------------------


@each_row(
    ("event", "name", "hours"),
    [
        (accessed(day=1), "reinforce_recall", 72),
        (accessed(day=1, via="association"), "reinforce_association", 72),
        (reinforced(day=1), "reinforce_used", 72),
        (reinforced(day=1, outcome="task_failure"), "reinforce_task_failure", 72),
        (reinforced(day=1, outcome="task_success"), "max_stability", 30),
        (reinforced(day=1, outcome="task_failure"), "min_stability", 30),
    ],
)
def test_what_a_reinforcement_does_goes_by_the_parameters_in_force_at_it(event: Told, name: str, hours: float) -> None:
    value = hours if name.endswith("stability") else 3.0
    before, after = PICKED_UP.given(event), PICKED_UP.given(parameters(**{name: value}), event)
    then = parameters(day=2, **{name: value})
    assert after.when().after.memories["m"].stability == pytest.approx(hours, rel=1e-12)
    assert before.when(then).after.memories["m"].stability != pytest.approx(hours, rel=1e-3)


@each_row(
    ("days", "reason"),
    [
        ([1], "outcome used"),
        ([1, 1 + 1.9 * H], "outcome used; no boost: within the cool-down of the last"),
        ([1, 0.5], "outcome used; no boost: within the cool-down of the last"),
        ([1, 1 + 2 * H, 1 + 4 * H, 1 + 6 * H, 1 + 8 * H], "outcome used; no boost: the limit of a day is reached"),
    ],
    ids=["counted", "too soon", "late", "too much"],
)
def test_the_log_says_why_a_use_did_not_boost(days: list[float], reason: str) -> None:
    assert reason_of(*(reinforced(day=day) for day in days)) == reason


limits = st.fixed_dictionaries(
    {
        "use_boost": st.sampled_from([0.01, 0.05, 0.3, 0.7]),
        "boost_cooldown_hours": st.sampled_from([0.0, 0.25, 2.0]),
        "boost_daily_limit": st.sampled_from([0.1, 1.0]),
    }
)


@settings(max_examples=examples(100), suppress_health_check=[HealthCheck.too_slow])
@given(limits, st.lists(st.integers(0, 60 * 60), max_size=45))
def test_no_uses_whatever_add_more_than_the_limit_within_any_day_or_come_sooner_than_the_cool_down(
    values: dict[str, float], minutes: list[int]
) -> None:
    asked = changed(DEFAULTS, values)
    owner, memories, counted, before = OwnerState(), dict[str, Memory](), list[Boost](), 1.0
    for one in stored([created(tier="core"), *(reinforced(day=minute / 1440) for minute in minutes)]):
        step = fold_event(owner, memories, decode(one.kind, one.body), one, asked)
        owner, memories = step.owner, step.changed
        upkeep, importance = memories["m"].upkeep, memories["m"].importance
        if upkeep and importance != before:
            counted.append(Boost(upkeep.boosts[-1].at, importance - before))
            before = importance
    for boost in counted:
        assert sum(b.amount for b in counted if boost.at - DAY < b.at <= boost.at) <= asked.boost_daily_limit + 1e-6
    for one_boost, other in pairwise(counted):
        assert other.at - one_boost.at >= asked.boost_cooldown_hours * HOUR


def test_many_small_uses_add_no_more_than_one_in_a_day() -> None:
    """Section 9: +1.0 in any 24 h; with 0.05 a use and no cool-down that is twenty uses."""
    asked = changed(DEFAULTS, {"use_boost": 0.05, "boost_cooldown_hours": 0.0})
    assert only(*(reinforced(day=n / 100) for n in range(60)), base=asked).importance == 2.0


class Plain:
    """Seed 003's fact, told in days and without a record: what the fold must agree with."""

    def __init__(self, importance: float) -> None:
        self.importance, self.since, self.core = importance, 0.0, False
        self.boosts: list[tuple[float, float]] = []
        self.asked: float | None = 0.0 if importance >= 2.5 else None

    def left(self, day: float) -> float:
        return self.importance if self.core else self.importance * 0.85 ** ((day - self.since) // 5)

    def use(self, day: float) -> None:
        added = sum(amount for when, amount in self.boosts if when > day - 1)
        if added > 0.999 or (self.boosts and day - self.boosts[-1][0] < 2 * H):
            return
        before, amount = self.left(day), min(0.3, 1 - added)
        self.boosts.append((day, amount))
        self.importance = round(before + amount, 6)
        self.core = self.core or self.importance >= 3
        self.look(day, before)

    def look(self, day: float, before: float | None = None) -> None:
        before = self.left(day) if before is None else before
        self.since = day
        if before < 2.5 <= self.left(day) and not self.core:
            self.asked = day


@settings(max_examples=examples(100), suppress_health_check=[HealthCheck.too_slow])
@given(
    st.sampled_from([1.0, 2.0, 2.4, 2.5, 2.6]),
    st.lists(st.tuples(st.integers(0, 8), st.sampled_from([1, 20, 64, 200, 448]), st.booleans()), max_size=25),
)
def test_uses_and_looks_in_order_leave_what_a_plain_telling_of_the_seed_leaves(
    importance: float, steps: list[tuple[int, int, bool]]
) -> None:
    """Days are 64ths, which floats tell exactly, so that five days are five days on both sides."""
    plain, day, events = Plain(importance), 0.0, list[Told]()
    for count, size, used in steps:
        day += count * size / 64
        events.append(reinforced(day=day) if used else accessed(day=day))
        (plain.use if used else plain.look)(day)
    found = only(*events, importance=importance)
    upkeep = found.upkeep or Upkeep()
    assert (found.importance, found.tier) == (
        pytest.approx(plain.importance, abs=2e-6),
        "core" if plain.core else "fact",
    )
    assert upkeep.promotion_at == (None if plain.asked is None else at(plain.asked))


# --- graded --------------------------------------------------------------------------------------------------------


def test_a_grade_counts_as_an_access_and_leaves_stability_alone() -> None:
    found = only(graded(day=3, grade=4))
    assert (found.access_count, found.last_accessed_at, found.stability, found.last_reinforced_at) == (
        1,
        at(3),
        24.0,
        at(0),
    )
