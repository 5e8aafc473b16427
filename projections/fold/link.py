"""What joins memories: links as told, co-hits, and the triples that they back (memory.md, section 10).

Each memory holds its half of an edge. An edge is read while neither of the two had to drop its half for 32 stronger ones, so
it stays symmetric. Edges by keyword, task and time are not folded: they follow from the records.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable
from typing import Any

from engramlog_server.events.catalogue import FactAsserted, FactRetracted, MemoriesLinked
from engramlog_server.events.envelope import Event
from engramlog_server.projections.fold.conflict import flagged
from engramlog_server.projections.fold.sensitivity import judged, risen_by
from engramlog_server.projections.fold.working_set import WorkingSet, trouble_with
from engramlog_server.projections.language.sensitivity.event_level import told_by_triple
from engramlog_server.projections.memory.record import MAX_EDGES, MAX_FACTS, Edge, Memory, MemoryTriple
from engramlog_server.projections.memory.sources import Author

CO_HIT = "co-hit"
_NONE = Edge("", 0.0, 0.0, CO_HIT)


def link(working: WorkingSet, data: MemoriesLinked, _event: Event[Any]) -> None:
    """An association edge on both sides, the strongest base kept; `possible_conflict` flags both instead."""
    if data.a == data.b:
        working.ignore(data.a, "a link to itself")
        return
    a, b = working.get(data.a), working.get(data.b)
    troubles = [(memory_id, trouble_with(memory)) for memory_id, memory in ((data.a, a), (data.b, b))]
    if a is None or b is None or any(trouble for _, trouble in troubles):
        for memory_id, trouble in troubles:
            working.ignore(memory_id, trouble or "the other memory of the link cannot be linked")
        return
    for one, other in ((a, b), (b, a)):
        if data.link == "possible_conflict":
            working.change(one, "link", "possible conflict", conflicts=flagged(one.conflicts, other.id))
        else:
            working.change(
                one, "link", f"link {data.link}", edges=linked(one.edges, other.id, float(data.weight), data.link)
            )


def linked(edges: tuple[Edge, ...], to: str, weight: float, kind: str) -> tuple[Edge, ...]:
    """The edges with one more, the strongest base of each neighbour kept; the strongest 32, strongest first."""
    old = next((edge for edge in edges if edge.to == to), None)
    edge = Edge(to, weight, old.boost if old else 0.0, kind)
    if old is not None and old.base >= weight:
        edge = old
    return strongest([*(e for e in edges if e.to != to), edge])


def boosted(working: WorkingSet, one_id: str, other_id: str, amount: float) -> None:
    """Strengthens the edge between two memories on both sides, without a note; a pair without an edge gets one."""
    all_boosted(working, [(one_id, other_id)], amount)


def all_boosted(working: WorkingSet, pairs: Iterable[tuple[str, str]], amount: float) -> None:
    """The same for each of these pairs, in this order. A memory's edges depend on no other's, so its record is made anew once."""
    edges: dict[str, tuple[Edge, ...] | None] = {}
    for one_id, other_id in pairs:
        for memory_id in (one_id, other_id):
            if memory_id not in edges:
                memory = working.get(memory_id)
                edges[memory_id] = None if memory is None or trouble_with(memory) else memory.edges
        mine, others = edges[one_id], edges[other_id]
        if one_id != other_id and mine is not None and others is not None:
            edges[one_id], edges[other_id] = strengthened(mine, other_id, amount), strengthened(others, one_id, amount)
    for memory_id, now in edges.items():
        memory = working.get(memory_id)
        if memory is not None and now is not None and now is not memory.edges:
            working.adjust(memory, edges=now)


def strengthened(edges: tuple[Edge, ...], to: str, amount: float) -> tuple[Edge, ...]:
    """The edges with a boost to one; base and boost stand apart, and the boost ends at 1. The strongest 32.

    A record's edges stand in the order of `strongest`, one for each neighbour, so one more finds its place by bisection.
    """
    old, others = _NONE, list(edges)
    for place, edge in enumerate(edges):
        if edge.to == to:
            old = edge
            del others[place]
            break
    new = Edge(to, old.base, min(round(old.boost + amount, 6), 1.0), old.link)
    insort(others, new, key=_by_strength)
    return tuple(others[:MAX_EDGES])


def _by_strength(edge: Edge) -> tuple[float, str]:
    return -min(1.0, edge.base + edge.boost), edge.to


def strongest(edges: list[Edge]) -> tuple[Edge, ...]:
    """The strongest 32, one for each neighbour."""
    best: dict[str, Edge] = {}
    for edge in edges:
        known = best.get(edge.to)
        if known is None or (edge.base + edge.boost, edge.base) > (known.base + known.boost, known.base):
            best[edge.to] = edge
    return tuple(sorted(best.values(), key=_by_strength)[:MAX_EDGES])


def assert_fact(working: WorkingSet, data: FactAsserted, _event: Event[Any]) -> None:
    """Every memory of the evidence backs the triple from now on; said again, degree and condition are the newest."""
    for memory_id in data.evidence:
        memory = working.live(memory_id)
        if memory is None:
            continue
        degree = None if data.degree is None else float(data.degree)
        fact = MemoryTriple(
            data.subject,
            data.predicate,
            data.object,
            data.negation,
            degree,
            data.condition,
            working.at,
            working.statement,
            _asserter(working, memory),
        )
        old = _same(memory, data)
        if old is not None and old.at > fact.at:
            working.ignore(memory_id, "said earlier than what the memory backs already")
            continue
        others = [one for one in memory.facts if one is not old]
        facts = sorted([*others, fact], key=lambda f: (f.at, f.subject, f.predicate, f.object, f.negation))[-MAX_FACTS:]
        if fact not in facts:
            working.ignore(memory_id, f"older than the {MAX_FACTS} triples that it backs")
            continue
        told = (told_by_triple(data),)
        sensitivity = memory.sensitivity if judged(memory, data.object) else risen_by(memory, told, working.level)
        working.change(memory, "link", "backs a triple", facts=tuple(facts), sensitivity=sensitivity)


def _asserter(working: WorkingSet, memory: Memory) -> Author | None:
    """Who asserts a triple; None where that is who wrote the memory, or the job that made it of what somebody said."""
    mine, own = Author(working.by, working.session), memory.author
    alike = mine.principal == own.principal and mine.session == own.session
    return None if mine == own or (alike and mine.actor == "judge") else mine


def retract_fact(working: WorkingSet, data: FactRetracted, _event: Event[Any]) -> None:
    """These memories no longer back the triple."""
    for memory_id in data.evidence:
        memory = working.live(memory_id)
        if memory is None:
            continue
        old = _same(memory, data)
        if old is None:
            working.ignore(memory_id, "does not back this triple")
            continue
        if old.at > working.at:
            working.ignore(memory_id, "the triple was asserted again later than this")
            continue
        working.change(
            memory, "link", "no longer backs a triple", facts=tuple(one for one in memory.facts if one is not old)
        )


def _same(memory: Memory, data: FactAsserted | FactRetracted) -> MemoryTriple | None:
    key = (data.subject, data.predicate, data.object, data.negation)
    return next((f for f in memory.facts if (f.subject, f.predicate, f.object, f.negation) == key), None)
