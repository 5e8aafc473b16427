"""`evolve`: what each event does to the memories it is about (memory.md, sections 2 to 6). Pure and total.

Events fold in log order. An event about an unknown, purged or merged-away memory changes nothing and is noted as
ignored. Handlers stand beside this file: create, life (mention, revise ...), use (access, grade ...), conflict, link, merge.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import msgspec

from engramlog_server.events import catalogue
from engramlog_server.events.catalogue import EventData, MemoriesAccessed
from engramlog_server.events.envelope import Event, micros
from engramlog_server.events.parameters import DEFAULTS, Parameters, ParameterValue, changed
from engramlog_server.events.trust import ASSERTED, lowest
from engramlog_server.events.vocabulary import Trust
from engramlog_server.projections.fold import basis
from engramlog_server.projections.fold import conflict as evolve_conflict
from engramlog_server.projections.fold import create as evolve_create
from engramlog_server.projections.fold import life as evolve_life
from engramlog_server.projections.fold import link as evolve_link
from engramlog_server.projections.fold import merge as evolve_merge
from engramlog_server.projections.fold import owner_choices as evolve_owner
from engramlog_server.projections.fold import sensitivity as evolve_sensitivity
from engramlog_server.projections.fold import sources as evolve_sources
from engramlog_server.projections.fold import trust as evolve_trust
from engramlog_server.projections.fold import use as evolve_use
from engramlog_server.projections.fold import values as evolve_values
from engramlog_server.projections.fold.inbox import any_waits, bounded
from engramlog_server.projections.fold.named import names
from engramlog_server.projections.fold.working_set import OWNER, Note, OwnerSettings, WorkingSet, trouble_with
from engramlog_server.projections.memory.record import Memory

Handler = Callable[[WorkingSet, Any, Event[Any]], None]


class EventEffect(msgspec.Struct, frozen=True, gc=False):
    """What an event changed: memories by id, the owner's settings, and the notes for the change log."""

    memories: dict[str, Memory]
    settings: OwnerSettings
    notes: list[Note]
    at: int
    """When the event happened, microseconds since 1970."""
    waiting: int = 0
    """How many things of the owner wait for a person now."""


def nothing_parked(settings: OwnerSettings, event: Event[EventData], waiting: int = 0) -> EventEffect:
    """An EventDiscarded that names what is not parked, or is not this owner's: nothing is dropped."""
    note = Note(OWNER, "ignored", "nothing is parked there", None, None, ())
    return EventEffect({}, settings, [note], micros(event.occurred_at), waiting)


HANDLERS: Mapping[type, Handler] = {
    catalogue.MemoryCreated: evolve_create.create,
    catalogue.MemoryMentioned: evolve_life.mention,
    catalogue.MemoriesAccessed: evolve_use.access,
    catalogue.MemoryReinforced: evolve_use.reinforce,
    catalogue.MemoryRevised: evolve_life.revise,
    catalogue.MemoryCompressed: evolve_life.compress,
    catalogue.MemoryPromoted: evolve_use.promote,
    catalogue.MemoryKept: evolve_use.keep,
    catalogue.MemoryDeleted: evolve_life.delete,
    catalogue.MemoryRestored: evolve_life.restore,
    catalogue.MemoryPurged: evolve_life.purge,
    catalogue.MemoryErased: evolve_life.erase,
    catalogue.ReviewGraded: evolve_use.grade,
    catalogue.MemoryNegated: evolve_conflict.negate,
    catalogue.MemoriesLinked: evolve_link.link,
    catalogue.FactAsserted: evolve_link.assert_fact,
    catalogue.FactRetracted: evolve_link.retract_fact,
    catalogue.MemoryMerged: evolve_merge.merge,
    catalogue.MemoryUnmerged: evolve_merge.unmerge,
    catalogue.ProfileChosen: evolve_owner.choose_profile,
    catalogue.ParametersChanged: evolve_owner.change_parameters,
    catalogue.SynonymDefined: evolve_owner.define_synonym,
    catalogue.TurnsExtracted: evolve_owner.read_turns,
    catalogue.SensitivitySet: evolve_sensitivity.set_by_hand,
    catalogue.EventDiscarded: evolve_owner.discard,
    catalogue.MemoriesRevealed: evolve_owner.reveal,
    catalogue.GroundChanged: basis.ground_changed,
    catalogue.SensitivityRaised: evolve_sensitivity.raise_by_rules,
    catalogue.ValueRejected: evolve_values.reject,
    catalogue.ValueReadmitted: evolve_values.readmit,
    catalogue.SourceSetAside: evolve_sources.put_aside,
    catalogue.SourceBroughtBack: evolve_sources.bring_back,
    catalogue.ReviewSettled: evolve_trust.settle,
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
    stated: tuple[bytes, ...] = (),
    by: str = "",
    trust: Trust | None = None,
    waiting: int = 0,
) -> EventEffect:
    """The event's effect on one owner. `memories` must hold what `reach` asks for, where it exists.

    `level`: how sensitive the entry says that the event's words are; None where it does not, and they are judged here.
    `stated`: digests of what it states, as the entry tells them. `by`: who brought it, as `Author.by`. `trust`: how far its word
    goes, where the entry tells that. `waiting`: how many things of the owner wait for a person before it.
    """
    parameters, at = parameters_of(settings, base), micros(event.occurred_at)
    reaches = ASSERTED if trust is None and event.trust is None else lowest(trust, event.trust)
    working = WorkingSet(
        memories, settings, parameters, at, seq, event.actor, level, stated, by, event.session_id, reaches
    )
    data = event.data
    handler = HANDLERS.get(type(data))
    if handler is not None:
        handler(working, data, event)
    if type(data) is not MemoriesAccessed:
        if waiting or working.settings is not settings or any_waits(working.changed):
            waiting = bounded(working, settings, data, waiting)
        _note_the_named(working, data)
    return EventEffect(working.changed, working.settings, working.notes, working.at, waiting)


def _note_the_named(working: WorkingSet, data: EventData) -> None:
    """One note for every memory the event names, also where it changes nothing."""
    named, notes = names(data), working.notes
    if len(notes) == 1 and len(named) == 1:
        return
    noted = {note.memory_id for note in notes}
    for memory_id in named:
        if memory_id not in noted:
            noted.add(memory_id)
            problem = trouble_with(working.get(memory_id))
            if problem:
                working.ignore(memory_id, problem)
            else:
                working.mark(memory_id, "named", f"named by {type(data).__name__}")
