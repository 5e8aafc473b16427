"""Upcasters: an event of an older schema version, read as if it had been written today.

The log is never rewritten. An upcaster takes the data of version n and gives that of version n + 1; it is pure, and
tests/golden/events keeps one stored event of each version that was ever written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from engramlog_server.events.catalogue import LATEST_VERSION

Document = dict[str, Any]
Upcaster = Callable[[Document], Document]


def unchanged(document: Document) -> Document:
    """The step of a version that only brought fields which may be left out: what was written before it stays as it is."""
    return document


UPCASTERS: Mapping[tuple[str, int], Upcaster] = {("MemoriesAccessed", 1): unchanged}
"""(event type, version) -> what makes its envelope one of version + 1.

Version 2 of `MemoriesAccessed` holds each access by itself. Of the sums of version 1 (`hits`) nobody can say which answers
they came from, so they stay sums: nothing is invented.
"""


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


def reads_as_it_is(event_type: str, version: int) -> bool:
    """Whether stored bytes of this version are read by the latest shape just as they are, but for the version they tell."""
    return all(UPCASTERS.get((event_type, step)) is unchanged for step in range(version, LATEST_VERSION[event_type]))
