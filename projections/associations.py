"""Associations between memories: those derived from the records, and those told (seed 004, section 5; memory.md, 10).

    weight = min(1, strongest base + boost)

Bases: overlap of keywords (`keyword`), one task (`co-task`), one project or session within a day (`temporal`), and what
`MemoriesLinked` told. Boosts come from being hit together and from use. The first three are not stored: they are a pure
function of the set of an owner's records, so that neither the order of events nor a rebuild can change them.

An edge of a derived kind holds iff each of the two is among the other's best (5) of that kind: so edges are symmetric,
and bounded on both sides. Best is the higher base, then the nearer in time; of those that tie, the nearest in the order
by (created_at, id), alternately before and after. (By smallest id alone, a hundred memories of one instant would all
choose the same five, and ninety-four would have no edge.) A told edge holds while both memories keep their half.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Iterable
from itertools import chain, zip_longest
from typing import NamedTuple

from events.parameters import Parameters
from projections.columns import Columns, state_of
from projections.keyword_index import KeywordIndex
from projections.memory import HOUR, SECRET, Memory

KEYWORD, CO_TASK, TEMPORAL, CO_HIT = "keyword", "co-task", "temporal", "co-hit"
DERIVED = (KEYWORD, CO_TASK, TEMPORAL)

_MEMO_MOST = 50_000
Entry = tuple[int, str, int]
"""created_at, id, row: the order in which memories came to be."""


class Link(NamedTuple):
    """An edge to another memory: weight = min(1, base + boost) in (0, 1]; `link` names the strongest base's kind."""

    to_row: int
    weight: float
    base: float
    boost: float
    link: str


class AssociationIndex:
    """The associations of one owner's memories, by rows of `projections.columns.Columns`, found when asked for.

    Members are what is not deleted, purged, retired or merged away, and no secret. Not for use by two threads at once.
    """

    def __init__(self) -> None:
        self._members: dict[int, Memory] = {}
        self._rows: dict[str, int] = {}
        self._keywords = KeywordIndex()
        self._tasks: dict[str, _Timeline] = {}
        self._projects: dict[str, _Timeline] = {}
        self._sessions: dict[str, _Timeline] = {}
        self._memo: dict[tuple[str, int], dict[int, float]] = {}
        self._memo_of: tuple[float, ...] = ()
        """The parameters that the memo holds for."""

    def put(self, row: int, memory: Memory) -> None:
        """Take in a memory, new or changed; what it was known by before goes."""
        old = self._members.get(row)
        new = memory if state_of(memory) == Columns.LIVE and memory.sensitivity < SECRET else None
        if (old and _keys(old)) != (new and _keys(new)):
            self._memo.clear()
            if old:
                self._take_out(row, old)
            if new:
                self._take_in(row, new)
        elif new:
            self._members[row] = new

    def neighbours(self, row: int, parameters: Parameters) -> list[Link]:
        """Its edges, the strongest first, then by id; none if the row is no member. An edge of weight 0 is none."""
        memory = self._members.get(row)
        if memory is None:
            return []
        bases, boosts = self._told(memory)
        for kind in DERIVED:
            for other, base in self._nearest(kind, row, parameters).items():
                stronger = other not in bases or base > bases[other][0]
                if stronger and row in self._nearest(kind, other, parameters):
                    bases[other] = (base, kind)
        links = []
        for other, (base, kind) in bases.items():
            boost = boosts.get(other, 0.0)
            if base + boost > 0:
                links.append(Link(other, min(1.0, base + boost), base, boost, kind))
        return sorted(links, key=lambda link: (-link.weight, self.id_of(link.to_row)))

    def id_of(self, row: int) -> str:
        """The id of a member; KeyError if the row is none."""
        return self._members[row].id

    def __contains__(self, row: object) -> bool:
        return row in self._members

    def __len__(self) -> int:
        return len(self._members)

    def _told(self, memory: Memory) -> tuple[dict[int, tuple[float, str]], dict[int, float]]:
        """Base with kind, and boost, by row, of the edges of which both halves are there: the smaller of each."""
        bases: dict[int, tuple[float, str]] = {}
        boosts: dict[int, float] = {}
        for mine in memory.edges:
            other = self._rows.get(mine.to)
            if other is None or mine.to == memory.id:
                continue
            theirs = next((half for half in self._members[other].edges if half.to == memory.id), None)
            if theirs is not None:
                base, kind = min((mine.base, mine.link), (theirs.base, theirs.link))
                boosts[other] = min(mine.boost, theirs.boost)
                bases[other] = (base, kind if base else CO_HIT)
        return bases, boosts

    def _nearest(self, kind: str, row: int, parameters: Parameters) -> dict[int, float]:
        """Rows that are best for this one in a kind, with their bases; remembered until a member changes."""
        memo_of = (parameters.keyword_edge_from, parameters.task_edge, parameters.temporal_edge)
        memo_of += (parameters.temporal_hours, parameters.edges_of_a_kind)
        if self._memo_of != memo_of or len(self._memo) >= _MEMO_MOST:
            self._memo.clear()
            self._memo_of = memo_of
        found = self._memo.get((kind, row))
        if found is None:
            found = self._memo[kind, row] = _FINDERS[kind](self, row, parameters)
        return found

    def _by_keywords(self, row: int, parameters: Parameters) -> dict[int, float]:
        most = parameters.edges_of_a_kind
        found = self._keywords.nearest(row, parameters.keyword_edge_from, most)
        members = self._members
        candidates = (
            (base, _entry(other, members[other]))
            for other, base in zip(found.rows.tolist(), found.overlaps.tolist(), strict=True)
        )
        return _best(_entry(row, members[row]), candidates, most)

    def _by_task(self, row: int, parameters: Parameters) -> dict[int, float]:
        entry, most = _entry(row, self._members[row]), parameters.edges_of_a_kind
        near = _around(self._tasks, self._members[row].task, entry, most)
        return _best(entry, ((parameters.task_edge, other) for other in near), most)

    def _by_time(self, row: int, parameters: Parameters) -> dict[int, float]:
        memory, most, within = self._members[row], parameters.edges_of_a_kind, parameters.temporal_hours * HOUR
        entry = _entry(row, memory)
        near = _around(self._projects, memory.project, entry, most) | _around(
            self._sessions, memory.session, entry, most
        )
        return _best(
            entry,
            ((parameters.temporal_edge, other) for other in near if abs(other[0] - entry[0]) <= within),
            most,
        )

    def _take_in(self, row: int, memory: Memory) -> None:
        self._members[row] = memory
        self._rows[memory.id] = row
        self._keywords.put(row, memory.keywords, memory.created_at)
        entry = _entry(row, memory)
        for lines, key in self._lines(memory):
            if key is not None:
                line = lines.get(key)
                if line is None:
                    line = lines[key] = _Timeline()
                line.add(entry)

    def _take_out(self, row: int, memory: Memory) -> None:
        del self._members[row], self._rows[memory.id]
        self._keywords.drop(row)
        entry = _entry(row, memory)
        for lines, key in self._lines(memory):
            if key is not None:
                lines[key].remove(entry)
                if not lines[key]:
                    del lines[key]

    def _lines(self, memory: Memory) -> Iterable[tuple[dict[str, _Timeline], str | None]]:
        return (self._tasks, memory.task), (self._projects, memory.project), (self._sessions, memory.session)


