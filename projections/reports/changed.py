"""What changed between two sides: made, gone, changed, crossed, or moved in its weight alone; and what caused it. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import fields
from typing import Any, NamedTuple, TypedDict

import numpy as np

from engramlog_server.projections.checks import Check, unchecked
from engramlog_server.projections.laws.modes import Mode, visibility
from engramlog_server.projections.memory.columns import Columns
from engramlog_server.projections.reports.sides import Beside, Difference, Side, SideStanding


class FromTo(TypedDict):
    """A value on the two sides."""

    before: Any
    after: Any


class OwnerDiffers(TypedDict):
    """What differs of the owner itself."""

    profile: FromTo | None
    parameters: dict[str, FromTo]


MADE, LEFT, CHANGED, CROSSED, WEIGHT = KINDS = ("made", "gone", "changed", "crossed", "weight")
"""In the order in which they are told."""
EVENTS, ACCESS, OWNER, OTHERS, TIME = CAUSES = ("events", "access", "owner", "others", "time")
_ENDED = ("deleted", "purged")
_OF_READING = frozenset({"weight", "level", "shown", "reason"})
"""What an instant, a law or another memory changes of a record that is the same."""


class Touches(NamedTuple):
    """Which events are part of one side alone, as far as they are about memories."""

    events: Mapping[str, int]
    """Memory -> how many that did something to it."""
    naming: Collection[str]
    """Memories that others named, and that no event of these was about."""
    accessed: Callable[[], Collection[str]]
    """Memories that were shown: asked for where a record differs and no event was about it."""
    ended: Collection[str]
    """Memories that were deleted or purged by one."""
    of_owner: bool
    """Whether any was about the owner: its profile, parameters, synonyms, what it rejected or set aside."""
    any: bool


class Changed(NamedTuple):
    """One memory's difference with its kind and its cause."""

    kind: str
    cause: str
    difference: Difference


class Sorting:
    """Tells kinds and causes of differences between two sides."""

    def __init__(self, before: Side, after: Side, mode: Mode, touches: Touches, moved: Collection[str]) -> None:
        """`moved`: memories whose rank among a question's results moved."""
        self._touches, self._moved = touches, moved
        self._by_owner = _under_other_settings(before, after, mode)
        self._after = after.view.columns

    def of(self, found: Difference) -> Changed:
        """The kind and the cause of one."""
        cause = self._cause(found)
        return Changed(self._kind(found, cause), cause, found)

    def _cause(self, found: Difference) -> str:
        touches = self._touches
        if found.id in touches.events or (found.touched and found.id in touches.naming):
            return EVENTS
        if found.touched and found.id in touches.accessed():
            return ACCESS
        if (
            found.touched and not set(found.otherwise) <= _OF_READING
        ):  # it is read beside what was set aside, or rejected
            return OWNER if touches.of_owner else OTHERS
        row = self._after.row(found.id)
        if row is not None and row in self._by_owner:
            return OWNER
        return OTHERS if touches.any and self._by_others(found) else TIME

    def _by_others(self, found: Difference) -> bool:
        """Whether what happened to other memories decides: it was corrected by one, or its rank alone moved."""
        reasons = {one["reason"] for one in (found.before, found.after) if one is not None}
        if "corrected" in reasons and "reason" in found.otherwise:
            return True
        return found.id in self._moved and not set(found.otherwise) & {"level", "shown"}

    def _kind(self, found: Difference, cause: str) -> str:
        before, after = found.before, found.after
        if before is None:
            return MADE
        if after is None or (found.id in self._touches.ended and _ended(after)):
            return LEFT
        if _ended(after) and not _ended(before):
            return LEFT
        if cause == EVENTS or found.fields or not set(found.otherwise) <= _OF_READING:
            return CHANGED
        if set(found.otherwise) != {"weight"} or found.id in self._moved:
            return CROSSED
        return WEIGHT


def _ended(standing: SideStanding) -> bool:
    return standing["status"] in _ENDED


class Sorted(NamedTuple):
    """Ids of what differs, by kind, and how many weights alone moved, by cause."""

    ids: dict[str, list[str]]
    weights: Counter[str]

    def total(self) -> int:
        """How many are listed."""
        return sum(map(len, self.ids.values()))

    def page(self, offset: int, limit: int) -> list[str]:
        """Some of them, kind after kind."""
        found = [one for kind in KINDS for one in self.ids[kind]]
        return found[offset : offset + limit]


def sorted_out(sides: Beside, sorting: Sorting, touches: Touches, *, every: bool, check: Check = unchecked) -> Sorted:
    """All differences by kind; no more than ids is kept of them. `every`: also what moved in its weight alone."""
    ids: dict[str, list[str]] = {kind: [] for kind in KINDS}
    weights, met = Counter[str](), set[str]()
    for found in sides.differing(check):
        changed = sorting.of(found)
        if found.id in touches.ended:
            met.add(found.id)
        if changed.kind == WEIGHT:
            weights[changed.cause] += 1
            if not every:
                continue
        ids[changed.kind].append(found.id)
    # What is purged today reads as purged of every past: that it went is told by the events that ended it.
    for one in touches.ended:
        if one not in met:
            alike = sides.standing(one)
            if alike.before is not None and alike.after is not None and alike.after["status"] == "purged":
                ids[LEFT].append(one)
    return Sorted(ids, weights)


def _under_other_settings(before: Side, after: Side, mode: Mode) -> frozenset[int]:
    """Rows of the later side that would stand otherwise under the settings of the earlier one."""
    one, other = before.view, after.view
    if one.state.profile == other.state.profile and one.parameters == other.parameters:
        return frozenset()
    columns: Columns = other.columns
    here = visibility(columns, other.law, after.now, other.parameters, mode)
    there = visibility(columns, one.law, after.now, one.parameters, mode)
    moved = (
        (np.round(here.weights, 6) != np.round(there.weights, 6))
        | (here.levels != there.levels)
        | (here.reasons != there.reasons)
    )
    return frozenset(np.flatnonzero(moved).tolist())


def owner_differs(before: Side, after: Side) -> OwnerDiffers:
    """What differs of the owner itself: its law, and its parameters by name."""
    one, other = before.view, after.view
    told: OwnerDiffers = {"profile": None, "parameters": {}}
    if one.state.profile != other.state.profile:
        told["profile"] = {"before": one.state.profile, "after": other.state.profile}
    for name in (field.name for field in fields(one.parameters)):
        here, there = getattr(one.parameters, name), getattr(other.parameters, name)
        if here != there:
            told["parameters"][name] = {"before": here, "after": there}
    return told


def ids_of(moved: Iterable[Iterable[str]]) -> frozenset[str]:
    """All ids of several lists."""
    return frozenset(one for ids in moved for one in ids)
