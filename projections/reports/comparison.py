"""Comparison of readings: one history under every law, two readings of one owner, and the change of a whole store. Pure.

A law is only a reading of the records, so all of them can be asked at once, whatever the owner's profile. Weights are the
unclipped ones, as thresholds and ranks read them; what normal mode shows is asked of `projections.laws.modes`, law by law.

A side is a view and the instant at which it is read: of two moments, or of what was and what would be without some events. Where
each memory stands on either side, what changed and why, and how questions rank, is the difference of two sides.

The figures of a store add up those of its owners, in any order. They name owners and count memories, and hold nothing that anybody
said.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from heapq import nsmallest
from itertools import combinations, groupby
from math import comb
from typing import Any, NamedTuple

import msgspec
import numpy as np

from engramlog_server.events.parameters import DEFAULTS
from engramlog_server.events.partitions import position_text
from engramlog_server.projections.checks import Check, counted, unchecked
from engramlog_server.projections.laws import LAWS
from engramlog_server.projections.laws.law import Floats, Instants, Law
from engramlog_server.projections.laws.modes import REASONS, Mode, Visibility, reasons_told, visibility
from engramlog_server.projections.memory.columns import Columns, Flags, Rows
from engramlog_server.projections.memory.record import LEVELS, SECRET, Memory, trust_told
from engramlog_server.projections.past.life import RecordTouch, State
from engramlog_server.projections.ranking.recall import search
from engramlog_server.projections.ranking.search_request import ALONE
from engramlog_server.projections.shapes import (
    OwnerDiffers,
    QuestionMoved,
    RankMoved,
    SidesDiffer,
    SideStanding,
    Touch,
)
from engramlog_server.projections.views.query import ViewQuery, card, moment, seen_at, status
from engramlog_server.projections.views.view import OwnerView

# --- all memories at an instant


def compare_laws(view: OwnerView, now: int, limit: int, offset: int = 0, check: Check = unchecked) -> dict[str, Any]:
    """An owner's memories under every law at `now` (microseconds since 1970), those first on which the laws disagree most.

    Ranked are the memories that are neither deleted, merged away nor retired: about the others no law has a say.
    """
    columns = view.columns
    seen = {
        name: visibility(columns, law, now, view.parameters, "normal")
        for name, law in counted(LAWS.items(), check, len(LAWS), every=1)
    }
    rows = np.flatnonzero(columns.standing() == Columns.LIVE)
    ranks = {name: mean_ranks(one.weights[rows]) for name, one in seen.items()}
    spread = np.ptp(np.array(list(ranks.values())), axis=0)
    order = np.lexsort((rows, -spread))[offset : offset + limit]
    return {
        "profile": view.state.profile,
        "laws": {
            name: {
                "threshold": LAWS[name].normal_threshold(view.parameters),
                "shown": int(one.shown.sum()),
                "withheld": reasons_told(one.reasons, "normal"),
            }
            for name, one in seen.items()
        },
        "pairs": [
            {
                "laws": [one, other],
                "shown_by_one": int((seen[one].shown[rows] != seen[other].shown[rows]).sum()),
                "rank_correlation": _correlation(ranks[one], ranks[other]),
            }
            for one, other in counted(combinations(LAWS, 2), check, comb(len(LAWS), 2), every=1)
        ],
        "memories": [
            {
                **_named(columns.memories[rows[at]]),
                "laws": {name: _standing(seen[name], rows[at]) | {"rank": float(ranks[name][at])} for name in LAWS},
                "spread": float(spread[at]),
            }
            for at in counted(order, check, len(order))
        ],
        "total": len(rows),
        "offset": offset,
    }


def mean_ranks(weights: Floats) -> Floats:
    """Rank of every weight, 1 for the highest; equal ones (to 9 decimals) share the mean of their places. Shape (n,)."""
    _, place, counts = np.unique(-np.round(weights, 9), return_inverse=True, return_counts=True)
    ranks: Floats = (np.cumsum(counts) - (counts - 1) / 2)[place]
    return ranks


def _correlation(one: Floats, other: Floats) -> float | None:
    """Spearman's: 1 where two laws order alike, -1 where in reverse; None where one of them tells no memories apart."""
    if one.size < 2 or not one.std() or not other.std():
        return None
    return round(float(np.corrcoef(one, other)[0, 1]), 6)


