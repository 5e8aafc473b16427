"""The shapes of what is told by itself: a memory, and what that means for others."""

from __future__ import annotations

from pydantic import Field

from api.operations.answers.conflicts import PossibleConflict
from api.operations.answers.log import EXAMPLE_EFFECT, Effects, exampled


class Remembered(Effects):
    """A memory that was told."""

    model_config = exampled(
        EXAMPLE_EFFECT | {"created": True, "mentioned": None, "ended": [], "waiting": [], "conflicting": []}
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
    conflicting: list[PossibleConflict] = Field(
        default=[], description="Memories that it may contradict: both are flagged, and nothing was overwritten."
    )
