"""Shapes of going from an answer to what stood in its prompt: turns answered, what was injected, the block as it was."""

from __future__ import annotations

from pydantic import BaseModel, Field

from api.operations.answers.context import TurnSaid
from api.operations.answers.log import Example, LinesTold, Placed, exampled

_TURN: Example = {
    "turn_id": "D4:7",
    "role": "user",
    "speaker": None,
    "text": "What do I drink in the morning?",
    "at": "2026-11-22T09:30:00Z",
}
_ROW: Example = {
    "id": "D4:7",
    "turn_id": "D4:7",
    "session": "s1",
    "injected_at": "2026-11-22T09:30:01Z",
    "positions": ["3:132"],
    "principal": "local",
    "memories": 1,
    "turn": _TURN,
    "recorded_twice": False,
    "replies": [_TURN | {"turn_id": "D4:8", "role": "assistant", "text": "Coffee."}],
    "linked_by": "reply_to",
}
_OUTCOME: Example = {
    "position": "3:135",
    "at": "2026-11-22T09:31:00Z",
    "memory": "coffee",
    "outcome": "used",
    "from_memory": None,
    "actor": "assistant",
    "principal": "local",
    "linked_by": "turn_id",
}
_MEMORY: Example = {
    "id": "coffee",
    "part": "retrieved",
    "rank": 1,
    "closeness": 0.92,
    "long_ago": False,
    "memory": "I drink coffee every morning",
    "withheld": None,
    "weight": 0.8,
    "trust": "asserted",
    "created_at": "2026-11-21T09:30:00Z",
    "status": "superseded",
    "trust_today": "asserted",
    "since": ["negated"],
}
_GONE: Example = {"kind": "memory", "id": "name", "reason": "deleted"}
_BLOCK: Example = {
    "text": "<memory>\nWhat follows was recorded earlier. ...\n</memory>",
    "tokens": 148,
    "tokens_then": 148,
    "as_it_was": True,
    "why": "the digest of the text agrees with what was recorded when it was handed out",
    "withheld": [],
}
_MADE: Example = {
    "at": "2026-11-22T09:30:01Z",
    "upto": "3:131",
    "budget": 1500,
    "language": "en",
    "messages": 30,
    "threshold": 0.7,
    "searches": 3,
    "sensitive": False,
    "proactive": True,
    "include_faded": None,
    "trust": None,
}
_INJECTED: Example = {
    "position": "3:132",
    "at": "2026-11-22T09:30:01Z",
    "principal": "local",
    "read_at": "3:131",
    "memories": ["coffee"],
    "made": _MADE,
    "block": _BLOCK,
}


class AnsweredTurn(BaseModel):
    """A turn for which memories were put into a prompt."""

    model_config = exampled(_ROW)

    id: str = Field(
        description="What `answers OWNER ID` takes: the turn's id, or the position of the newest injection."
    )
    turn_id: str | None = Field(
        description="Null where nobody told it, and no message that follows says what was asked."
    )
    session: str | None
    injected_at: str | None = Field(description="When something was first injected for it.")
    positions: list[str] = Field(description="Of the injections, the newest ten.")
    principal: str | None = Field(description="Who asked for the newest block.")
    memories: int = Field(description="How many different memories were injected.")
    turn: TurnSaid | None = Field(description="The turn, as far as it may be told; null where it is not recorded.")
    recorded_twice: bool = Field(description="Whether several turns were recorded under this id: this is the newest.")
    replies: list[TurnSaid] = Field(description="At most 20.")
    linked_by: str | None = Field(
        description="reply_to: the replies name the turn; order: what the assistant said next in the session."
    )


class AnsweredTurns(LinesTold, Placed):
    """The turns for which memories were injected, the newest first."""

    model_config = exampled(
        {
            "owner": "alice",
            "answers": [_ROW],
            "total": 1,
            "offset": 0,
            "session": None,
            "since": None,
            "until": None,
            "as_of": None,
            "known": None,
            "position": "3:133",
        }
    )

    owner: str
    answers: list[AnsweredTurn]
    total: int
    offset: int
    session: str | None
    since: str | None
    until: str | None


class WithheldFromBlock(BaseModel):
    """Something that stood in a block and is not told today."""

    model_config = exampled(_GONE)

    kind: str = Field(description="memory, turn or tool.")
    id: str
    reason: str = Field(description="deleted, purged, sensitive, secret, or unknown.")


