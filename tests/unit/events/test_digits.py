"""Numbers in text: what ASCII digits spell, and nothing else."""

from __future__ import annotations

import pytest

from events.text.digits import whole


@pytest.mark.parametrize(("told", "number"), [("0", 0), ("007", 7), ("9" * 15, 10**15 - 1)])
def test_digits_spell_a_number(told: str, number: int) -> None:
    assert whole(told) == number


@pytest.mark.parametrize("told", ["", "²", "٣", "９", "-1", "+1", " 1", "1_0", "1.0", "0x1", "9" * 16])
def test_anything_else_spells_none(told: str) -> None:
    assert whole(told) is None
