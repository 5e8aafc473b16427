"""The one place that reads the wall clock; everything else takes the time as an argument."""

from __future__ import annotations

import time
from datetime import UTC, datetime


def now_micros() -> int:
    """Microseconds since 1970 by this machine's clock."""
    return time.time_ns() // 1_000


def this_second() -> int:
    """Seconds since 1970."""
    return now_micros() // 1_000_000


def lasting_seconds() -> float:
    """Seconds of a clock that never goes back; while the machine sleeps it goes on, where the system has such a one."""
    asleep_too = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if asleep_too is None else time.clock_gettime(asleep_too)


def now() -> datetime:
    """The aware date-time of now, UTC."""
    return datetime.now(UTC)
