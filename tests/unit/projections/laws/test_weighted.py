"""The weighted law at its edges: windows, elapsed times, the newest mention, its vectorised twin."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from events.parameters import DEFAULTS
from projections.laws import LAWS, WEIGHTED
from projections.laws.weighted import factors, momentum, semantic_boost
from projections.memory.columns import Columns
from projections.memory.record import CATEGORIES, DAY, Memory
from tests.given.events import Told, at, created, folded, mentioned, negated
from tests.rows import each_row


def memory_of(*events: Told) -> Memory:
    return folded(*events).memories["m"]


@each_row(
    ("case", "counted"),
    [
        ("the mention itself", (at(5), 1)),
        ("a microsecond before three days have passed", (at(5) + 3 * DAY - 1, 1)),
        ("just three days later: the start is outside", (at(5) + 3 * DAY, 0)),
        ("a microsecond before the mention: it has not happened yet", (at(5) - 1, 0)),
    ],
)
def test_the_momentum_window_is_half_open(case: str, counted: tuple[int, int]) -> None:
    now, mentions = counted
    assert factors(memory_of(created(), mentioned(day=5)), now, DEFAULTS).momentum == momentum(mentions, DEFAULTS)


def test_time_decays_from_the_last_activation_and_not_from_the_creation() -> None:
    old, fresh = memory_of(created(), mentioned(day=100)), memory_of(created(day=100))
    now = at(130)
    assert factors(old, now, DEFAULTS).time_weight == factors(fresh, now, DEFAULTS).time_weight


def test_an_elapsed_time_below_zero_counts_as_zero() -> None:
    memory = memory_of(created(day=10), mentioned(day=10), negated(day=10))
    early, then = (factors(memory, at(day), DEFAULTS) for day in (2, 10))
    assert early._replace(momentum=then.momentum) == then


def test_there_is_no_boost_before_any_mention() -> None:
    found = factors(memory_of(created()), at(0), DEFAULTS)
    assert (found.semantic_boost, found.momentum) == (1.0, 1.0)


def test_the_boost_is_that_of_the_newest_mention() -> None:
    frequent = [mentioned(day=day) for day in (5, 5.1, 5.2)]
    calm = memory_of(created(), *frequent, mentioned(day=9))
    assert factors(calm, at(9), DEFAULTS).semantic_boost == semantic_boost(0, 0.5, DEFAULTS)


def test_the_boost_of_a_mention_is_the_one_in_force_then_and_its_decay_the_one_in_force_now() -> None:
    memory = memory_of(created(), mentioned(day=5))
    asked = replace(DEFAULTS, semantic_boost=2.0, lambda_s=0.1)
    assert factors(memory, at(10), asked).semantic_boost == semantic_boost(5, 0.5, asked)


def test_nothing_negates_where_the_user_said_it_again() -> None:
    memory = memory_of(created(), negated(day=5), mentioned(day=6))
    assert factors(memory, at(6), DEFAULTS).conflict_penalty == 1.0


def test_the_penalty_counts_from_the_newest_negation() -> None:
    memory = memory_of(created(), negated(day=5), negated(day=50))
    assert factors(memory, at(50), DEFAULTS).conflict_penalty == pytest.approx(DEFAULTS.c_min, rel=1e-15)


def test_a_reading_names_the_six_factors_and_they_multiply_to_the_unclipped_weight() -> None:
    memory = memory_of(created(), mentioned(day=5), negated(day=6))
    reading = WEIGHTED.read(memory, at(9), replace(DEFAULTS, user_factor=0.8, user_factor_scope="both"))
    names = ["time_weight", "semantic_boost", "conflict_penalty", "importance", "user_factor", "momentum"]
    assert (list(reading.factors), reading.unclipped) == (names, pytest.approx(np.prod(list(reading.factors.values()))))


def test_bounds_and_thresholds_are_parameters() -> None:
    asked = replace(DEFAULTS, weight_max=1.1, weighted_normal_threshold=0.4, weighted_review_threshold=0.02)
    law = LAWS["weighted"]
    assert (
        law.read(memory_of(created()), at(0), asked).weight,
        law.normal_threshold(asked),
        law.review_threshold(asked),
        law.normal_threshold(DEFAULTS),
        law.review_threshold(DEFAULTS),
    ) == (1.1, 0.4, 0.02, 0.3, 0.01)


@each_row("now", [at(-3), at(0), at(6), at(8.5), at(400)])
@each_row("scope", ["decay", "both"])
def test_weights_of_many_are_the_readings_of_each(now: int, scope: str) -> None:
    events = [created(of=f"{category}-{k}", category=category) for category in CATEGORIES for k in range(5)]
    for category in CATEGORIES:
        events += [mentioned(f"{category}-1", day=6), mentioned(f"{category}-3", day=8)]
        events += [
            negated(f"{category}-{k}", day=7, resolution=resolution)
            for k, resolution in ((2, "weight_balance"), (3, "latest_wins"), (4, "version_keep"))
        ]
    memories = list(folded(*events).memories.values())
    columns = Columns()
    for memory in memories:
        columns.put(memory)
    asked = replace(DEFAULTS, user_factor=1.3, user_factor_scope=scope)
    each = [WEIGHTED.read(memory, now, asked).unclipped for memory in memories]
    np.testing.assert_allclose(WEIGHTED.weights(columns, now, asked), each, rtol=1e-12)


def test_no_memories_have_no_weights() -> None:
    assert WEIGHTED.weights(Columns(), at(0), DEFAULTS).shape == (0,)
