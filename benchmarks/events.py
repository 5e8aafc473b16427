"""Synthetic events, the same for the same seed, about many owners or one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from random import Random
from uuid import UUID

from benchmarks.texts import chinese, english, mixed
from engramlog_server.events.catalogue import (
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
from engramlog_server.events.envelope import AnyEvent, Event, Prepared, micros, prepare
from engramlog_server.projections.memory.kind import created

SEED = 2_026
STARTS = datetime(2_025, 1, 1, 8, tzinfo=UTC)
NOW = micros(STARTS) + 40 * 86_400_000_000
CLOCK = micros(datetime(2_100, 1, 1, tzinfo=UTC))
"""The clock of validation: after every event."""
APART = timedelta(seconds=17)
EVENTS_AN_OWNER = 20
MIX = ((0.58, "create"), (0.88, "mention"), (0.91, "negate"), (0.96, "access"), (0.99, "revise"), (1.0, "merge"))
"""Cumulative shares: 58 % MemoryCreated, 30 % MemoryMentioned, 3 % Negated, 5 % Accessed, 3 % Revised, 1 % Merged."""
CATEGORIES = ("fact", "stable_preference", "short_term_preference", "temporary", "skill", "identity")


@dataclass(slots=True)
class Owner:
    """An owner and the memories that they have so far."""

    name: str
    created: int = 0
    live: list[str] = field(default_factory=list)

    def new_id(self) -> str:
        self.created += 1
        self.live.append(f"{self.name}-m{self.created}")
        return self.live[-1]


def sample(events: int, owners: int | None = None, *, seed: int = SEED) -> list[AnyEvent]:
    """So many events in random order over the owners; without `owners` 20 events each."""
    owners = max(events // EVENTS_AN_OWNER, 1) if owners is None else owners
    chance, cast = Random(seed), [Owner(f"owner-{number:05d}") for number in range(owners)]
    made = list[AnyEvent]()
    for number in range(events):
        owner = cast[number if number < owners else int(chance.random() * owners)]
        at = STARTS + APART * number
        made.append(_event(owner.name, _data(owner, chance, at), at, chance, number))
    return made


def prepared(events: Sequence[AnyEvent]) -> list[Prepared]:
    """The same, ready to append."""
    return [prepare(event) for event in events]


def memories(owner: str, size: int) -> list[Prepared]:
    """So many memories of one owner, a user and an assistant in turn; every second session of 40 turns is in Chinese."""
    chance, made = Random(f"{SEED} {owner}"), list[Prepared]()
    for number in range(size):
        speak = chinese if number // 40 % 2 else english
        data = created(
            f"t{number}",
            speak(chance),
            kind="turn",
            source="assistant" if number % 2 else "user",
            confidence=round(0.5 + chance.random() / 2, 2),
            source_turns=(f"turn-{number}",),
        )
        made.append(prepare(_event(owner, data, STARTS + APART * number, chance, number)))
    return made


def _event(owner: str, data: EventData, at: datetime, chance: Random, number: int) -> AnyEvent:
    kind = type(data).__name__
    return Event(
        event_id=str(UUID(int=chance.getrandbits(128), version=4)),
        type=kind,
        schema_version=LATEST_VERSION[kind],
        owner=owner,
        occurred_at=at,
        actor="system" if isinstance(data, MemoriesAccessed) else "user",
        data=data,
        session_id=f"s-{number // 40}",
    )


def _data(owner: Owner, chance: Random, at: datetime) -> EventData:
    drawn = chance.random()
    kind = next(name for share, name in MIX if drawn < share)
    if kind == "create" or len(owner.live) < 3:
        return _created(owner, chance)
    memory_id = owner.live[int(chance.random() * len(owner.live))]
    match kind:
        case "mention":
            return MemoryMentioned(memory_id=memory_id, similarity=round(chance.random(), 3))
        case "negate":
            return MemoryNegated(memory_id=memory_id, reason="it changed", correction=mixed(chance))
        case "access":
            shown = Access(at=at, shown=tuple(owner.live[-3:]), first=6, query=mixed(chance))
            return MemoriesAccessed(accesses=(shown,), via="recall")
        case "revise":
            return MemoryRevised(memory_id=memory_id, content=mixed(chance))
        case _:
            sources = tuple(owner.live.pop(int(chance.random() * len(owner.live))) for _ in range(2))
            return MemoryMerged(sources=sources, into=owner.new_id(), summary=mixed(chance))


def _created(owner: Owner, chance: Random) -> MemoryCreated:
    return MemoryCreated(
        memory_id=owner.new_id(),
        content=mixed(chance),
        category=CATEGORIES[int(chance.random() ** 2 * len(CATEGORIES))],  # type: ignore[arg-type]
        kind="preference",
        source="user",
        speaker=owner.name,
        confidence=round(0.5 + chance.random() / 2, 2),
        source_turns=(f"turn-{owner.created}",),
    )
