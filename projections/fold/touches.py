"""What touched one memory, in the order of time: each touch on the record as it was then. Pure.

An event that came late is folded at its place in the log, and what follows from it there is folded anew: only that. Events
know what they read (a record of evolve's `memories`), so a change goes on to those that read what it changed, and ends where
a record comes out as it was. Where nearly all events of one memory came late even that is quadratic; beyond `FREE` and
`PER_EVENT` evolutions late events are folded several at a time, and told as one touch.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import heapify, heappop, heappush
from typing import Any, NamedTuple

from events.catalogue import (
    MemoriesAccessed,
    MemoriesRevealed,
    ParametersChanged,
    ProfileChosen,
    SourceBroughtBack,
    SourceSetAside,
    ValueReadmitted,
    ValueRejected,
)
from events.envelope import Event, Stored, decode, micros
from events.parameters import DEFAULTS, Parameters
from projections.checks import Check, unchecked
from projections.fold.evolve import EventEffect, evolve, parameters_of
from projections.fold.named import names
from projections.fold.values import EntryFacts, facts_of
from projections.fold.working_set import OWNER, OwnerSettings
from projections.memory.record import Memory

FREE = 50_000
"""Evolutions that a life may take whatever its length: about a second."""
PER_EVENT = 16
"""Further ones for each of its events, so that all is linear."""

_ITSELF = "\0"
"""Why an event is folded that was not yet; no memory has such an id."""


class State(NamedTuple):
    """What laws read at some instant: the memory's record, None before it was there, and the parameters in force."""

    memory: Memory | None
    parameters: Parameters


class RecordTouch(NamedTuple):
    """What changed the memory's record, or the parameters by which it is read; `at` in microseconds since 1970."""

    at: int
    seq: int
    event: str
    decision: str
    """As in the change log; `access` of what writes no entry there, `adjust` of what follows from another memory."""
    reason: str
    before: State
    after: State
    together: int = 1
    """How many events were folded at once, of which this one happened last."""


class _Told(NamedTuple):
    at: int
    seq: int
    event: Event[Any]
    facts: EntryFacts


_OF_THE_OWNER = ParametersChanged | ProfileChosen | ValueRejected | ValueReadmitted | SourceSetAside | SourceBroughtBack
"""Events that change the owner, and by that what others of its events do."""


def life_of(
    stored: Iterable[Stored], memory_id: str, base: Parameters = DEFAULTS, check: Check = unchecked
) -> list[RecordTouch]:
    """What changed a memory, in order of time: after each touch it is as an `as_of` of that instant has it.

    `stored`: the owner's events in the order of folding. Only those about this memory and what hangs together with it are
    folded; edges to other memories, which no law reads, are therefore not complete. `check` is asked at each evolution.
    """
    told = _about(stored, memory_id)
    fold = _Fold(told, base, check)
    state, touches, waiting = fold.state(memory_id), list[RecordTouch](), list[int]()
    order = sorted(range(len(told)), key=lambda number: told[number].at)
    for count, number in enumerate(order, 1):
        waiting.append(number)
        if fold.taken > FREE + PER_EVENT * count and count < len(order):
            continue
        fold.take(waiting)
        before, state = state, fold.state(memory_id)
        if state != before:
            one = told[number]
            decision, reason = _decided(fold.change(number), one.event, memory_id)
            together = len(waiting)
            if together > 1:
                reason += f"; with {together - 1} events that happened before it and came late"
            touches.append(RecordTouch(one.at, one.seq, one.event.type, decision, reason, before, state, together))
        waiting = []
    return touches


def _about(stored: Iterable[Stored], memory_id: str) -> list[_Told]:
    """The events that may have a part in what the memory is: those that name it, or one that it hangs together with."""
    groups: dict[str, set[str]] = {memory_id: {memory_id}}
    kept: list[tuple[Stored, tuple[str, ...]]] = []
    for one in stored:
        data = decode(one.kind, one.body).data
        named = names(data)
        if not named and not isinstance(data, _OF_THE_OWNER):
            continue
        kept.append((one, named))  # bytes: of a large owner most of it will not be wanted
        if len(named) > 1 and not isinstance(data, MemoriesAccessed | MemoriesRevealed):
            _join(groups, named)
    wanted = groups[memory_id]
    told = []
    for one, named in kept:
        event = decode(one.kind, one.body)
        if isinstance(event.data, _OF_THE_OWNER) or not wanted.isdisjoint(named):
            told.append(
                _Told(
                    micros(event.occurred_at),
                    one.seq,
                    event,
                    facts_of(one, event),
                )
            )
    return told


def _join(groups: dict[str, set[str]], named: Sequence[str]) -> None:
    """These memories hang together from here on, each with whatever it hung together with before."""
    largest = max((groups.get(name, {name}) for name in named), key=len)
    for name in named:
        if name not in largest:
            others = groups.get(name, {name})
            largest |= others
            groups.update(dict.fromkeys(others, largest))
    groups.update(dict.fromkeys(named, largest))


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


class _Fold:
    """Events folded in log order, into which others can be put at their place."""

    def __init__(self, told: Sequence[_Told], base: Parameters, check: Check) -> None:
        self._told = told
        self._base = base
        self._check = check
        self._most = FREE + (PER_EVENT + 2) * len(told)
        self.taken = 0
        """Evolutions so far."""
        self._things: defaultdict[str, _Versions] = defaultdict(_Versions)
        """Memories by id, and the settings by `OWNER`."""
        self._folded: list[int] = []
        self._readers: defaultdict[str, list[int]] = defaultdict(list)
        self._asked: dict[int, set[str]] = {}
        self._changes: dict[int, EventEffect] = {}

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

    def state(self, memory_id: str) -> State:
        """The memory as it is by now, and the parameters in force."""
        end = len(self._told)
        versions = self._things.get(memory_id)
        return State(
            None if versions is None else versions.before(end),
            parameters_of(self._things[OWNER].before(end) or OwnerSettings(), self._base),
        )

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
        return otherwise

    def _note_asked(self, number: int, asked: set[str]) -> None:
        known = self._asked.get(number, set())
        for memory_id in known - asked:
            readers = self._readers[memory_id]
            del readers[bisect_left(readers, number)]
        for memory_id in asked - known:
            insort(self._readers[memory_id], number)
        self._asked[number] = asked


def _decided(change: EventEffect, event: Event[Any], memory_id: str) -> tuple[str, str]:
    if isinstance(event.data, ParametersChanged):
        return "parameters", "the owner's parameters from here on"
    if isinstance(event.data, MemoriesAccessed):
        return "access", f"via {event.data.via}"
    for note in reversed(change.notes):
        if note.memory_id == memory_id and note.decision not in ("named", "ignored"):
            return note.decision, note.reason
    return "adjust", "followed from what the event did to another memory"
