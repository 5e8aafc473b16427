"""How long room lasts at a growth: never longer than there is room, and a sentence where nothing is known."""

from __future__ import annotations

from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramlog_server.api.services.capacity import MOST_TOLD, lasting
from tests.rows import each_row

NOW = 1_795_676_400_000_000


@given(st.floats(0.001, 1e15), st.floats(0.001, 1e15))
def test_either_a_day_is_told_or_why_there_is_none(free: float, a_day: float) -> None:
    found = lasting(free, a_day, NOW)
    assert (found.days is None) == (found.at is None) == (found.unknown is not None)
    if found.days is not None:
        assert found.days <= MOST_TOLD
        assert found.days == pytest.approx(free / a_day, abs=0.051)


def test_what_is_full_now_is_full_now() -> None:
    found = lasting(-5, 10, NOW)
    assert (found.days, found.unknown) == (0.0, None)
    assert found.at is not None
    assert datetime.fromisoformat(found.at).timestamp() == NOW / 1_000_000


@each_row(
    ("free", "a_day", "why", "told"),
    [
        (10, None, None, "too young"),
        (10, 0, None, "no events were recorded"),
        (10, 1e-9, None, "hundred years"),
        (10, 5, "Redis has no maxmemory", "Redis has no maxmemory"),
    ],
)
def test_why_nothing_is_known_is_told(free: float, a_day: float | None, why: str | None, told: str) -> None:
    found = lasting(free, a_day, NOW, why)
    assert (found.days, found.at) == (None, None)
    assert told in (found.unknown or "")
