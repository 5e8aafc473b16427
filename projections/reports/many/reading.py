"""What reading the turns of many owners led to, or would lead to, in sum; nothing here holds what anybody said."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from heapq import nsmallest
from typing import Any

import msgspec

from projections.reports.many.figures import OwnersFigures, tally

MOST_OWNERS = 20
"""Owners that are named: those of whom most comes."""
NOTHING = frozenset({"skip"})
"""What is counted and changes nothing."""


class OwnerRead(msgspec.Struct):
    """One owner, of whose turns something comes, or would."""

    owner: str
    changes: int
    """Statements, or decisions, that change something; memories that would be gone too."""
    left: int
    """Turns that are still to be read."""


class TurnsRead(OwnersFigures, tag="extract"):
    """What reading many owners' turns came to, in sum."""

    own = frozenset({"most"})
    changed: int = 0
    """Of whom anything changes, or would."""
    read: int = 0
    """Turns that were read; of a dry run by rules none is told."""
    left: int = 0
    """Turns that are still to be read: a model failed."""
    counts: dict[str, int] = msgspec.field(default_factory=dict)
    """As an extraction of one owner counts: what statements become (dry run), or what was done."""
    appended: int = 0
    """Events that are in the log now."""
    by_rules: int = 0
    """Turns that rules read since the model had no usable answer."""
    troubled: int = 0
    """Owners in whose turns a model failed; those that are left wait for a next run."""
    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    most: list[OwnerRead] = msgspec.field(default_factory=list)
    """The owners of whom most comes."""

    def add(self, other: OwnersFigures) -> None:
        """Take in another part."""
        assert isinstance(other, TurnsRead)
        OwnersFigures.add(self, other)
        self.most = _most([*self.most, *other.most])

    def take(self, owner: str, answer: Mapping[str, Any]) -> None:
        """Take in what extraction answered of one owner."""
        usage, counts = answer.get("usage") or {}, answer["counts"]
        changes = sum(many for name, many in counts.items() if name not in NOTHING)
        left = answer.get("left") or 0
        self.owners += 1
        self.read += answer.get("read") or 0
        self.left += left
        self.appended += answer.get("appended") or 0
        self.by_rules += len(answer.get("by_rules") or ())
        self.troubled += answer.get("trouble") is not None
        self.requests += usage.get("requests", 0)
        self.input_tokens += usage.get("input_tokens", 0)
        self.output_tokens += usage.get("output_tokens", 0)
        self.quarantined += answer.get("quarantined") is not None
        self.behind += bool(answer.get("behind"))
        tally(self.counts, counts.items())
        if changes or left:
            self.changed += changes > 0
            self.most = _most([*self.most, OwnerRead(owner, changes, left)])


def _most(owners: Iterable[OwnerRead]) -> list[OwnerRead]:
    """First those of whom most changes; of as much by how much is left, then by name."""
    return nsmallest(MOST_OWNERS, owners, key=lambda one: (-one.changes, -one.left, one.owner))
