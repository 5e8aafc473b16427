"""What is asked of many memories at once, each with what goes along: the command, and its plan in requests of the log. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

from engramlog_server.events.catalogue import EventData
from engramlog_server.events.vocabulary import MAX_REQUEST_EVENTS
from engramlog_server.projections.decide.command import EVENT, Made


@dataclass(frozen=True, slots=True)
class ManyCommand:
    """Something is to be done with memories that are named."""

    owner: str
    wanted: tuple[str, ...]
    reason: str = ""

    @property
    def call(self) -> str:
        """What tells this call from another one under its key."""
        raise NotImplementedError

    @property
    def names(self) -> dict[str, str]:
        """What its events are to the call, by memory; the first is known by the key alone, as that of any call is."""
        return {one: f"{EVENT} of {one}" if number else EVENT for number, one in enumerate(self.wanted)}

    def data(self, memory_id: str) -> EventData:
        """What happens to one memory, named or gone along."""
        raise NotImplementedError


class Sized(Protocol):
    """What is written together."""

    @property
    def size(self) -> int:
        """How many events it takes."""
        ...


class Planned(Sized, Protocol):
    """One memory, and what goes with it: never parted between two requests."""

    @property
    def root(self) -> str:
        """The memory that is named."""
        ...

    @property
    def values(self) -> tuple[str, ...]:
        """What it says, where that is rejected with it, or is no more."""
        ...

    @property
    def reasons(self) -> dict[str, str]:
        """What goes along: id -> why."""
        ...

    def events(self, command: Any) -> list[Made]:
        """Its event, and those of what goes along, which name it as their cause."""
        ...


C = TypeVar("C", bound=ManyCommand)
P = TypeVar("P", bound=Planned)
S = TypeVar("S", bound=Sized)


@dataclass(slots=True)
class ManyPlan(Generic[P]):
    """What a command comes to, before anything is written."""

    planned: list[P] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)
    """Id -> why nothing is done with it."""
    also: dict[str, str] = field(default_factory=dict)
    """Id -> why it goes along."""
    left: dict[str, str] = field(default_factory=dict)
    """What might have gone along -> why it does not."""

    def put(self, one: P, too_many: str) -> bool:
        """Plan it; whether it has room in one request. `too_many`: what is told where so many memories go along that it has not."""
        if one.size > MAX_REQUEST_EVENTS:
            self.skipped[one.root] = f"{len(one.reasons):,} memories would {too_many}"
            return False
        self.planned.append(one)
        self.also |= one.reasons
        return True


def requests_of(plan: Sequence[S]) -> list[list[S]]:
    """Plans in requests of at most 1,000 events, none of them parted."""
    requests: list[list[S]] = []
    room = 0
    for planned in plan:
        if planned.size > room:
            requests.append([])
            room = MAX_REQUEST_EVENTS
        requests[-1].append(planned)
        room -= planned.size
    return requests
