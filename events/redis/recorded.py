"""When entries of a log were recorded, without reading more of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engramlog_server.events.errors import LogGap
from engramlog_server.events.redis.log import entries
from engramlog_server.events.redis.wire import Wire


def recorded_of(wire: Wire, places: Sequence[tuple[str, int]]) -> list[int | None]:
    """When the entries at these places (a stream, a seq) were recorded, as `recorded_in`: one round trip. Raises StoreError."""
    asked = [["XRANGE", stream, f"{seq}-0", f"{seq}-0"] for stream, seq in places]
    return [recorded_in(answer) for answer in (wire.answers(asked) if asked else ())]


def recorded_in(answer: list[Any] | None, tag: str = "") -> int | None:
    """When the first of these entries was recorded, microseconds since 1970.

    None where there is none, or where no append wrote it.
    """
    try:
        return next((one.recorded for one in entries(answer, tag)), None)
    except LogGap:
        return None
