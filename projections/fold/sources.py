"""Sources that a person sets aside and brings back. What they withhold, views say: no record changes."""

from __future__ import annotations

from typing import Any

from engramlog_server.events.catalogue import SourceBroughtBack, SourceSetAside
from engramlog_server.events.envelope import Event
from engramlog_server.projections.fold.working_set import OWNER, Note, WorkingSet
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
