"""Events of an owner that have a part in some memories, and those memories in the order of time. Pure.

An event that came late is folded at its place in the log, and what follows from it there is folded again: only that. Events know
what they read (a record of evolve's `memories`), so a change goes on to those that read what it changed, and ends where a record
comes out as it was. If nearly all events of one memory came late even that is quadratic; beyond `FREE` and `PER_EVENT` evolutions
late events are folded several at a time, and reported as one touch.

Memories hang together if an event names several of them, except events that only showed them together, which no law reads.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import heapify, heappop, heappush
from typing import Any, NamedTuple

from engramlog_server.events.catalogue import (
    MemoriesAccessed,
    MemoriesRevealed,
    ParametersChanged,
    ProfileChosen,
    SourceBroughtBack,
    SourceSetAside,
    ValueReadmitted,
    ValueRejected,
)
from engramlog_server.events.envelope import Event, Stored, decode, micros
from engramlog_server.events.parameters import DEFAULTS, Parameters
from engramlog_server.projections.checks import Check, unchecked
from engramlog_server.projections.fold.owner import EventEffect, evolve, parameters_of
from engramlog_server.projections.fold.trust import EntryFacts, facts_of
from engramlog_server.projections.fold.working_set import OWNER, OwnerSettings, names
from engramlog_server.projections.memory.record import Memory

_ITSELF = "\0"
"""Why an event is folded that was not yet; no memory has such an id."""
OF_THE_OWNER = ParametersChanged | ProfileChosen | ValueRejected | ValueReadmitted | SourceSetAside | SourceBroughtBack
"""Events that change the owner, and by that what others of its events do."""


class DatedEvent(NamedTuple):
    """An event of an owner, with the facts of its entry."""

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
        """The value that the event of this number made; None if it left it alone."""
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

    def __init__(self, told: Sequence[DatedEvent], check: Check = unchecked, most: int = 0) -> None:
        """`told`: all that may be taken, by number in the order of the log. `most`: evolutions, as `check` is told."""
        self._told = told
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

    def take(self, numbers: Iterable[int]) -> None:
        """Fold these too, and again every event that reads a changed record."""
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
                    continue  # made again here, and as before: no later event sees a difference
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
        """The memory after all events taken; None if there is none."""
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
        return parameters_of(self.settings)

    def _evolve(self, number: int) -> set[str]:
        """Fold one event; what it makes otherwise than before: memories, and `OWNER` for the settings."""
        self._check(self.taken, self._most)
        self.taken += 1
        one, met = self._told[number], self._things[OWNER].before(number) or OwnerSettings()
        memories = _Before(self._things, number)
        change = evolve(met, memories, one.event, one.seq, DEFAULTS, *one.facts)
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


class _Groups:
    """What hangs together with what."""

    def __init__(self) -> None:
        self._of: dict[str, set[str]] = {}

    def join(self, those: Sequence[str]) -> None:
        """These hang together from here on, each with whatever it hung together with before."""
        if len(those) < 2:
            return
        largest = max((self.of(name) for name in those), key=len)
        for name in those:
            if name not in largest:
                others = self.of(name)
                largest |= others
                self._of.update(dict.fromkeys(others, largest))
        self._of.update(dict.fromkeys(those, largest))

    def of(self, name: str) -> set[str]:
        """What hangs together with a name, itself among it."""
        return self._of.setdefault(name, {name})


FREE = 50_000
"""Evolutions that a life may take whatever its length: about a second."""
PER_EVENT = 16
"""Further ones for each of its events, so that all is linear."""


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


def life_of(stored: Iterable[Stored], memory_id: str, check: Check = unchecked) -> list[RecordTouch]:
    """What changed a memory, in order of time: after each touch it is as an `as_of` of that instant has it.

    `stored`: the owner's events in the order of folding. Only those about this memory and what hangs together with it are
    folded; edges to other memories, which no law reads, are therefore not complete. `check` is asked at each evolution.
    """
    told = _about(stored, memory_id)
    fold = Refold(told, check, FREE + (PER_EVENT + 2) * len(told))
    state, touches, waiting = _state(fold, memory_id), list[RecordTouch](), list[int]()
    order = sorted(range(len(told)), key=lambda number: told[number].at)
    for count, number in enumerate(order, 1):
        waiting.append(number)
        if fold.taken > FREE + PER_EVENT * count and count < len(order):
            continue
        fold.take(waiting)
        before, state = state, _state(fold, memory_id)
        if state != before:
            one = told[number]
            decision, reason = _decided(fold.change(number), one.event, memory_id)
            together = len(waiting)
            if together > 1:
                reason += f"; with {together - 1} events that happened before it and came late"
            touches.append(RecordTouch(one.at, one.seq, one.event.type, decision, reason, before, state, together))
        waiting = []
    return touches


def _state(fold: Refold, memory_id: str) -> State:
    return State(fold.memory(memory_id), fold.parameters)


def _about(stored: Iterable[Stored], memory_id: str) -> list[DatedEvent]:
    """The events that may have a part in what the memory is: those that name it, or one that it hangs together with."""
    groups = _Groups()
    kept: list[tuple[Stored, tuple[str, ...]]] = []
    for one in stored:
        data = decode(one.kind, one.body).data
        named = names(data)
        if not named and not isinstance(data, OF_THE_OWNER):
            continue
        kept.append((one, named))  # bytes: of a large owner most of it will not be wanted
        if len(named) > 1 and not isinstance(data, MemoriesAccessed | MemoriesRevealed):
            groups.join(named)
    wanted = groups.of(memory_id)
    told = []
    for one, named in kept:
        event = decode(one.kind, one.body)
        if isinstance(event.data, OF_THE_OWNER) or not wanted.isdisjoint(named):
            told.append(DatedEvent(micros(event.occurred_at), one.seq, event, facts_of(one, event)))
    return told


def _decided(change: EventEffect, event: Event[Any], memory_id: str) -> tuple[str, str]:
    if isinstance(event.data, ParametersChanged):
        return "parameters", "the owner's parameters from here on"
    if isinstance(event.data, MemoriesAccessed):
        return "access", f"via {event.data.via}"
    for note in reversed(change.notes):
        if note.memory_id == memory_id and note.decision not in ("named", "ignored"):
            return note.decision, note.reason
    return "adjust", "followed from what the event did to another memory"
