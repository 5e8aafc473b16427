"""Commands about memories that are there: no longer so, said again, said better, joined, parted, lifted, used, set aside. Pure.

A command is what somebody asks for, and the events that it leads to. It is sent again where its answer was lost. Then the
events that it led to are in the log under the same ids, and the command itself says whether they are its own: `agrees`. So it
is told apart from another command under the same key.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from msgspec import structs

from engramlog_server.events.catalogue import (
    EventData,
    MemoryMentioned,
    MemoryMerged,
    MemoryNegated,
    MemoryPromoted,
    MemoryRevised,
    ValueReadmitted,
)
from engramlog_server.events.errors import InputError, refused
from engramlog_server.events.trust import ASSERTED, PROPOSED, TRUSTS, overrides
from engramlog_server.events.vocabulary import Trust
from engramlog_server.projections.decide.merging import merged_text
from engramlog_server.projections.decide.rejecting import readmission, rejection, values_said
from engramlog_server.projections.memory.kind import correction
from engramlog_server.projections.memory.record import Memory

Ids = Callable[[str], str]
"""The id of one thing that a command makes, by what it is to the command: `event`, `memory`. The same name, the same id."""
EVENT = "event"
"""The event that a command is about; what else it leads to follows from that."""
REJECTION, READMISSION = "rejection", "readmission"
"""That what a memory says is not so, or is so after all. The second a command leads to only where the first was said before."""
MOST_BESIDE, MOST_JOINED = 8, 5
"""Limits for one statement: memories that it ends or is flagged with, and memories that it is linked with."""
BESIDE = tuple(f"beside {number}" for number in range(1, MOST_BESIDE + MOST_JOINED + 1))
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


_CREATION = "event of the correction"


@dataclass(frozen=True, slots=True)
class Tell:
    """Events that follow from what was said alone: their data as they are."""

    data: tuple[EventData, ...]
    about: tuple[str, ...] = ()
    told: dict[str, Any] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """See `Command.names`."""
        return tuple(EVENT if number == 0 else f"{EVENT} {number}" for number in range(len(self.data)))

    @property
    def beyond(self) -> str | None:
        """See `Command.beyond`."""
        return f"{EVENT} {len(self.data)}"

    def events(self, view: View, ids: Ids) -> list[Made]:  # noqa: ARG002 - commands have one shape
        """See `Command.events`."""
        return [Made(data, ids(name)) for data, name in zip(self.data, self.names, strict=True)]

    def agrees(self, told: Sequence[EventData], ids: Ids) -> bool:  # noqa: ARG002
        """See `Command.agrees`."""
        return tuple(told) == self.data

    def answer(self, told: Sequence[EventData]) -> dict[str, Any]:  # noqa: ARG002
        """See `Command.answer`."""
        return dict(self.told)


@dataclass(frozen=True, slots=True)
class Negate:
    """It is no longer so. A correction becomes a memory that stands for it."""

    memory_id: str
    correction: str | None = None
    replaced_by: str | None = None
    resolution: str | None = None
    reason: str = ""
    turn_id: str | None = None
    source: str = "user"
    """Who says what holds instead: user, or system for whoever else does."""
    never: bool = False
    """It was never so: what it says is rejected, whoever says it again."""
    reaches: Trust = ASSERTED
    """How far the word goes of whoever says so."""

    @property
    def about(self) -> tuple[str, ...]:
        """See `Command.about`."""
        return (self.memory_id,) if self.replaced_by is None else (self.memory_id, self.replaced_by)

    @property
    def names(self) -> tuple[str, ...]:
        """See `Command.names`."""
        corrected = () if self.correction is None else (_CREATION,)
        return (*corrected, *((REJECTION,) if self.never else ()), EVENT)

    def check(self) -> None:
        """Raises InputError for a command that contradicts itself, before anything is looked at."""
        if self.correction is not None and self.replaced_by is not None:
            raise InputError(
                "correction and replaced_by: give one of them, a new text or a memory that is there",
                field="replaced_by",
            )

    @property
    def beyond(self) -> str | None:
        """See `Command.beyond`."""
        return None if self.never else REJECTION

    def events(self, view: View, ids: Ids) -> list[Made]:
        """See `Command.events`."""
        self.check()
        if self.replaced_by == self.memory_id:
            raise refused("replaced_by", self.replaced_by, "another memory than the one that is negated")
        memory, negation, found = view[self.memory_id], Made(self._negated(ids), ids(EVENT)), list[Made]()
        if self.correction is not None:
            new = correction(self._new(ids), self.correction, memory, source=self.source, turn_id=self.turn_id)
            # Where the negation waits for a person, so does what it brings.
            trust = None if overrides(self.reaches, TRUSTS[memory.trust]) else PROPOSED
            found.append(Made(new, ids(_CREATION), causation_id=negation.event_id, trust=trust))
        if self.never:
            refused_now = rejection(memory.id, values_said(memory), self.reason)
            found.append(Made(refused_now, ids(REJECTION), causation_id=negation.event_id))
        return [*found, negation]

    def _new(self, ids: Ids) -> str:
        return f"m-{ids('memory')}"

    def _negated(self, ids: Ids) -> MemoryNegated:
        return MemoryNegated(
            memory_id=self.memory_id,
            resolution=self.resolution,  # type: ignore[arg-type]
            correction=self.correction,
            replaced_by=self.replaced_by if self.correction is None else self._new(ids),
            reason=self.reason,
            turn_id=self.turn_id,
        )

    def agrees(self, told: Sequence[EventData], ids: Ids) -> bool:
        """See `Command.agrees`: the negation tells the correction's words too."""
        return len(told) == len(self.names) and told[-1] == self._negated(ids)

    def answer(self, told: Sequence[EventData]) -> dict[str, Any]:
        """See `Command.answer`."""
        negated = told[-1]
        assert isinstance(negated, MemoryNegated), "a negation ends with what is negated"
        return {"id": self.memory_id, "replaced_by": negated.replaced_by}


