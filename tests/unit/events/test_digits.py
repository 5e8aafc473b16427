"""Numbers in text: what ASCII digits spell, and nothing else."""

from __future__ import annotations

from engramlog_server.events.text import whole
from tests.rows import each_row


@each_row(("told", "number"), [("0", 0), ("007", 7), ("9" * 15, 10**15 - 1)])
def test_digits_spell_a_number(told: str, number: int) -> None:
    assert whole(told) == number


@each_row("told", ["", "²", "٣", "９", "-1", "+1", " 1", "1_0", "1.0", "0x1", "9" * 16])
def test_anything_else_spells_none(told: str) -> None:
    assert whole(told) is None
