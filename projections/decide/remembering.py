"""The commands that say something new: one memory, or the turns of a conversation with their memories. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from events.catalogue import EventData, MemoryCreated
from projections.decide.command import EVENT, READMISSION, Ids, Made, View
from projections.decide.rejecting import readmission
from projections.memory.creating import created, memory_of_turn, recorded

_PERSONS = ("user", "assistant")


@dataclass(frozen=True, slots=True)
class Remember:
    """One memory, with what is told of it beside its text."""

    content: str
    memory_id: str | None = None
    fields: Mapping[str, Any] = field(default_factory=dict)
    """Of `MemoryCreated`."""
    values: tuple[str, ...] = ()
    """What it says, to be taken up again where it was rejected."""

    @property
    def about(self) -> tuple[str, ...]:
        """See `Command.about`."""
        return ()

    @property
    def names(self) -> tuple[str, ...]:
        """See `Command.names`."""
        return (READMISSION, EVENT) if self.values else (EVENT,)

    @property
    def beyond(self) -> None:
        """See `Command.beyond`."""

    def events(self, view: View, ids: Ids) -> list[Made]:  # noqa: ARG002 - commands have one shape
        """See `Command.events`."""
        return [Made(data, ids(name)) for data, name in zip(self._data(ids), self.names, strict=True)]

    def _data(self, ids: Ids) -> list[EventData]:
        taken_up: list[EventData] = [readmission(None, self.values)] if self.values else []
        return [*taken_up, self._created(ids)]

    def _created(self, ids: Ids) -> MemoryCreated:
        return created(self.memory_id or f"m-{ids(EVENT)}", self.content, **self.fields)

    def agrees(self, told: Sequence[EventData], ids: Ids) -> bool:
        """See `Command.agrees`."""
        return list(told) == self._data(ids)

    def answer(self, told: Sequence[EventData]) -> dict[str, Any]:
        """See `Command.answer`."""
        new = told[-1]
        assert isinstance(new, MemoryCreated), "one memory is one event"
        return {"id": new.memory_id}


class NewTurn(NamedTuple):
    """One message of a conversation. `occurred_at`: RFC 3339, now if not given."""

    role: str
    text: str
    speaker: str | None = None
    occurred_at: str | None = None

    @property
    def actor(self) -> str:
        """Who said it, as an event's actor and a memory's source."""
        return self.role if self.role in _PERSONS else "system"


@dataclass(frozen=True, slots=True)
class RecordTurns:
    """Turns in the order in which they were said, each with a memory by which it can be found.

    Of `ids` it asks `turn 1`, and for that turn's events `turn recorded ID` and `turn kept ID`.
    """

    turns: tuple[NewTurn, ...]

    @property
    def about(self) -> tuple[str, ...]:
        """See `Command.about`."""
        return ()

    @property
    def names(self) -> tuple[str, ...]:
        """See `Command.names`."""
        numbers = range(1, len(self.turns) + 1)
        return tuple(name for number in numbers for name in (f"turn {number} recorded", f"turn {number} kept"))

    @property
    def beyond(self) -> str | None:
        """See `Command.beyond`."""
        return f"turn {len(self.turns) + 1} recorded"

    def events(self, view: View, ids: Ids) -> list[Made]:  # noqa: ARG002
        """See `Command.events`."""
        found: list[Made] = []
        for number, turn in enumerate(self.turns, 1):
            turn_id, said_id = ids(f"turn {number}"), ids(f"turn {number} recorded")
            said = recorded(turn_id, turn.role, turn.text, turn.speaker)
            kept = memory_of_turn(turn_id, turn.text, source=turn.actor, speaker=turn.speaker or turn.role)
            told: dict[str, Any] = {"actor": turn.actor, "occurred_at": turn.occurred_at, "turn": number}
            found += (Made(said, said_id, **told), Made(kept, ids(f"turn {number} kept"), causation_id=said_id, **told))
        return found

    def agrees(self, told: Sequence[EventData], ids: Ids) -> bool:
        """See `Command.agrees`."""
        return list(told) == [one.data for one in self.events({}, ids)]

    def answer(self, told: Sequence[EventData]) -> dict[str, Any]:
        """See `Command.answer`."""
        return {"turns": [one.memory_id for one in told if isinstance(one, MemoryCreated)]}
