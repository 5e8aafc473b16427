"""The two time lines of an owner: the first and last moment, and the number of events in each of so many equal parts. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from engramlog_server.events.envelope import TOLERATED
from engramlog_server.projections.past.folding import Bytes, Integers, OwnerEvents, number_of

GROUPS = ("made", "changed", "ended", "seen", "talk")
"""What events of a type do, in a word."""
_TYPES: Mapping[str, tuple[str, ...]] = {
    "made": ("MemoryCreated", "FactAsserted"),
    "ended": (
        "MemoryNegated",
        "MemoryDeleted",
        "MemoryPurged",
        "MemoryErased",
        "FactRetracted",
        "ValueRejected",
        "SourceSetAside",
    ),
    "seen": ("MemoriesAccessed", "MemoriesRevealed"),
    "talk": ("TurnRecorded", "ToolResultRecorded", "TurnsExtracted"),
}
"""Every other type changes what is there."""
_SECOND = 1_000_000


def _groups_of_types() -> Bytes:
    found = np.full(256, GROUPS.index("changed"), np.uint8)
    for group, types in _TYPES.items():
        found[[number_of(one) for one in types]] = GROUPS.index(group)
    return found


_GROUP_OF = _groups_of_types()


class LineEnds(NamedTuple):
    """From when to when events lie on a line, microseconds since 1970; None where there are none."""

    first: int | None
    last: int | None


class LineParts(NamedTuple):
    """A line in equal parts. Times are microseconds since 1970, both ends lie in it; None where nothing says where it lies."""

    since: int | None
    until: int | None
    events: int
    counts: list[int]
    groups: dict[str, list[int]] | None

    @property
    def seconds(self) -> float:
        """How long each part is."""
        if self.since is None or self.until is None:
            return 0.0
        return (self.until - self.since + 1) / len(self.counts) / _SECOND


def ends_of(instants: Integers) -> LineEnds:
    """The first and the last of some instants."""
    return LineEnds(int(instants.min()), int(instants.max())) if len(instants) else LineEnds(None, None)


def late_among(events: OwnerEvents) -> int:
    """How many were recorded more than five minutes after they happened, as `events.envelope` has it of one."""
    return int((events.recorded - events.happened > TOLERATED).sum())


def in_parts(
    instants: Integers, types: Bytes, since: int | None, until: int | None, count: int, *, by_group: bool
) -> LineParts:
    """So many equal parts of a line, with how many of these instants lie in each; all of them lie in it.

    An end that is None is the first, or the last, of the instants.
    """
    first, last = ends_of(instants)
    since = first if since is None else since
    until = last if until is None else until
    since = until if since is None else since
    until = since if until is None else until
    if since is None or until is None:
        empty = [0] * count
        return LineParts(None, None, 0, empty, dict.fromkeys(GROUPS, empty) if by_group else None)
    length = until - since + 1
    starts = np.array([since + part * length // count for part in range(count)], np.int64)
    places = np.searchsorted(starts, instants, side="right") - 1
    groups = None
    if by_group:
        found = np.bincount(_GROUP_OF[types] * np.int64(count) + places, minlength=len(GROUPS) * count)
        groups = dict(zip(GROUPS, found.reshape(len(GROUPS), count).tolist(), strict=True))
    return LineParts(since, until, len(instants), np.bincount(places, minlength=count).tolist(), groups)
