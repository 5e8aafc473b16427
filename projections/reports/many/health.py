"""How many owners' memories are held, in sum, and what an auditor asks beside: what waits for a person, what may contradict,
what is secret, what stands though what it came from is gone. Nothing here holds what anybody said.

Of one owner these are the figures of `health`, `stats`, `inbox`, `asides` and of the flags of a list.
"""

from __future__ import annotations

from collections.abc import Iterable
from heapq import nsmallest
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from projections.checks import Check, counted, unchecked
from projections.laws.law import FOREVER
from projections.memory.columns import STATES, Columns
from projections.memory.deletion_view import DeletionView
from projections.memory.record import DAY, SECRET
from projections.reports.health import colours, ends, held_rows
from projections.reports.many.figures import OwnersFigures, tally
from projections.views.corrected import seen_at

if TYPE_CHECKING:
    from projections.views.view import OwnerView

MOST_OWNERS = 20
"""Owners that are named: those who most want a look."""
SPANS = (("passed", 0), ("day", 1), ("week", 7), ("month", 30), ("quarter", 90))
"""Within so many days an owner's law does it by itself; what has passed is done, or the next sweep does it. Else `later`."""


class OwnerHealth(msgspec.Struct):
    """One owner of whom something wants a look."""

    owner: str
    waiting: int
    """Things that wait for a person."""
    conflicting: int
    orphaned: int
    red: int


class StoreHealth(OwnersFigures, tag="health"):
    """The health of many owners' memories, in sum."""

    own = frozenset({"most"})
    events: int = 0
    """Folded."""
    memories: int = 0
    by_state: dict[str, int] = msgspec.field(default_factory=dict)
    by_source: dict[str, int] = msgspec.field(default_factory=dict)
    """Live memories by who said them."""
    by_sensitivity: dict[str, int] = msgspec.field(default_factory=dict)
    """All memories by how sensitive they are, 0 to 3: 3 is a secret."""
    profiles: dict[str, int] = msgspec.field(default_factory=dict)
    """Owners by the law that they live by."""
    live: int = 0
    shown: int = 0
    """In normal mode."""
    colours: dict[str, int] = msgspec.field(default_factory=dict)
    """Live memories by Ebbinghaus strength: green from 70, yellow from 30, red below."""
    strengths: int = 0
    """Those strengths in sum, in percent."""
    archives: dict[str, int] = msgspec.field(default_factory=dict)
    deletes: dict[str, int] = msgspec.field(default_factory=dict)
    """Live memories that their owner's law archives, or deletes, by itself, by how soon (`SPANS`); else in none."""
    negated: int = 0
    secret: int = 0
    waiting: int = 0
    """Things that wait for a person: what is proposed, and changes of a user's own word."""
    waiting_owners: int = 0
    conflicting: int = 0
    """Live memories that may contradict another live one."""
    ground_changed: int = 0
    """Live memories whose ground has another digest by now."""
    orphaned: int = 0
    """Live memories that stand though what they were made of was deleted, or purged."""
    asides: int = 0
    """Sources that are set aside; what that withholds is `by_state`'s `set_aside`."""
    most: list[OwnerHealth] = msgspec.field(default_factory=list)
    """The owners who most want a look."""

    def add(self, other: OwnersFigures) -> None:
        """Take in another part."""
        assert isinstance(other, StoreHealth)
        OwnersFigures.add(self, other)
        self.most = _most([*self.most, *other.most])

    def take(self, owner: str, view: OwnerView, now: int, waiting: int, check: Check = unchecked) -> None:
        """Take in one owner as it is read at `now`, with how many things wait for a person."""
        columns = view.columns
        rows, strengths = held_rows(view, now)
        live = [columns.memories[row] for row in rows.tolist()]
        by_colour = colours(strengths)
        self.owners += 1
        self.events += view.state.applied
        self.memories += len(columns)
        self.live += len(live)
        self.shown += int(seen_at(view, now, "normal").shown.sum())
        self.strengths += int(strengths.sum())
        tally(self.colours, by_colour.items())
        tally(self.profiles, [(view.law.name, 1)])
        tally(self.by_state, _counts(columns.standing(), STATES))
        tally(self.by_source, ((one.source, 1) for one in live))
        tally(self.by_sensitivity, _counts(columns.sensitivity, [str(level) for level in range(SECRET + 1)]))
        for told, at in zip((self.archives, self.deletes), ends(view, columns.only(rows)), strict=True):
            tally(told, _soon(at, now))
        self.negated += int((columns.conflict != Columns.HELD).sum())
        self.secret += int((columns.sensitivity >= SECRET).sum())
        self.ground_changed += int((columns.ground_changed[rows] != 0).sum())
        self.asides += sum(one.stands for one in view.state.asides)
        conflicting = 0
        for one in counted(live, check, len(live)):
            found = columns.rows(one.conflicts) if one.conflicts else None
            conflicting += found is not None and bool((columns.state[found[found >= 0]] == Columns.LIVE).any())
        orphaned = 0
        if bool((columns.state >= Columns.DELETED).any()):
            gone = DeletionView(columns)
            orphaned = sum(gone.reason(one) is not None for one in counted(live, check, len(live)))
        self.conflicting += conflicting
        self.orphaned += orphaned
        self.waiting += waiting
        self.waiting_owners += waiting > 0
        if waiting or conflicting or orphaned or by_colour["red"]:
            self.most = _most([*self.most, OwnerHealth(owner, waiting, conflicting, orphaned, by_colour["red"])])

    def told(self) -> dict[str, Any]:
        """JSON-ready, with the mean strength; None of none."""
        mean = round(self.strengths / self.live, 2) if self.live else None
        return {**OwnersFigures.told(self), "mean_strength": mean}


def _counts(numbers: np.ndarray, names: Iterable[str]) -> list[tuple[str, int]]:
    """How many there are of each number that there is any of, by name."""
    told = list(names)
    counts = np.bincount(numbers, minlength=len(told)).tolist()
    return [(name, count) for name, count in zip(told, counts, strict=True) if count]


def _soon(instants: np.ndarray, now: int) -> list[tuple[str, int]]:
    """How many of these instants come within each span, of those that come at all."""
    told = instants[instants < FOREVER]
    bounds = np.array([now + days * DAY for _, days in SPANS])
    return _counts(np.searchsorted(bounds, told, side="left"), [*(name for name, _ in SPANS), "later"])


def _most(owners: Iterable[OwnerHealth]) -> list[OwnerHealth]:
    """First those for whom most waits for a person, then by what may contradict, stands alone or fades; of as much by name."""
    return nsmallest(
        MOST_OWNERS, owners, key=lambda one: (-one.waiting, -one.conflicting, -one.orphaned, -one.red, one.owner)
    )
