"""An owner's memories as numpy columns: what laws and modes need of every row at once; and what is read off the rows together.

Rows are kept by id, and a memory put again takes its own row. Times are int64 microseconds; absent ones are `NEVER`.

Corrections: a turn stays as it was said; the typed memories made of it are what gets negated. So whoever shows a turn, or an
account of several, as knowledge has to say what became of it, or tells again what its speaker took back. Which rows these are is
kept by `projections.index.names`.

Triples: subject, predicate, object, with the memories that back them (seed 003, "LPMM"; memory.md, section 10). Each record holds
those it backs, and a triple is there while any memory that is neither deleted nor purged backs it. So a deletion cascades and a
restoration brings back, with nothing to keep in step.
"""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, KeysView, Mapping, Sequence
from itertools import repeat
from operator import attrgetter
from struct import Struct
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from engramlog_server.projections.language.text import tokens
from engramlog_server.projections.memory.kind import has_words_of_others
from engramlog_server.projections.memory.record import CATEGORIES, SECRET, Memory

Rows = npt.NDArray[np.int64]
"""Places of memories in the columns."""
Flags = npt.NDArray[np.bool_]
STATES = ("live", "merged", "retired", "proposed", "set_aside", "rejected", "deleted", "purged")
"""Words for what hides a memory by itself, as `Columns.LIVE` to `Columns.PURGED` number them."""
STATUSES = ("live", "fading", "kept_version", "superseded", *STATES[1:])
"""Words for where a memory stands: what hides it by itself, else which curve it follows (`conflict`)."""
NEVER = np.iinfo(np.int64).min // 4
"""Stands for "no such time"; far enough from the edge that differences do not overflow."""
_SIGN, _SIGN_BYTES = Struct("<q").unpack_from, 8
_CATEGORY = {name: number for number, name in enumerate(CATEGORIES)}
TIERS = ("system", "core", "fact", "episode")
"""As `Columns.SYSTEM` to `Columns.EPISODE` number them."""
_TIER = {name: number for number, name in enumerate(TIERS)}


def _or_never(at: int | None) -> int:
    return NEVER if at is None else at


def sign_of(digest: bytes) -> int:
    """The first eight bytes of a digest as a number: what stands for it in a column; 0 for none."""
    return _SIGN(digest)[0] if len(digest) >= _SIGN_BYTES else 0


def state_of(memory: Memory) -> int:
    """What hides a memory from recall by itself, strongest first."""
    if memory.purged_at is not None:
        return Columns.PURGED
    if memory.deleted_at is not None:
        return Columns.DELETED
    if memory.rejected_seq is not None:
        return Columns.REJECTED
    if memory.aside_seq is not None:
        return Columns.SET_ASIDE
    if memory.retired_at is not None or memory.merged_into is not None:
        return Columns.RETIRED if memory.retired_at is not None else Columns.MERGED
    return Columns.LIVE if memory.trust else Columns.PROPOSED


def conflict_of(memory: Memory) -> int:
    """Which curve C follows: the resolution of the negation that holds."""
    if memory.negated_at is None:
        return Columns.HELD
    return {"weight_balance": Columns.FADE, "version_keep": Columns.KEEP}.get(
        memory.resolution or "", Columns.SUPERSEDED
    )


class _Field(NamedTuple):
    name: str
    kind: type[np.generic]
    of: Callable[[Memory], Any]


