"""The shape of a possible conflict: the other line."""

from __future__ import annotations

from pydantic import BaseModel, Field

from api.operations.answers.log import exampled


class PossibleConflict(BaseModel):
    """Another memory that may contradict this one: nothing was overwritten, and which holds is to be asked."""

    model_config = exampled({"id": "tea", "memory": "I drink tea every morning, no coffee"})

    id: str
    memory: str = Field(description="Its text; `[withheld: ...]` for a secret.")
