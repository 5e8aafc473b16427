"""The commands that say something new: one memory, or the turns of a conversation with their memories. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, get_args

from engramlog_server.events.catalogue import (
    EventData,
    MemoriesLinked,
    MemoryCreated,
    MemoryMentioned,
    MemoryNegated,
    ValueReadmitted,
)
from engramlog_server.events.envelope import from_micros, utc_text
from engramlog_server.events.trust import PROPOSED
from engramlog_server.projections.decide.commands import BESIDE, EVENT, READMISSION, Ids, Made, View
from engramlog_server.projections.decide.rejecting import readmission
from engramlog_server.projections.language.statements import normalised
from engramlog_server.projections.memory.kind import created, memory_of_turn, recorded
from engramlog_server.projections.memory.record import Memory

_PERSONS = ("user", "assistant")


Does = Literal["ends", "ended by", "waits", "flags", "joins"]
"""A new statement ends a memory, or holds no longer by one that was said later; would end it but waits for a person; both are
flagged; or both are linked as related."""
DOES: tuple[Does, ...] = get_args(Does)


class Contested(NamedTuple):
    """A memory that the new statement contradicts or is related to."""

    memory_id: str
    does: Does
    reason: str
    at: int | None = None
    """From when on the new statement holds no longer, microseconds since 1970; None: it ends nothing of its own."""
    alike: float = 0.5
    """The weight of a link."""


class Consequence(NamedTuple):
    """What follows from what is told."""

    again: str | None = None
    """The memory that says it already: it is mentioned, and nothing is made."""
    turn_id: str | None = None
    """The turn of the mention."""
    beside: tuple[Contested, ...] = ()
    """The weightiest first, at most `MOST_BESIDE`; then what is related, the most alike first, at most `MOST_JOINED`."""


NOTHING = Consequence()


def says(memory: Memory | None, content: str) -> bool:
    """Whether a memory says this letter by letter, or did."""
    told = () if memory is None else (memory.content, *(one.content for one in memory.versions))
    wanted = normalised(content)
    return any(normalised(one) == wanted for one in told)


def of_beside(one: Contested, new: str, content: str) -> EventData:
    """What a new memory does to one that it ends, or is flagged beside."""
    if one.does in ("flags", "joins"):
        link = "related" if one.does == "joins" else "possible_conflict"
        return MemoriesLinked(a=one.memory_id, b=new, weight=one.alike, link=link)
    if one.does == "ended by":
        return MemoryNegated(memory_id=new, replaced_by=one.memory_id, reason=one.reason)
    return MemoryNegated(memory_id=one.memory_id, correction=content, replaced_by=new, reason=one.reason)


@dataclass(frozen=True, slots=True)
class Remember:
    """One memory, with what is told of it beside its text."""

    content: str
    memory_id: str | None = None
    fields: Mapping[str, Any] = field(default_factory=dict)
    """Of `MemoryCreated`."""
    values: tuple[str, ...] = ()
    """What it says, to be taken up again where it was rejected."""
    judged: Consequence = NOTHING
    says: Callable[[str], bool] = field(default=lambda _: False, repr=False, compare=False)
    """Whether the memory of that id says this: asked of what was mentioned under the same key."""

    @property
    def about(self) -> tuple[str, ...]:
        """See `Command.about`."""
        return ()

    @property
    def names(self) -> tuple[str, ...]:
        """See `Command.names`."""
        return (READMISSION, EVENT, *BESIDE) if self.values else (EVENT, *BESIDE)

    @property
    def beyond(self) -> None:
        """See `Command.beyond`."""

    def events(self, view: View, ids: Ids) -> list[Made]:  # noqa: ARG002 - commands have one shape
        """See `Command.events`."""
        found = [Made(self._taken_up(), ids(READMISSION))] if self.values else []
        if self.judged.again is not None:
            data = MemoryMentioned(memory_id=self.judged.again, similarity=1.0, turn_id=self.judged.turn_id)
            return [*found, Made(data, ids(EVENT))]
        new = self._created(ids)
        waits = any(one.does == "waits" for one in self.judged.beside)  # and so does what it brings
        found.append(Made(new, ids(EVENT), trust=PROPOSED if waits else None))
        beside = zip(self.judged.beside, BESIDE, strict=False)
        return found + [
            Made(
                of_beside(one, new.memory_id, self.content),
                ids(name),
                ids(EVENT),
                occurred_at=None if one.at is None else utc_text(from_micros(one.at)),
            )
            for one, name in beside
        ]

    def _taken_up(self) -> ValueReadmitted:
        return readmission(None, self.values)

    def _created(self, ids: Ids) -> MemoryCreated:
        waits = next((one.memory_id for one in self.judged.beside if one.does == "waits"), None)
        return created(self.memory_id or f"m-{ids(EVENT)}", self.content, **{"corrects": waits, **self.fields})

    def agrees(self, told: Sequence[EventData], ids: Ids) -> bool:  # noqa: ARG002
        """See `Command.agrees`."""
        taken_up: list[EventData] = [self._taken_up()] if self.values else []
        said = told[len(taken_up)] if list(told[: len(taken_up)]) == taken_up and len(told) > len(taken_up) else None
        beside = told[len(taken_up) + 1 :]
        if said is None or not all(isinstance(one, MemoryNegated | MemoriesLinked) for one in beside):
            return False
        if isinstance(said, MemoryMentioned):
            return self.says(said.memory_id)
        if not isinstance(said, MemoryCreated):
            return False
        fields = {"corrects": said.corrects, **self.fields}  # by what was known then
        return said == created(self.memory_id or said.memory_id, self.content, **fields)

    def answer(self, told: Sequence[EventData]) -> dict[str, Any]:
        """See `Command.answer`."""
        said = next(one for one in told if isinstance(one, MemoryCreated | MemoryMentioned))
        mentioned = said.memory_id if isinstance(said, MemoryMentioned) else None
        negated = [one for one in told if isinstance(one, MemoryNegated)]
        ended = [one.memory_id for one in negated if one.memory_id != said.memory_id]
        by = [one.replaced_by for one in negated if one.memory_id == said.memory_id]
        links = [one for one in told if isinstance(one, MemoriesLinked)]
        related = [one.a for one in links if one.link == "related"]
        flagged = [one.a for one in links if one.link != "related"]
        answer = {"id": said.memory_id, "mentioned": mentioned, "ended": ended, "ended_by": by}
        return {**answer, "conflicting": flagged, "related": related}


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
