"""Associations between memories: those derived from the records, and those told (seed 004, section 5; memory.md, 10).

    weight = min(1, strongest base + boost)

Bases: overlap of keywords (`keyword`), one task (`co-task`), one project or session within a day (`temporal`), and what
`MemoriesLinked` told. Boosts come from being hit together and from use. The first three are not stored: they are a pure
function of the set of an owner's records, so that neither the order of events nor a rebuild can change them.

An edge of a derived kind holds iff each of the two is among the other's best (5) of that kind: so edges are symmetric,
and bounded on both sides. Best is the higher base, then the nearer in time; of those that tie, the nearest in the order
by (created_at, id), before and after in turn. (By smallest id alone, a hundred memories of one instant would all choose
the same few, and nearly all would have no edge.) A told edge holds while neither memory had to drop its half of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import NamedTuple

from engramlog_server.events.parameters import Parameters
from engramlog_server.projections.index.keyword_index import Entry, KeywordIndex, Timeline, best_of
from engramlog_server.projections.memory.columns import Columns, state_of
from engramlog_server.projections.memory.record import HOUR, MAX_EDGES, SECRET, Edge, Memory

KEYWORD, CO_TASK, TEMPORAL, CO_HIT = "keyword", "co-task", "temporal", "co-hit"
DERIVED = (KEYWORD, CO_TASK, TEMPORAL)
"""Kinds that are not stored. Of equal bases the told one names the edge, then the first of these."""

_MEMO_MOST = 50_000
_BYTES_A_MEMBER, _BYTES_A_MEMO = 360, 400
"""Measured with tracemalloc at 5 keywords a memory; the records themselves are not counted."""


class Link(NamedTuple):
    """An edge to another memory: weight = min(1, base + boost), in (0, 1]; `link` names the kind of the strongest base."""

    to_row: int
    weight: float
    base: float
    boost: float
    link: str


class AssociationIndex:
    """The associations of one owner's memories, by rows of `projections.memory.columns.Columns`, found when asked for.

    Members are what is not deleted, purged, retired or merged away, and no secret. Not for use by two threads at once.
    """

    def __init__(
        self, keywords: KeywordIndex | None = None, words: Callable[[Memory], tuple[str, ...]] = attrgetter("keywords")
    ) -> None:
        """`words`: the keywords of a memory by which it is joined with others."""
        self._words = words
        self._members: dict[int, Memory] = {}
        self._rows: dict[str, int] = {}
        self._keywords = KeywordIndex() if keywords is None else keywords
        self._tasks = _Timelines()
        self._projects = _Timelines()
        self._sessions = _Timelines()
        self._pointing: dict[str, set[int]] = {}
        """By id, the rows of members whose records hold a half of an edge to it."""
        self._memo: dict[tuple[str, int], dict[int, float]] = {}
        self._memo_of: tuple[float, ...] = ()
        """The parameters that the memo holds for."""

    def put(self, row: int, memory: Memory) -> None:
        """Take in a memory, new or changed; what it was known by before goes."""
        old = self._members.get(row)
        new = memory if memory.sensitivity < SECRET and state_of(memory) == Columns.LIVE else None
        self._point(row, old, new)
        if old is not None and new is not None and _keys(old) == _keys(new):
            self._members[row] = new
            return
        if old is not None:
            self._take_out(row, old)
        if new is not None:
            self._take_in(row, new)

    def _point(self, row: int, old: Memory | None, new: Memory | None) -> None:
        """Follow which members hold halves to whom."""
        before, after = (memory.edges if memory is not None else () for memory in (old, new))
        if before is after or not (before or after):
            return
        for edge in before:
            self._pointing[edge.to].discard(row)
        for edge in after:
            self._pointing.setdefault(edge.to, set()).add(row)

    def neighbours(self, row: int, parameters: Parameters, least: float = 0.0) -> list[Link]:
        """Its edges of weight `least` and more, the strongest first, then by id; none if the row is no member.

        An edge of weight 0 is none. A larger `least` gives the same edges sooner.
        """
        memory = self._members.get(row)
        if memory is None:
            return []
        bases, boosts = self._told(memory)
        for kind in DERIVED:
            for other, base in self._best(kind, row, parameters).items():
                stronger = other not in bases or base > bases[other][0]
                if stronger and base + boosts.get(other, 0.0) >= least and row in self._best(kind, other, parameters):
                    bases[other] = (base, kind)
        links = []
        for other, (base, kind) in bases.items():
            boost = boosts.get(other, 0.0)
            if base + boost > 0 and min(1.0, base + boost) >= least:
                links.append(Link(other, min(1.0, base + boost), base, boost, kind))
        return sorted(links, key=lambda link: (-link.weight, self._members[link.to_row].id))

    def id_of(self, row: int) -> str:
        """The id of a member; KeyError if the row is none."""
        return self._members[row].id

    def bytes_used(self) -> int:
        """About how much memory this index takes, beside the records."""
        return _BYTES_A_MEMBER * len(self) + _BYTES_A_MEMO * len(self._memo)

    def __contains__(self, row: object) -> bool:
        return row in self._members

    def __len__(self) -> int:
        return len(self._members)

    def _told(self, memory: Memory) -> tuple[dict[int, tuple[float, str]], dict[int, float]]:
        """Base with its kind, and boost, by row: the smaller of both halves, or of the one there is.

        A half may be missing where an older record told its edges one way. It is no edge where it is missing because 32
        stronger ones pushed it out.
        """
        bases: dict[int, tuple[float, str]] = {}
        boosts: dict[int, float] = {}
        told = {row for edge in memory.edges if (row := self._rows.get(edge.to)) is not None}
        for other in told | self._pointing.get(memory.id, set()):
            if self._members[other].id == memory.id:
                continue
            mine, theirs = _half(memory, self._members[other].id), _half(self._members[other], memory.id)
            halves = [half for half in (mine, theirs) if half is not None]
            full = (mine is None and len(memory.edges) >= MAX_EDGES) or (
                theirs is None and len(self._members[other].edges) >= MAX_EDGES
            )
            if full:
                continue
            base, kind = min((half.base, half.link) for half in halves)
            bases[other] = (base, kind if base else CO_HIT)
            boosts[other] = min(half.boost for half in halves)
        return bases, boosts

    def _best(self, kind: str, row: int, parameters: Parameters) -> dict[int, float]:
        """Base by row of a member's best of a kind; remembered until a member's keys change."""
        memo_of: tuple[float, ...] = (
            parameters.keyword_edge_from,
            parameters.task_edge,
            parameters.temporal_edge,
            parameters.temporal_hours,
            parameters.edges_of_a_kind,
        )
        if self._memo_of != memo_of or len(self._memo) >= _MEMO_MOST:
            self._memo.clear()
            self._memo_of = memo_of
        best = self._memo.get((kind, row))
        if best is None:
            memory = self._members[row]
            mine = memory.created_at, memory.id, row
            candidates = self._candidates(kind, memory, mine, parameters)
            best = self._memo[kind, row] = best_of(mine, candidates, parameters.edges_of_a_kind)
        return best

    def _candidates(
        self, kind: str, memory: Memory, mine: Entry, parameters: Parameters
    ) -> Iterable[tuple[float, Entry]]:
        """Base and entry of all that may be among the best of a kind."""
        most = parameters.edges_of_a_kind
        if kind == KEYWORD:
            return self._keywords.alike(mine, parameters.keyword_edge_from, most)
        if kind == CO_TASK:
            return [(parameters.task_edge, other) for other in self._tasks.around(memory.task, mine, most)]
        near = {*self._projects.around(memory.project, mine, most), *self._sessions.around(memory.session, mine, most)}
        within = parameters.temporal_hours * HOUR
        return [(parameters.temporal_edge, other) for other in near if abs(other[0] - mine[0]) <= within]

    def _take_in(self, row: int, memory: Memory) -> None:
        self._memo.clear()
        self._members[row] = memory
        self._rows[memory.id] = row
        entry = memory.created_at, memory.id, row
        self._keywords.put(entry, self._words(memory))
        self._tasks.add(memory.task, entry)
        self._projects.add(memory.project, entry)
        self._sessions.add(memory.session, entry)

    def _take_out(self, row: int, memory: Memory) -> None:
        self._memo.clear()
        del self._members[row], self._rows[memory.id]
        entry = memory.created_at, memory.id, row
        self._keywords.drop(entry)
        self._tasks.remove(memory.task, entry)
        self._projects.remove(memory.project, entry)
        self._sessions.remove(memory.session, entry)


def _half(memory: Memory, to: str) -> Edge | None:
    """The half of an edge that a record holds."""
    return next((edge for edge in memory.edges if edge.to == to), None)


class _Timelines(dict[str, Timeline]):
    """Timelines by name; what has no name is on none."""

    def add(self, name: str | None, entry: Entry) -> None:
        if name is not None:
            line = self.get(name)
            if line is None:
                self[name] = Timeline(entry)
            else:
                line.add(entry)

    def remove(self, name: str | None, entry: Entry) -> None:
        if name is not None:
            self[name].remove(entry)
            if not self[name]:
                del self[name]

    def around(self, name: str | None, entry: Entry, most: int) -> list[Entry]:
        return [] if name is None else self[name].around(entry, most)


def _keys(memory: Memory) -> tuple[object, ...]:
    """All that derived edges are made from."""
    told = memory.keywords, memory.task, memory.project, memory.session
    return memory.id, memory.created_at, memory.content, memory.summary, *told
