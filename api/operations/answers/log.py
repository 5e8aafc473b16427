"""Shapes of what is written and of the change log."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Example = dict[str, Any]


def exampled(example: Example) -> ConfigDict:
    """The configuration of a shape with its example."""
    return ConfigDict(extra="allow", json_schema_extra={"examples": [example]})


KNOWN: str | None = Field(default=None, description="What was asked of the line of what was recorded (`known`).")
BEHIND: int = Field(
    0,
    description="How far the owner's own head lies beyond `position`, in positions of its partition: at most so many of the"
    " owner's events are not in the answer. 0: it is level.",
)
QUARANTINED: dict[str, str] | None = Field(
    default=None,
    description="Where the owner's fold stands still, the `position` of the event that it stands at and the `reason`: the answer"
    " is as of the event before. Left out where it goes on.",
)


class Warned(BaseModel):
    """An answer that says so where the owner is quarantined, or the log has a gap."""

    quarantined: dict[str, str] | None = QUARANTINED
    log_gap: str | None = Field(
        default=None,
        description="Set if the log lost entries or holds entries that no append wrote. The answer uses the events before the gap;"
        " no event after the gap is folded. Absent if the log is complete.",
    )


class Lagging(Warned):
    """And how far it is behind the log."""

    behind: int = BEHIND


class Placed(Lagging):
    """And the position that it was computed at."""

    position: str


class LinesTold(BaseModel):
    """What an answer says of the past that it is about."""

    as_of: str | None
    known: str | None = KNOWN


class TimesTold(LinesTold):
    """And when its weights were computed."""

    at: str | None


EXAMPLE_EVENT: Example = {
    "event_id": "018f3c1e-7b2a-7000-8000-000000000001",
    "type": "MemoryCreated",
    "owner": "alice",
    "occurred_at": "2026-11-22T09:30:00Z",
    "actor": "user",
    "data": {
        "memory_id": "coffee",
        "content": "I drink coffee every morning",
        "category": "stable_preference",
        "kind": "preference",
        "source": "user",
    },
}
EXAMPLE_RECEIPT: Example = {
    "event_id": "018f3c1e-7b2a-7000-8000-000000000001",
    "status": "appended",
    "position": "3:129",
    "fsynced": True,
    "replicas": 0,
}
EXAMPLE_FACTORS: dict[str, float] = {
    "time_weight": 1.0,
    "semantic_boost": 1.0,
    "conflict_penalty": 1.0,
    "importance": 1.3,
    "user_factor": 1.0,
    "momentum": 1.0,
}
EXAMPLE_CHANGE: Example = {
    "position": "3:131",
    "event_id": "018f3c1e-7b2a-7000-8000-000000000003",
    "time": "2026-11-22T09:30:00Z",
    "event": "MemoryNegated",
    "memory": "coffee",
    "decision": "negate",
    "reason": "said so",
    "law": "weighted",
    "old_weight": 1.3,
    "new_weight": 0.39,
    "delta": -0.91,
    "factors": EXAMPLE_FACTORS | {"conflict_penalty": 0.3},
    "fields": ["negations"],
    "version": 1,
    "content_hash": None,
}


class Receipt(BaseModel):
    """What became of one event."""

    model_config = exampled(EXAMPLE_RECEIPT)

    event_id: str
    status: Literal["appended", "already_appended", "conflict", "head_mismatch", "not_written", "failed"]
    position: str | None = Field(description="`p:seq`: where it is, or what stands in its way.")
    fsynced: bool | None = Field(description="On disk before the answer; null where that cannot be known.")
    replicas: int = Field(description="How many replicas are known to have it.")
    error: str | None = None
    occurred_at: str | None = Field(
        default=None, description="Of a conflict: when the owner's event that has the id occurred."
    )
    rejected: str | None = Field(
        default=None,
        description="Where a person rejected what it says, as far as is known: it is in the log, and changes nothing.",
    )
    mentioned: str | None = Field(
        default=None, description="With `judge`: the memory that says the same, in place of which none was made."
    )
    ended: list[dict[str, str]] = Field(default=[], description="With `judge`: memories that it ended, `id` and text.")
    waiting: list[dict[str, str]] = Field(
        default=[], description="What the user himself said that it would end: that, and it, wait for a person."
    )
    ended_by: list[dict[str, str]] = Field(
        default=[], description="With `judge`: a memory that was said later and says that this changed."
    )
    conflicting: list[dict[str, str]] = Field(
        default=[], description="With `judge`: memories that it may contradict, `id` and text; both are flagged."
    )


class Appended(BaseModel):
    """What became of a request of events."""

    model_config = exampled({"appended": 1, "already_appended": 0, "not_written": 0, "receipts": [EXAMPLE_RECEIPT]})

    appended: int
    already_appended: int
    not_written: int
    receipts: list[Receipt] = Field(description="One per event, in input order.")


class Change(BaseModel):
    """One change-log entry: what one event did to one memory. Never holds content."""

    model_config = exampled(EXAMPLE_CHANGE)

    position: str
    event_id: str
    time: str
    event: str
    memory: str | None = Field(description="Null where it is about the owner.")
    decision: str
    reason: str
    reason_code: str | None = Field(
        None, description="Which of the service's sentences `reason` is; null where it is somebody's own."
    )
    reason_values: dict[str, str] | None = Field(None, description="What stands in its places, by their names.")
    law: str = Field(description="Whose numbers these are: the weighted law's, or those that were asked for (`law`).")
    old_weight: float | None
    new_weight: float | None
    delta: float | None
    weighed_at: str | None = Field(
        None,
        description="At which instant the weights are, where the memory had met a later event; else null.",
    )
    factors: dict[str, float] | None
    fields: list[str]
    version: int | None
    content_hash: str | None
    actor: str | None = Field(None, description="Who caused it; told by history and why.")
    correlation_id: str | None = Field(
        None,
        description="The event's; `extract:MODEL`, `review:MODEL`, `sessions:MODEL` where a language model decided.",
    )
    recorded_at: str | None = Field(None, description="When the log took it in, by Redis's clock.")
    principal: str | None = Field(None, description="Who brought it, as the receiving side says.")
    late_by: float | None = Field(
        None, description="Seconds, where it was recorded more than five minutes after `time`; else null."
    )
    said_reason: str | None = Field(
        None,
        description="Why, in the words of whoever sent the event (`reason` is the fold's own); told by history and why, withheld"
        " where it is or speaks of a secret.",
    )
    because: str | None = Field(
        None, description="Why the memory is kept, as a creation or revision tells; as `said_reason`."
    )


class Effects(Placed):
    """What a verb did, read from the change log once it was folded."""

    model_config = exampled(
        {
            "id": "coffee",
            "replaced_by": "m-018f3c1e-7b2a-7000-8000-000000000002",
            "owner": "alice",
            "position": "3:131",
            "changes": [EXAMPLE_CHANGE],
        }
    )

    owner: str
    changes: list[Change]
    id: str | None = None
    replaced_by: str | None = None
    into: str | None = None
    sources: list[str] | None = None
    dry_run: bool = Field(
        default=False,
        description="Nothing was written: `changes` is what the fold would tell if these events came next, at positions that are"
        " free so far, and `position` is where that was computed.",
    )


EXAMPLE_EFFECT: Example = {"id": "tea", "owner": "alice", "position": "3:131", "changes": [EXAMPLE_CHANGE]}


class Edited(Effects):
    """A memory that says something else now."""

    model_config = exampled(EXAMPLE_EFFECT | {"revised": True, "version": 2})

    revised: bool = Field(description="False: it said so already, and nothing was written.")
    version: int = Field(description="Of its text.")


class StatementsLeft(BaseModel):
    """Statements that were drawn from a turn and are told at a lower level than it is: judge them too where they say the same."""

    model_config = exampled({"count": 1, "ids": ["m-018f3c1e-7b2a-7000-8000-000000000002"]})

    count: int
    ids: list[str] = Field(description="The first 20.")


class LevelSet(Effects):
    """A memory that is as sensitive as a person says."""

    model_config = exampled(
        EXAMPLE_EFFECT | {"statements": {"count": 1, "ids": ["m-018f3c1e-7b2a-7000-8000-000000000002"]}}
    )

    statements: StatementsLeft | None = Field(
        default=None,
        description="Of a turn alone: what was drawn from it and is no more sensitive for its sake.",
    )


EXAMPLE_EFFECT_OF_MERGE: Example = {
    "into": "coffee-habit",
    "sources": ["m1", "m2"],
    "owner": "alice",
    "position": "3:131",
    "changes": [
        EXAMPLE_CHANGE
        | {
            "event": "MemoryMerged",
            "memory": "coffee-habit",
            "decision": "merge",
            "reason": "made of 2 memories",
            "old_weight": None,
            "new_weight": 1.3,
            "delta": None,
            "factors": EXAMPLE_FACTORS,
        }
    ],
}


EXAMPLE_ASIDE: Example = {
    "session": "s1",
    "principal": None,
    "of_actor": None,
    "since": "2026-11-22T09:30:00Z",
    "set_aside_at": "3:131",
    "by_actor": "user",
    "by_principal": "local",
    "reason": "it was not Ann",
}


class AsideTold(BaseModel):
    """A source that is set aside: a session, a principal, an actor, or what is several of these at once."""

    model_config = exampled(EXAMPLE_ASIDE)

    session: str | None
    principal: str | None
    of_actor: str | None
    since: str = Field(description="When it was set aside.")
    set_aside_at: str = Field(description="Position of the event that did.")
    by_actor: str | None = Field(default=None, description="Who set it aside.")
    by_principal: str | None = Field(default=None, description="Who called.")
    reason: str


ASIDE: AsideTold | None = Field(default=None, description="The source by whose setting aside the memory is withheld.")


class History(LinesTold, Placed):
    """A page of the change log of a memory or of an owner, and the head of the owner's hash chain."""

    model_config = exampled(
        {
            "owner": "alice",
            "id": "coffee",
            "changes": [EXAMPLE_CHANGE],
            "next": "WyJiMSIsMTMxLDEyLCJhYiJd",
            "order": "oldest",
            "law": "weighted",
            "profile": "weighted",
            "chain": "5f0c…",
            "aside": None,
            "as_of": None,
            "known": None,
            "position": "3:131",
            "behind": 0,
        }
    )

    owner: str
    id: str | None
    changes: list[Change]
    next: str | None
    """Cursor of the next page; null on the last."""
    order: str
    law: str = Field(
        default="weighted", description="In whose numbers the changes are told; `weighted` are the stored ones."
    )
    profile: str = Field(default="weighted", description="The owner's law at that time: the one that gates its recall.")
    chain: str
    aside: AsideTold | None = ASIDE
