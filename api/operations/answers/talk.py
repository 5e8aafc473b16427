"""Shapes of taking in exported chats, and of what extraction makes of turns."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from api.operations.answers.cleaning import Decided
from api.operations.answers.log import Example, Lagging, Warned, exampled

EXAMPLE_CONVERSATION: Example = {
    "id": "c1",
    "created_at": "2026-11-22T09:30:00Z",
    "messages": [
        {"role": "user", "content": "I drink coffee every morning"},
        {"role": "assistant", "content": "Noted: coffee in the morning."},
    ],
}
EXAMPLE_TURN: Example = {
    "turn_id": "D4:7",
    "occurred_at": "2026-11-22T09:30:00Z",
    "speaker": "user",
    "session": "s1",
    "text": "I drink coffee every morning",
}
EXAMPLE_STATEMENT: Example = {
    "operation": "ADD",
    "reason": "new",
    "turn_id": "D4:7",
    "memory_id": "x-5be3d0",
    "other": None,
    "content": "User drinks coffee every morning",
    "category": "stable_preference",
    "kind": "user_preference",
    "polarity": 1,
    "asserted": True,
    "confidence": 0.9,
    "keywords": ["coffee", "morning"],
    "triple": None,
    "span": [0, 28],
}


class ChatsImported(Warned):
    """What an import of chats did, and what stayed out."""

    model_config = exampled(
        {
            "owner": "alice",
            "shape": "openai",
            "conversations": 1,
            "left_out": {"system": 1},
            "turns": 2,
            "skipped": 0,
            "too_long": 0,
            "cut": 0,
            "appended": 4,
            "already_appended": 0,
            "conflicts": [],
            "ignored_fields": {},
            "newest_turn": "2026-11-22T09:31:00Z",
            "last_position": "3:132",
        }
    )

    owner: str
    shape: str = Field(description="`openai`, `chatgpt`, `claude` or `lines`.")
    conversations: int = Field(description="0 for the shape `lines`.")
    left_out: dict[str, int] = Field(
        description="Messages that are no turns, by reason: system, tool, hidden, other, too_long, abandoned; each `attachment`."
    )
    turns: int
    skipped: int = Field(description="Messages without any text.")
    too_long: int = Field(description="Turns over 64 KiB that were left out.")
    cut: int = Field(description="Turns over 64 KiB of which the beginning was kept.")
    appended: int = Field(description="Events: of each turn one, and one for its memory.")
    already_appended: int
    conflicts: list[dict[str, Any]] = Field(
        description="Turns that are in the log with another text; they stay as they were. `conversation` and `message`, or"
        " `line`, are their place, from 1; `turn_id` names them."
    )
    ignored_fields: dict[str, int] = Field(
        description="Fields of `lines` that no turn has a place for, with how many turns had them."
    )
    newest_turn: str | None
    last_position: str | None
    failed: list[dict[str, Any]] | None = Field(
        default=None, description="What was not written, with why: send it again."
    )


class Statement(BaseModel):
    """What one statement of a turn becomes."""

    model_config = exampled(EXAMPLE_STATEMENT)

    operation: str = Field(description="ADD, UPDATE, BOOST, NEGATE, FLAG or SKIP.")
    reason: str
    turn_id: str
    memory_id: str | None
    other: str | None = Field(description="The memory that it negates, or may contradict.")
    content: str = Field(description="Withheld where it holds a secret.")
    category: str
    kind: str
    polarity: Any
    asserted: bool
    confidence: float
    keywords: list[str]
    triple: dict[str, Any] | None
    span: list[int] = Field(description="Where in the turn it stands, in characters.")


class Usage(BaseModel):
    """What asking a model took."""

    requests: int
    input_tokens: int
    output_tokens: int


class Extracted(Lagging):
    """What the unread turns of an owner became, or would become."""

    model_config = exampled(
        {
            "owner": "alice",
            "dry_run": False,
            "counts": {"add": 1},
            "decisions": [
                {
                    "job": "extract",
                    "action": "add",
                    "ids": ["x-5be3d0"],
                    "due_at": "2026-11-22T09:30:00Z",
                    "reason": "new",
                    "event": "MemoryCreated",
                }
            ],
            "appended": 1,
            "position": "3:133",
            "by": "rules",
            "read": 1,
            "left": 0,
            "by_rules": [],
            "refused": {},
            "usage": {"requests": 0, "input_tokens": 0, "output_tokens": 0},
            "trouble": None,
        }
    )

    owner: str
    dry_run: bool
    counts: dict[str, int] = Field(description="How many decisions, or with `dry_run` statements, by what is done.")
    statements: list[Statement] | None = Field(default=None, description="With `dry_run`: every statement, with why.")
    decisions: list[Decided] | None = Field(default=None, description="Else: what was appended, without contents.")
    appended: int | None = Field(default=None, description="How many of the decisions are in the log now.")
    position: str | None = Field(description="The position that was decided at, or of the last decision.")
    by: str = Field(description="`rules`, or the model's name.")
    read: int | None = Field(default=None, description="Turns that were read.")
    left: int | None = Field(default=None, description="Turns that are still to be read: send it again.")
    by_rules: list[str] | None = Field(
        default=None, description="Turns that the model had no usable answer for, so that rules read them."
    )
    refused: dict[str, str] | None = Field(
        default=None, description="Turns whose operations were all refused, with the last reason; they count as read."
    )
    usage: Usage | None = Field(default=None, description="What asking the model took.")
    trouble: str | None = Field(default=None, description="Why the model was asked no more.")
