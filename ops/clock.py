"""The one place that reads the wall clock; everything else takes the time as an argument."""

from __future__ import annotations

import time
from datetime import UTC, datetime


def now_micros() -> int:
    """Microseconds since 1970 by this machine's clock."""
    return time.time_ns() // 1_000


def now() -> datetime:
    """The aware date-time of now, UTC."""
    return datetime.now(UTC)