_FINDERS: dict[str, Callable[[AssociationIndex, int, Parameters], dict[int, float]]] = {
    KEYWORD: AssociationIndex._by_keywords,
    CO_TASK: AssociationIndex._by_task,
    TEMPORAL: AssociationIndex._by_time,
}


class _Timeline:
    """Entries in order. New ones wait until they are asked for: many are sorted at once, a few put in their places."""

    def __init__(self) -> None:
        self._ordered: list[Entry] = []
        self._late: list[Entry] = []

    def add(self, entry: Entry) -> None:
        self._late.append(entry)

    def remove(self, entry: Entry) -> None:
        self._settle()
        del self._ordered[bisect_left(self._ordered, entry)]

    def around(self, entry: Entry, most: int) -> set[Entry]:
        """The `most` entries before this one and the `most` after it."""
        self._settle()
        place = bisect_left(self._ordered, entry)
        return {*self._ordered[max(0, place - most) : place], *self._ordered[place + 1 : place + 1 + most]}

    def _settle(self) -> None:
        if len(self._late) * 32 < len(self._ordered):
            for entry in self._late:
                insort(self._ordered, entry)
        else:
            self._ordered += self._late
            self._ordered.sort()
        self._late.clear()

    def __len__(self) -> int:
        return len(self._ordered) + len(self._late)


def _around(lines: dict[str, _Timeline], key: str | None, entry: Entry, most: int) -> set[Entry]:
    return lines[key].around(entry, most) if key is not None else set()


def _entry(row: int, memory: Memory) -> Entry:
    return memory.created_at, memory.id, row


def _keys(memory: Memory) -> tuple[object, ...]:
    """All that derived edges are made from."""
    return memory.id, memory.created_at, memory.keywords, memory.task, memory.project, memory.session


def _best(mine: Entry, candidates: Iterable[tuple[float, Entry]], most: int) -> dict[int, float]:
    """Base by row of the best: higher base, then nearer in time, then nearest in order, before and after in turn."""
    ranked = sorted((-base, abs(entry[0] - mine[0]), entry) for base, entry in candidates)
    if len(ranked) > most:
        last = ranked[most - 1][:2]
        surely = [one for one in ranked[:most] if one[:2] < last]
        tied = [one for one in ranked if one[:2] == last]
        before = [one for one in reversed(tied) if one[2] < mine]
        after = [one for one in tied if one[2] > mine]
        in_turn = [one for one in chain.from_iterable(zip_longest(before, after)) if one is not None]
        ranked = surely + in_turn[: most - len(surely)]
    return {entry[2]: -base for base, _, entry in ranked}
