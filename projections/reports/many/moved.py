"""How the reading of a whole store would change: one owner's figures, and the figures of many, which can be added up in any order.

Nothing here holds what anybody said: owners are named, memories are counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from heapq import nlargest
from typing import TYPE_CHECKING

import msgspec

from projections.laws.modes import REASONS
from projections.memory.record import LEVELS

if TYPE_CHECKING:
    from projections.reports.sides import Side, Standings
    from projections.views.view import OwnerView

TOP = 10
"""Memories of an owner whose order is compared: those that a prompt would hold."""
MOST_OWNERS = 20
"""Owners that are named: those of whom most changes."""
SAME = 1e-6
"""Weights that differ by less are the same, as everywhere."""


class OrderMoved(msgspec.Struct):
    """How an order of results changes, of one owner or in sum."""

    orders: int = 0
    """How many orders were compared: those with anything on either side."""
    changed: int = 0
    """How many of them are another order."""
    first: int = 0
    """How many begin with another memory."""
    came: int = 0
    went: int = 0

    def take(self, before: list[str], after: list[str]) -> bool:
        """Count one order; whether it changed."""
        if not before and not after:
            return False
        self.orders += 1
        changed = before != after
        self.changed += changed
        self.first += before[:1] != after[:1]
        one, other = set(before), set(after)
        self.came += len(other - one)
        self.went += len(one - other)
        return changed

    def add(self, other: OrderMoved) -> None:
        """Add another's."""
        for name in self.__struct_fields__:
            setattr(self, name, getattr(self, name) + getattr(other, name))


class OwnerMoved(msgspec.Struct):
    """One owner, of whom something changes."""

    owner: str
    changes: int
    """Memories that come, go, weigh or stand otherwise."""
    came: int
    went: int
    """Into and out of what the mode shows."""


class StoreMoved(msgspec.Struct):
    """Many owners in sum. `add` takes in another part: the sum does not depend on how owners were parted."""

    owners: int = 0
    """That were looked at."""
    changed: int = 0
    """Of whom anything changes."""
    untouched: int = 0
    """That have nothing of what is struck."""
    left_out: dict[str, int] = {}
    """Owners that could not be looked at, by the kind of error."""
    memories: int = 0
    """Of today."""
    appear: int = 0
    vanish: int = 0
    """Memories that are there on one side alone."""
    shown_today: int = 0
    shown_then: int = 0
    came: int = 0
    went: int = 0
    why_came: dict[str, int] = {}
    """By the reason for which the mode withholds today what it would show; `not there` of what appears."""
    why_went: dict[str, int] = {}
    levels: dict[str, int] = {}
    """`full>summary`: memories shown on both sides and told otherwise."""
    heavier: int = 0
    lighter: int = 0
    """Memories on both sides whose weight changes."""
    largest_change: float = 0.0
    by_weight: OrderMoved = msgspec.field(default_factory=OrderMoved)
    """The first ten by weight of each owner."""
    questions: dict[str, OrderMoved] = {}
    most: list[OwnerMoved] = []
    """The owners of whom most changes."""

    def add(self, other: StoreMoved) -> None:
        """Take in another part."""
        for name in _COUNTS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for name in _TALLIES:
            _add(getattr(self, name), getattr(other, name).items())
        self.largest_change = max(self.largest_change, other.largest_change, key=lambda one: (abs(one), one))
        self.by_weight.add(other.by_weight)
        for text, order in other.questions.items():
            self.questions.setdefault(text, OrderMoved()).add(order)
        self.most = _most([*self.most, *other.most])

    def leaves_out(self, kind: str) -> None:
        """Count an owner that cannot be looked at."""
        self.owners += 1
        _add(self.left_out, [(kind, 1)])

    def take(self, owner: str, before: Side, after: Side, mode_standings: tuple[Standings, Standings]) -> bool:
        """Take in one owner by where its memories stand on both sides; whether anything changes."""
        one, other = mode_standings
        first, second = before.view.columns, after.view.columns
        self.owners += 1
        changes = came = went = 0
        for row, name in enumerate(first.ids):
            there = second.row(name)
            shown = int(one.reasons[row]) < 0
            self.memories += 1
            self.shown_today += shown
            if there is None:
                self.vanish += 1
                changes += 1
                if shown:
                    went += 1
                    _add(self.why_went, [(NOT_THERE, 1)])
                continue
            shown_then = int(other.reasons[there]) < 0
            self.shown_then += shown_then
            changes += self._moved(one, row, other, there)
            if shown and not shown_then:
                went += 1
                _add(self.why_went, [(REASONS[int(other.reasons[there])], 1)])
            elif shown_then and not shown:
                came += 1
                _add(self.why_came, [(REASONS[int(one.reasons[row])], 1)])
            elif shown and one.levels[row] != other.levels[there]:
                told = f"{LEVELS[int(one.levels[row])]}>{LEVELS[int(other.levels[there])]}"
                _add(self.levels, [(told, 1)])
        for row, name in enumerate(second.ids):
            if first.row(name) is None:
                self.appear += 1
                changes += 1
                if int(other.reasons[row]) < 0:
                    self.shown_then += 1
                    came += 1
                    _add(self.why_came, [(NOT_THERE, 1)])
        self.came += came
        self.went += went
        self.by_weight.take(heaviest(before.view, one), heaviest(after.view, other))
        if changes:
            self.changed += 1
            self.most = _most([*self.most, OwnerMoved(owner, changes, came, went)])
        return bool(changes)

    def _moved(self, one: Standings, row: int, other: Standings, there: int) -> bool:
        """Count how a memory's weight changes; whether it stands otherwise at all."""
        change = float(other.weights[there]) - float(one.weights[row])
        if abs(change) >= SAME:
            self.heavier += change > 0
            self.lighter += change < 0
            self.largest_change = max(self.largest_change, change, key=lambda weight: (abs(weight), weight))
        stands = bool(one.levels[row] == other.levels[there] and one.reasons[row] == other.reasons[there])
        return abs(change) >= SAME or not stands


NOT_THERE = "not there"
_COUNTS = (
    *("owners", "changed", "untouched", "memories", "appear", "vanish", "shown_today", "shown_then", "came", "went"),
    *("heavier", "lighter"),
)
_TALLIES = ("left_out", "why_came", "why_went", "levels")


def heaviest(view: OwnerView, standings: Standings, top: int = TOP) -> list[str]:
    """Ids of what is shown, the heaviest first; of the same weight by id, so that both sides have one order."""
    ids = list(view.columns.ids)
    shown = [row for row in range(len(ids)) if int(standings.reasons[row]) < 0]
    return [ids[row] for row in sorted(shown, key=lambda row: (-float(standings.weights[row]), ids[row]))[:top]]


def _most(owners: Iterable[OwnerMoved]) -> list[OwnerMoved]:
    return nlargest(MOST_OWNERS, owners, key=lambda one: (one.came + one.went, one.changes, one.owner))


def _add(counts: dict[str, int], more: Iterable[tuple[str, int]] | Iterator[tuple[str, int]]) -> None:
    for name, many in more:
        counts[name] = counts.get(name, 0) + many