_FIELDS = (
    _Field("category", np.int8, lambda m: _CATEGORY[m.category]),
    _Field("tier", np.int8, lambda m: _TIER[m.tier]),
    _Field("level", np.int8, attrgetter("level")),
    _Field("told_level", np.int8, lambda m: m.level if m.level_due_at is None else 0),
    _Field("sensitivity", np.int8, attrgetter("sensitivity")),
    _Field("trust", np.int8, attrgetter("trust")),
    _Field("waiting", np.int8, lambda m: len(m.waiting)),
    _Field("quotes", np.int8, has_words_of_others),
    _Field("state", np.int8, state_of),
    _Field("conflict", np.int8, conflict_of),
    _Field("created_at", np.int64, attrgetter("created_at")),
    _Field("created_seq", np.int64, attrgetter("created_seq")),
    _Field("updated_at", np.int64, attrgetter("updated_at")),
    _Field("last_activated_at", np.int64, attrgetter("last_activated_at")),
    _Field("last_accessed_at", np.int64, lambda m: _or_never(m.last_accessed_at)),
    _Field("last_mentioned_at", np.int64, lambda m: m.mentions[-1] if m.mentions else NEVER),
    _Field("last_reinforced_at", np.int64, attrgetter("last_reinforced_at")),
    _Field("negated_at", np.int64, lambda m: _or_never(m.negated_at)),
    _Field("deleted_at", np.int64, lambda m: _or_never(m.deleted_at)),
    _Field("restored_at", np.int64, lambda m: _or_never(m.restored_at)),
    _Field("set_at", np.int64, lambda m: NEVER if m.upkeep is None else _or_never(m.upkeep.set_at)),
    _Field("promotion_at", np.int64, lambda m: NEVER if m.upkeep is None else _or_never(m.upkeep.promotion_at)),
    _Field("kept", np.int8, lambda m: m.upkeep is not None and m.upkeep.kept),
    _Field("grounded", np.int8, lambda m: m.ground is not None),
    _Field("ground_changed", np.int8, lambda m: m.basis is not None and bool(m.basis.changed)),
    _Field("mention_boost", np.float64, lambda m: m.mention_boost if m.mentions else 0.0),
    _Field("access_count", np.int64, attrgetter("access_count")),
    _Field("reinforce_count", np.int64, attrgetter("reinforce_count")),
    _Field("confidence", np.float64, attrgetter("confidence")),
    _Field("importance", np.float64, attrgetter("importance")),
    _Field("stability", np.float64, attrgetter("stability")),
    _Field("decay_rate", np.float64, lambda m: np.nan if m.decay_rate is None else m.decay_rate),
    _Field("used_at", np.int64, lambda m: _or_never(m.used_at)),
    _Field("graded_at", np.int64, lambda m: NEVER if m.schedule is None else m.schedule.graded_at),
    _Field("said", np.int64, lambda m: sign_of(m.stated)),
    _Field("backed", np.int64, lambda m: sign_of(m.facts[0].stated) if len(m.facts) == 1 else 0),
)
"""One column each; kinds, being words of an open list, have a column of their own below."""


