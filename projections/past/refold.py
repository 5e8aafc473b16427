"""Events of an owner folded in the order of their log, into which others can be put at their place. Pure.

What follows from an event that is put in is folded anew: only that. Events know what they read (a record of evolve's
`memories`), so a change goes on to those that read what it changed, and ends where a record comes out as it was.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import heapify, heappop, heappush
from typing import Any, NamedTuple

from events.catalogue import (
    ParametersChanged,
    ProfileChosen,
    SourceBroughtBack,
    SourceSetAside,
    ValueReadmitted,
    ValueRejected,
)
from events.envelope import Event
from events.parameters import DEFAULTS, Parameters
from projections.checks import Check, unchecked
from projections.fold.evolve import EventEffect, evolve, parameters_of
from projections.fold.values import EntryFacts
from projections.fold.working_set import OWNER, OwnerSettings
from projections.memory.record import Memory

_ITSELF = "\0"
"""Why an event is folded that was not yet; no memory has such an id."""
OF_THE_OWNER = ParametersChanged | ProfileChosen | ValueRejected | ValueReadmitted | SourceSetAside | SourceBroughtBack
"""Events that change the owner, and by that what others of its events do."""


class ToldEvent(NamedTuple):
    """An event of an owner, with what its entry tells beside it."""

    at: int
    """When it happened, microseconds since 1970."""
    seq: int
    event: Event[Any]
    facts: EntryFacts


class _Versions:
    """The values of one thing, each with the number of the event that made it, ascending."""

    def __init__(self) -> None:
        self._by: list[int] = []
        self._values: list[Any] = []

    def before(self, number: int) -> Any:
        """The value that the event of this number meets; None before any."""
        place = bisect_left(self._by, number)
        return self._values[place - 1] if place else None

    def made_by(self, number: int) -> Any:
        """What the event of this number made of it; None where it left it alone."""
        place = bisect_left(self._by, number)
        return self._values[place] if place < len(self._by) and self._by[place] == number else None

    def put(self, number: int, value: Any) -> None:
        """The event of this number makes this of it; None: it leaves it alone."""
        place = bisect_left(self._by, number)
        there = place < len(self._by) and self._by[place] == number
        if value is None:
            if there:
                del self._by[place], self._values[place]
        elif there:
            self._values[place] = value
        else:
            self._by.insert(place, number)
            self._values.insert(place, value)


class _Before(Mapping[str, Memory]):
    """All memories as one event meets them; remembers which were asked for."""

    def __init__(self, versions: Mapping[str, _Versions], number: int) -> None:
        self._versions = versions
        self._number = number
        self.asked: set[str] = set()

    def get(self, memory_id: str, default: Any = None) -> Any:
        """The memory, and that it was asked for."""
        self.asked.add(memory_id)
        versions = self._versions.get(memory_id)
        found = None if versions is None else versions.before(self._number)
        return default if found is None else found

    def __getitem__(self, memory_id: str) -> Memory:
        found: Memory | None = self.get(memory_id)
        if found is None:
            raise KeyError(memory_id)
        return found

    def __iter__(self) -> Iterator[str]:
        raise TypeError("an event asks for memories by name")

    def __len__(self) -> int:
        raise TypeError("an event asks for memories by name")


class Refold:
    """Events folded in log order, into which others can be put at their place."""

    def __init__(
        self, told: Sequence[ToldEvent], base: Parameters = DEFAULTS, check: Check = unchecked, most: int = 0
    ) -> None:
        """`told`: all that may be taken, by number in the order of the log. `most`: evolutions, as `check` is told."""
        self._told = told
        self._base = base
        self._check = check
        self._most = most or len(told)
        self.taken = 0
        """Evolutions so far."""
        self._things: defaultdict[str, _Versions] = defaultdict(_Versions)
        """Memories by id, and the settings by `OWNER`."""
        self._folded: list[int] = []
        self._readers: defaultdict[str, list[int]] = defaultdict(list)
        self._asked: dict[int, set[str]] = {}
        self._changes: dict[int, EventEffect] = {}
        self._moved = set[str]()

    def take(self, numbers: Iterable[int]) -> None:
        """Fold these too, and anew what reads something that came out otherwise."""
        waiting = [(number, _ITSELF) for number in numbers]
        for number, _ in waiting:
            insort(self._folded, number)
        heapify(waiting)
        while waiting:
            number = waiting[0][0]
            causes: set[str] = set()
            while waiting and waiting[0][0] == number:
                causes.add(heappop(waiting)[1])
            otherwise = self._evolve(number)
            for thing in (causes | otherwise) - {_ITSELF}:
                if thing not in otherwise and self._things[thing].made_by(number) is not None:
                    continue  # made anew here, and as before: nobody later sees a difference
                readers = self._readers_of(thing)
                place = bisect_right(readers, number)
                if place < len(readers):
                    heappush(waiting, (readers[place], thing))

    def _readers_of(self, thing: str) -> Sequence[int]:
        return self._folded if thing == OWNER else self._readers[thing]

    def change(self, number: int) -> EventEffect:
        """What an event did."""
        return self._changes[number]

    def memory(self, memory_id: str) -> Memory | None:
        """The memory after all that was taken; None where there is none."""
        versions = self._things.get(memory_id)
        return None if versions is None else versions.before(len(self._told))

    @property
    def settings(self) -> OwnerSettings:
        """What the owner chose, after all that was taken."""
        versions = self._things.get(OWNER)
        return (None if versions is None else versions.before(len(self._told))) or OwnerSettings()

    @property
    def parameters(self) -> Parameters:
        """The parameters in force, after all that was taken."""
        return parameters_of(self.settings, self._base)

    def moved(self) -> set[str]:
        """Ids of the memories that may be another since this was asked last."""
        found, self._moved = self._moved - {OWNER}, set()
        return found

    def _evolve(self, number: int) -> set[str]:
        """Fold one event; what it makes otherwise than before: memories, and `OWNER` for the settings."""
        self._check(self.taken, self._most)
        self.taken += 1
        one, met = self._told[number], self._things[OWNER].before(number) or OwnerSettings()
        memories = _Before(self._things, number)
        change = evolve(met, memories, one.event, one.seq, self._base, *one.facts)
        self._note_asked(number, memories.asked)
        old = self._changes.get(number)
        self._changes[number] = change
        made: dict[str, Any] = dict(change.memories)
        made[OWNER] = change.settings if change.settings != met else None
        otherwise = set()
        for thing in made.keys() | (old.memories.keys() if old is not None else ()):
            versions = self._things[thing]
            if made.get(thing) != versions.made_by(number):
                versions.put(number, made.get(thing))
                otherwise.add(thing)
        self._moved |= otherwise
        return otherwise

    def _note_asked(self, number: int, asked: set[str]) -> None:
        known = self._asked.get(number, set())
        for memory_id in known - asked:
            readers = self._readers[memory_id]
            del readers[bisect_left(readers, number)]
        for memory_id in asked - known:
            insort(self._readers[memory_id], number)
        self._asked[number] = asked
