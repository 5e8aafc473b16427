"""Imported chats, extraction, episodes."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from engramlog.answers.base import Result
from engramlog.answers.changes import FilePlace, ImportConflict, ImportFailure
from engramlog.answers.operating import Decided
from engramlog.answers.past import Lagging, Warned


class UnreadableChat(FilePlace):
    """A conversation that was left out because it cannot be read, or a `message` of it."""

    id: str | None = None
    """The conversation's own, its first 60 characters."""
    reason: str
    why: str


class ChatsImported(Warned):
    """Result of importing chats, with what was left out."""

    owner: str
    shape: str
    """`lines`, `chatgpt`, `claude`, `openai` or another; `mixed` if conversations are of several shapes."""
    conversations: int
    """That were read; 0 for the shape `lines`."""
    left_out: dict[str, int]
    """Messages that are no turns, by reason: system, tool, hidden, other, too_long, abandoned; each `attachment`.
    Unreadable: no_content, bad_content, no_role, unknown_role, repeated_id, no_time, unreadable, part; and
    conversations: no_messages, unknown_shape, other_shape."""
    turns: int
    skipped: int
    """Messages without any text."""
    too_long: int
    """Turns over 64 KiB that were left out."""
    cut: int
    """Turns over 64 KiB of which the beginning was kept."""
    appended: int
    """Events: of each turn one, and one for its memory."""
    already_appended: int
    conflicts: list[ImportConflict]
    """Turns that are in the log with another text; they stay as they were."""
    ignored_fields: dict[str, int]
    """Fields of `lines` that no turn has a place for, with how many turns had them."""
    adjusted: dict[str, int]
    """Read although odd, by reason: naive_time (taken as UTC), bad_time (ignored), branch (the newest was taken),
    characters (replaced)."""
    unreadable: list[UnreadableChat]
    """The first 20 unreadable messages and conversations."""
    newest_turn: datetime | None
    last_position: str | None
    failed: list[ImportFailure] | None = None
    """Turns that were not written, with the reason; send them again."""


class StatedTriple(Result):
    """A statement as subject, predicate and object."""

    subject: str
    predicate: str
    object: str
    negation: bool
    degree: float | None
    """How often or how much, from 0 to 1; null if nothing is said of it."""
    condition: str | None
    """When it holds, in the words of the clause."""


class Statement(Result):
    """Memory made from one statement of a turn."""

    operation: str
    """ADD, UPDATE, BOOST, NEGATE, FLAG or SKIP."""
    reason: str
    turn_id: str
    memory_id: str | None
    other: str | None
    """The memory that it negates, or may contradict."""
    content: str
    """Withheld where it holds a secret."""
    category: str
    kind: str
    polarity: Any
    asserted: bool
    confidence: float
    keywords: list[str]
    triple: StatedTriple | None
    span: list[int]
    """Place in the turn, in characters."""


class Usage(Result):
    """What asking a model took."""

    requests: int
    input_tokens: int
    output_tokens: int


class Extracted(Lagging):
    """Memories made from an owner's unread turns; in a dry run, those that would be made."""

    owner: str
    dry_run: bool
    counts: dict[str, int]
    """How many decisions, or with `dry_run` statements, by what is done."""
    statements: list[Statement] = []
    """With `dry_run`: every statement, with why."""
    decisions: list[Decided] = []
    """Else: what was appended, without contents."""
    appended: int = 0
    """How many of the decisions are in the log now."""
    position: str | None
    """The position that was decided at, or of the last decision."""
    by: str
    """`rules`, or the model's name."""
    read: int = 0
    """Turns that were read."""
    left: int = 0
    """Turns that are still to be read: send it again."""
    by_rules: list[str] = []
    """Turns that the model had no usable answer for, so that rules read them."""
    refused: dict[str, str] = {}
    """Turns whose operations were all refused, with the last reason; they count as read."""
    usage: Usage | None = None
    """What asking the model took."""
    trouble: str | None = None
    """Why the model was asked no more."""


class Episode(Result):
    """An episode that was made, or would be."""

    memory_id: str
    session: str | None
    content: str
    """The time of its first message in the owner's zone, and what was said."""
    turns: list[str]
    """Ids of the turns that it tells of."""
    at: str
    """When the last of them was said."""
    reason: str


class Used(Result):
    """A memory that a reply rested on."""

    memory_id: str
    session: str | None
    at: str
    """When the reply was given."""
    reason: str


class Left(Result):
    """Episodes made from an owner's sessions; in a dry run, those that would be made."""

    owner: str
    counts: dict[str, int]
    """How many decisions, by action: summarise, use."""
    appended: int
    """How many of them are in the log now; none after a dry run."""
    position: str | None
    """The position that was decided at, or of the last decision."""
    by_model: int
    """Episodes in a model's words."""
    refused: int
    """Episodes for which the model gave nothing usable: made without it."""
    failure: str | None
    """Why the model could be asked no more, or its last answer not be used."""
    down: bool
    """Whether the model's endpoint failed: what is left is made by the next run."""
    requests: int
    """Requests to the model; its tokens likewise."""
    input_tokens: int
    output_tokens: int
    dry_run: bool
    episodes: list[Episode]
    uses: list[Used]
