"""Shapes of what stands in a prompt: context blocks, and the uses of a memory."""

from __future__ import annotations

from pydantic import BaseModel, Field

from api.operations.answers.log import Example, LinesTold, Placed, exampled

_CORE: Example = {"kind": "memory", "id": "name", "note": "2026-11-20", "text": "Her name is Alice"}
_RETRIEVED: Example = {
    "kind": "memory",
    "id": "coffee",
    "note": "2026-11-21",
    "text": "I drink coffee every morning",
    "closeness": 0.92,
}
_MESSAGE: Example = {"kind": "turn", "id": "D4:6", "note": "assistant", "text": "Good evening, Alice"}
_TOOL: Example = {"kind": "tool", "id": "3:126", "note": "weather", "text": "city: Berlin; temp: 4"}
_LIVES: Example = {"kind": "memory", "id": "home", "note": "2026-11-20", "text": "User lives in Lisbon"}
_SIZES: Example = {"stable": 62, "turn": 118, "conversation": 12_480, "left_out": {}}
_TURN: Example = {
    "turn_id": "D4:7",
    "role": "user",
    "speaker": None,
    "text": "What do I drink in the morning?",
    "at": "2026-11-22T09:30:00Z",
}
_REPLY: Example = _TURN | {"turn_id": "D4:8", "role": "assistant", "text": "Coffee."}
_USE: Example = {
    "turn_id": "D4:7",
    "session": "s1",
    "injected_at": "2026-11-22T09:30:01Z",
    "turn": _TURN,
    "replies": [_REPLY],
    "linked_by": "reply_to",
}


class ContextLine(BaseModel):
    """One line of a block."""

    model_config = exampled(_RETRIEVED)

    kind: str = Field(description="What the id names: memory, turn or tool (a tool result, by position).")
    id: str
    note: str = Field(description="When a memory was made and who said it; who said a message; the tool.")
    text: str = Field(description="As recorded, on one line; the block may hold less of it.")
    closeness: float | None = Field(default=None, description="How close a retrieved memory is to the turn, 0 to 1.")
    handle: str | None = Field(default=None, description="Short name of a memory or turn; every verb accepts it.")
    asked_by: list[str] | None = Field(
        default=None, description="Of the parts of a question, and the other words for it, those that it answers best."
    )


class ContextParts(BaseModel):
    """A block's parts, in their order."""

    model_config = exampled(
        {
            "time": "2026-11-22 09:30 Sunday (UTC)",
            "instructions": [],
            "core": [_CORE],
            "profile": [_LIVES],
            "remembered": [_MESSAGE],
            "earlier": [],
            "retrieved": [_RETRIEVED],
            "tools": [_TOOL],
            "unconfirmed": [],
        }
    )

    time: str
    instructions: list[ContextLine] = Field(description="Standing instructions from the user, newest first.")
    core: list[ContextLine] = Field(description="What always holds: tiers system and core with a ground.")
    profile: list[ContextLine] = Field(description="What the user said about themselves.")
    remembered: list[ContextLine] = Field(description="This conversation so far.")
    earlier: list[ContextLine] = Field(description="An earlier conversation that the message continues or names.")
    retrieved: list[ContextLine] = Field(description="Related memories, in the order of the search.")
    tools: list[ContextLine] = Field(description="Tool results of the last turn.")
    unconfirmed: list[ContextLine] = Field(
        description="Related texts that give orders and are not from the user, or wait in the inbox."
    )


class ContextSearch(BaseModel):
    """A search that was made unasked."""

    model_config = exampled(
        {"query": "What do I drink in the morning?", "found": 1, "withheld": {"compressed": 2}, "parts": []}
    )

    query: str
    found: int = Field(description="Memories close enough that may stand in a prompt.")
    withheld: dict[str, int] = Field(description="Further matches that normal mode does not show, by reason.")
    parts: list[str] = Field(
        description="The parts of the question that had a share each; none where it asks for one thing."
    )


