"""The shape of what sessions left behind."""

from __future__ import annotations

from pydantic import BaseModel, Field

from api.operations.answers.log import exampled

EXAMPLE_EPISODE = {
    "memory_id": "episode-6f0c1f0e-6a52-5b0c-8f4e-0d8f6c1f9a11",
    "session": "s1",
    "content": "[2026-11-20 18:00] alice: The kiln broke on Friday and the fair is on Sunday.",
    "turns": ["D4:1", "D4:2", "D4:3"],
    "at": "2026-11-20T18:04:00Z",
    "reason": "3 messages of one sitting",
}
EXAMPLE_USED = {
    "memory_id": "coffee",
    "session": "s1",
    "at": "2026-11-20T18:03:00Z",
    "reason": "reply D4:2 says what only this memory says (2 words)",
}


class Episode(BaseModel):
    """An episode that was made, or would be."""

    model_config = exampled(EXAMPLE_EPISODE)

    memory_id: str
    session: str | None
    content: str = Field(description="The time of its first message in the owner's zone, and what was said.")
    turns: list[str] = Field(description="Ids of the turns that it tells of.")
    at: str = Field(description="When the last of them was said.")
    reason: str


class Used(BaseModel):
    """A memory that a reply rested on."""

    model_config = exampled(EXAMPLE_USED)

    memory_id: str
    session: str | None
    at: str = Field(description="When the reply was given.")
    reason: str


class Left(BaseModel):
    """What an owner's sessions left behind, or would leave."""

    model_config = exampled(
        {
            "owner": "alice",
            "counts": {"summarise": 1, "use": 1},
            "appended": 2,
            "position": "3:141",
            "by_model": 0,
            "refused": 0,
            "failure": None,
            "down": False,
            "requests": 0,
            "input_tokens": 0,
            "output_tokens": 0,
            "dry_run": False,
            "episodes": [EXAMPLE_EPISODE],
            "uses": [EXAMPLE_USED],
        }
    )

    owner: str
    counts: dict[str, int] = Field(description="How many decisions, by action: summarise, use.")
    appended: int = Field(description="How many of them are in the log now; none after a dry run.")
    position: str | None = Field(description="The position that was decided at, or of the last decision.")
    by_model: int = Field(description="Episodes in a model's words.")
    refused: int = Field(description="Episodes for which the model gave nothing usable: made without it.")
    failure: str | None = Field(description="Why the model could be asked no more, or its last answer not be used.")
    down: bool = Field(description="Whether the model's endpoint failed: what is left is made by the next run.")
    requests: int = Field(description="Requests to the model; its tokens likewise.")
    input_tokens: int
    output_tokens: int
    dry_run: bool
    episodes: list[Episode]
    uses: list[Used]
