"""How many events a second one Redis could take, appended and folded, if its main thread did nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

AT_LEAST = 30_000
AT_A_TIME = 100


def capacity(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Of the rows of a live fold at 100 events a time: events a second by Redis's CPU, and how that was computed."""
    return [_of(row) for row in rows if row["traffic"] == "live" and row["at_a_time"] == AT_A_TIME]


def _of(row: dict[str, Any]) -> dict[str, Any]:
    append, fold = row["append_server_us"], row["server_us"]
    return {
        "texts": row["texts"],
        "owners": row["owners"],
        "events_a_second": round(1e6 / (append + fold)),
        "at_least": AT_LEAST if row["texts"] == "talk" else None,
        "how": f"1,000,000 / (append {append} + fold {fold} us of Redis's main thread, {AT_A_TIME} events at a time)",
    }
