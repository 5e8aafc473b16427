"""What holds for every memory at every instant under the weighted law, whatever the parameters."""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engramlog_server.events.parameters import DEFAULTS, Parameters
from engramlog_server.projections.laws import WEIGHTED
from engramlog_server.projections.laws.law import factors
from engramlog_server.projections.memory.record import DAY, Memory
from tests.examples import examples
from tests.given.events import Told, at, created, folded, mentioned
from tests.given.histories import histories

QUICK = settings(deadline=None, max_examples=examples(100), suppress_health_check=[HealthCheck.too_slow])
rates = st.floats(0, 10)
shares = st.floats(0, 1)
parameter_sets = st.just(DEFAULTS) | st.builds(
    Parameters,
    alpha_base=rates,
    importance_fact=st.floats(0.01, 10),
    lambda_s=rates,
    c_min=shares,
    lambda_c=rates,
    user_factor=st.floats(0.1, 10),
    user_factor_scope=st.sampled_from(["decay", "both"]),
    momentum=rates,
    lambda_m=rates,
    momentum_window_days=st.floats(0.001, 36_500),
)
instants = st.integers(at(-400), at(36_500)) | st.sampled_from([at(10), at(10.25), at(13.25), at(80)])


def memories_of(told: list[Told]) -> list[Memory]:
    return list(folded(*told).memories.values())


@QUICK
@given(histories, parameter_sets, instants)
def test_every_factor_stays_within_its_bounds(told: list[Told], asked: Parameters, now: int) -> None:
    for memory in memories_of(told):
        found = factors(memory, now, asked)
        assert 0 < found.time_weight <= 1
        assert 1 <= found.semantic_boost <= 1 + memory.mention_boost
        assert asked.c_min - 1e-15 <= found.conflict_penalty <= 1
        assert 1 <= found.momentum <= 1 + asked.momentum
        assert found.importance > 0
        reading = WEIGHTED.read(memory, now, asked)
        assert asked.weight_min <= reading.weight <= asked.weight_max
        assert reading.unclipped == found.product >= 0


@QUICK
@given(histories, parameter_sets, st.integers(0, 40_000 * DAY), st.integers(0, 40_000 * DAY))
def test_without_an_event_only_the_drop_curve_lets_a_weight_rise(
    told: list[Told], asked: Parameters, one: int, other: int
) -> None:
    for memory in memories_of(told):
        start = max(memory.stamp, *memory.mentions, memory.negated_at or memory.stamp, memory.last_activated_at)
        early, late = (factors(memory, start + wait, asked) for wait in sorted((one, other)))
        room = 1 + 1e-12
        held = [found._replace(conflict_penalty=1.0).product for found in (early, late)]
        assert held[1] <= held[0] * room
        if memory.negated_at is None or memory.resolution == "weight_balance":
            assert late.product <= early.product * room
        else:
            assert late.conflict_penalty >= early.conflict_penalty / room


@QUICK
@given(st.lists(st.floats(0, 3), min_size=1, max_size=6))
def test_a_mention_never_lowers_the_weight(gaps: list[float]) -> None:
    days = list(accumulate(gaps, initial=1.0))
    for number in range(1, len(days)):
        before, after = (
            folded(created(), *(mentioned(day=day) for day in days[:count])).memories["m"]
            for count in (number, number + 1)
        )
        now = at(days[number])
        assert factors(after, now, DEFAULTS).product >= factors(before, now, DEFAULTS).product / (1 + 1e-12)


@QUICK
@given(histories, st.floats(0.1, 10), st.floats(0.1, 10), st.integers(0, 36_500 * DAY))
def test_who_forgets_faster_weighs_no_more_by_default_and_no_less_as_published(
    told: list[Told], one: float, other: float, wait: int
) -> None:
    slow, fast = sorted((one, other))
    room = 1 + 1e-12
    for memory in memories_of(told):
        now = memory.stamp + wait
        by_scope = {
            scope: [
                factors(memory, now, replace(DEFAULTS, user_factor=u, user_factor_scope=scope)).product
                for u in (slow, fast)
            ]
            for scope in ("decay", "both")
        }
        assert by_scope["decay"][1] <= by_scope["decay"][0] * room
        assert by_scope["both"][1] * room >= by_scope["both"][0]
