"""Which memories an event is about or names, and which others a change of one may reach. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from engramlog_server.events import catalogue
from engramlog_server.events.accesses import shown_in
from engramlog_server.events.catalogue import EventData
from engramlog_server.projections.memory.record import Memory


def names(data: EventData) -> tuple[str, ...]:
    """Ids of the memories that the event is about or names in its data, in order."""
    named = _NAMES.get(type(data))
    if named is not None:
        return named(data)
    memory_id = getattr(data, "memory_id", None)
    return (memory_id,) if memory_id else ()


def _named_at_creation(data: catalogue.MemoryCreated) -> tuple[str, ...]:
    if data.corrects is None and data.imported is None and not data.summarises:
        return (data.memory_id,)
    brought = [edge.memory_id for edge in data.imported.associations] if data.imported else ()
    return (*_both(data.memory_id, data.corrects), *data.summarises, *brought)


def _shown(data: catalogue.MemoriesAccessed) -> tuple[str, ...]:
    """What was shown, and what was shown together: a producer may name other memories there."""
    shown = shown_in(data)
    if not data.together:
        return shown
    return tuple(dict.fromkeys([*shown, *(memory_id for group in data.together for memory_id in group)]))


def _both(one: str, other: str | None) -> tuple[str, ...]:
    return (one, other) if other else (one,)


_NAMES: Mapping[type, Callable[[Any], tuple[str, ...]]] = {
    catalogue.MemoryCreated: _named_at_creation,
    catalogue.MemoryNegated: lambda data: _both(data.memory_id, data.replaced_by),
    catalogue.MemoriesAccessed: _shown,
    catalogue.MemoryReinforced: lambda data: _both(data.memory_id, data.from_memory),
    catalogue.MemoryMerged: lambda data: (data.into, *data.sources),
    catalogue.MemoryUnmerged: lambda data: (data.into,),
    catalogue.MemoriesLinked: lambda data: (data.a, data.b),
    catalogue.MemoriesRevealed: lambda data: data.memory_ids,
    catalogue.FactAsserted: lambda data: data.evidence,
    catalogue.FactRetracted: lambda data: data.evidence,
}
"""What events name that name more, or other, than one `memory_id`. A table: every event is asked twice."""


def neighbours(memory: Memory) -> tuple[str, ...]:
    """Ids of other memories that an event about this one may change or follow."""
    if not (
        memory.merged_into
        or memory.negations
        or memory.conflicts
        or memory.merged_from
        or memory.unmerged_from
        or memory.corrects
    ):
        return ()
    found = [*memory.conflicts, *memory.merged_from, *memory.unmerged_from]
    found += [negation.replaced_by for negation in memory.negations if negation.replaced_by]
    found += [i for i in (memory.merged_into, memory.superseded_by, memory.corrects) if i]
    return tuple(found)
