"""Which events of an owner are struck by name: one by one, or all of a turn, a session, a source, or whoever brought them. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from engramlog_server.events.catalogue import GroundChanged, MemoryCreated, MemoryRevised, TurnRecorded
from engramlog_server.events.entry import model_of
from engramlog_server.events.envelope import AnyEvent, Stored
from engramlog_server.projections.fold.changelog import id_text
from engramlog_server.projections.memory.kind import turn_told

FIELDS = ("without", "turns", "sessions", "sources", "actors", "principals", "correlations", "models")
"""What may be named, in the order in which an event is told to be struck for it."""
_FIRST_NAME = FIELDS.index("sessions")
"""From here on what an event tells by a name of its own."""

MOST_NAMES = 10_000
"""Different names of a field that are held of one owner: a producer chooses them, and may bring any number."""


class Strikes(NamedTuple):
    """What is named: an event that is any of it is struck. Each value once."""

    ids: frozenset[str] = frozenset()
    """Ids of events, in small letters."""
    seqs: frozenset[int] = frozenset()
    """Positions in the owner's partition."""
    turns: frozenset[str] = frozenset()
    sessions: frozenset[str] = frozenset()
    sources: frozenset[str] = frozenset()
    """What a created memory names as its source, or the URI of something that a memory rests on."""
    actors: frozenset[str] = frozenset()
    principals: frozenset[str] = frozenset()
    """Who brought it, whole: `job:extract model:qwen3:8b` is another than `job:extract`."""
    correlations: frozenset[str] = frozenset()
    models: frozenset[str] = frozenset()
    """Language models that decided, as the principal names them."""

    def named(self, one: Stored, event: AnyEvent) -> Iterator[tuple[str, str]]:
        """What of it an event is: (which of `FIELDS`, the value that was named)."""
        if self.seqs and one.seq in self.seqs:
            yield "without", f":{one.seq}"
        if self.ids and (name := id_text(one.raw_id)) in self.ids:
            yield "without", name
        if self.turns and (turn := turn_said(event.data)) in self.turns:
            yield "turns", str(turn)
        if any(self[_FIRST_NAME:]):
            yield from ((field, name) for field, name in names_of(one, event) if name in getattr(self, field))

    @property
    def wanted(self) -> dict[str, frozenset[str]]:
        """What must each be found somewhere, by field; actors are a closed list, of which one may have said nothing."""
        return {
            "without": self.ids | {f":{seq}" for seq in self.seqs},
            "turns": self.turns,
            "sessions": self.sessions,
            "sources": self.sources,
            "principals": self.principals,
            "correlations": self.correlations,
            "models": self.models,
        }

    @property
    def any(self) -> bool:
        """Whether anything is named at all."""
        return any(self)


def names_of(one: Stored, event: AnyEvent) -> Iterator[tuple[str, str]]:
    """Who says an event, where its words come from, and for what: (which of `FIELDS`, the name), each once, in their order."""
    if event.session_id is not None:
        yield "sessions", event.session_id
    yield from (("sources", name) for name in dict.fromkeys(sources_in(event.data)))
    yield "actors", event.actor
    principal = one.principal
    if principal:
        yield "principals", principal
    if event.correlation_id is not None:
        yield "correlations", event.correlation_id
    if principal and (model := model_of(principal)):
        yield "models", model


def turn_said(data: Any) -> str | None:
    """The turn that an event says, by its id: as it was recorded, or as the memory by which it can be found."""
    if isinstance(data, TurnRecorded):
        return data.turn_id
    return turn_told(data) if isinstance(data, MemoryCreated) else None


def sources_in(data: Any) -> tuple[str, ...]:
    """What an event names as where its words come from: the source of a created memory, URIs that a memory rests on."""
    return (data.source, *uris_in(data)) if isinstance(data, MemoryCreated) else uris_in(data)


def uris_in(data: Any) -> tuple[str, ...]:
    """URIs of what a memory rests on, as an event tells them."""
    if isinstance(data, MemoryCreated | MemoryRevised):
        return tuple(one.uri for one in data.grounds or ())
    return (data.uri,) if isinstance(data, GroundChanged) else ()