class Columns:
    """Columns with one row a memory. `state`: what hides it; `conflict`: which curve C follows; `kind`: index in `kinds`;
    `said`, `backed`: signs of what it says, and of its triple where it backs just one."""

    HELD, FADE, KEEP, SUPERSEDED = 0, 1, 2, 3
    """conflict: not negated, weight_balance, version_keep, latest_wins."""
    LIVE, MERGED, RETIRED, PROPOSED, SET_ASIDE, REJECTED, DELETED, PURGED = range(8)
    SYSTEM, CORE, FACT, EPISODE = 0, 1, 2, 3
    NEVER = NEVER

    category: np.ndarray
    tier: np.ndarray
    level: np.ndarray
    told_level: np.ndarray
    sensitivity: np.ndarray
    trust: np.ndarray
    waiting: np.ndarray
    quotes: np.ndarray
    state: np.ndarray
    conflict: np.ndarray
    created_at: np.ndarray
    created_seq: np.ndarray
    updated_at: np.ndarray
    last_activated_at: np.ndarray
    last_accessed_at: np.ndarray
    last_mentioned_at: np.ndarray
    last_reinforced_at: np.ndarray
    negated_at: np.ndarray
    deleted_at: np.ndarray
    restored_at: np.ndarray
    set_at: np.ndarray
    promotion_at: np.ndarray
    kept: np.ndarray
    grounded: np.ndarray
    ground_changed: np.ndarray
    mention_boost: np.ndarray
    access_count: np.ndarray
    reinforce_count: np.ndarray
    confidence: np.ndarray
    importance: np.ndarray
    stability: np.ndarray
    decay_rate: np.ndarray
    used_at: np.ndarray
    graded_at: np.ndarray
    said: np.ndarray
    backed: np.ndarray
    kind: np.ndarray

    def __init__(self) -> None:
        self.memories: list[Memory] = []
        self.kinds: list[str] = []
        self._kinds: dict[str, int] = {}
        self._rows: dict[str, int] = {}
        self._held: dict[str, np.ndarray] = {}
        """The columns with room to grow; the attributes are what is filled of them."""
        self._capacity = 0
        self._grow(16)
        self._trim()

    @classmethod
    def of_kept(
        cls, ids: Sequence[str], memories: list[Memory], kinds: Sequence[str], held: Mapping[str, np.ndarray]
    ) -> Columns:
        """Columns as `taken` gave them, with their records, by row; the arrays are its own from then on.

        Raises ValueError where they do not fit each other.
        """
        found = cls.__new__(cls)
        sizes = {held[field.name].size for field in _FIELDS} | {held["kind"].size, len(memories)}
        found._rows = dict(zip(ids, range(len(ids)), strict=True))
        if sizes != {len(found._rows)}:
            raise ValueError(f"columns of {sorted(sizes)} rows for {len(found._rows)} ids")
        found.memories, found.kinds = memories, list(kinds)
        found._kinds = {kind: number for number, kind in enumerate(kinds)}
        found._held, found._capacity = (
            {name: held[name] for name in (*(one.name for one in _FIELDS), "kind")},
            len(memories),
        )
        found._trim()
        return found

    @classmethod
    def of_others(cls, ids: Sequence[str], memories: list[Memory], others: Columns, rows: Rows) -> Columns:
        """Columns of records that stand as in these rows of others; where that is -1, `fill_rows` has to read them."""
        held = {name: column[rows] for name, column in others._filled().items()}
        return cls.of_kept(ids, memories, others.kinds, held)

    def _filled(self) -> dict[str, np.ndarray]:
        """The columns as far as they are filled."""
        return {name: held[: len(self)] for name, held in self._held.items()}

    def fill_rows(self, memories: Mapping[int, Memory]) -> None:
        """Read these records, by row."""
        self._write(list(memories), memories.values())

    def _grow(self, capacity: int) -> None:
        kinds: dict[str, type[np.generic]] = {field.name: field.kind for field in _FIELDS} | {"kind": np.int32}
        for name, kind in kinds.items():
            column = np.zeros(capacity, dtype=kind)
            if self._capacity:
                column[: self._capacity] = self._held[name]
            self._held[name] = column
        self._capacity = capacity

    def _trim(self) -> None:
        for name, held in self._held.items():
            setattr(self, name, held[: len(self.memories)])

    def put(self, memory: Memory) -> int:
        """Add or replace a memory; gives its row."""
        self.put_all([memory])
        return self._rows[memory.id]

    def put_all(self, memories: Iterable[Memory]) -> None:
        """Add or replace each, in order; column by column, which is what loading an owner spends its time on."""
        latest = {memory.id: memory for memory in memories}
        if not latest:
            return
        rows = [self._row_for(memory) for memory in latest.values()]
        if len(self.memories) > self._capacity:
            self._grow(max(2 * self._capacity, len(self.memories)))
        where: slice | list[int] = rows
        if rows[-1] - rows[0] == len(rows) - 1 and rows == list(range(rows[0], rows[-1] + 1)):
            where = slice(rows[0], rows[-1] + 1)
        self._write(where, latest.values())
        self._trim()

    def _write(self, where: slice | list[int], memories: Collection[Memory]) -> None:
        for name, kind, of in _FIELDS:
            self._held[name][where] = np.fromiter(map(of, memories), kind, len(memories))
        self._held["kind"][where] = [self._kind_for(memory.kind) for memory in memories]

    def _row_for(self, memory: Memory) -> int:
        row = self._rows.setdefault(memory.id, len(self.memories))
        if row == len(self.memories):
            self.memories.append(memory)
        else:
            self.memories[row] = memory
        return row

    def _kind_for(self, kind: str) -> int:
        number = self._kinds.setdefault(kind, len(self.kinds))
        if number == len(self.kinds):
            self.kinds.append(kind)
        return number

    def kind_number(self, kind: str) -> int:
        """The number that stands for a kind in the column `kind`; -1 where no memory has it."""
        return self._kinds.get(kind, -1)

    def only(self, rows: npt.NDArray[np.int64] | Sequence[int]) -> Columns:
        """Some rows as columns of their own, for reading: row i there is `rows[i]` here."""
        part = Columns.__new__(Columns)
        part.memories = [self.memories[row] for row in rows]
        part.kinds, part._kinds = self.kinds, self._kinds
        part._rows = {memory.id: number for number, memory in enumerate(part.memories)}
        part._held = {name: held[rows] for name, held in self._held.items()}
        part._capacity = len(part.memories)
        part._trim()
        return part

    def standing(self) -> np.ndarray:
        """`state` of every row, where a merged memory counts as deleted or rejected where its merge is, shape (rows,)."""
        merged = np.flatnonzero(self.state == self.MERGED)
        if not merged.size or not (self.state >= self.REJECTED).any():
            return self.state
        states = self.state.copy()
        for row in merged:
            into = self.memories[row].merged_into
            following = self._rows.get(into) if into else None
            while following is not None and self.state[following] == self.MERGED:
                following = self._rows.get(self.memories[following].merged_into or "")
            if following is not None and self.state[following] >= self.REJECTED:
                states[row] = min(self.state[following], self.DELETED)
        return states

    def statuses(self) -> np.ndarray:
        """Where each row stands, as `STATUSES` number it, shape (rows,)."""
        return np.where(self.state == self.LIVE, self.conflict, self.state + self.SUPERSEDED)

    def saying(self, digests: Iterable[bytes]) -> Rows:
        """Rows that say one of these values, by what begins its digest: all that do, and perhaps others. Ascending."""
        signs = np.array([sign_of(one) for one in digests], dtype=np.int64)
        rows: Rows = np.flatnonzero(np.isin(self.said, signs) | np.isin(self.backed, signs))
        return rows

    @property
    def ids(self) -> KeysView[str]:
        """The ids, by row; nothing is decoded for them."""
        return self._rows.keys()

    def row(self, memory_id: str) -> int | None:
        """The row of a memory, or None."""
        return self._rows.get(memory_id)

    def rows(self, memory_ids: Iterable[str]) -> Rows:
        """The rows of memories; -1 for what is not there."""
        return np.fromiter(map(self._rows.get, memory_ids, repeat(-1)), np.int64)

    def again(self, rows: Rows) -> Flags:
        """Which of these were mentioned after they were said, or used with success."""
        found: Flags = (self.last_mentioned_at[rows] > NEVER) | (self.used_at[rows] > NEVER)
        return found

    def mentions(self, row: int) -> tuple[int, ...]:
        """Mention times of a row, ascending."""
        return self.memories[row].mentions

    def __len__(self) -> int:
        return len(self.memories)

    def __iter__(self) -> Iterator[Memory]:
        return iter(self.memories)


