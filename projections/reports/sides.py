"""Two readings of one owner beside each other: where each memory stands on either, what changed and why, how questions rank. Pure.

A side is a view and the instant at which it is read: of two moments, or of what was and what would be without some events.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import fields
from typing import NamedTuple

import numpy as np

from engramlog_server.projections.checks import Check, counted, unchecked
from engramlog_server.projections.laws.modes import REASONS, Mode, visibility
from engramlog_server.projections.memory.columns import Columns, Flags, Rows
from engramlog_server.projections.memory.record import LEVELS, SECRET, Memory, trust_told
from engramlog_server.projections.ranking.recall import search
from engramlog_server.projections.ranking.search_request import ALONE
from engramlog_server.projections.shapes import (
    OwnerDiffers,
    QuestionMoved,
    RankMoved,
    SidesDiffer,
    SideStanding,
)
from engramlog_server.projections.views.query import ViewQuery, card, seen_at, status
from engramlog_server.projections.views.view import OwnerView

_TOLD = ("content", "summary", "keywords", "tags", "category", "kind", "tier", "confidence", "sensitivity")
"""Fields of a record that somebody said, and may say otherwise."""
_PAGE = 1_000
"""Records that are compared in one go."""
_WORDS = frozenset({"content", "summary", "keywords", "tags"})


class Side(NamedTuple):
    """One reading of an owner."""

    view: OwnerView
    now: int
    """Microseconds since 1970."""


class Difference(NamedTuple):
    """A memory that stands otherwise on two sides, or on one alone."""

    id: str
    before: SideStanding | None
    after: SideStanding | None
    fields: tuple[str, ...]
    """What it says that differs, by the names of the record; empty where one side lacks it."""
    made: int
    """Seq of the event that made it."""
    touched: bool = True
    """Whether its record differs: an event that is part of one side alone touched it, or what it is read beside."""

    @property
    def otherwise(self) -> list[str]:
        """Names of what differs of where it stands; all where one side lacks it."""
        one, other = self.before, self.after
        if one is None or other is None:
            return list(one or other or ())
        return [name for name in one if one[name] != other[name]]  # type: ignore[literal-required]

    @property
    def names(self) -> list[str]:
        """Names of all that differs, of where it stands and of what it says; nothing where one side lacks it."""
        return [] if self.before is None or self.after is None else [*self.otherwise, *self.fields]

    def told(self) -> SidesDiffer:
        """As answers tell it."""
        return {"id": self.id, "before": self.before, "after": self.after, "fields": list(self.fields)}


class Standings:
    """Where an owner's memories stand on one side: columns for all of them, and words for the one that is asked for."""

    def __init__(self, side: Side, mode: Mode) -> None:
        """`shown` and `reason` are those of the mode where nothing is asked; weights are unclipped."""
        self._view = side.view
        seen = seen_at(side.view, side.now, mode)
        self.weights = np.round(seen.weights, 6)
        self.levels, self.reasons = seen.levels, seen.reasons

    def of(self, row: int, memory: Memory) -> SideStanding:
        """Of one memory, by its row."""
        reason = int(self.reasons[row])
        return {
            "weight": float(self.weights[row]),
            "level": LEVELS[int(self.levels[row])],
            "status": status(memory),
            "trust": trust_told(memory),
            "is_negated": memory.is_negated,
            "mention_count": memory.mention_count,
            "shown": reason < 0,
            "reason": None if reason < 0 else REASONS[reason],
        }


