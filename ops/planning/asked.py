"""What a plan is asked for, and what of it is allowed. Pure."""

from __future__ import annotations

from math import isfinite
from typing import Any

import msgspec

from events.errors import refused
from ops.planning.measured import MEASURED_TEXT


class Demand(msgspec.Struct, frozen=True, kw_only=True):
    """What a store is to hold and to bear."""

    events_per_day: float
    owners: int
    memories_per_owner: float | None = None
    """None: as many as the events make."""
    active: float = 0.1
    """Share of the owners who are active on a day."""
    peak: float = 5.0
    """The busiest second to the mean one."""
    text: int = MEASURED_TEXT
    """Bytes of a text in the mean."""
    days: int = 365
    replicas: int = 1
    primaries: int | None = None
    """None: as many as it takes."""
    node_gib: float = 64.0
    """GiB of memory of a node."""
    hot_hours: float | None = None
    """What the log of so many hours alone would take, if there were an archive for the rest."""
    sealed: bool = False


class PresentStore(msgspec.Struct, frozen=True, kw_only=True):
    """What `engramlog capacity --json` tells of a store that is there."""

    events: int
    bytes_an_event: float
    """Of Redis's memory, all that it holds divided by its events."""
    file_bytes_an_event: float | None = None
    events_a_day: float | None = None


RANGES: dict[str, tuple[float, float]] = {
    "events_per_day": (1, 1e12),
    "owners": (1, 1e10),
    "memories_per_owner": (0.01, 1e7),
    "active": (0, 1),
    "peak": (1, 10_000),
    "text": (1, 16_000),
    "days": (1, 36_525),
    "replicas": (0, 5),
    "primaries": (1, 1_024),
    "node_gib": (0.25, 65_536),
    "hot_hours": (0.01, 1e6),
}
"""Both ends are allowed."""


def check_demand(demand: Demand) -> Demand:
    """The same. Raises InputError with field, got and allowed for what is outside of RANGES, and for two primaries: a Cluster has
    three at least."""
    for field, (least, most) in RANGES.items():
        got = getattr(demand, field)
        if got is not None and not (isfinite(got) and least <= got <= most):
            raise refused(field, got, f"{least:,g} to {most:,g}")
    if demand.primaries == 2:
        raise refused("primaries", 2, "1, or 3 and more: a Redis Cluster has no fewer")
    return demand


def read_present(told: bytes) -> PresentStore:
    """What `engramlog capacity --json` printed. Raises InputError where it is something else, or of a store without an event."""
    try:
        answer: Any = msgspec.json.decode(told)
        found = msgspec.convert(
            {
                "events": answer["events"],
                "bytes_an_event": answer["memory"]["bytes_an_event"],
                "file_bytes_an_event": (answer.get("disk") or {}).get("bytes_an_event"),
                "events_a_day": answer["growth"]["events_a_day"],
            },
            PresentStore,
        )
    except (msgspec.MsgspecError, KeyError, TypeError, AttributeError, UnicodeDecodeError) as error:
        allowed = "what `engramlog capacity --json` prints of a store that holds events"
        raise refused("from_capacity", f"{told[:40]!r}", allowed) from error
    if found.events < 1 or not 0 < found.bytes_an_event < float("inf"):
        raise refused("from_capacity", f"{found.events} events", "a store that holds events")
    return found
