"""The shapes of what is told by itself: a memory, what that means for others, and what stands beside it."""

from __future__ import annotations

from pydantic import BaseModel, Field

from api.operations.answers.log import EXAMPLE_EFFECT, Effects, exampled


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


class Remembered(Effects):
    """A memory that was told."""

    model_config = exampled(
        EXAMPLE_EFFECT
        | {"created": True, "mentioned": None, "ended": [], "waiting": [], "ended_by": [], "conflicting": []}
    )

    created: bool = Field(
        description="False: it was there already, under the same key, or in a memory that says it: `mentioned`."
    )
    mentioned: str | None = Field(
        default=None, description="The memory that says the same already: this was a mention of it, and made no other."
    )
    ended: list[PossibleConflict] = Field(
        default=[], description="Memories that hold no longer by this; at most 8 together with `conflicting`."
    )
    waiting: list[PossibleConflict] = Field(
        default=[], description="What the user himself said that it would end: that, and it, wait for a person."
    )
    ended_by: list[PossibleConflict] = Field(
        default=[], description="A memory that was said later and says that this changed: this one holds no longer."
    )
    conflicting: list[PossibleConflict] = Field(
        default=[], description="Memories that it may contradict: both are flagged, and nothing was overwritten."
    )