def _named(memory: Memory) -> dict[str, Any]:
    told = card(memory, "full")
    return {name: told[name] for name in ("id", "memory", "category", "kind", "status")} | {"tier": memory.tier}


def _standing(seen: Visibility, row: int) -> dict[str, Any]:
    reason = int(seen.reasons[row])
    return {
        "weight": round(float(seen.weights[row]), 6),
        "level": LEVELS[int(seen.levels[row])],
        "shown": bool(seen.shown[row]),
        "reason": None if reason < 0 else REASONS[reason],
    }


# --- one memory over time


def curves(
    life: Sequence[RecordTouch], start: int, end: int, points: int, partition: int, check: Check = unchecked
) -> dict[str, Any]:
    """A memory's weights under every law from `start` to `end` (microseconds since 1970), with what touched it meanwhile.

    Beside the evenly spaced `points` (2 and more) there are two instants for every event, just before it and at it, so that
    a jump is drawn as one. A weight is None before the memory's creation and after its purge. Thresholds are those at `end`.
    `folded_together`: how many events came so late that they are told with a later one, as `life_of` says; 0 nearly always.
    """
    touches = [one for one in life if start <= one.at <= end and one.after.memory is not None]
    grid = {start + (end - start) * number // (points - 1) for number in range(points)}
    jumps = {instant for one in touches for instant in (one.at - 1, one.at) if instant >= start}
    times = sorted(grid | jumps)
    moments = [one.at for one in life]
    sheet: dict[str, tuple[list[float | None], list[bool]]] = {name: ([], []) for name in LAWS}
    state, done = State(None, DEFAULTS), 0
    for place, those in groupby(times, lambda instant: bisect_right(moments, instant)):
        check(done, len(times))
        state, instants = life[place - 1].after if place else State(None, DEFAULTS), np.fromiter(those, np.int64)
        done += len(instants)
        for name, law in LAWS.items():
            weights, shown = _meanwhile(state, law, instants)
            sheet[name][0].extend(weights)
            sheet[name][1].extend(shown)
    return {
        "times": [moment(instant) for instant in times],
        "laws": {
            name: {"threshold": LAWS[name].normal_threshold(state.parameters), "weights": weights, "shown": shown}
            for name, (weights, shown) in sheet.items()
        },
        "events": [_told(one, partition) for one in touches],
        "folded_together": sum(one.together - 1 for one in life),
    }


def _meanwhile(state: State, law: Law, instants: Instants) -> tuple[Sequence[float | None], Sequence[bool]]:
    """The weights of a memory that stays as it is, and where it is shown: as columns in which it has a row for each instant."""
    if state.memory is None or state.memory.purged_at is not None:
        return [None] * len(instants), [False] * len(instants)
    columns = Columns()
    columns.put(state.memory)
    rows = columns.only(np.zeros(len(instants), np.int64))
    seen = visibility(rows, law, instants, state.parameters, "normal")
    return [round(weight, 6) for weight in seen.weights.tolist()], seen.shown.tolist()


def _told(touch: RecordTouch, partition: int) -> Touch:
    return {
        "position": position_text(partition, touch.seq),
        "time": moment(touch.at),
        "event": touch.event,
        "decision": touch.decision,
        "reason": touch.reason,
        "weights": {
            name: {"before": _weight(name, touch.before, touch.at), "after": _weight(name, touch.after, touch.at)}
            for name in LAWS
        },
    }


def _weight(law: str, state: State, instant: int) -> float | None:
    if state.memory is None or state.memory.purged_at is not None:
        return None
    return round(LAWS[law].read(state.memory, instant, state.parameters).unclipped, 6)


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
