"""Events for tests, made through the door at one fixed instant."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from engramlog_server.events.catalogue import Hit, MemoriesAccessed, MemoryMentioned, ToolResultRecorded, TurnRecorded
from engramlog_server.events.envelope import Prepared, Stored, derived_id, micros, prepare, prepare_body
from engramlog_server.events.partitions import partition_of
from engramlog_server.events.validation import make_event

MOMENT = datetime(2026, 11, 22, 9, 30, tzinfo=UTC)
NOW = micros(MOMENT)


def event(data: Any, *, owner: str = "ann", number: int | str = 1, actor: str = "user") -> Prepared:
    """An event ready to append; the same `number` gives the same id."""
    made = make_event(
        data, owner=owner, occurred_at=MOMENT, actor=actor, now=NOW, event_id=derived_id("sample", str(number))
    )
    return prepare(made)


def mention(number: int | str, owner: str = "ann", memory_id: str = "m1") -> Prepared:
    """A mention, which moves its owner's head; another `memory_id` under one `number` is other content under one id."""
    return event(MemoryMentioned(memory_id=memory_id), owner=owner, number=number)


def side_events(owner: str = "ann") -> list[Prepared]:
    """One of each that does not move its owner's head."""
    hit = Hit(memory_id="m1", count=1, best_rank=1, last_at=MOMENT)
    told = [
        MemoriesAccessed(hits=(hit,), via="recall"),
        TurnRecorded(turn_id="t1", role="user", text="good morning"),
        ToolResultRecorded(tool="clock", text="09:30"),
    ]
    return [event(data, owner=owner, number=f"{owner} side {i}") for i, data in enumerate(told)]


def owner_in(partition: int, partitions: int, *, nth: int = 0) -> str:
    """The nth owner name of a simple series that lies in a partition."""
    found = [name for i in range(partitions * (nth + 1) * 20) if partition_of(name := f"o{i}", partitions) == partition]
    return found[nth]


def again(one: Stored, owner: str | None = None, body: bytes | None = None) -> Prepared:
    """A stored event as its producer sends it once more."""
    name, _, version = one.kind.partition(".")
    return prepare_body(str(UUID(bytes=one.raw_id)), name, int(version), owner or one.owner, body or one.body)