class ContextSizes(BaseModel):
    """What the two parts take beside the whole conversation, in tokens as estimated."""

    model_config = exampled(_SIZES)

    stable: int
    turn: int
    conversation: int = Field(
        description="All turns with this owner that stand, as a prompt without memory would hold them."
    )
    left_out: dict[str, int] = Field(description="Lasting memories that may not stand in the profile, by reason.")


class Recorded(BaseModel):
    """Whether what was injected is in the log."""

    model_config = exampled({"status": "appended", "position": "3:132"})

    status: str = Field(
        description="appended, already, nothing (no memory in the block), off (no trace asked for), or lost."
    )
    position: str | None = None


class ContextBlock(LinesTold, Placed):
    """What to put into a prompt, and everything in it by id."""

    model_config = exampled(
        {
            "owner": "alice",
            "block": "<memory>\nWhat follows was recorded earlier. ...\n</memory>",
            "stable": "<memory>\nWhat follows was recorded earlier. ...\n</memory>",
            "turn": "<memory>\nWhat follows was recorded earlier. ...\n</memory>",
            "sizes": _SIZES,
            "tokens": 148,
            "budget": 1500,
            "language": "en",
            "session": "s1",
            "turn_id": "D4:7",
            "parts": {
                "time": "2026-11-22 09:30 Sunday (UTC)",
                "instructions": [],
                "core": [_CORE],
                "profile": [_LIVES],
                "remembered": [_MESSAGE],
                "earlier": [],
                "retrieved": [_RETRIEVED],
                "tools": [_TOOL],
                "unconfirmed": [],
            },
            "injected": ["name", "coffee"],
            "recorded": {"status": "appended", "position": "3:132"},
            "searches": [
                {"query": "What do I drink in the morning?", "found": 1, "withheld": {"compressed": 2}, "parts": []}
            ],
            "dropped": {},
            "left_out": {"negated": 1},
            "read_back": "all",
            "as_of": None,
            "known": None,
            "position": "3:131",
        }
    )

    owner: str
    block: str
    stable: str = Field(
        description="Instructions, what always holds, the profile: the same bytes until one of its memories changes."
    )
    turn: str = Field(description="The time, and what belongs to this turn. `block` is both parts.")
    sizes: ContextSizes = Field(description="Tokens of each part.")
    tokens: int
    budget: int
    language: str
    session: str | None
    turn_id: str | None
    parts: ContextParts
    injected: list[str] = Field(description="Ids of the memories in the block.")
    recorded: Recorded
    searches: list[ContextSearch]
    dropped: dict[str, int] = Field(description="Lines for which there was no room, by part.")
    left_out: dict[str, int] = Field(description="What may not stand in a prompt, by reason.")
    read_back: str = Field(
        description="all: the whole of what was said was read; part: the newest events of the owner."
    )


class TurnSaid(BaseModel):
    """A turn."""

    model_config = exampled(_TURN)

    turn_id: str
    role: str
    speaker: str | None
    text: str
    at: str


class Use(BaseModel):
    """A turn for which a memory was injected."""

    model_config = exampled(_USE)

    turn_id: str | None
    session: str | None
    injected_at: str
    turn: TurnSaid | None
    replies: list[TurnSaid]
    linked_by: str | None = Field(
        description="reply_to: the replies name the turn; order: what the assistant said next in the session."
    )


class MemoryUses(LinesTold, Placed):
    """Which answers used a memory, the newest first."""

    model_config = exampled(
        {
            "owner": "alice",
            "id": "coffee",
            "memory": "I drink coffee every morning",
            "status": "live",
            "uses": [_USE],
            "total": 1,
            "offset": 0,
            "as_of": None,
            "known": None,
            "position": "3:133",
        }
    )

    owner: str
    id: str
    memory: str
    status: str
    uses: list[Use]
    total: int
    offset: int
