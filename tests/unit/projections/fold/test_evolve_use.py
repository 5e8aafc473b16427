"""A memory in use: shown, put to use, graded, promoted, kept (memory.md, sections 2 and 9)."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from events.catalogue import Hit, MemoriesAccessed
from events.envelope import decode
from events.parameters import DEFAULTS, Parameters, changed
from projections.fold.owner import OwnerState, fold_event
from projections.laws import LAWS
from projections.memory.record import DAY, HOUR, Boost, Memory, Upkeep
from tests.examples import examples
from tests.given.events import (
    Story,
    Told,
    accessed,
    at,
    created,
    deleted,
    folded,
    graded,
    kept,
    memory,
    mentioned,
    merged,
    moment,
    parameters,
    purged,
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


def test_a_memory_that_one_event_names_twice_is_reinforced_once() -> None:
    """Section 9: once an event, whatever its count."""
    hits = tuple(Hit(memory_id="m", count=n, best_rank=n, last_at=moment(n)) for n in (1, 2))
    found = only(Told(MemoriesAccessed(hits=hits, via="recall"), 3, "system"))
    assert (found.access_count, found.last_accessed_at) == (3, at(2))
    assert (found.reinforce_count, found.stability) == (1, pytest.approx(28.8, rel=1e-12))


def test_an_access_writes_no_entry_and_moves_no_time_stamp_of_activity() -> None:
    outcome = PICKED_UP.when(accessed(day=3))
    assert outcome.log == []
    outcome.then(last_activated_at=at(0), updated_at=at(0), mention_count=1)


def test_accesses_of_several_events_add_up() -> None:
    found = only(
        accessed(day=1, count=2), accessed(day=2, via="association", count=3), accessed(day=3, via="injection")
    )
    assert (found.access_count, found.reinforce_count) == (6, 3)
    assert found.stability == pytest.approx(24 * 1.2 * 1.1 * 1.2, rel=1e-12)


@each_row(
    "event", [accessed(day=4), accessed(day=20, last_day=4)], ids=["a late event", "an event that tells of a while ago"]
)
def test_a_late_access_counts_and_moves_no_clock_backwards(event: Told) -> None:
    outcome = PICKED_UP.given(accessed(day=9)).when(event)
    outcome.then(access_count=2, reinforce_count=2, last_accessed_at=at(9), last_reinforced_at=at(9))


def test_a_memory_was_shown_no_later_than_the_event_that_tells_of_it() -> None:
    PICKED_UP.when(accessed(day=3, last_day=8)).then(last_accessed_at=at(3), last_reinforced_at=at(3))


@pytest.mark.parametrize(
    ("story", "other"),
    [
        (PICKED_UP, "nobody"),
        (PICKED_UP.given(created(of="n"), deleted("n"), purged("n", day=31)), "n"),
        (PICKED_UP.given(created(of="n"), created(of="o"), merged("n", "o")), "n"),
    ],
    ids=["unknown", "purged", "merged away"],
)
def test_an_access_of_what_is_not_there_counts_for_the_others_alone(story: Story, other: str) -> None:
    outcome = story.when(accessed(other, "m", day=40, together=((other, "m"),)))
    outcome.then(access_count=1, edges=())
    rest = [{i: m for i, m in side.memories.items() if i != "m"} for side in (outcome.before, outcome.after)]
    assert (outcome.log, rest[0]) == ([], rest[1])


# --- put to use ----------------------------------------------------------------------------------------------------


def test_a_late_reinforcement_steadies_and_moves_no_clock_backwards() -> None:
    PICKED_UP.given(accessed(day=9)).when(reinforced(day=4, outcome="task_success")).then(
        stability=pytest.approx(57.6, rel=1e-12), reinforce_count=2, last_reinforced_at=at(9)
    )


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


@each_row(("outcome", "grade"), [("task_success", 5), ("task_failure", 2), ("used", None), ("manual_review", None)])
def test_tasks_grade_and_other_uses_do_not(outcome: str, grade: int | None) -> None:
    schedule = only(reinforced(day=1, outcome=outcome)).schedule
    assert (schedule and schedule.grade) == grade


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


def test_a_use_that_does_not_boost_reinforces_all_the_same() -> None:
    found = [only(*(reinforced(day=1 + n * H) for n in range(1, 1 + many))) for many in (1, 2)]
    assert [(m.importance, m.reinforce_count, m.last_reinforced_at) for m in found] == [
        (1.3, 1, at(1 + H)),
        (1.3, 2, at(1 + 2 * H)),
    ]


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


LATER = [
    accessed(day=400), kept(day=401), reinforced(day=402), reinforced(day=403, outcome="task_failure"), mentioned(day=404),
]  # fmt: skip


def test_what_became_core_stays_core_whatever_happens() -> None:
    found = only(reinforced(day=1), *LATER, importance=2.8)
    assert (found.tier, LAWS["tiered"].read(found, at(4_000), DEFAULTS).weight >= 3.0) == ("core", True)


# --- graded --------------------------------------------------------------------------------------------------------


def test_a_grade_counts_as_an_access_and_leaves_stability_alone() -> None:
    found = only(graded(day=3, grade=4))
    assert (found.access_count, found.last_accessed_at, found.stability, found.last_reinforced_at) == (
        1,
        at(3),
        24.0,
        at(0),
    )


def test_a_late_grade_counts_and_moves_no_clock_backwards() -> None:
    outcome = PICKED_UP.given(graded(day=9, grade=4)).when(graded(day=3, grade=5))
    outcome.then(access_count=2, last_accessed_at=at(9))
    schedule = outcome.after.memories["m"].schedule
    assert schedule is not None
    assert (schedule.graded_at, schedule.grade) == (at(9), 5)