TOLD, BELOW, GONE = 1, 2, 3
"""How much a correction does: it is told; what it corrects also stands below what holds now; and leaves normal mode."""


class Correction(NamedTuple):
    """Something that was said and no longer holds."""

    old: Memory
    """What says it by itself: a statement, or a turn that somebody negated."""
    now: Memory | None
    """What holds in its place; None where nothing is known to."""
    at: int
    """Since when, microseconds since 1970."""
    strength: int
    """TOLD, BELOW or GONE."""
    beside: bool = False
    """Whether what is corrected was made also of the turn that says what holds now."""


def holding_now(columns: Columns, row: int) -> Memory | None:
    """What holds now in place of a negated memory: its last successor, or where none was ever named the turn that took it back.

    None where that is hidden: what was deleted is not told again.
    """
    *_, last = _line(columns, row)
    memory = columns.memories[last]
    if not memory.is_negated:
        return memory if last != row and columns.state[last] == Columns.LIVE else None
    if memory.superseded_by is not None:
        return None
    turn = memory.negations[-1].turn_id if memory.negations else None
    said = columns.row(turn) if turn is not None else None
    if said is None or columns.state[said] != Columns.LIVE or columns.memories[said].is_negated:
        return None
    return columns.memories[said]


def line_of(columns: Columns, row: int) -> list[tuple[str, Memory | None]]:
    """All that decides what holds in place of a memory, by id: it, its successors, the turn that took it back; None for what is
    not known here.
    """
    line = [columns.memories[one] for one in _line(columns, row)]
    last = line[-1]
    named = [
        one for one in (following(last), last.negations[-1].turn_id if last.negations else None) if one is not None
    ]
    rows = ((one, columns.row(one)) for one in named)
    return [
        *((one.id, one) for one in line),
        *((one, None if at is None else columns.memories[at]) for one, at in rows),
    ]


def following(memory: Memory) -> str | None:
    """What stands for a memory: its successor, or what it was merged into."""
    return memory.superseded_by if memory.is_negated else memory.merged_into


def _line(columns: Columns, row: int) -> list[int]:
    """A row and its successors, each once, as far as they are known."""
    line = [row]
    while (successor := following(columns.memories[row])) is not None:
        found = columns.row(successor)
        if found is None or found in line:
            break
        line.append(row := found)
    return line


MOST_SEEDS = 8
"""Entities of a question from which a walk starts."""


class KnownTriple(NamedTuple):
    """A statement with its evidence; degree, condition and time are those of its newest assertion."""

    subject: str
    predicate: str
    object: str
    negation: bool
    degree: float | None
    condition: str | None
    at: int
    backing: tuple[str, ...]
    """Ids of the memories that back it, sorted; at least one."""

    @property
    def text(self) -> str:
        """The statement in one line."""
        return f"{self.subject} {'not ' if self.negation else ''}{self.predicate} {self.object}"


