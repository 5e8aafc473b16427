"""Shapes of what differs between two readings of an owner: two moments, or what was and what would be."""

from __future__ import annotations

from pydantic import BaseModel, Field

from api.operations.answers.log import Example, exampled

EXAMPLE_SIDE: Example = {
    "weight": 1.3,
    "level": "full",
    "status": "live",
    "trust": "asserted",
    "is_negated": False,
    "mention_count": 1,
    "shown": True,
    "reason": None,
}
EXAMPLE_DIFFER: Example = {
    "id": "coffee",
    "before": EXAMPLE_SIDE,
    "after": EXAMPLE_SIDE | {"is_negated": True, "shown": False, "reason": "negated", "weight": 0.39},
    "fields": [],
}
EXAMPLE_MOVED: Example = {"id": "coffee", "before": 1, "after": None}
EXAMPLE_QUESTION: Example = {
    "query": "what does alice drink?",
    "before": ["coffee", "tea"],
    "after": ["tea"],
    "moved": [EXAMPLE_MOVED, {"id": "tea", "before": 2, "after": 1}],
}


class SideStanding(BaseModel):
    """Where a memory stands on one of two sides."""

    model_config = exampled(EXAMPLE_SIDE)

    weight: float = Field(description="Unclipped, by the owner's law on that side.")
    level: str
    status: str
    trust: str
    is_negated: bool
    mention_count: int
    shown: bool = Field(description="Whether the mode shows it where nothing is asked.")
    reason: str | None = Field(description="Why the mode withholds it; null where it is shown.")


class SidesDiffer(BaseModel):
    """A memory that stands otherwise on two sides, or on one alone."""

    model_config = exampled(EXAMPLE_DIFFER)

    id: str
    before: SideStanding | None = Field(description="Null where that side has no such memory.")
    after: SideStanding | None = Field(description="Null where that side has no such memory.")
    fields: list[str] = Field(description="What it says that differs, by name.")


class RankMoved(BaseModel):
    """A result that stands elsewhere, came or went."""

    model_config = exampled(EXAMPLE_MOVED)

    id: str
    before: int | None = Field(description="Its rank, 1 for the first; null where it is not among the results.")
    after: int | None


class QuestionMoved(BaseModel):
    """One question's results on two sides."""

    model_config = exampled(EXAMPLE_QUESTION)

    query: str
    before: list[str] = Field(description="Ids, the best first.")
    after: list[str]
    moved: list[RankMoved]
