"""A memory begins: from what an event tells of it, or from an older record with its counters (memory.md, sections 2 and 9)."""

from __future__ import annotations

from typing import Any

from engramlog_server.events.catalogue import Imported, MemoryCreated
from engramlog_server.events.envelope import Event, micros
from engramlog_server.events.standing import FIRM
from engramlog_server.projections.fold.basis import basis_of
from engramlog_server.projections.fold.link import linked
from engramlog_server.projections.fold.trust import trust_of
from engramlog_server.projections.fold.use import risen, tier_of
from engramlog_server.projections.fold.values import refusal, say_again
from engramlog_server.projections.fold.working_set import WorkingSet
from engramlog_server.projections.language.sensitivity.event_level import level_of_data
from engramlog_server.projections.memory.ground import OPERATOR
from engramlog_server.projections.memory.record import Edge, Memory, with_changes

TIERS = frozenset({"system", "core", "fact", "episode"})
BY_HAND = frozenset({"user", "operator"})


def create(working: WorkingSet, data: MemoryCreated, event: Event[Any]) -> None:
    """A new record; a second creation with one id changes nothing, also when the first was purged."""
    if working.get(data.memory_id) is not None:
        working.ignore(data.memory_id, "this id exists already")
        return
    if working.settings.rejections and data.source_turns != (data.memory_id,):  # a turn was said all the same
        problem = refusal(working)
        if problem is not None:
            working.ignore(data.memory_id, problem)
            say_again(working, data, event)
            return
    at, brought = working.at, data.imported
    memory = Memory(  # in two steps: Python puts more than 15 arguments in a dict, which takes five times as long
        id=data.memory_id,
        content=data.content,
        category=data.category,
        kind=data.kind,
        tier=tier_of(
            data.tier or (data.kind if data.kind in TIERS else "fact"), data.importance or 0.0, working.parameters
        ),
        source=data.source,
        created_at=at,
        updated_at=at,
        last_activated_at=at,
        stamp=at,
        created_seq=working.seq,
        confidence=float(data.confidence),
        importance=1.0 if data.importance is None else float(data.importance),
        sensitivity=max(  # a producer's own figure only raises
            data.sensitivity or 0, level_of_data(data) if working.level is None else working.level
        ),
        source_turns=data.source_turns,
        trust=trust_of(working, data),
    )
    memory = with_changes(
        memory,
        speaker=data.speaker,
        session=event.session_id,
        stability=_first_stability(working, data),
        last_reinforced_at=at,
        changed_seq=working.seq,
        stated=working.statement,
        by=working.by,
        **_seldom_told(data, at),
    )
    if working.actor == "operator" and memory.tier in FIRM:
        memory = with_changes(memory, ground=OPERATOR)
    if brought:
        memory = _with_counters(memory, brought)
    working.create(risen(None, memory, working), "create", "a new memory")


def _seldom_told(data: MemoryCreated, at: int) -> dict[str, Any]:
    """Fields that most creations leave as they are, where this one does not: a record has eighty, and each has its price."""
    told: dict[str, Any] = {}
    if data.summary is not None:
        told["summary"] = data.summary
    if data.keywords:
        told["keywords"] = words(data.keywords)
    if data.tags:
        told["tags"] = data.tags
    if data.emotion is not None:
        told["emotion"] = float(data.emotion)
    if data.project is not None:
        told["project"] = data.project
    if data.task is not None:
        told["task"] = data.task
    if data.modality != "text":
        told["modalities"] = (data.modality,)
    if data.verified:
        told["verified"] = True
    if data.corrects is not None:
        told["corrects"] = data.corrects
    if data.summarises:
        told["summarises"] = data.summarises
    if data.because or data.grounds or data.metadata:
        told["basis"] = basis_of(data, at)
    return told


def _first_stability(working: WorkingSet, data: MemoryCreated) -> float:
    """Hours: a memory made by hand (by a user or operator, from no turn) begins more stable than one picked up."""
    by_hand = working.actor in BY_HAND and not data.source_turns and data.imported is None
    return working.parameters.manual_stability if by_hand else working.parameters.initial_stability


def _with_counters(memory: Memory, brought: Imported) -> Memory:
    """An older record's counters. Its strength and consolidation score are laws' readings, and computed anew."""
    updated = micros(brought.updated_at) if brought.updated_at else memory.updated_at
    edges: tuple[Edge, ...] = ()
    for edge in brought.associations:
        if edge.memory_id != memory.id:
            edges = linked(edges, edge.memory_id, float(edge.weight), edge.link)
    count = brought.access_count or 0
    inferred = 24.0 + min(12.0 * count, 120.0) + 48.0 * memory.confidence  # seed 004, section 3.3
    updated = max(updated, memory.updated_at)
    return with_changes(
        memory,
        imported=True,
        access_count=count,
        last_accessed_at=micros(brought.last_accessed_at) if brought.last_accessed_at else None,
        updated_at=updated,
        mention_count=brought.mention_count or 1,
        reinforce_count=count if brought.reinforce_count is None else brought.reinforce_count,
        edges=edges,
        stability=inferred if brought.stability is None else float(brought.stability),
        last_reinforced_at=micros(brought.last_reinforced_at) if brought.last_reinforced_at else updated,
        decay_rate=None if brought.decay_rate is None else float(brought.decay_rate),
    )


def words(keywords: tuple[str, ...]) -> tuple[str, ...]:
    """Keywords lower-cased and unique, in their order."""
    if not keywords:
        return ()
    return tuple(dict.fromkeys(word.casefold() for word in keywords))
