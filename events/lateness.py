"""How late an event was recorded: what lies between its two times, where that is more than clocks may differ. Pure."""

from __future__ import annotations

from datetime import timedelta

from engramlog_server.events.vocabulary import FUTURE_TOLERANCE

TOLERATED = FUTURE_TOLERANCE // timedelta(microseconds=1)
"""Microseconds by which an event may be recorded after it happened and is not late."""
_SECOND = 1_000_000
_UNITS = ((86_400, "day"), (3_600, "hour"), (60, "minute"))


def lateness(occurred: int, recorded: int) -> float | None:
    """Seconds from an event to its recording, both in microseconds since 1970; None up to five minutes."""
    if recorded - occurred <= TOLERATED:
        return None
    return (recorded - occurred) / _SECOND


def late_words(seconds: float) -> str:
    """`recorded 263 days later`: in the largest unit of which there are two."""
    size, unit = next((one for one in _UNITS if seconds >= 2 * one[0]), _UNITS[-1])
    return f"recorded {int(seconds // size):,} {unit}s later"
