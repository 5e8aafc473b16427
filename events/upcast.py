"""Upcasters: an event of an older schema version, read as if it had been written today.

The log is never rewritten. An upcaster takes the data of version n and gives that of version n + 1; it is pure, and
tests/golden/events keeps one stored event of each version that was ever written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from events.catalogue import LATEST_VERSION

Document = dict[str, Any]
Upcaster = Callable[[Document], Document]

UPCASTERS: Mapping[tuple[str, int], Upcaster] = {}
"""(event type, version) -> what makes its envelope one of version + 1. Empty: every type is at version 1."""


def upcast(
    event_type: str,
    version: int,
    document: Document,
    upcasters: Mapping[tuple[str, int], Upcaster] = UPCASTERS,
    latest: Mapping[str, int] = LATEST_VERSION,
) -> Document:
    """The envelope at the latest version of its type; raises KeyError where a step is missing."""
    for step in range(version, latest[event_type]):
        document = upcasters[event_type, step](document)
        document["schema_version"] = step + 1
    return document
