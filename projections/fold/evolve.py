"""`evolve`: what each event does to the memories it is about (memory.md, sections 2 to 6). Pure and total.

Events fold in log order. An event about an unknown, purged or merged-away memory changes nothing and is noted as
ignored. Handlers stand beside this file: create, life (mention, revise ...), use (access, grade ...), conflict, link, merge.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import msgspec

from events.accesses import shown_in
from events.catalogue import (
    EventData,
    EventDiscarded,
    FactAsserted,
    FactRetracted,
    GroundChanged,
    MemoriesAccessed,
    MemoriesLinked,
    MemoriesRevealed,
    MemoryCompressed,
    MemoryCreated,
    MemoryDeleted,
    MemoryErased,
    MemoryKept,
    MemoryMentioned,
    MemoryMerged,
    MemoryNegated,
    MemoryPromoted,
    MemoryPurged,
    MemoryReinforced,
    MemoryRestored,
    MemoryRevised,
    MemoryUnmerged,
    ParametersChanged,
    ProfileChosen,
    ReviewGraded,
    SensitivityRaised,
    SensitivitySet,
    SynonymDefined,
    TurnsExtracted,
)
from events.envelope import Event, micros
from events.parameters import DEFAULTS, Parameters, ParameterValue, changed
from events.standing import PROMOTION
from projections.fold import basis
from projections.fold import conflict as evolve_conflict
from projections.fold import create as evolve_create
from projections.fold import life as evolve_life
from projections.fold import link as evolve_link
from projections.fold import merge as evolve_merge
from projections.fold import sensitivity as evolve_sensitivity
from projections.fold import use as evolve_use
from projections.fold.working_set import OWNER, UNKNOWN, Note, OwnerSettings, WorkingSet, trouble_with
from projections.language.keywords.synonyms import paired, with_pair
from projections.memory.record import Memory

Handler = Callable[[WorkingSet, Any, Event[Any]], None]


class EventEffect(msgspec.Struct, frozen=True, gc=False):
    """What an event changed: memories by id, the owner's settings, and the notes for the change log."""

    memories: dict[str, Memory]
    settings: OwnerSettings
    notes: list[Note]
    at: int
    """When the event happened, microseconds since 1970."""


def _choose_profile(working: WorkingSet, data: ProfileChosen, _event: Event[Any]) -> None:
    working.settings = working.settings._replace(profile=data.profile)
    working.notes.append(Note(OWNER, "profile", "the owner's profile from here on", None, None, ("profile",)))


def _change_parameters(working: WorkingSet, data: ParametersChanged, _event: Event[Any]) -> None:
    told, reason = data.parameters, "the owner's parameters from here on"
    if working.actor != "operator" and not PROMOTION.isdisjoint(told):  # refused today, but an old log may hold them
        told = {name: value for name, value in told.items() if name not in PROMOTION}
        reason += ", but for those of promotion: only an operator changes these"
    values = dict(working.settings.parameters) | told
    working.settings = working.settings._replace(parameters=tuple(sorted(values.items())))
    working.notes.append(Note(OWNER, "parameters", reason, None, None, tuple(sorted(told))))


def _define_synonym(working: WorkingSet, data: SynonymDefined, _event: Event[Any]) -> None:
    pair = paired(data.keyword, data.synonym, data.similarity)
    pairs = "there are no two different words" if pair is None else with_pair(working.settings.synonyms, pair)
    if isinstance(pairs, str):
        working.ignore(OWNER, pairs)
        return
    working.settings = working.settings._replace(synonyms=pairs)
    reason = "two words are alike" if data.similarity else "two words are no synonyms"
    working.notes.append(
        Note(OWNER, "synonym", f"{reason} in the owner's searches from here on", None, None, ("synonyms",))
    )


def _read_turns(working: WorkingSet, data: TurnsExtracted, _event: Event[Any]) -> None:
    working.notes.append(Note(OWNER, "read", f"{data.turns} turns were read by {data.by}", None, None, ("read",)))


def _reveal(working: WorkingSet, data: MemoriesRevealed, _event: Event[Any]) -> None:
    """Noted for whatever became of the memory since, and no counter moves: to look at a secret is not to use it."""
    for memory_id in data.memory_ids:
        if working.get(memory_id) is None:
            working.ignore(memory_id, UNKNOWN)
        else:
            working.mark(memory_id, "reveal", f"its text was asked for: {data.by}, {data.face}")


def nothing_parked(settings: OwnerSettings, event: Event[EventData]) -> EventEffect:
    """An EventDiscarded that names what is not parked, or is not this owner's: nothing is dropped."""
    note = Note(OWNER, "ignored", "nothing is parked there", None, None, ())
    return EventEffect({}, settings, [note], micros(event.occurred_at))


def _discard(working: WorkingSet, data: EventDiscarded, _event: Event[Any]) -> None:
    reason = f"{data.position} was parked and is dropped, by {working.actor}"
    working.notes.append(Note(OWNER, "discard", reason, None, None, ()))