class Beside:
    """Two sides held beside each other: only columns of their standings are kept, for an owner may have 100,000 memories."""

    def __init__(self, before: Side, after: Side, mode: Mode) -> None:
        self._views = (before.view, after.view)
        self._standings = (Standings(before, mode), Standings(after, mode))

    @property
    def standings(self) -> tuple[Standings, Standings]:
        """Where memories stand, by their rows on each side."""
        return self._standings

    def ids(self) -> Iterator[str]:
        """Of every memory of either side: those of the first side first, in its order."""
        first, second = (view.columns for view in self._views)
        yield from first.ids
        yield from (one for one in second.ids if first.row(one) is None)

    def differing(self, check: Check = unchecked) -> Iterator[Difference]:
        """What `of` finds, of all in the order of `ids`."""
        first, second = (view.columns for view in self._views)
        ids = list(first.ids)
        there = second.rows(ids)
        moved = self._moved(there)
        for row, (memory, at) in enumerate(zip(first.memories, there.tolist(), strict=True)):
            if row % _PAGE == 0:
                check(row, len(self))
            if (moved[row] or memory != second.memories[at]) and (found := self.of(ids[row])) is not None:
                yield found
        for name in second.ids:
            if first.row(name) is None and (found := self.of(name)) is not None:
                yield found

    def _moved(self, there: Rows) -> Flags:
        """Which rows of the first side stand otherwise on the second, where these rows are the same memories; -1: there is none."""
        one, other = self._standings
        lacking, found = there < 0, np.ones(len(there), dtype=bool)
        rows = there[~lacking]
        found[~lacking] = (
            (one.weights[~lacking] != other.weights[rows])
            | (one.levels[~lacking] != other.levels[rows])
            | (one.reasons[~lacking] != other.reasons[rows])
        )
        return found

    def __len__(self) -> int:
        first, second = (view.columns for view in self._views)
        return max(len(first), len(second))

    def of(self, memory_id: str) -> Difference | None:
        """How a memory stands on the two sides; None where it stands alike."""
        here, there = self._of(0, memory_id), self._of(1, memory_id)
        one, other = here.memory, there.memory
        fields = _fields(one, other)
        if here.standing == there.standing and not fields:
            return None
        made = one or other
        touched = one is not other and one != other
        seq = 0 if made is None else made.created_seq
        return Difference(memory_id, here.standing, there.standing, fields, seq, touched)

    def standing(self, memory_id: str) -> Difference:
        """The same also where it stands alike."""
        here, there = self._of(0, memory_id), self._of(1, memory_id)
        made = here.memory or there.memory
        return Difference(memory_id, here.standing, there.standing, (), 0 if made is None else made.created_seq)

    def _of(self, side: int, memory_id: str) -> _Found:
        columns = self._views[side].columns
        row = columns.row(memory_id)
        if row is None:
            return _Found(None, None)
        memory = columns.memories[row]
        return _Found(memory, self._standings[side].of(row, memory))


class _Found(NamedTuple):
    memory: Memory | None
    standing: SideStanding | None


def differing(before: Side, after: Side, mode: Mode, check: Check = unchecked) -> Iterator[Difference]:
    """The memories that stand otherwise on the two sides, or on one alone: those of the first side first, in its order."""
    yield from Beside(before, after, mode).differing(check)


def text_of(memory: Memory | None) -> str | None:
    """What a memory says, as far as it may be told: of a secret that it is withheld, of what is purged nothing."""
    return None if memory is None or memory.purged_at is not None else card(memory, "full")["memory"]


def _fields(one: Memory | None, other: Memory | None) -> tuple[str, ...]:
    """What the two say otherwise. Of a secret no more is told than that its words differ."""
    if one is None or other is None or one is other:
        return ()
    names = tuple(name for name in _TOLD if getattr(one, name) != getattr(other, name))
    if max(one.sensitivity, other.sensitivity) < SECRET:
        return names
    kept = tuple(name for name in names if name not in _WORDS)
    return kept if len(kept) == len(names) else (*kept, "content")


def ranked(side: Side, query: str, mode: Mode, limit: int) -> list[str]:
    """Ids of a question's results by the words of it, the best first."""
    return [one["id"] for one in search(ViewQuery(side.view, side.now, mode), query, limit, ALONE)["results"]]


Rank = Callable[[Side, str, Mode, int], list[str]]
"""A question's results on a side, as `ranked` tells them: another one where vectors are compared too."""


def moved(
    before: Side,
    after: Side,
    queries: Sequence[str],
    mode: Mode,
    limit: int,
    check: Check = unchecked,
    rank: Rank = ranked,
) -> Iterator[QuestionMoved]:
    """Of each question the results on both sides, and what moved, came or went among them; ranks begin at 1."""
    for query in counted(queries, check, len(queries), every=1):
        one, other = rank(before, query, mode, limit), rank(after, query, mode, limit)
        yield {"query": query, "before": one, "after": other, "moved": ranks_moved(one, other)}


def ranks_moved(before: list[str], after: list[str]) -> list[RankMoved]:
    """What moved, came or went among results in their order; ranks begin at 1."""
    return [
        _moved(before, after, name)
        for name in dict.fromkeys(before + after)
        if _rank(before, name) != _rank(after, name)
    ]


def _moved(before: list[str], after: list[str], name: str) -> RankMoved:
    """Where a result stood and stands; and what stands directly above it that did not, or stood there and does not."""
    was, now, passed = _rank(before, name), _rank(after, name), None
    if was is not None and now is not None:
        there, other, place = (after, before[: was - 1], now) if now > was else (before, after[: now - 1], was)
        above = there[place - 2]
        passed = None if above in other else above
    return {"id": name, "before": was, "after": now, "passed": passed}


def _rank(ids: list[str], name: str) -> int | None:
    return ids.index(name) + 1 if name in ids else None


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