class ReachedMemory(NamedTuple):
    """A memory that a walk over triples reached; `path` are the triples followed, the last one backed by it."""

    row: int
    activation: float
    path: tuple[KnownTriple, ...]


def triples_of(columns: Columns, told: Callable[[Flags], Flags] = lambda rows: rows) -> list[KnownTriple]:
    """All triples that hold, by subject, predicate and object. A secret memory backs nothing that is told.

    `told`: which rows may back any at all.
    """
    found: dict[tuple[str, str, str, bool], list[tuple[int, str, float | None, str | None]]] = defaultdict(list)
    usable = (columns.standing() < Columns.PROPOSED) & (columns.sensitivity < SECRET)
    for row in np.flatnonzero(told(usable)):
        memory = columns.memories[row]
        for fact in memory.facts:
            key = (fact.subject, fact.predicate, fact.object, fact.negation)
            found[key].append((fact.at, memory.id, fact.degree, fact.condition))
    triples = []
    for key in sorted(found):
        at, _, degree, condition = max(found[key], key=lambda one: (one[0], one[1]))
        triples.append(KnownTriple(*key, degree, condition, at, tuple(sorted(one[1] for one in found[key]))))
    return triples


def is_about(triple: KnownTriple, entity: str) -> bool:
    """Whether it is the triple's subject or object."""
    return _folded(entity) in (_folded(triple.subject), _folded(triple.object))


class Graph:
    """Triples by the entities that they join. Entities are compared as they are folded: case and width do not matter."""

    def __init__(self, triples: Iterable[KnownTriple]) -> None:
        self.triples = tuple(triples)
        self._by_entity: dict[str, list[KnownTriple]] = defaultdict(list)
        self._words: dict[str, frozenset[str]] = {}
        self._by_word: dict[str, list[str]] = defaultdict(list)
        for triple in self.triples:
            for entity in dict.fromkeys((_folded(triple.subject), _folded(triple.object))):
                self._by_entity[entity].append(triple)
        for entity in self._by_entity:
            words = self._words[entity] = frozenset(tokens(entity))
            for word in words:
                self._by_word[word].append(entity)

    def about(self, entity: str) -> list[KnownTriple]:
        """The triples of which it is subject or object."""
        return list(self._by_entity.get(_folded(entity), ()))

    def named_in(self, query: str) -> list[str]:
        """Entities whose words all stand in the query, the longest first; at most 8."""
        words = frozenset(tokens(query))
        near = {entity for word in words for entity in self._by_word.get(word, ())}
        found = [(len(self._words[entity]), entity) for entity in near if self._words[entity] <= words]
        return [entity for _, entity in sorted(found, key=lambda one: (-one[0], one[1]))[:MOST_SEEDS]]

    def walk(
        self,
        query: str,
        columns: Columns,
        depth: int = 2,
        limit: int = 5,
        *,
        hop: float = 0.5,
        admits: Callable[[KnownTriple], bool] = lambda _triple: True,
    ) -> list[ReachedMemory]:
        """Memories that back triples within `depth` steps of what the query names, the nearest first; ties by id.

        Each step leaves `hop` of the activation. `admits` tells which triples may be followed.
        """
        seen: set[KnownTriple] = set()
        best: dict[int, ReachedMemory] = {}
        frontier: list[tuple[str, tuple[KnownTriple, ...]]] = [(entity, ()) for entity in self.named_in(query)]
        for step in range(1, depth + 1):
            following: list[tuple[str, tuple[KnownTriple, ...]]] = []
            for entity, path in frontier:
                for triple in self._by_entity.get(entity, ()):
                    if triple in seen:
                        continue
                    seen.add(triple)
                    if not admits(triple):
                        continue
                    way = (*path, triple)
                    _reach(best, triple, columns, hop**step, way)
                    ends = (_folded(triple.subject), _folded(triple.object))
                    following += [(end, way) for end in ends if end != entity]
            frontier = following
        order = sorted(best.values(), key=lambda one: (-one.activation, columns.memories[one.row].id))
        return order[:limit]


def _reach(
    best: dict[int, ReachedMemory],
    triple: KnownTriple,
    columns: Columns,
    activation: float,
    path: Sequence[KnownTriple],
) -> None:
    for memory_id in triple.backing:
        row = columns.row(memory_id)
        if row is not None and row not in best:
            best[row] = ReachedMemory(row, activation, tuple(path))


def _folded(entity: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", entity).casefold().split())
