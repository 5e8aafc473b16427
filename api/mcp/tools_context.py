"""The tool that hands an agent what belongs before its answer, in one block."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import Annotated, Any, Literal

from pydantic import Field
from typing_extensions import TypedDict

from engramlog_server.api.choices import BUDGET, MOST_BUDGET
from engramlog_server.api.mcp.connection import Connection
from engramlog_server.api.mcp.recorded import UNSAID, Behind, Position, shaped
from engramlog_server.projections.prompt.block import LEAST_BUDGET, PARTS

_ID_DIGITS = 16


class Block(TypedDict):
    """A block, and what stands in it."""

    block: str
    stable: str | None
    stable_id: str
    turn: str
    parts: Annotated[dict[str, Any], "What the parts of a block hold, in their order."]
    injected: list[str]
    recorded: str
    sizes: Annotated[dict[str, Any], UNSAID]
    tokens: int
    budget: int
    session: str | None
    turn_id: str | None
    dropped: dict[str, Any]
    left_out: dict[str, Any]
    position: Position
    behind: Behind


class ContextTools:
    """Context for a turn."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def memory_context(
        self,
        text: Annotated[str, Field(description="What the user just said.")],
        session: Annotated[str | None, Field(description="The conversation's id; default: the newest.")] = None,
        turn_id: Annotated[
            str | None,
            Field(description="Id of what was said, from add_turns."),
        ] = None,
        budget: Annotated[int, Field(ge=LEAST_BUDGET, le=MOST_BUDGET)] = BUDGET,
        related: Annotated[
            Literal["auto", "always", "never"], Field(description="Related memories; auto: if needed.")
        ] = "auto",
        trace: Annotated[bool, Field(description="You answer with it: record its memories as used.")] = False,
        stable_id: Annotated[str, Field(description="For two parts: new, or the stable_id you have.")] = "",
    ) -> Block:
        """What to know before you answer: the time, what holds, standing instructions, the conversation, what may matter.

        Call it once, as a turn begins. Nothing is recorded without trace.
        """
        with self._connection.session() as asked:
            told: Mapping[str, Any] = asked.application.contexts.context(
                asked.owner, text, session=session, turn_id=turn_id, budget=budget, related=related, trace=trace
            )
        split, stable = stable_id != "", told["stable"]
        now = sha256(stable.encode()).hexdigest()[:_ID_DIGITS]
        parts = {
            part: [
                {"kind": one["kind"], "id": one["id"], "closeness": one.get("closeness")} for one in told["parts"][part]
            ]
            for part in PARTS
        }
        changed = {
            "block": "" if split else told["block"],
            "stable": None if now == stable_id else stable,
            "stable_id": now,
            "parts": parts,
            "recorded": told["recorded"]["status"],
        }
        answer: Block = shaped(Block, {**told, **changed})
        return answer
