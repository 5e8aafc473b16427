"""What was said, what was read of it, and which memories were shown to whoever asked."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from engramlog_server.events.shape import Shape
from engramlog_server.events.vocabulary import (
    Id,
    InOrder,
    Level,
    Name,
    Position,
    Reading,
    Role,
    Share,
    Text,
    Time,
    Tokens,
    Trust,
    Turns,
    Value,
    Via,
    Word,
)


class TurnRecorded(Shape, frozen=True, kw_only=True):
    """Somebody said something in a conversation. Changes no memory by itself; extraction reads it."""

    turn_id: Id
    role: Role
    text: Text
    speaker: Name | None = None
    reply_to: Id | None = None


class ToolResultRecorded(Shape, frozen=True, kw_only=True):
    """A tool answered an agent. Changes no memory; it is context for the next turn."""

    tool: Name
    text: Text
    turn_id: Id | None = None


class TurnsExtracted(Shape, frozen=True, kw_only=True):
    """Turns were read, and what follows from them was decided. Changes no memory; what was read is not read again."""

    up_to: Id
    turns: Annotated[int, Field(ge=1, le=1_000_000)]
    by: Name
    prompt: Word | None = None
    requests: Tokens = 0
    input_tokens: Tokens = 0
    output_tokens: Tokens = 0
    by_rules: Turns = ()


class Hit(Shape, frozen=True, kw_only=True):
    """A sum: how often a memory was shown since the last flush, and how high it stood (1 is the first)."""

    memory_id: Id
    count: Annotated[int, Field(ge=1, le=1_000_000)]
    best_rank: Annotated[int, Field(ge=1, le=1_000_000)]
    last_at: Time


class Access(Shape, frozen=True, kw_only=True):
    """One answer that showed memories: when, and which in order of rank, of which the first is `first`."""

    at: Time
    shown: InOrder
    first: Annotated[int, Field(ge=1, le=1_000_000)] = 1
    position: Position | None = None
    mode: Reading = "normal"
    query: Annotated[str, Field(max_length=2_000)] | None = None
    read_at: Time | None = None


class BroughtUp(Shape, frozen=True, kw_only=True):
    """A memory that a search unasked put into a block: as how much of it was shown, and how close it was to the turn."""

    memory_id: Id
    level: Level = "full"
    closeness: Share | None = None
    long_ago: bool = False


class StableMade(Shape, frozen=True, kw_only=True):
    """The stable one of two parts: how many tokens it might take, the language of its titles, and the profile that stood in it."""

    budget: Annotated[int, Field(ge=0, le=100_000)]
    language: Word
    profile: Annotated[tuple[Id, ...], Field(max_length=100)] = ()


class BlockMade(Shape, frozen=True, kw_only=True):
    """How the block was made that memories were put into a prompt with: enough to make it again, and none of its words.

    `digest` and `asked` are keyed with the owner's secret: of the whole text of the block, and of what was asked. `stable` is there
    where it was handed out in two parts: the text is then both, one after the other.
    """

    at: Time
    upto: Position
    budget: Annotated[int, Field(ge=1, le=100_000)]
    tokens: Tokens
    language: Word
    digest: Value | None = None
    asked: Value | None = None
    messages: Annotated[int, Field(ge=0, le=1_000)] = 30
    threshold: Share = 0.7
    searches: Annotated[int, Field(ge=0, le=100)] = 3
    sensitive: bool = False
    proactive: bool = True
    include_faded: bool | None = None
    trust: Trust | None = None
    retrieved: Annotated[tuple[BroughtUp, ...], Field(max_length=100)] = ()
    stable: StableMade | None = None


class MemoriesAccessed(Shape, frozen=True, kw_only=True):
    """Memories were shown. Counts accesses; never moves `last_activated_at` and writes no change-log entry."""

    hits: Annotated[tuple[Hit, ...], Field(min_length=1, max_length=500)] = ()
    via: Via
    query: Annotated[str, Field(max_length=2_000)] | None = None
    turn_id: Id | None = None
    together: Annotated[
        tuple[Annotated[tuple[Id, ...], Field(min_length=2, max_length=3)], ...], Field(max_length=500)
    ] = ()
    accesses: Annotated[tuple[Access, ...], Field(min_length=1, max_length=500)] = ()
    block: BlockMade | None = None
