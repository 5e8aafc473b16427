"""What events change about an owner as a whole: settings, synonyms, what was read, looked at and dropped."""

from __future__ import annotations

from typing import Any

from engramlog_server.events.catalogue import (
    EventDiscarded,
    MemoriesRevealed,
    ParametersChanged,
    ProfileChosen,
    SynonymDefined,
    TurnsExtracted,
)
from engramlog_server.events.envelope import Event
from engramlog_server.events.standing import PROMOTION
from engramlog_server.projections.fold.working_set import OWNER, UNKNOWN, Note, WorkingSet
from engramlog_server.projections.language.synonyms import paired, with_pair


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
