"""The shape of what is said about an owner's vectors."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from api.operations.answers.log import Placed, exampled


class Coverage(BaseModel):
    """How many of an owner's memories have a vector."""

    model: str | None = Field(
        description="The model whose vectors are counted; null where none is, or it is not there."
    )
    chosen: str = Field(
        description="What counts for the owner: `none`, `auto` (by its letters), or an embedder's name."
    )
    chosen_by: Literal["owner", "setting", "store"] = Field(
        description="Where that stands: the owner's parameter `embedder`, ENGRAMLOG_EMBEDDER, or the store as it was made."
    )
    embedded: int = Field(description="Memories that have a vector: semantic search finds these, and no others.")
    of: int = Field(description="Memories that hold text which is neither purged nor secret.")
    share: float = Field(description="embedded / of, from 0 to 1; 1 where there is nothing to embed.")
    failed: str | None = Field(default=None, description="Why the embedder cannot be made, where that is so.")


class Embedding(Coverage, Placed):
    """The same as an answer of its own."""

    model_config = exampled(
        {
            "owner": "alice",
            "model": "all-MiniLM-L6-v2",
            "chosen": "auto",
            "chosen_by": "store",
            "embedded": 120,
            "of": 128,
            "share": 0.9375,
            "position": "3:141",
        }
    )

    owner: str
