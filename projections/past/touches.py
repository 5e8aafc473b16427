"""What touched one memory, in the order of time: each touch on the record as it was then. Pure.

An event that came late is folded at its place in the log, and what follows from it there is folded anew: only that. Events
know what they read (a record of evolve's `memories`), so a change goes on to those that read what it changed, and ends where
a record comes out as it was. Where nearly all events of one memory came late even that is quadratic; beyond `FREE` and
`PER_EVENT` evolutions late events are folded several at a time, and told as one touch.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from events.catalogue import MemoriesAccessed, MemoriesRevealed, ParametersChanged
from events.envelope import Event, Stored, decode, micros
from events.parameters import DEFAULTS, Parameters
from projections.checks import Check, unchecked
from projections.fold.evolve import EventEffect
from projections.fold.named import names
from projections.fold.values import facts_of
from projections.memory.record import Memory
from projections.past.refold import OF_THE_OWNER, Refold, ToldEvent

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


def life_of(
    stored: Iterable[Stored], memory_id: str, base: Parameters = DEFAULTS, check: Check = unchecked
) -> list[RecordTouch]:
    """What changed a memory, in order of time: after each touch it is as an `as_of` of that instant has it.

    `stored`: the owner's events in the order of folding. Only those about this memory and what hangs together with it are
    folded; edges to other memories, which no law reads, are therefore not complete. `check` is asked at each evolution.
    """
    told = _about(stored, memory_id)
    fold = Refold(told, base, check, FREE + (PER_EVENT + 2) * len(told))
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


def _about(stored: Iterable[Stored], memory_id: str) -> list[ToldEvent]:
    """The events that may have a part in what the memory is: those that name it, or one that it hangs together with."""
    groups: dict[str, set[str]] = {memory_id: {memory_id}}
    kept: list[tuple[Stored, tuple[str, ...]]] = []
    for one in stored:
        data = decode(one.kind, one.body).data
        named = names(data)
        if not named and not isinstance(data, OF_THE_OWNER):
            continue
        kept.append((one, named))  # bytes: of a large owner most of it will not be wanted
        if len(named) > 1 and not isinstance(data, MemoriesAccessed | MemoriesRevealed):
            _join(groups, named)
    wanted = groups[memory_id]
    told = []
    for one, named in kept:
        event = decode(one.kind, one.body)
        if isinstance(event.data, OF_THE_OWNER) or not wanted.isdisjoint(named):
            told.append(ToldEvent(micros(event.occurred_at), one.seq, event, facts_of(one, event)))
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


def _decided(change: EventEffect, event: Event[Any], memory_id: str) -> tuple[str, str]:
    if isinstance(event.data, ParametersChanged):
        return "parameters", "the owner's parameters from here on"
    if isinstance(event.data, MemoriesAccessed):
        return "access", f"via {event.data.via}"
    for note in reversed(change.notes):
        if note.memory_id == memory_id and note.decision not in ("named", "ignored"):
            return note.decision, note.reason
    return "adjust", "followed from what the event did to another memory"
