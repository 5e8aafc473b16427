"""How the reading of a whole store would change: one owner's figures, and the figures of many, which can be added up in any order.

Nothing here holds what anybody said: owners are named, memories are counted. What differs, and in what, is what a replay of one
owner tells (`projections.reports.sides`).
"""

from __future__ import annotations

from collections.abc import Iterable
from heapq import nsmallest
from typing import TYPE_CHECKING, Any

import msgspec

from engramlog_server.projections.checks import Check, unchecked
from engramlog_server.projections.reports.sides import Beside

if TYPE_CHECKING:
    from engramlog_server.projections.laws.modes import Mode
    from engramlog_server.projections.reports.sides import Difference, Side, Standings
    from engramlog_server.projections.views.view import OwnerView

MODE: Mode = "normal"
"""What is told of: what a prompt would hold."""
TOP = 10
"""Memories of an owner whose order is compared: those that a prompt would hold first."""
MOST_OWNERS = 20
"""Owners that are named: those of whom most changes."""
NOT_THERE = "not_there"
_OWN_SUM = frozenset({"largest_change", "by_weight", "questions", "most"})
"""Fields of `StoreMoved` that are added up in a way of their own."""


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

    def take(self, before: list[str], after: list[str]) -> None:
        """Count one order."""
        if not before and not after:
            return
        self.orders += 1
        self.changed += before != after
        self.first += before[:1] != after[:1]
        self.came += len(set(after).difference(before))
        self.went += len(set(before).difference(after))

    def add(self, other: OrderMoved) -> None:
        """Add another's."""
        for name in self.__struct_fields__:
            setattr(self, name, getattr(self, name) + getattr(other, name))


class OwnerMoved(msgspec.Struct):
    """One owner, of whom something changes."""

    owner: str
    changes: int
    """Memories that appear, vanish or stand otherwise."""
    came: int
    went: int
    """Into and out of what the mode shows."""


class StoreMoved(msgspec.Struct):
    """How the reading of many owners would change, in sum. `add` takes in another part, in any order."""

    owners: int = 0
    """All that were looked at, or could not be."""
    quarantined: int = 0
    """Looked at as of before the event that stuck: what follows there is in no figure."""
    behind: int = 0
    """Looked at as far as they are folded: newer events of them wait."""
    left_out: dict[str, int] = msgspec.field(default_factory=dict)
    """Owners that could not be looked at, by the kind of error."""
    changed: int = 0
    """Of whom anything changes."""
    untouched: int = 0
    """That have nothing of what is left out."""
    events: int = 0
    """Folded, of today."""
    struck: int = 0
    """Of these, those that are left out."""
    memories: int = 0
    """Of today."""
    changes: int = 0
    """Memories that appear, vanish or stand otherwise."""
    appear: int = 0
    vanish: int = 0
    """Memories that are there on one side alone."""
    changed_fields: dict[str, int] = msgspec.field(default_factory=dict)
    """In what memories of both sides differ, as a replay of one owner tells it."""
    shown_today: int = 0
    shown_then: int = 0
    came: int = 0
    went: int = 0
    why_came: dict[str, int] = msgspec.field(default_factory=dict)
    """By the reason for which the mode withholds today what it would show; `not_there` of what appears."""
    why_went: dict[str, int] = msgspec.field(default_factory=dict)
    levels: dict[str, int] = msgspec.field(default_factory=dict)
    """`full>summary`: memories shown on both sides and told otherwise."""
    heavier: int = 0
    lighter: int = 0
    """Memories of both sides whose weight changes."""
    largest_change: float = 0.0
    by_weight: OrderMoved = msgspec.field(default_factory=OrderMoved)
    """The first ten by weight of each owner."""
    questions: dict[str, OrderMoved] = msgspec.field(default_factory=dict)
    most: list[OwnerMoved] = msgspec.field(default_factory=list)
    """The owners of whom most changes."""

    def add(self, other: StoreMoved) -> None:
        """Take in another part. Counts are added, tallies value by value."""
        for name in self.__struct_fields__:
            if name in _OWN_SUM:
                continue
            mine, more = getattr(self, name), getattr(other, name)
            if isinstance(mine, dict):
                tally(mine, more.items())
            else:
                setattr(self, name, mine + more)
        self._change(other.largest_change)
        self.by_weight.add(other.by_weight)
        for text, order in other.questions.items():
            self.questions.setdefault(text, OrderMoved()).add(order)
        self.most = _most([*self.most, *other.most])

    def leaves_out(self, kind: str) -> None:
        """Count an owner that cannot be looked at."""
        self.owners += 1
        tally(self.left_out, [(kind, 1)])

    def told(self) -> dict[str, Any]:
        """JSON-ready."""
        found: dict[str, Any] = msgspec.to_builtins(self)
        return found

    def take(self, owner: str, before: Side, after: Side, check: Check = unchecked) -> None:
        """Take in one owner by its two sides."""
        beside = Beside(before, after, MODE)
        one, other = beside.standings
        shown_today, shown_then = int((one.reasons < 0).sum()), int((other.reasons < 0).sum())
        changes, came, went = 0, self.came, self.went
        for changes, difference in enumerate(beside.differing(check), 1):  # noqa: B007 - how many there were
            self._differs(difference)
        self.owners += 1
        self.changes += changes
        self.memories += len(before.view.columns)
        self.shown_today += shown_today
        self.shown_then += shown_then
        self.by_weight.take(heaviest(before.view, one), heaviest(after.view, other))
        if changes:
            self.changed += 1
            self.most = _most([*self.most, OwnerMoved(owner, changes, self.came - came, self.went - went)])

    def _differs(self, found: Difference) -> None:
        """Count a memory that stands otherwise on the two sides, or on one alone."""
        today, then = found.before, found.after
        self.appear += today is None
        self.vanish += then is None
        shown, shown_then = today is not None and today["shown"], then is not None and then["shown"]
        if shown and not shown_then:
            self.went += 1
            tally(self.why_went, [(NOT_THERE if then is None else str(then["reason"]), 1)])
        elif shown_then and not shown:
            self.came += 1
            tally(self.why_came, [(NOT_THERE if today is None else str(today["reason"]), 1)])
        if today is None or then is None:
            return
        tally(self.changed_fields, ((name, 1) for name in found.names))
        if shown and shown_then and today["level"] != then["level"]:
            tally(self.levels, [(f"{today['level']}>{then['level']}", 1)])
        change = round(then["weight"] - today["weight"], 6)  # as weights are told
        self.heavier += change > 0
        self.lighter += change < 0
        self._change(change)

    def _change(self, change: float) -> None:
        self.largest_change = max(self.largest_change, change, key=lambda one: (abs(one), one))


def heaviest(view: OwnerView, standings: Standings, top: int = TOP) -> list[str]:
    """Ids of what is shown, the heaviest first; of the same weight by id, so that both sides have one order."""
    shown = (standings.reasons < 0).nonzero()[0].tolist()
    weights, ids = standings.weights.tolist(), list(view.columns.ids)
    return [ids[row] for row in nsmallest(top, shown, key=lambda row: (-weights[row], ids[row]))]


def _most(owners: Iterable[OwnerMoved]) -> list[OwnerMoved]:
    """First those into or out of whose prompts most comes and goes; of as much by name."""
    return nsmallest(MOST_OWNERS, owners, key=lambda one: (-one.came - one.went, -one.changes, one.owner))


def tally(counts: dict[str, int], more: Iterable[tuple[str, int]]) -> None:
    """Add counts to those of the same names."""
    for name, many in more:
        counts[name] = counts.get(name, 0) + many
