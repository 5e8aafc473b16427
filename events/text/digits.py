"""Numbers that stand as text where anybody may have written: in Redis, in a queue."""

from __future__ import annotations

MOST_DIGITS = 15
"""Of what every reader of JSON reads exactly."""


def whole(told: str) -> int | None:
    """The whole number that ASCII digits spell, at most 15 of them; None of anything else."""
    return int(told) if told.isascii() and told.isdigit() and len(told) <= MOST_DIGITS else None
