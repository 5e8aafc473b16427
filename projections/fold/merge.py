"""Merge and un-merge: a new memory stands for several, or they come back as they were (memory.md, section 5)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from msgspec import structs

from engramlog_server.events.catalogue import MemoryMerged, MemoryUnmerged
from engramlog_server.events.envelope import Event
from engramlog_server.events.trust import ORDER
from engramlog_server.projections.fold.link import flagged, newest_said, settled, strongest
from engramlog_server.projections.fold.provenance import merged as merged_basis
from engramlog_server.projections.fold.provenance import with_reports
from engramlog_server.projections.fold.trust import refusal, risen_by_merge, waits
from engramlog_server.projections.fold.use import limited, tier_of
from engramlog_server.projections.fold.working_set import WorkingSet, trouble_with
from engramlog_server.projections.laws.tiered import effective_importance
from engramlog_server.projections.memory.ground import MergedGround, of_merge
from engramlog_server.projections.memory.record import (
    MAX_CONFLICTS,
    MAX_MENTIONS,
    MAX_TURNS,
    MAX_UNMERGED,
    MAX_WORDS,
    SUMMARY,
    Memory,
    Upkeep,
)


def merge(working: WorkingSet, data: MemoryMerged, event: Event[Any]) -> None:
    """Creates `into` from its sources and marks them; all or nothing."""
    problem = _merge_problem(working, data) or refusal(working)
    if problem is not None:
        for memory_id in dict.fromkeys((data.into, *data.sources)):
            trouble = trouble_with(working.get(memory_id)) if memory_id != data.into else None
            working.ignore(memory_id, trouble or problem)
        return
    sources = [memory for memory in map(working.get, data.sources) if memory is not None]
    held = [source.id for source in sources if waits(working, source, event)]  # all are asked: each notes it
    if held:
        working.ignore(data.into, "waits for a person")
        return
    into = _merged(working, data, sources)
    working.create(into, "merge", f"merged from {len(sources)} memories")
    for other_id in into.conflicts:
        if other := working.get(other_id):
            working.adjust(other, conflicts=flagged(other.conflicts, into.id))
    for source in sources:
        working.change(source, "merge", f"merged into {data.into}", merged_into=data.into, merged_at=working.at)


def _merge_problem(working: WorkingSet, data: MemoryMerged) -> str | None:
    if working.get(data.into) is not None or data.into in data.sources:
        return f"{data.into} exists already: a merge needs a new id"
    for memory_id in data.sources:
        memory = working.get(memory_id)
        if trouble := trouble_with(memory):
            return f"source {memory_id}: {trouble}"
        if memory is not None and memory.deleted_at is not None:
            return f"source {memory_id} is deleted: restore it first"
    return None if len(set(data.sources)) >= 2 else "a merge needs two sources"


def _merged(working: WorkingSet, data: MemoryMerged, sources: list[Memory]) -> Memory:
    base = max(sources, key=lambda m: (m.last_activated_at, m.created_seq))
    importance = round(max(effective_importance(m, working.at, working.parameters) for m in sources), 6)
    tier = "core" if any(m.tier == "core" for m in sources) else tier_of(base.tier, importance, working.parameters)
    standing = of_merge(data.summary, sources, working.actor, tier)
    sensitivity, set_at = risen_by_merge(data.summary, sources, working.level)
    mentioned = max(sources, key=lambda m: (m.mentions[-1] if m.mentions else -(2**62), m.created_seq))
    return Memory(
        id=data.into,
        content=data.summary,
        category=base.category,
        kind=base.kind,
        tier=tier,
        source=base.source,
        speaker=base.speaker if all(m.speaker == base.speaker for m in sources) else None,
        project=base.project,
        task=base.task,
        emotion=base.emotion,
        created_at=max(m.created_at for m in sources),
        updated_at=max(m.updated_at for m in sources),
        last_activated_at=base.last_activated_at,
        last_accessed_at=max((m.last_accessed_at for m in sources if m.last_accessed_at is not None), default=None),
        stamp=max(working.at, *(m.stamp for m in sources)),
        created_seq=working.seq,
        level=SUMMARY,
        confidence=max(m.confidence for m in sources),
        importance=importance,
        sensitivity=sensitivity,
        sensitivity_set_at=set_at,
        verified=all(m.verified for m in sources),
        trust=min(ORDER[working.trust], *(m.trust for m in sources)),
        keywords=_united(sources, lambda m: m.keywords)[:MAX_WORDS],
        tags=_united(sources, lambda m: m.tags)[:MAX_WORDS],
        modalities=tuple(sorted(_united(sources, lambda m: m.modalities))),
        source_turns=_united(sources, lambda m: m.source_turns)[:MAX_TURNS],
        mention_count=sum(m.mention_count for m in sources),
        mentions=tuple(sorted(time for m in sources for time in m.mentions)[-MAX_MENTIONS:]),
        mention_boost=mentioned.mention_boost,
        user_mentions=newest_said(
            structs.replace(said, author=said.author or m.author) for m in sources for said in m.user_mentions
        ),
        access_count=sum(m.access_count for m in sources),
        reinforce_count=sum(m.reinforce_count for m in sources),
        conflicts=tuple(c for c in _united(sources, lambda m: m.conflicts) if c not in data.sources)[-MAX_CONFLICTS:],
        merged_from=data.sources,
        edges=strongest([edge for m in sources for edge in m.edges if edge.to not in data.sources]),
        session=base.session if all(m.session == base.session for m in sources) else None,
        stability=max(m.stability for m in sources),
        last_reinforced_at=max(m.last_reinforced_at for m in sources),
        changed_seq=working.seq,
        used_at=max((m.used_at for m in sources if m.used_at is not None), default=None),
        upkeep=_upkeep(sources, working.at, standing),
        schedule=max((m.schedule for m in sources if m.schedule), key=lambda s: s.graded_at, default=None),
        ground=standing.ground,
        basis=merged_basis(base, sources),
        stated=working.statement,
        by=working.by,
    )


def _upkeep(sources: Iterable[Memory], at: int, standing: MergedGround) -> Upkeep:
    """Boosts of all, so that a merge is no way around their limits; what is left of the importance is set now."""
    found = [m.upkeep for m in sources if m.upkeep is not None]
    boosts = sorted((boost for upkeep in found for boost in upkeep.boosts), key=lambda boost: boost.at)
    return Upkeep(
        limited(tuple(boosts)),
        at,
        max((u.promotion_at for u in found if u.promotion_at is not None), default=None),
        bool(found) and all(u.kept for u in found),
        standing.earned,
        standing.witnessed,
    )


def _united(sources: Iterable[Memory], part: Callable[[Memory], tuple[str, ...]]) -> tuple[str, ...]:
    """All different values of the sources, in their order."""
    return tuple(dict.fromkeys(value for memory in sources for value in part(memory)))


def unmerge(working: WorkingSet, data: MemoryUnmerged, _event: Event[Any]) -> None:
    """The sources come back as they were; `into` retires and keeps what happened to it meanwhile."""
    into = working.live(data.into)
    if into is None:
        return
    if not into.merged_from or into.retired_at is not None:
        working.ignore(into.id, "not merged" if not into.merged_from else "un-merged already")
        return
    if into.deleted_at is not None:
        working.ignore(into.id, "deleted: restore it first")
        return
    working.change(into, "unmerge", "its sources came back", retired_at=working.at, conflicts=settled(working, into))
    for source_id in into.merged_from:
        source = working.get(source_id)
        if source is not None and source.merged_into == into.id:
            left = (*source.unmerged_from, into.id)[-MAX_UNMERGED:]
            back = {"merged_into": None, "merged_at": None, "unmerged_from": left}
            basis = with_reports(source.basis, into.basis)
            working.change(source, "unmerge", f"back from {into.id}", basis=basis, **back)