@dataclass(frozen=True, slots=True)
class Confirm:
    """It holds, as if just said again; where what it says was rejected, it is so no more."""

    data: MemoryMentioned
    values: tuple[str, ...] = ()
    """What it says that is rejected now."""

    @property
    def about(self) -> tuple[str, ...]:
        """See `Command.about`."""
        return (self.data.memory_id,)

    @property
    def names(self) -> tuple[str, ...]:
        """See `Command.names`."""
        return (EVENT, READMISSION)

    @property
    def beyond(self) -> None:
        """See `Command.beyond`."""

    def events(self, view: View, ids: Ids) -> list[Made]:  # noqa: ARG002
        """See `Command.events`."""
        mention = Made(self.data, ids(EVENT))
        if not self.values:
            return [mention]
        taken_up = readmission(self.data.memory_id, self.values)
        return [mention, Made(taken_up, ids(READMISSION), causation_id=mention.event_id)]

    def agrees(self, told: Sequence[EventData], ids: Ids) -> bool:  # noqa: ARG002
        """See `Command.agrees`."""
        return told[0] == self.data and all(isinstance(one, ValueReadmitted) for one in told[1:])

    def answer(self, told: Sequence[EventData]) -> dict[str, Any]:  # noqa: ARG002
        """See `Command.answer`."""
        return {"id": self.data.memory_id}


