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
from engramlog_server.events.catalogue import (
    EventData,
    EventDiscarded,
    FactAsserted,
    MemoriesAccessed,
    MemoriesRevealed,
    MemoryCompressed,
    MemoryCreated,
    MemoryMerged,
    MemoryRevised,
    ParametersChanged,
    ProfileChosen,
    SourceBroughtBack,
    SourceSetAside,
    SynonymDefined,
    TurnsExtracted,
)
from engramlog_server.events.envelope import Event, micros
from engramlog_server.events.parameters import DEFAULTS, Parameters, ParameterValue, changed
from engramlog_server.events.standing import PROMOTION
from engramlog_server.events.trust import ASSERTED, lowest
from engramlog_server.events.vocabulary import Trust
from engramlog_server.projections.fold import life, link, merge, provenance, trust, use
from engramlog_server.projections.fold.trust import any_waits, bounded
from engramlog_server.projections.fold.working_set import (
    OWNER,
    UNKNOWN,
    Note,
    OwnerSettings,
    WorkingSet,
    names,
    trouble_with,
)
from engramlog_server.projections.language.sensitivity.level import level_of_data, told_by_triple, words_in
from engramlog_server.projections.language.sensitivity.personal import tells_of_money
from engramlog_server.projections.language.synonyms import paired, with_pair
from engramlog_server.projections.memory.record import Memory
from engramlog_server.projections.memory.sources import NOBODY, Asides, NamedSource, brought_back, set_aside


def source_of(data: SourceSetAside | SourceBroughtBack) -> NamedSource:
    """The source that an event names."""
    return NamedSource(data.session, data.principal, data.actor)


def put_aside(working: WorkingSet, data: SourceSetAside, _event: Event[Any]) -> None:
    """From here on what it said, and says, is withheld."""
    if source_of(data) == NOBODY:
        working.ignore(OWNER, "it names no source")
        return
    try:
        after = set_aside(working.settings.asides, source_of(data), working.at, working.seq)
    except ValueError as full:
        working.ignore(OWNER, str(full))
        return
    _settle(working, after, "set_aside", "what a source says is withheld")


def bring_back(working: WorkingSet, data: SourceBroughtBack, _event: Event[Any]) -> None:
    """From here on what it said counts again."""
    try:
        after = brought_back(working.settings.asides, source_of(data), working.at, working.seq)
    except ValueError as full:
        working.ignore(OWNER, str(full))
        return
    _settle(working, after, "bring_back", "what a source says counts again")


def _settle(working: WorkingSet, after: Asides, decision: str, reason: str) -> None:
    if after == working.settings.asides:
        working.ignore(OWNER, "something newer is known of that source")
        return
    working.settings = working.settings._replace(asides=after)
    working.notes.append(Note(OWNER, decision, reason, None, None, ("asides",)))


def choose_profile(working: WorkingSet, data: ProfileChosen, _event: Event[Any]) -> None:
    working.settings = working.settings._replace(profile=data.profile)
    working.notes.append(Note(OWNER, "profile", "the owner's profile from here on", None, None, ("profile",)))


def change_parameters(working: WorkingSet, data: ParametersChanged, _event: Event[Any]) -> None:
    told, reason = data.parameters, "the owner's parameters from here on"
    if working.actor != "operator" and not PROMOTION.isdisjoint(told):  # refused today, but an old log may hold them
        told = {name: value for name, value in told.items() if name not in PROMOTION}
        reason += ", but for those of promotion: only an operator changes these"
    values = dict(working.settings.parameters) | told
    working.settings = working.settings._replace(parameters=tuple(sorted(values.items())))
    working.notes.append(Note(OWNER, "parameters", reason, None, None, tuple(sorted(told))))


def define_synonym(working: WorkingSet, data: SynonymDefined, _event: Event[Any]) -> None:
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


def read_turns(working: WorkingSet, data: TurnsExtracted, _event: Event[Any]) -> None:
    working.notes.append(Note(OWNER, "read", f"{data.turns} turns were read by {data.by}", None, None, ("read",)))


def reveal(working: WorkingSet, data: MemoriesRevealed, _event: Event[Any]) -> None:
    """Noted for whatever became of the memory since, and no counter moves: to look at a secret is not to use it."""
    for memory_id in data.memory_ids:
        if working.get(memory_id) is None:
            working.ignore(memory_id, UNKNOWN)
        else:
            working.mark(memory_id, "reveal", f"its text was asked for: {data.by}, {data.face}")


def discard(working: WorkingSet, data: EventDiscarded, _event: Event[Any]) -> None:
    reason = f"{data.position} was parked and is dropped, by {working.actor}"
    working.notes.append(Note(OWNER, "discard", reason, None, None, ()))


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


_WORDED = frozenset({MemoryCreated, MemoryRevised, MemoryCompressed, MemoryMerged, FactAsserted})
"""Events whose words become a memory's."""
HANDLERS: Mapping[type, Handler] = {
    catalogue.MemoryCreated: life.create,
    catalogue.MemoryMentioned: life.mention,
    catalogue.MemoriesAccessed: use.access,
    catalogue.MemoryReinforced: use.reinforce,
    catalogue.MemoryRevised: life.revise,
    catalogue.MemoryCompressed: life.compress,
    catalogue.MemoryPromoted: use.promote,
    catalogue.MemoryKept: use.keep,
    catalogue.MemoryDeleted: life.delete,
    catalogue.MemoryRestored: life.restore,
    catalogue.MemoryPurged: life.purge,
    catalogue.MemoryErased: life.erase,
    catalogue.ReviewGraded: use.grade,
    catalogue.MemoryNegated: link.negate,
    catalogue.MemoriesLinked: link.link,
    catalogue.FactAsserted: link.assert_fact,
    catalogue.FactRetracted: link.retract_fact,
    catalogue.MemoryMerged: merge.merge,
    catalogue.MemoryUnmerged: merge.unmerge,
    catalogue.ProfileChosen: choose_profile,
    catalogue.ParametersChanged: change_parameters,
    catalogue.SynonymDefined: define_synonym,
    catalogue.TurnsExtracted: read_turns,
    catalogue.SensitivitySet: trust.set_by_hand,
    catalogue.EventDiscarded: discard,
    catalogue.MemoriesRevealed: reveal,
    catalogue.GroundChanged: provenance.ground_changed,
    catalogue.SensitivityRaised: trust.raise_by_rules,
    catalogue.ValueRejected: trust.reject,
    catalogue.ValueReadmitted: trust.readmit,
    catalogue.SourceSetAside: put_aside,
    catalogue.SourceBroughtBack: bring_back,
    catalogue.ReviewSettled: trust.settle,
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
    level = _with_money(level, event.data, parameters.finance_sensitivity)
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


def _with_money(level: int | None, data: EventData, least: int) -> int | None:
    """The level of the event's words, at least `least` where they become a memory's and tell of money; 0: as rules find it."""
    if not least or type(data) not in _WORDED or (level is not None and level >= least):
        return level
    told = [told_by_triple(data)] if isinstance(data, FactAsserted) else words_in(data)
    if not any(map(tells_of_money, told)):
        return level
    return least if level is not None else max(least, level_of_data(data))


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
