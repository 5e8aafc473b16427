"""The shapes of what is told beside a memory: the other line of a possible conflict, and what of it no longer holds."""

from __future__ import annotations

from pydantic import BaseModel, Field

from api.operations.answers.log import exampled


class PossibleConflict(BaseModel):
    """Another memory that may contradict this one: nothing was overwritten, and which holds is to be asked."""

    model_config = exampled({"id": "tea", "memory": "I drink tea every morning, no coffee"})

    id: str
    memory: str = Field(description="Its text; `[withheld: ...]` for a secret.")


class CorrectedBy(BaseModel):
    """Something that a memory says and that no longer holds."""

    model_config = exampled(
        {
            "of": "tokyo",
            "was": "User lives in Tokyo",
            "by": "osaka",
            "now": "User lives in Osaka",
            "at": "2026-11-22T09:30:00Z",
        }
    )

    of: str = Field(description="The memory that said it by itself: a statement, or a turn that was negated.")
    was: str | None = Field(description="What was said; null where that was deleted.")
    by: str | None = Field(description="The memory that holds in its place; null where none does.")
    now: str | None = Field(description="What that says, at most 400 characters.")
    at: str = Field(description="Since when it no longer holds.")
