"""Two readings of one owner beside each other: where each memory stands on either, and how questions rank. Pure.

A side is a view and the instant at which it is read: of two moments, or of what was and what would be without some events.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, TypedDict

import numpy as np

from engramlog_server.projections.checks import Check, counted, unchecked
from engramlog_server.projections.laws.modes import REASONS, Mode
from engramlog_server.projections.memory.columns import Flags, Rows
from engramlog_server.projections.memory.record import LEVELS, SECRET, Memory, trust_told
from engramlog_server.projections.ranking.recall import search
from engramlog_server.projections.ranking.search_request import ALONE
from engramlog_server.projections.views.query import ViewQuery, card, seen_at, status
from engramlog_server.projections.views.view import OwnerView


class RankMoved(TypedDict):
    """A result that stands elsewhere, came or went."""

    id: str
    before: int | None
    after: int | None
    passed: str | None


class QuestionMoved(TypedDict):
    """One question's results on two sides."""

    query: str
    before: list[str]
    after: list[str]
    moved: list[RankMoved]


class SideStanding(TypedDict):
    """Where a memory stands on one of two sides."""

    weight: float
    level: str
    status: str
    trust: str
    is_negated: bool
    mention_count: int
    shown: bool
    reason: str | None


class SidesDiffer(TypedDict):
    """A memory that stands otherwise on two sides, or on one alone."""

    id: str
    before: SideStanding | None
    after: SideStanding | None
    fields: list[str]


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
    def by_time_alone(self) -> bool:
        """Whether nothing but its weight differs: it may be the same record, read at another instant."""
        return not self.fields and self.otherwise == ["weight"]

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


def side_standings(side: Side, mode: Mode) -> dict[str, SideStanding]:
    """Memory -> where it stands. `shown` and `reason` are those of the mode where nothing is asked; weights are unclipped."""
    found = Standings(side, mode)
    return {memory.id: found.of(row, memory) for row, memory in enumerate(side.view.columns)}


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
