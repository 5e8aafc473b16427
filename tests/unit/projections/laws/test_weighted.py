"""The weighted law at its edges: windows, elapsed times, the newest mention, its vectorised twin."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from engramlog_server.events.parameters import DEFAULTS
from engramlog_server.projections.laws import WEIGHTED
from engramlog_server.projections.laws.law import factors, momentum
from engramlog_server.projections.memory.record import DAY, Memory
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


def test_a_reading_names_the_six_factors_and_they_multiply_to_the_unclipped_weight() -> None:
    memory = memory_of(created(), mentioned(day=5), negated(day=6))
    reading = WEIGHTED.read(memory, at(9), replace(DEFAULTS, user_factor=0.8, user_factor_scope="both"))
    names = ["time_weight", "semantic_boost", "conflict_penalty", "importance", "user_factor", "momentum"]
    assert (list(reading.factors), reading.unclipped) == (names, pytest.approx(np.prod(list(reading.factors.values()))))