HANDLERS: Mapping[type, Handler] = {
    MemoryCreated: evolve_create.create,
    MemoryMentioned: evolve_life.mention,
    MemoriesAccessed: evolve_use.access,
    MemoryReinforced: evolve_use.reinforce,
    MemoryRevised: evolve_life.revise,
    MemoryCompressed: evolve_life.compress,
    MemoryPromoted: evolve_use.promote,
    MemoryKept: evolve_use.keep,
    MemoryDeleted: evolve_life.delete,
    MemoryRestored: evolve_life.restore,
    MemoryPurged: evolve_life.purge,
    MemoryErased: evolve_life.erase,
    ReviewGraded: evolve_use.grade,
    MemoryNegated: evolve_conflict.negate,
    MemoriesLinked: evolve_link.link,
    FactAsserted: evolve_link.assert_fact,
    FactRetracted: evolve_link.retract_fact,
    MemoryMerged: evolve_merge.merge,
    MemoryUnmerged: evolve_merge.unmerge,
    ProfileChosen: _choose_profile,
    ParametersChanged: _change_parameters,
    SynonymDefined: _define_synonym,
    TurnsExtracted: _read_turns,
    SensitivitySet: evolve_sensitivity.set_by_hand,
    EventDiscarded: _discard,
    MemoriesRevealed: _reveal,
    GroundChanged: basis.ground_changed,
    SensitivityRaised: evolve_sensitivity.raise_by_rules,
}
"""Turns and tool results change nothing and have no handler."""


def parameters_of(settings: OwnerSettings, base: Parameters = DEFAULTS) -> Parameters:
    """The parameters in force under an owner's settings."""
    return _changed(base, settings.parameters) if settings.parameters else base


@lru_cache(maxsize=4096)
def _changed(base: Parameters, values: tuple[tuple[str, ParameterValue], ...]) -> Parameters:
    return changed(base, dict(values))


def evolve(
    settings: OwnerSettings,
    memories: Mapping[str, Memory],
    event: Event[EventData],
    seq: int,
    base: Parameters = DEFAULTS,
    level: int | None = None,
) -> EventEffect:
    """The event's effect on one owner. `memories` must hold what `reach` asks for, where it exists.

    `level`: how sensitive the entry says that the event's words are; None where it does not, and they are judged here.
    """
    parameters, at = parameters_of(settings, base), micros(event.occurred_at)
    working = WorkingSet(memories, settings, parameters, at, seq, event.actor, level)
    data = event.data
    handler = HANDLERS.get(type(data))
    if handler is not None:
        handler(working, data, event)
    if type(data) is not MemoriesAccessed:
        _note_the_named(working, data)
    return EventEffect(working.changed, working.settings, working.notes, working.at)


def _note_the_named(working: WorkingSet, data: EventData) -> None:
    """One note for every memory the event names, also where it changes nothing."""
    named = names(data)
    if len(named) == 1 and len(working.notes) == 1:
        return
    noted = {note.memory_id for note in working.notes}
    for memory_id in named:
        if memory_id not in noted:
            noted.add(memory_id)
            problem = trouble_with(working.get(memory_id))
            if problem:
                working.ignore(memory_id, problem)
            else:
                working.mark(memory_id, "named", f"named by {type(data).__name__}")


def names(data: EventData) -> tuple[str, ...]:
    """Ids of the memories that the event is about or names in its data, in order."""
    named = _NAMES.get(type(data))
    if named is not None:
        return named(data)
    memory_id = getattr(data, "memory_id", None)
    return (memory_id,) if memory_id else ()


def _named_at_creation(data: MemoryCreated) -> tuple[str, ...]:
    if data.corrects is None and data.imported is None and not data.summarises:
        return (data.memory_id,)
    brought = [edge.memory_id for edge in data.imported.associations] if data.imported else ()
    return (*_both(data.memory_id, data.corrects), *data.summarises, *brought)


def _shown(data: MemoriesAccessed) -> tuple[str, ...]:
    """What was shown, and what was shown together: a producer may name other memories there."""
    shown = shown_in(data)
    if not data.together:
        return shown
    return tuple(dict.fromkeys([*shown, *(memory_id for group in data.together for memory_id in group)]))


def _both(one: str, other: str | None) -> tuple[str, ...]:
    return (one, other) if other else (one,)


_NAMES: Mapping[type, Callable[[Any], tuple[str, ...]]] = {
    MemoryCreated: _named_at_creation,
    MemoryNegated: lambda data: _both(data.memory_id, data.replaced_by),
    MemoriesAccessed: _shown,
    MemoryReinforced: lambda data: _both(data.memory_id, data.from_memory),
    MemoryMerged: lambda data: (data.into, *data.sources),
    MemoryUnmerged: lambda data: (data.into,),
    MemoriesLinked: lambda data: (data.a, data.b),
    MemoriesRevealed: lambda data: data.memory_ids,
    FactAsserted: lambda data: data.evidence,
    FactRetracted: lambda data: data.evidence,
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
