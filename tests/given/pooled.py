"""How accesses were pooled and folded in format 1, told plainly: what each access by itself must still come to."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from engramlog_server.events.catalogue import Access, Hit, MemoriesAccessed
from engramlog_server.events.envelope import micros
from engramlog_server.projections.fold.life import risen
from engramlog_server.projections.fold.links import strongest
from engramlog_server.projections.fold.working_set import WorkingSet, trouble_with
from engramlog_server.projections.memory.record import Edge, with_changes


class Shown(NamedTuple):
    """One answer that showed memories."""

    at: datetime
    ids: tuple[str, ...]
    first: int = 1


def by_itself(shown: Sequence[Shown], via: str) -> MemoriesAccessed:
    """One event of these answers, as they are recorded now."""
    accesses = tuple(Access(at=one.at, shown=one.ids, first=one.first) for one in shown)
    return MemoriesAccessed(accesses=accesses, via=via)  # type: ignore[arg-type]


def summed(shown: Sequence[Shown], via: str) -> MemoriesAccessed:
    """The same as version 1 had it: the pool of 0.2.0."""
    hits: dict[str, tuple[int, int, datetime]] = {}
    together: list[tuple[str, ...]] = []
    for one in shown:
        for rank, memory_id in enumerate(one.ids, one.first):
            count, best, last = hits.get(memory_id, (0, rank, one.at))
            hits[memory_id] = (count + 1, min(best, rank), max(last, one.at))
        if via not in ("association", "injection") and one.first == 1 and len(one.ids) > 1:
            together.append(one.ids[:3])
    told = tuple(Hit(memory_id=i, count=c, best_rank=b, last_at=at) for i, (c, b, at) in hits.items())
    return MemoriesAccessed(hits=told, via=via, together=tuple(together))  # type: ignore[arg-type]


def fold_of_version_1(working: WorkingSet, data: MemoriesAccessed) -> None:
    """The fold of 0.2.0, word for word."""
    parameters = working.parameters
    factor = parameters.reinforce_association if data.via == "association" else parameters.reinforce_recall
    reinforced: set[str] = set()
    for hit in data.hits:
        memory = working.get(hit.memory_id)
        if memory is None or memory.deleted_at is not None or trouble_with(memory):
            continue
        last = min(micros(hit.last_at), working.at)
        first = memory.id not in reinforced
        reinforced.add(memory.id)
        steadied = min(max(memory.stability * factor, parameters.min_stability), parameters.max_stability)
        after = with_changes(
            memory,
            access_count=memory.access_count + hit.count,
            last_accessed_at=last if memory.last_accessed_at is None else max(memory.last_accessed_at, last),
            reinforce_count=memory.reinforce_count + first,
            stability=steadied if first else memory.stability,
            last_reinforced_at=max(memory.last_reinforced_at, last),
            changed_seq=working.seq,
        )
        working.changed[memory.id] = risen(memory, after, working)
    for group in data.together:
        shown = list(dict.fromkeys(group))[:3]
        for number, one in enumerate(shown):
            for other in shown[number + 1 :]:
                _boosted(working, one, other, parameters.co_hit_boost)


def _boosted(working: WorkingSet, one_id: str, other_id: str, amount: float) -> None:
    one, other = working.get(one_id), working.get(other_id)
    if one_id == other_id or one is None or other is None or trouble_with(one) or trouble_with(other):
        return
    for memory, to in ((one, other_id), (other, one_id)):
        working.adjust(memory, edges=strengthened_plainly(memory.edges, to, amount))


def strengthened_plainly(edges: tuple[Edge, ...], to: str, amount: float) -> tuple[Edge, ...]:
    """The edges with a boost to one, all of them put in order anew."""
    old = next((edge for edge in edges if edge.to == to), Edge(to, 0.0, 0.0, "co-hit"))
    edge = Edge(to, old.base, min(round(old.boost + amount, 6), 1.0), old.link)
    return strongest([*(e for e in edges if e.to != to), edge])
