"""Which of an owner's events have a part in what some memories are, and in how they read beside others. Pure.

Memories hang together where an event names several of them, but for what was only shown together, of which no law reads. Where
anything is negated, rejected or set aside, a memory reads by its turns and by what says the same as well: then these hang together
too. Rather too much is found than too little: what has no part in the end costs its evolution.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple

from events.catalogue import (
    MemoriesAccessed,
    MemoriesRevealed,
    MemoryCreated,
    MemoryNegated,
    SourceSetAside,
    ValueRejected,
)
from events.envelope import Stored, decode, micros
from projections.checks import EVERY, Check, unchecked
from projections.fold.named import names
from projections.fold.values import facts_of, stated_in
from projections.past.refold import OF_THE_OWNER, ToldEvent


class KinEvent(NamedTuple):
    """An event that has a part, and which of the memories that were asked for it names."""

    told: ToldEvent
    stored: Stored
    named: tuple[str, ...]


class _Seen(NamedTuple):
    stored: Stored
    named: tuple[str, ...]
    turns: tuple[str, ...]
    joins: bool
    of_owner: bool


class EventKin:
    """An owner's events, looked at once, in the order of folding; then those that have a part."""

    def __init__(self) -> None:
        self._seen: list[_Seen] = []
        self._states: list[tuple[bytes, ...]] = []
        self._negated = set[str]()
        self._rejected = set[bytes]()
        self._beside = False

    def look(self, stored: Iterable[Stored], check: Check = unchecked, total: int = 0) -> Iterable[tuple[Stored, int]]:
        """Look at them; gives each with when it happened, microseconds since 1970."""
        for number, one in enumerate(stored):
            if not number % EVERY:
                check(number, total)
            event = decode(one.kind, one.body)
            yield one, micros(event.occurred_at)
            self._take(one, event.data)

    def _take(self, one: Stored, data: Any) -> None:
        named, of_owner = names(data), isinstance(data, OF_THE_OWNER)
        if not named and not of_owner:
            return
        joins = not isinstance(data, MemoriesAccessed | MemoriesRevealed)
        self._seen.append(_Seen(one, named, _turns_of(data) if joins else (), joins, of_owner))
        self._states.append(stated_in(one) if joins else ())
        if isinstance(data, MemoryNegated) or (isinstance(data, MemoryCreated) and (data.corrects or data.imported)):
            self._negated.update(named)
        elif isinstance(data, ValueRejected):
            self._rejected.update(map(bytes.fromhex, data.values))
        elif isinstance(data, SourceSetAside):
            self._beside = True

    def of(self, ids: Collection[str]) -> list[KinEvent]:
        """The events that have a part in what these memories are, in the order of folding; those of the owner among them."""
        wanted, found = self._kin(ids), list[KinEvent]()
        asked = frozenset(ids)
        for one in self._seen:
            if one.of_owner or not wanted.isdisjoint(one.named):
                event = decode(one.stored.kind, one.stored.body)  # bytes till here: most of a large owner is not wanted
                told = ToldEvent(micros(event.occurred_at), one.stored.seq, event, facts_of(one.stored, event))
                found.append(KinEvent(told, one.stored, tuple(name for name in one.named if name in asked)))
        return found

    def _kin(self, ids: Collection[str]) -> set[str]:
        """Ids of these memories, and of all that they hang together with; turns among them."""
        beside = self._beside or bool(self._negated or self._rejected)
        groups, saying = _Groups(), defaultdict[bytes, list[str]](list)
        for one, stated in zip(self._seen, self._states, strict=True):
            if one.joins:
                groups.join((*one.named, *one.turns) if beside else one.named)
                for value in stated if beside else ():
                    saying[value] += one.named
        values = self._shared(groups, saying)
        found, waiting = set[str](), list(ids)
        while waiting:
            name = waiting.pop()
            if name in found:
                continue
            members = groups.of(name)
            found |= members
            for value in {value for member in members for value in values.get(member, ())}:
                waiting += [other for other in saying[value] if other not in found]
        return found

    def _shared(self, groups: _Groups, saying: dict[bytes, list[str]]) -> dict[str, list[bytes]]:
        """By id the values of which a memory shares the fate: rejected, or said by something that is negated."""
        negated = {id(groups.of(name)) for name in self._negated}
        found = defaultdict[str, list[bytes]](list)
        for value, those in saying.items():
            if value in self._rejected or any(id(groups.of(name)) in negated for name in those):
                for name in those:
                    found[name].append(value)
        return found


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


def _turns_of(data: Any) -> tuple[str, ...]:
    """Turns by which a memory reads, where some are set aside or say what is negated."""
    turn_id = getattr(data, "turn_id", None)
    return (*getattr(data, "source_turns", ()), *((turn_id,) if turn_id else ()))
