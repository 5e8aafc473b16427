"""Shapes of how memories live on: health, reviews, reinforcing."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from api.operations.answers.log import EXAMPLE_CHANGE, Change, Example, Placed, exampled
from api.operations.answers.memories import EXAMPLE_CARD, EXAMPLE_PLACE, Card, Place

EXAMPLE_STRENGTH: Example = EXAMPLE_CARD | {
    "strength": 61,
    "colour": "yellow",
    "stability_hours": 24.0,
    "decay_rate": 1.0,
    "reinforce_count": 0,
    "last_reinforced_at": "2026-11-22T09:30:00Z",
    "archives_at": None,
    "deletes_at": None,
}
EXAMPLE_DUE: Example = EXAMPLE_CARD | {
    "due_at": "2026-11-23T09:30:00Z",
    "days_overdue": 2.5,
    "importance": 0.56,
    "confidence": 0.8,
    "consolidation": 0.3,
    "emotion": 0.5,
    "priority": 1.96,
    "interval_days": 1.0,
    "scheduler": "accesses",
    "access_count": 0,
}
EXAMPLE_HELD: Example = {
    "strength": 61,
    "stability_hours": 24.0,
    "reinforce_count": 0,
    "importance": 1.0,
    "effective_importance": 1.0,
    "tier": "fact",
    "law": "weighted",
    "weight": 1.293,
    "next_review_at": "2026-11-23T09:30:00Z",
    "interval_days": 1.0,
    "scheduler": "accesses",
}
EXAMPLE_HELD_AFTER: Example = EXAMPLE_HELD | {"strength": 100, "stability_hours": 36.0, "reinforce_count": 1}
EXAMPLE_NEXT: Example = {
    "sm2": {"due_at": "2026-11-23T21:30:00Z", "interval_days": 1.0, "ease": 2.5, "repetitions": 1},
    "fsrs": {"due_at": "2026-11-24T21:30:00Z", "interval_days": 2.0, "stability_days": 2.3065, "difficulty": 2.118104},
}


class Strength(Card):
    """A memory with its Ebbinghaus strength."""

    model_config = exampled(EXAMPLE_STRENGTH)

    strength: int = Field(description="Percent, 0 to 100.")
    colour: str = Field(description="`green` from 70, `yellow` from 30, `red` below.")
    stability_hours: float
    decay_rate: float
    reinforce_count: int
    last_reinforced_at: str
    archives_at: str | None = Field(description="When the owner's law archives it by itself; null where it does not.")
    deletes_at: str | None = Field(description="When the owner's law deletes it (softly) by itself; null likewise.")


class MemoryHealth(Place):
    """A page of live memories, strongest first."""

    model_config = exampled(
        {
            "memories": [EXAMPLE_STRENGTH],
            "total": 1,
            "offset": 0,
            "colours": {"green": 0, "yellow": 1, "red": 0},
            "mean_strength": 61.0,
            "profile": "weighted",
            **EXAMPLE_PLACE,
        }
    )

    memories: list[Strength]
    total: int = Field(description="Live memories in all.")
    offset: int
    colours: dict[str, int] = Field(description="How many of all of them are of each colour.")
    mean_strength: float | None
    profile: str


class Fading(Place):
    """A page of live memories under strength 30, weakest first."""

    model_config = exampled(
        {
            "memories": [EXAMPLE_STRENGTH | {"strength": 14, "colour": "red"}],
            "total": 1,
            "live": 7,
            "offset": 0,
            "under": 30,
            "profile": "weighted",
            **EXAMPLE_PLACE,
        }
    )

    memories: list[Strength]
    total: int = Field(description="How many are fading.")
    live: int = Field(description="Of how many live ones.")
    offset: int
    under: int
    profile: str


class DueMemory(Card):
    """A memory that is due for review."""

    model_config = exampled(EXAMPLE_DUE)

    due_at: str
    days_overdue: float
    importance: float = Field(description="0.4 confidence + 0.3 consolidation + 0.3 |emotion| at the default shares.")
    confidence: float
    consolidation: float
    emotion: float
    priority: float = Field(description="What the order goes by: importance * (1 + days overdue).")
    interval_days: float
    scheduler: str = Field(description="`accesses` before the first grade, then `sm2` or `fsrs`.")
    access_count: int


class ReviewsDue(Place):
    """What is due for review, most pressing first."""

    model_config = exampled(
        {
            "memories": [EXAMPLE_DUE],
            "due": 12,
            "left_out": 11,
            "min_importance": 0.5,
            "next_due_at": "2026-11-26T09:30:00Z",
            **EXAMPLE_PLACE,
        }
    )

    memories: list[DueMemory]
    due: int = Field(description="How many are due in all.")
    left_out: int = Field(description="How many of these are of less than the least importance.")
    min_importance: float
    next_due_at: str | None = Field(description="When the next one falls due that is not due yet.")


class Held(BaseModel):
    """What each law reads of a memory at one instant."""

    model_config = exampled(EXAMPLE_HELD)

    strength: int
    stability_hours: float
    reinforce_count: int
    importance: float = Field(description="As it was last set.")
    effective_importance: float = Field(description="What the tiered law leaves of it.")
    tier: str
    law: str = Field(description="The owner's, which the weight is of.")
    weight: float
    next_review_at: str
    interval_days: float
    scheduler: str


class Reinforced(Placed):
    """What reinforcing a memory did."""

    model_config = exampled(
        {
            "outcome": "manual_review",
            "from_memory": None,
            "turn_id": "D4:7",
            "id": "coffee",
            "at": "2026-11-22T21:30:00Z",
            "owner": "alice",
            "position": "3:131",
            "changes": [
                EXAMPLE_CHANGE
                | {"event": "MemoryReinforced", "decision": "reinforce", "reason": "outcome manual_review"}
                | {
                    "old_weight": 1.293,
                    "new_weight": 1.293,
                    "delta": 0.0,
                    "fields": ["last_reinforced_at", "stability"],
                }
            ],
            "before": EXAMPLE_HELD,
            "after": EXAMPLE_HELD_AFTER,
            "remarks": [],
        }
    )

    outcome: str
    from_memory: str | None
    turn_id: str | None = Field(description="The turn that it was told for.")
    id: str
    at: str = Field(description="The instant of both readings.")
    owner: str
    changes: list[Change]
    before: Held
    after: Held | None = Field(description="Null where the owner is quarantined and the event waits.")
    remarks: list[str] = Field(description="What it did not do, and why: a use within the cool-down of the last, say.")


class Graded(Placed):
    """What grading a memory did: its next review by each scheduler."""

    model_config = exampled(
        {
            "grade": 4,
            "id": "coffee",
            "at": "2026-11-22T21:30:00Z",
            "owner": "alice",
            "position": "3:131",
            "changes": [
                EXAMPLE_CHANGE
                | {"event": "ReviewGraded", "decision": "review", "reason": "graded 4"}
                | {"old_weight": 1.293, "new_weight": 1.293, "delta": 0.0, "fields": ["access_count", "schedule"]}
            ],
            "before": EXAMPLE_HELD,
            "after": EXAMPLE_HELD | {"next_review_at": "2026-11-23T21:30:00Z", "scheduler": "sm2"},
            "decides": "sm2",
            "schedulers": EXAMPLE_NEXT,
        }
    )

    grade: int
    id: str
    at: str
    owner: str
    changes: list[Change]
    before: Held
    after: Held | None
    decides: str = Field(description="The owner's scheduler: a parameter.")
    schedulers: dict[str, dict[str, Any]] | None = Field(
        description="By name: `due_at`, `interval_days`, and what it keeps of the memory; null where the event waits."
    )