@dataclass(frozen=True, slots=True)
class Merge:
    """Several memories become a new one; without a summary it says what the newest says, and what others add to that."""

    sources: tuple[str, ...]
    summary: str | None = None
    into: str | None = None
    reason: str = ""

    @property
    def about(self) -> tuple[str, ...]:
        """See `Command.about`."""
        return self.sources

    @property
    def names(self) -> tuple[str, ...]:
        """See `Command.names`."""
        return (EVENT,)

    @property
    def beyond(self) -> None:
        """See `Command.beyond`."""

    def events(self, view: View, ids: Ids) -> list[Made]:
        """See `Command.events`."""
        text = self.summary
        if text is None:
            if not self.sources:
                raise InputError("sources: got none; allowed: at least two memories", field="sources")
            text = merged_text([view[one] for one in self.sources])
        return [Made(self._merged(text, ids), ids(EVENT))]

    def _merged(self, summary: str, ids: Ids) -> MemoryMerged:
        into = self.into or f"m-{ids('memory')}"
        return MemoryMerged(sources=self.sources, into=into, summary=summary, reason=self.reason)

    def agrees(self, told: Sequence[EventData], ids: Ids) -> bool:
        """See `Command.agrees`."""
        merged = told[0]
        if not isinstance(merged, MemoryMerged):
            return False
        return merged == self._merged(merged.summary if self.summary is None else self.summary, ids)

    def answer(self, told: Sequence[EventData]) -> dict[str, Any]:
        """See `Command.answer`."""
        merged = told[0]
        assert isinstance(merged, MemoryMerged), "a merge is one event"
        return {"into": merged.into, "sources": list(merged.sources)}


@dataclass(frozen=True, slots=True)
class Promote:
    """It moves to another tier."""

    memory_id: str
    to: str
    reason: str = ""

    @property
    def about(self) -> tuple[str, ...]:
        """See `Command.about`."""
        return (self.memory_id,)

    @property
    def names(self) -> tuple[str, ...]:
        """See `Command.names`."""
        return (EVENT,)

    @property
    def beyond(self) -> None:
        """See `Command.beyond`."""

    def events(self, view: View, ids: Ids) -> list[Made]:
        """See `Command.events`."""
        tier: Any = view[self.memory_id].tier
        to: Any = self.to
        data = MemoryPromoted(memory_id=self.memory_id, from_=tier, to=to, reason=self.reason)
        return [Made(data, ids(EVENT))]

    def agrees(self, told: Sequence[EventData], ids: Ids) -> bool:  # noqa: ARG002
        """See `Command.agrees`."""
        to: Any = self.to
        wanted = MemoryPromoted(memory_id=self.memory_id, to=to, reason=self.reason)
        return isinstance(told[0], MemoryPromoted) and structs.replace(told[0], from_=None) == wanted

    def answer(self, told: Sequence[EventData]) -> dict[str, Any]:  # noqa: ARG002
        """See `Command.answer`."""
        return {"id": self.memory_id}


@dataclass(frozen=True, slots=True)
class Edit:
    """It is said better: a new version, the older ones stay readable. Saying what it says already leads to nothing."""

    data: MemoryRevised

    @property
    def about(self) -> tuple[str, ...]:
        """See `Command.about`."""
        return (self.data.memory_id,)

    @property
    def names(self) -> tuple[str, ...]:
        """See `Command.names`."""
        return (EVENT,)

    @property
    def beyond(self) -> None:
        """See `Command.beyond`."""

    def events(self, view: View, ids: Ids) -> list[Made]:
        """See `Command.events`."""
        new, memory = self.data, view[self.data.memory_id]
        same_words = new.content == memory.content and new.summary in (None, memory.summary)
        same_labels = new.keywords in (None, memory.keywords) and new.tags in (None, memory.tags)
        if same_words and same_labels and (new.because, new.grounds, new.metadata) == (None, None, None):
            return []
        return [Made(new, ids(EVENT))]

    def agrees(self, told: Sequence[EventData], ids: Ids) -> bool:  # noqa: ARG002
        """See `Command.agrees`."""
        return list(told) == [self.data]

    def answer(self, told: Sequence[EventData]) -> dict[str, Any]:
        """See `Command.answer`."""
        return {"id": self.data.memory_id, "revised": bool(told)}


@dataclass(frozen=True, slots=True)
class BringBack(Tell):
    """A source counts again; one that is not set aside cannot be brought back."""

    stands: bool = True
    """Whether it is set aside now."""
    source: str = ""
    """It, in words."""

    def events(self, view: View, ids: Ids) -> list[Made]:
        """See `Command.events`."""
        if not self.stands:
            raise refused("session", self.source, "a source that is set aside, named as it was then")
        return Tell.events(self, view, ids)
