"""Triples: subject, predicate, object, with the memories that back them (seed 003, "LPMM"; memory.md, section 10).

A triple is a by-product of memories: each record holds those it backs, and a triple is there while any memory that is
neither deleted nor purged backs it. So a deletion cascades and a restoration brings back, with nothing to keep in step.
"""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from engramlog_server.projections.language.text import tokens
from engramlog_server.projections.memory.columns import Columns, Flags
from engramlog_server.projections.memory.record import SECRET

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
