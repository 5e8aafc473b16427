"""Shapes of the log's own events."""

from __future__ import annotations

from pydantic import BaseModel, Field

from api.operations.answers.log import Example, LinesTold, Warned, exampled

EXAMPLE_LOGGED = {
    "position": "3:129",
    "event_id": "018f3c1e-7b2a-7000-8000-000000000001",
    "type": "MemoryCreated",
    "schema_version": 1,
    "owner": "alice",
    "occurred_at": "2026-11-22T09:30:00Z",
    "recorded_at": "2026-11-22T09:30:00.120000Z",
    "late_by": None,
    "actor": "user",
    "principal": "local",
    "model": None,
    "trust": "asserted",
    "session_id": "s1",
    "causation_id": None,
    "correlation_id": None,
    "data": {
        "memory_id": "coffee",
        "content": "I drink coffee every morning",
        "category": "stable_preference",
        "kind": "preference",
        "source": "user",
    },
    "withheld": None,
    "folded": True,
    "problem": None,
    "bytes": 301,
}
EXAMPLE_EVENTS = {
    "owner": "alice",
    "partition": 3,
    "events": [EXAMPLE_LOGGED],
    "next": None,
    "follow": "WzEyOSwiYWIiXQ",
    "order": "oldest",
    "looked": 1,
    "looked_to": "3:129",
    "head": "3:129",
    "as_of": None,
    "known": None,
}


class LoggedEvent(BaseModel):
    """One event of the log. Words that may not be told stand as `[withheld: ...]`; ids, numbers and times stay."""

    model_config = exampled(EXAMPLE_LOGGED)

    position: str
    event_id: str
    type: str
    schema_version: int | None
    owner: str
    occurred_at: str | None = Field(description="When it happened, as its producer says; null where it cannot be read.")
    recorded_at: str | None = Field(description="When the log took it in.")
    late_by: float | None = Field(
        description="Seconds, where it was recorded more than five minutes after it happened."
    )
    actor: str | None
    principal: str | None = Field(description="Who brought it, as the receiving side says.")
    model: str | None = Field(description="The language model that decided it, where that is known.")
    trust: str | None = Field(description="How far its word goes: asserted, inferred, imported or proposed.")
    session_id: str | None
    causation_id: str | None
    correlation_id: str | None
    data: Example | None = Field(description="As it is stored, but for words that are withheld.")
    withheld: str | None = Field(
        description="Why words of it are: erased, purged, deleted, retracted, secret, set_aside, undecided, undecodable; null: none"
        " are."
    )
    folded: bool | None = Field(
        description="Whether it is folded; false: it waits, or was dropped. Null where the whole partition is asked about."
    )
    problem: str | None = Field(description="Why it cannot be read; null where it can.")
    bytes: int = Field(description="Of its body in the log.")


class LogEvents(LinesTold, Warned):
    """A page of the log's events."""

    model_config = exampled(EXAMPLE_EVENTS)

    owner: str | None = Field(description="Null where a partition is asked about.")
    partition: int
    events: list[LoggedEvent]
    next: str | None = Field(
        description="The next page, as `cursor`; null where there is nothing further to look at. A page may be short, or empty, and"
        " have one: it looked at as many events as one page may."
    )
    follow: str = Field(
        description="The cursor, oldest first, of what comes after: give it with `wait` to go on as events come."
    )
    order: str
    looked: int = Field(description="How many events were looked at for this page.")
    looked_to: str | None = Field(description="The last position that was looked at; null where none was.")
    head: str = Field(description="The newest position of the partition at that time; `p:0` where it is empty.")