class BlockAsItWas(BaseModel):
    """A block made again, and whether it is the one that was handed out."""

    model_config = exampled(_BLOCK)

    text: str = Field(description="As it is made again, without what is not told today; empty where it cannot be made.")
    stable: str | None = Field(None, description="Of two parts the one that stays the same from turn to turn.")
    turn: str | None = Field(None, description="Of two parts the one of this turn.")
    tokens: int
    tokens_then: int | None = Field(
        description="What was handed out took; null of injections from before that was recorded."
    )
    as_it_was: bool | None = Field(
        description="true: word for word what was handed out, by its digest; false: it differs; null: nobody can say."
    )
    why: str
    why_code: str | None = Field(None, description="Which of the service's sentences `why` is.")
    withheld: list[WithheldFromBlock]


class HowMade(BaseModel):
    """How a block was asked for."""

    model_config = exampled(_MADE)

    at: str = Field(description="The instant that it was made at.")
    upto: str = Field(description="The owner's newest event that it was made of.")
    budget: int
    language: str
    messages: int
    threshold: float
    searches: int
    sensitive: bool
    proactive: bool
    include_faded: bool | None
    trust: str | None
    stable_budget: int | None = Field(
        None, description="Of two parts, what the stable one might take; null of one block."
    )


class Injected(BaseModel):
    """One time that memories were put into a prompt for the turn."""

    model_config = exampled(_INJECTED)

    position: str
    at: str
    principal: str | None
    read_at: str | None = Field(description="The position that the block was read at.")
    memories: list[str] = Field(
        description="Those that were new in it; the block may hold what was injected before, too."
    )
    made: HowMade | None = Field(description="Null of injections from before that was recorded.")
    block: BlockAsItWas


class InjectedMemory(BaseModel):
    """A memory that was injected: as it was then, and how it stands today."""

    model_config = exampled(_MEMORY)

    id: str
    part: str | None = Field(
        description="core, instructions, profile, remembered or retrieved; null where the block lacks it."
    )
    rank: int | None = Field(description="Its place among the memories of the block, from 1.")
    closeness: float | None = Field(description="How close it was to the turn, 0 to 1, where a search brought it.")
    long_ago: bool
    memory: str | None = Field(description="Its text then, as much as was shown; null where it is withheld.")
    withheld: str | None = Field(
        description="Why: deleted, purged, sensitive, secret, or unknown; or what it was then (proposed, merged, negated ...), of"
        " which nothing stands in a block."
    )
    weight: float | None = Field(description="Then, under the owner's law.")
    trust: str | None = Field(description="Then.")
    created_at: str | None
    status: str = Field(description="Today.")
    trust_today: str | None
    since: list[str] = Field(
        description="What became of it: negated, revised, corrected, more sensitive, merged, deleted, purged, set_aside ..."
    )


class OutcomeTold(BaseModel):
    """How it went with a memory in an answer, as somebody reported it."""

    model_config = exampled(_OUTCOME)

    position: str
    at: str
    memory: str
    outcome: str = Field(description="used, task_success, task_failure or manual_review.")
    from_memory: str | None = Field(description="The memory that led there.")
    actor: str
    principal: str | None = Field(description="Who brought it.")
    linked_by: str = Field(description="turn_id: it names the turn or a reply; cause: one of them is its cause.")


class AnsweredInFull(AnsweredTurn, LinesTold, Placed):
    """What was injected for one turn, and each block as it was."""

    model_config = exampled(
        {
            "owner": "alice",
            **_ROW,
            "injected": [_INJECTED],
            "injections_left_out": 0,
            "injected_memories": [_MEMORY],
            "outcomes": [_OUTCOME],
            "outcomes_left_out": 0,
            "note": None,
            "as_of": None,
            "known": None,
            "position": "3:133",
        }
    )

    owner: str
    injected: list[Injected] = Field(description="In the order of the log, the newest ten.")
    injections_left_out: int
    injected_memories: list[InjectedMemory] = Field(description="Each once, as in the newest of these that brought it.")
    outcomes: list[OutcomeTold] = Field(description="Reported for the turn or a reply, the newest 100, oldest first.")
    outcomes_left_out: int
    note: str | None = Field(description="Said where nothing was recorded for the turn.")
