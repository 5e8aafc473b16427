"""The tool that hands an agent what belongs before its answer, in one block."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Annotated, Any

from pydantic import Field

from api.choices import BUDGET
from api.mcp.connection import Connection
from api.mcp.shapes import ContextAnswer, ContextIds, ContextPart
from api.mcp.tools_search import IncludeFaded
from api.services.context import MOST_BUDGET
from projections.prompt.block import LEAST_BUDGET, SECTIONS


class ContextTools:
    """Context for a turn."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def memory_context(
        self,
        text: Annotated[str, Field(description="What the user just said, in their own words.")],
        session: Annotated[
            str | None, Field(description="Id of the conversation; that of the newest message if not given.")
        ] = None,
        turn_id: Annotated[
            str | None,
            Field(description="Id of what was said, as add_turns told it: injections are recorded for it once."),
        ] = None,
        budget: Annotated[
            int, Field(ge=LEAST_BUDGET, le=MOST_BUDGET, description="Tokens the block may take, as estimated.")
        ] = BUDGET,
        proactive: Annotated[bool, Field(description="Search for memories that may matter.")] = True,
        whole: Annotated[
            bool | None,
            Field(
                description="true: up to 20 memories that answer it, however close; use it where the user asks about the past."
                " false: the five closest at most."
            ),
        ] = None,
        include_faded: IncludeFaded = None,
    ) -> ContextAnswer:
        """Everything to know before you answer, in one block within a budget of tokens.

        The time, what holds, what the user asked for, the conversation, memories that may matter, what tools found last turn.
        Use it once at the beginning of a turn. What is in it is recorded as put before you; secrets and what no longer holds
        never are.
        """
        with self._connection.session() as asked:
            ask = partial(asked.application.contexts.context, session=session, turn_id=turn_id, budget=budget)
            told: Mapping[str, Any] = ask(
                asked.owner, text, proactive=proactive, whole=whole, include_faded=include_faded
            )
        names = ("block", "tokens", "budget", "session", "turn_id", "dropped", "left_out", "position", "behind")
        parts = {
            part: [
                ContextPart(kind=one["kind"], id=one["id"], closeness=one.get("closeness"))
                for one in told["parts"][part]
            ]
            for part in SECTIONS[1:]
        }
        return ContextAnswer(
            parts=ContextIds(**parts),
            memory_keys=told["injected"],
            recorded=told["recorded"]["status"],
            **{name: told[name] for name in names},
        )
