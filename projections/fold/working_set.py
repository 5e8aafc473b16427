"""What one event sees and does: the memories before it, those it changes, and a note for each memory it is about.

A working set lives for one call of `evolve`; handlers write on it instead of on anybody's state.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec

from engramlog_server.events import catalogue
from engramlog_server.events.catalogue import EventData
from engramlog_server.events.parameters import Parameters, ParameterValue
from engramlog_server.events.standing import shown_in
from engramlog_server.events.trust import ASSERTED
from engramlog_server.events.vocabulary import Trust
from engramlog_server.projections.memory.record import Asides, Author, Memory, with_changes
from engramlog_server.projections.memory.rejection import Rejection, Rejections, refusing


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


OWNER = ""
"""Stands for the owner itself where a note names a memory."""

UNKNOWN = "unknown memory"
PURGED = "purged: only a tombstone is left"
MERGED_AWAY = "merged away: its merge stands for it"


class OwnerSettings(NamedTuple):
    """What an owner chose: the profile, the parameters that differ from the defaults, its own synonyms, what is not so."""

    profile: str = "weighted"
    parameters: tuple[tuple[str, ParameterValue], ...] = ()
    synonyms: tuple[tuple[str, str, float], ...] = ()
    """Pairs of words with their similarity, ascending; how they are kept: `projections.language.synonyms`."""
    rejections: Rejections = ()
    """Values that a person rejected or readmitted, by digest, ascending."""
    asides: Asides = ()
    """Sources that a person set aside or brought back."""


_UNTOLD = frozenset({"stated", "revised_by", "deleted_by"})


@lru_cache(maxsize=1024)
def _told_of(changed: tuple[str, ...]) -> tuple[str, ...]:
    """Of names of fields those that a note tells, sorted: nearly all events change one of a few sets."""
    return tuple(sorted(name for name in changed if name not in _UNTOLD))


class Note(msgspec.Struct, frozen=True, gc=False):
    """What an event did to one memory; becomes a change-log entry."""

    memory_id: str
    decision: str
    reason: str
    before: Memory | None
    after: Memory | None
    fields: tuple[str, ...]


class WorkingSet(msgspec.Struct, gc=False):
    """One event's view of its owner's memories; `at`: `occurred_at` in microseconds, `seq`: its place in the log."""

    memories: Mapping[str, Memory]
    settings: OwnerSettings
    parameters: Parameters
    at: int
    seq: int
    actor: str
    level: int | None = None
    """How sensitive the event's words are, as was found when it was appended; None: nobody looked, and the rules are asked."""
    stated: tuple[bytes, ...] = ()
    """Digests of what the event states."""
    by: str = ""
    """Who brought it, as `Author.by`."""
    session: str | None = None
    trust: Trust = ASSERTED
    """How far the event's word goes."""
    changed: dict[str, Memory] = {}  # msgspec gives each a dict of its own
    notes: list[Note] = []

    def get(self, memory_id: str) -> Memory | None:
        """The memory as this event has left it so far."""
        return (self.changed and self.changed.get(memory_id)) or self.memories.get(memory_id)

    def live(self, memory_id: str) -> Memory | None:
        """The memory if an event may change it; else None, and the event is noted as ignored."""
        memory = self.get(memory_id)
        problem = trouble_with(memory)
        if problem is None:
            return memory
        self.ignore(memory_id, problem)
        return None

    def refusing(self, said_at: int) -> Rejection | None:
        """The rejection by which what the event states does not count, as evidence of that time; None where it does."""
        return refusing(self.settings.rejections, self.stated, said_at)

    @property
    def statement(self) -> bytes:
        """The digest of the one thing that the event states; empty where it is not known."""
        return self.stated[0] if self.stated else b""

    def author_unless(self, memory: Memory) -> Author | None:
        """Who brought the event; None where that is who wrote the memory."""
        return None if self.by == memory.by and self.session == memory.session else Author(self.by, self.session)

    def ignore(self, memory_id: str, reason: str) -> None:
        """Nothing changes on this memory, and the log says why."""
        memory = self.get(memory_id)
        self.notes.append(Note(memory_id, "ignored", reason, memory, memory, ()))

    def mark(self, memory_id: str, decision: str, reason: str) -> None:
        """The event names this memory and changes nothing on it."""
        memory = self.get(memory_id)
        self.notes.append(Note(memory_id, decision, reason, memory, memory, ()))

    def create(self, memory: Memory, decision: str, reason: str) -> None:
        """A new memory."""
        self.changed[memory.id] = memory
        self.notes.append(Note(memory.id, decision, reason, None, memory, ()))

    def change(self, memory: Memory, decision: str, reason: str, **fields: Any) -> Memory:
        """New values for some fields, with a note that names those that differ; not `stated`, which follows from `content`,
        nor whose doing it is: that is the event's."""
        differ = {name: value for name, value in fields.items() if getattr(memory, name) != value}
        named = _told_of(tuple(differ))
        differ["stamp"] = max(memory.stamp, self.at)
        differ["changed_seq"] = self.seq
        after = self.changed[memory.id] = with_changes(memory, **differ)
        self.notes.append(Note(memory.id, decision, reason, memory, after, named))
        return after

    def adjust(self, memory: Memory, **fields: Any) -> Memory:
        """New values without a note: accesses, and neighbours of what the event is about."""
        after = with_changes(memory, changed_seq=self.seq, **fields)
        self.changed[memory.id] = after
        return after


def trouble_with(memory: Memory | None) -> str | None:
    """Why no event may change this memory, or None."""
    if memory is None:
        return UNKNOWN
    if memory.purged_at is not None:
        return PURGED
    return MERGED_AWAY if memory.merged_into is not None else None
