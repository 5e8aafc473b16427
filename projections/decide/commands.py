"""What somebody asks for, as commands: remember, record turns, negate, confirm, revise, merge, lift, use. Pure.

A command is what somebody asks for, and the events that it leads to. It is sent again where its answer was lost. Then the
events that it led to are in the log under the same ids, and the command itself says whether they are its own: `agrees`. So it
is told apart from another command under the same key.

Some commands also reject the values by which others say the same as a memory, or take them up again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final, Literal, NamedTuple, Protocol, get_args

import numpy as np
from msgspec import structs

from engramlog_server.events.catalogue import (
    EventData,
    MemoriesLinked,
    MemoryCreated,
    MemoryMentioned,
    MemoryMerged,
    MemoryNegated,
    MemoryPromoted,
    MemoryRevised,
    ValueReadmitted,
    ValueRejected,
)
from engramlog_server.events.envelope import from_micros, utc_text
from engramlog_server.events.errors import InputError, refused
from engramlog_server.events.trust import ASSERTED, PROPOSED, TRUSTS, overrides
from engramlog_server.events.vocabulary import MAX_SOURCES, MOST_STATEMENTS, Trust
from engramlog_server.projections.decide.merge import merged_text
from engramlog_server.projections.language.statements import STATEMENT_RULES, normalised
from engramlog_server.projections.memory.columns import Columns
from engramlog_server.projections.memory.kind import (
    correction,
    created,
    is_statement,
    is_turn,
    memory_of_turn,
    recorded,
)
from engramlog_server.projections.memory.record import Memory
from engramlog_server.projections.memory.rejection import Rejections, known, turn_hash, values_of
from engramlog_server.projections.shapes import StatementsLeft

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
    """What somebody asks for. Unless a command says otherwise, it is about no memory and leads to one event."""

    __slots__ = ()

    @property
    def about(self) -> tuple[str, ...]:
        """Memories that must stand for it: `decide` finds each of them in the view."""
        return ()

    @property
    def names(self) -> tuple[str, ...]:
        """What its events are to it, in the order in which they are appended; `event` is among them."""
        return (EVENT,)

    @property
    def beyond(self) -> str | None:
        """What one event more would be, of a command that leads to any number: where it is there, another command was given."""
        return None

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
class Tell(Command):
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
class Negate(Command):
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
class Confirm(Command):
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
class Merge(Command):
    """Several memories become a new one; without a summary it says what the newest says, and what others add to that."""

    sources: tuple[str, ...]
    summary: str | None = None
    into: str | None = None
    reason: str = ""

    @property
    def about(self) -> tuple[str, ...]:
        """See `Command.about`."""
        return self.sources

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
class Promote(Command):
    """It moves to another tier."""

    memory_id: str
    to: str
    reason: str = ""

    @property
    def about(self) -> tuple[str, ...]:
        """See `Command.about`."""
        return (self.memory_id,)

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
class Edit(Command):
    """It is said better: a new version, the older ones stay readable. Saying what it says already leads to nothing."""

    data: MemoryRevised

    @property
    def about(self) -> tuple[str, ...]:
        """See `Command.about`."""
        return (self.data.memory_id,)

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
class Remember(Command):
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
    def names(self) -> tuple[str, ...]:
        """See `Command.names`."""
        return (READMISSION, EVENT, *BESIDE) if self.values else (EVENT, *BESIDE)

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
class RecordTurns(Command):
    """Turns in the order in which they were said, each with a memory by which it can be found.

    Of `ids` it asks `turn 1`, and for that turn's events `turn recorded ID` and `turn kept ID`.
    """

    turns: tuple[NewTurn, ...]

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


def values_said(memory: Memory, get: Callable[[str], Memory | None] = lambda _: None) -> tuple[str, ...]:
    """What a memory says and what was merged into it said, as events name it: at most 32; none where nobody knows a digest."""
    found: dict[bytes, None] = {}
    waiting, seen = [memory], set[str]()
    while waiting and len(found) < MOST_STATEMENTS:
        one = waiting.pop(0)
        if one.id not in seen:
            seen.add(one.id)
            found.update(dict.fromkeys(values_of(one)))
            waiting += [source for source in map(get, one.merged_from) if source and source.merged_into == one.id]
    return tuple(value.hex() for value in found)[:MOST_STATEMENTS]


def rejection(memory_id: str, values: tuple[str, ...], reason: str, turns: Iterable[str] = ()) -> ValueRejected:
    """That what a memory and these turns say is not so. Raises InputError where nobody knows by what to tell it again."""
    if not values:
        raise InputError(
            f"never: what memory {memory_id} says has no digest to be known by; `engramlog verify` tells why",
            field="never",
        )
    marks = tuple(dict.fromkeys(turn_hash(one).hex() for one in turns))[:MOST_STATEMENTS]
    return ValueRejected(values=values, rules=STATEMENT_RULES, memory_id=memory_id, reason=reason, turns=marks)


def readmission(memory_id: str | None, values: Iterable[str], reason: str = "") -> ValueReadmitted:
    """That these values hold after all."""
    return ValueReadmitted(values=tuple(values), rules=STATEMENT_RULES, memory_id=memory_id, reason=reason)


def rejected_values(rejections: Rejections, memory: Memory, get: Callable[[str], Memory | None]) -> tuple[str, ...]:
    """What a memory says, as far as it is rejected now: who brings it back means all of it.

    Its text, every triple that it backs, and of a turn what was read in it.
    """
    said = (bytes.fromhex(one) for one in values_said(memory, get))
    found = [known(rejections, value) for value in (*said, *(one.stated for one in memory.facts if one.stated))]
    turn = turn_hash(memory.id)
    found += [one for one in rejections if turn in one.turn_hashes]
    standing = dict.fromkeys(one.digest.hex() for one in found if one is not None and one.stands)
    return tuple(standing)[:MOST_STATEMENTS]


def is_double(columns: Columns, memory: Memory, going: Iterable[str]) -> bool:
    """Whether another memory that stands, and is none of those that go, says the same: deleting one of two rejects nothing."""
    leaving, values = {memory.id, *going}, set(values_of(memory))
    standing = columns.standing()
    return any(
        standing[row] == Columns.LIVE
        and one.id not in leaving
        and not one.is_negated
        and not values.isdisjoint(values_of(one))
        for row, one in enumerate(columns.memories)
    )


def also_proposed(columns: Columns, memory: Memory) -> list[str]:
    """Other proposals that say the same, as many as fit in one answer: once that is rejected, nobody is asked about them."""
    values = set(values_of(memory))
    rows = (columns.memories[row] for row in np.flatnonzero(columns.standing() == Columns.PROPOSED).tolist())
    found = (one.id for one in rows if one.id != memory.id and not values.isdisjoint(values_of(one)))
    return list(islice(found, MAX_SOURCES - 1))


MOST_LEFT: Final = 20
"""Of which the ids are told."""


def statements_left(columns: Columns, turn: Memory, level: int) -> StatementsLeft | None:
    """How many statements were drawn from a turn and are told at a lower level, with the first ids; None where it is no turn."""
    if not is_turn(turn):
        return None
    said, found = turn.source_turns[0], list[str]()
    below = (columns.sensitivity < level) & (columns.standing() < Columns.DELETED)
    for memory in (columns.memories[row] for row in np.flatnonzero(below).tolist()):
        if said in memory.source_turns and memory.id != turn.id and is_statement(memory):
            found.append(memory.id)
    return {"count": len(found), "ids": found[:MOST_LEFT]}
