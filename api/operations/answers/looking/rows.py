"""Shapes of what a memory manager shows: rows of a list, its counts, and what became of a wish to restore many."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from api.operations.answers.log import Example, Lagging, exampled
from api.operations.answers.memories import (
    EXAMPLE_CARD,
    EXAMPLE_PLACE,
    EXAMPLE_WITHHELD,
    BasisListed,
    Card,
    ContextTold,
    Place,
    Withheld,
)
from api.operations.answers.records import Skipped

EXAMPLE_LISTED: Example = EXAMPLE_CARD | {
    "weight": 1.3,
    "tier": "fact",
    "source": "user",
    "sensitivity": 0,
    "tags": [],
    "context": {"tags": ["work_hours", "weekend"], "emotion": 0.0},
    "updated_at": "2026-11-22T09:30:00Z",
    "deleted_at": None,
    "waiting": [],
}


class Listed(BasisListed, Card):
    """One memory of a list."""

    weight: float
    tier: str
    source: str
    sensitivity: int
    tags: list[str] = Field(description="Its producer's own; none of a secret.")
    context: ContextTold
    updated_at: str = Field(description="When it was made or last revised.")
    deleted_at: str | None
    waiting: list[str] = Field(description="Ids of the events that would change it, and wait for a person.")


class SpansTold(BaseModel):
    """What was understood of times that a list was told, as far as any were: RFC 3339 in the owner's time zone."""

    since: str | None = Field(default=None, description="Created at this instant or later.")
    until: str | None = Field(default=None, description="Created before this instant.")
    updated_since: str | None = Field(default=None, description="Made or revised at this instant or later.")
    updated_until: str | None = Field(default=None, description="Made or revised before this instant.")


class Listing(SpansTold, Place):
    """A page of memories."""

    model_config = exampled(
        {
            "memories": [EXAMPLE_LISTED],
            "total": 1,
            "offset": 0,
            "sort": "activated",
            "order": "descending",
            "withheld": [EXAMPLE_WITHHELD],
            "mode": "normal",
            **EXAMPLE_PLACE,
        }
    )

    memories: list[Listed]
    total: int = Field(description="Memories that the mode shows and all filters match.")
    offset: int
    sort: str
    order: str
    withheld: list[Withheld] = Field(description="What the mode withholds of the owner, whatever the filters.")
    mode: str


class ValueCount(BaseModel):
    """How many memories have one value."""

    value: str
    count: int


class FacetCounts(BaseModel):
    """Counts by the values of one filter, as if that filter were not told."""

    model_config = exampled({"counts": [{"value": "live", "count": 12}], "left_out": 0})

    counts: list[ValueCount] = Field(
        description="Every value of a closed list, in its order; of kinds and tags the 50 of the most memories."
    )
    left_out: int = Field(description="Other values that some memory has.")


def _counted(*told: tuple[str, int]) -> Example:
    return {"counts": [{"value": value, "count": count} for value, count in told], "left_out": 0}


class Counts(SpansTold, Place):
    """How many memories a list has, by the values of its filters."""

    model_config = exampled(
        {
            "owner": "alice",
            "mode": "normal",
            "total": 12,
            "by_status": _counted(("live", 11), ("fading", 1)),
            "by_level": _counted(("full", 9), ("summary", 3)),
            "by_trust": _counted(("asserted", 10), ("inferred", 2)),
            "by_tier": _counted(("core", 1), ("fact", 11)),
            "by_category": _counted(("fact", 7), ("stable_preference", 5)),
            "by_sensitivity": _counted(("0", 12)),
            "by_source": _counted(("user", 10), ("assistant", 2)),
            "by_flag": _counted(("conflicting", 2), ("waiting", 0)),
            "by_kind": _counted(("fact", 7), ("preference", 5)),
            "by_tag": _counted(("work_hours", 8)),
            "by_law": _counted(("weighted", 12), ("ebbinghaus", 7)),
            **EXAMPLE_PLACE,
        }
    )

    owner: str
    mode: str
    total: int = Field(description="Memories that the mode shows and all filters match.")
    by_status: FacetCounts
    by_level: FacetCounts
    by_trust: FacetCounts
    by_tier: FacetCounts
    by_category: FacetCounts
    by_sensitivity: FacetCounts
    by_source: FacetCounts
    by_flag: FacetCounts
    by_kind: FacetCounts
    by_tag: FacetCounts = Field(description="Context tags, whatever their case.")
    by_law: FacetCounts = Field(
        description="How many of what the filters match, whatever the mode asked for, each law shows in normal mode."
    )


class RestoredMany(Lagging):
    """What became of a request to restore memories."""

    model_config = exampled(
        {
            "owner": "alice",
            "restored": ["coffee", "tea"],
            "skipped": [{"id": "milk", "reason": "memory milk is not deleted"}],
            "also": [{"id": "m-coffee-habit", "reason": "it went with coffee, or was made of it"}],
            "not_restored": [],
            "readmitted": [],
            "dry_run": False,
            "position": "3:140",
        }
    )

    owner: str
    restored: list[str] = Field(description="In the order asked for; with `dry_run` what would be.")
    skipped: list[Skipped] = Field(description="Those asked for that were not restored, and why.")
    also: list[Skipped] = Field(description="What came back with them.")
    not_restored: list[Skipped] = Field(description="What went with them and stays deleted, and why.")
    readmitted: list[str] = Field(description="Those of which what they say was rejected, and is no more.")
    dry_run: bool = Field(description="Whether nothing was written.")
    position: str = Field(description="Of the last restoration, or the one at which there was nothing to restore.")
    waiting: list[str] | None = Field(
        default=None, description="Written, but parked behind an event of the owner that cannot be folded."
    )
    error: dict[str, Any] | None = Field(default=None, description="What stopped it half-way.")
