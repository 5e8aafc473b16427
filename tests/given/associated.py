"""Memories as associations read them, made directly: what matters of a record is told, all else is alike."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from engramlog_server.events.parameters import DEFAULTS, Parameters
from engramlog_server.projections.index.associations import AssociationIndex, Link
from engramlog_server.projections.memory.record import HOUR, Edge, Memory

START = 1_700_000_000_000_000


def memory(memory_id: str, *keywords: str, hours: float = 0, **fields: Any) -> Memory:
    """A memory created so many hours after `START`."""
    at = START + round(hours * HOUR)
    facts = {"content": "c", "category": "fact", "kind": "note", "tier": "fact", "source": "user", "created_seq": 1}
    times = {"created_at": at, "updated_at": at, "last_activated_at": at, "stamp": at}
    return Memory(id=memory_id, keywords=keywords, **facts, **times, **fields)


def half(to: str, base: float = 0.0, boost: float = 0.0, link: str = "semantic") -> Edge:
    """A stored half of an edge."""
    return Edge(to, base, boost, link)


def told(*pairs: tuple[str, str, float]) -> list[Memory]:
    """Memories that share nothing but edges that were told: (one, other, weight)."""
    edges: dict[str, list[Edge]] = {}
    for one, other, weight in pairs:
        edges.setdefault(one, []).append(half(other, weight))
        edges.setdefault(other, []).append(half(one, weight))
    return [memory(name, edges=tuple(halves)) for name, halves in edges.items()]


def index_of(memories: Iterable[Memory]) -> AssociationIndex:
    """An index of memories, with rows in their order."""
    index = AssociationIndex()
    for row, one in enumerate(memories):
        index.put(row, one)
    return index


def row_of(index: AssociationIndex, memory_id: str) -> int:
    """The row of a member."""
    return next(row for row in range(1_000) if row in index and index.id_of(row) == memory_id)


def links_of(index: AssociationIndex, memory_id: str, parameters: Parameters = DEFAULTS) -> dict[str, Link]:
    """The edges of a member by the other's id, in their order."""
    found = index.neighbours(row_of(index, memory_id), parameters)
    return {index.id_of(link.to_row): link for link in found}


def overlap(one: Iterable[str], other: Iterable[str]) -> float:
    """Jaccard overlap of two lists of keywords in [0, 1]; 0 if both are empty."""
    return len({*one} & {*other}) / (len({*one, *other}) or 1)
