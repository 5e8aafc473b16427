"""Synthetic events, the same for the same seed, about many owners or one. Nothing of it is taken from anybody's data."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count, islice
from random import Random
from typing import Any
from uuid import UUID

from events.catalogue import (
    LATEST_VERSION,
    Access,
    EventData,
    MemoriesAccessed,
    MemoryCreated,
    MemoryMentioned,
    MemoryMerged,
    MemoryNegated,
    MemoryRevised,
)
from events.envelope import AnyEvent, Event, Prepared, micros, prepare
from ops.bench.texts.sets import SETS, Speak

SEED = 2_026
STARTS = datetime(2_025, 1, 1, 8, tzinfo=UTC)
CLOCK = micros(datetime(2_100, 1, 1, tzinfo=UTC))
"""The clock in validation: after everything that happens."""
EVENTS_AN_OWNER = 20
MIX = ((0.58, "create"), (0.88, "mention"), (0.91, "negate"), (0.96, "access"), (0.99, "revise"), (1.0, "merge"))
"""Cumulative shares: 58 % MemoryCreated, 30 % MemoryMentioned, 3 % Negated, 5 % Accessed, 3 % Revised, 1 % Merged."""
FURTHER = 6
"""First rank of what was shown: a further page, which associates nothing, so that figures compare with those of older releases."""
_CATEGORIES = ("fact", "stable_preference", "short_term_preference", "temporary", "skill", "identity")


@dataclass(slots=True)
class _Owner:
    """What has been told of one owner so far."""

    name: str
    speak: Speak
    short: Speak
    ids: str
    """What its memories' ids have before their number."""
    created: int = 0
    live: list[str] = field(default_factory=list)

    def new_id(self) -> str:
        self.created += 1
        memory_id = f"{self.ids}{self.created}"
        self.live.append(memory_id)
        return memory_id


def sample(
    events: int, owners: int, *, seed: int = SEED, only_created: bool = False, texts: str = "sentences", ids: str = "m"
) -> list[AnyEvent]:
    """So many events over so many owners, with texts of a set; seconds apart, beginning in 2025.

    `ids`: letters of the memories' ids: another sample of the same owners needs others, or its creations are of what is there.
    """

    def evenly(number: int, chance: Random) -> int:
        return number % owners if number < owners else int(chance.random() * owners)

    return list(islice(told(owners, evenly, seed=seed, only_created=only_created, texts=texts, ids=ids), events))


def told(
    owners: int,
    whose: Callable[[int, Random], int],
    *,
    seed: int = SEED,
    only_created: bool = False,
    texts: str = "sentences",
    ids: str = "m",
    first: int = FURTHER,
) -> Iterator[AnyEvent]:
    """Events without end. `whose`: the number of an event's owner; `first`: the rank of the first of what was shown."""
    chance, said = Random(seed), SETS[texts]
    cast = [
        _Owner(
            f"owner-{i:05d}",
            said.contents[i % len(said.contents)],
            said.short[i % len(said.short)],
            f"owner-{i:05d}-{ids}",
        )
        for i in range(owners)
    ]
    for number in count():
        owner = cast[whose(number, chance)]
        at = STARTS + timedelta(seconds=17 * number)
        data = _created(owner, chance) if only_created or len(owner.live) < 3 else _any(owner, chance, at, first)
        yield Event(
            event_id=str(UUID(int=chance.getrandbits(128), version=4)),
            type=type(data).__name__,
            schema_version=LATEST_VERSION[type(data).__name__],
            owner=owner.name,
            occurred_at=at,
            actor="system" if isinstance(data, MemoriesAccessed) else "user",
            data=data,
            session_id=f"s-{number // 40}",
        )


def prepared(events: list[AnyEvent]) -> list[Prepared]:
    """The same, ready to append."""
    return [prepare(event) for event in events]


def _any(owner: _Owner, chance: Random, at: datetime, first: int) -> EventData:
    drawn = chance.random()
    kind = next(name for share, name in MIX if drawn < share)
    some = owner.live[int(chance.random() * len(owner.live))]
    made: dict[str, Callable[[], Any]] = {
        "create": lambda: _created(owner, chance),
        "mention": lambda: MemoryMentioned(memory_id=some, similarity=round(chance.random(), 3)),
        "negate": lambda: MemoryNegated(memory_id=some, reason="it changed", correction=owner.short(chance)),
        "access": lambda: MemoriesAccessed(
            accesses=(Access(at=at, shown=tuple(owner.live[-3:]), first=first, query=owner.short(chance)),),
            via="recall",
        ),
        "revise": lambda: MemoryRevised(memory_id=some, content=owner.speak(chance)),
        "merge": lambda: _merged(owner, chance),
    }
    data: EventData = made[kind]()
    return data


def _created(owner: _Owner, chance: Random) -> MemoryCreated:
    return MemoryCreated(
        memory_id=owner.new_id(),
        content=owner.speak(chance),
        category=_CATEGORIES[int(chance.random() ** 2 * len(_CATEGORIES))],  # type: ignore[arg-type]
        kind="preference",
        source="user",
        speaker=owner.name,
        confidence=round(0.5 + chance.random() / 2, 2),
        source_turns=(f"turn-{owner.created}",),
    )


def _merged(owner: _Owner, chance: Random) -> MemoryMerged:
    sources = tuple(owner.live.pop(int(chance.random() * len(owner.live))) for _ in range(2))
    return MemoryMerged(sources=sources, into=owner.new_id(), summary=owner.speak(chance))
