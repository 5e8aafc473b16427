"""What a command is: what somebody asks for, and the events that it leads to. Pure.

A command is sent again where its answer was lost. Then the events that it led to are in the log under the same ids, and the
command itself says whether they are its own: `agrees`. So it is told apart from another command under the same key.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from engramlog_server.events.catalogue import EventData
from engramlog_server.events.vocabulary import Trust
from engramlog_server.projections.memory.record import Memory

Ids = Callable[[str], str]
"""The id of one thing that a command makes, by what it is to the command: `event`, `memory`. The same name, the same id."""
EVENT = "event"
"""The event that a command is about; what else it leads to follows from that."""
REJECTION, READMISSION = "rejection", "readmission"
"""That what a memory says is not so, or is so after all. The second a command leads to only where the first was said before."""
MOST_BESIDE = 8
"""Memories that one statement ends or is flagged beside."""
BESIDE = tuple(f"beside {number}" for number in range(1, MOST_BESIDE + 1))
"""What a statement does to others: as many events as the judge finds, so none where it was told again."""
OPTIONAL = frozenset((READMISSION, *BESIDE))
"""What a command leads to or not, as things stand."""
View = Mapping[str, Memory]
"""The memories that a command is about, as they stand."""


class Made(NamedTuple):
    """An event that a command leads to. Who said so, when and in which session, whoever carries it out adds."""

    data: EventData
    event_id: str
    causation_id: str | None = None
    actor: str | None = None
    """None: who gave the command."""
    occurred_at: str | None = None
    """RFC 3339; None: when the command was given."""
    trust: Trust | None = None
    """How far its word goes at most; None: as far as whoever gave the command reaches."""
    turn: int | None = None
    """Which turn of several it is of, to tell where it is refused."""


class Command(Protocol):
    """What somebody asks for."""

    @property
    def about(self) -> tuple[str, ...]:
        """Memories that must stand for it: `decide` finds each of them in the view."""
        ...

    @property
    def names(self) -> tuple[str, ...]:
        """What its events are to it, in the order in which they are appended; `event` is among them."""
        ...

    @property
    def beyond(self) -> str | None:
        """What one event more would be, of a command that leads to any number: where it is there, another command was given."""
        ...

    def events(self, view: View, ids: Ids) -> list[Made]:
        """The events that it leads to; none where nothing is left to do. Raises InputError for what cannot be."""
        ...

    def agrees(self, told: Sequence[EventData], ids: Ids) -> bool:
        """Whether these are the events that it led to before, whatever the memories were like then."""
        ...

    def answer(self, told: Sequence[EventData]) -> dict[str, Any]:
        """What is told of it, by its events."""
        ...


def decide(command: Command, view: View, ids: Ids) -> list[Made]:
    """The events that a command leads to, where the memories that it is about stand like this. Pure.

    Raises InputError for a command that cannot be.
    """
    return command.events(view, ids)
