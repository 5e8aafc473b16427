"""What stands in a prompt: the context block of a turn, and which answers used a memory."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Body, Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from api.choices import BUDGET
from api.http.admitted import AdmittedRoute
from api.http.answer import Json, documented
from api.http.asking import AS_OF, KNOWN, Asked, AsOfAsked, MemoryId, Offset, Owner
from api.operations.answers import ContextBlock, MemoryUses
from projections.choices import MOST_SEARCHES, THRESHOLD, WORKING_MESSAGES

router = APIRouter(prefix="/v1/owners/{owner}", route_class=AdmittedRoute)
_ASKED: dict[str, Any] = {
    "turn": {"value": {"text": "What should I drink tonight?", "session": "s1", "turn_id": "D4:7", "budget": 800}},
    "中文": {"value": {"text": "今晚喝什么好？", "messages": 0}},
}


class ContextAsked(BaseModel):
    """A turn that is to be answered."""

    model_config = ConfigDict(extra="forbid")

    text: str = Field(description="The turn's text.", examples=["What should I drink tonight?", "今晚喝什么好？"])
    session: str | None = Field(
        default=None, description="The session it stands in; that of the newest turn if not given.", examples=["s1"]
    )
    turn_id: str | None = Field(
        default=None, description="Its id: what is injected is recorded for it, once.", examples=["D4:7"]
    )
    budget: int = Field(default=BUDGET, description="Tokens the block may take, as estimated.", examples=[800])
    proactive: bool = Field(default=True, description="Search for what may matter.", examples=[True])
    threshold: float = Field(
        default=THRESHOLD, description="How close a memory must be to the turn, 0 to 1.", examples=[0.7]
    )
    searches: int = Field(default=MOST_SEARCHES, description="Searches at the most, 1 to 10.", examples=[3])
    messages: int = Field(
        default=WORKING_MESSAGES,
        description="Messages of the conversation so far, 0 to 30: 0 where the agent has them anyway.",
        examples=[30],
    )
    sensitive: bool = Field(
        default=False, description="Also addresses, telephone numbers and the like; secrets never.", examples=[False]
    )
    language: str | None = Field(
        default=None, description="Of titles: `en` or `zh`; the turn's if not given.", examples=["zh"]
    )
    as_of: str | None = AS_OF
    known: str | None = KNOWN
    after: str | None = Field(
        default=None, description="Wait until this position of the owner is folded.", examples=["3:128"]
    )
    trace: bool = Field(
        default=True, description="Record what was injected; of a block about the past nothing is.", examples=[True]
    )


class UsesAsked(AsOfAsked):
    """A page of uses."""

    limit: int = Field(default=20, description="How many, 1 to 1000.", examples=[20])
    offset: Offset = 0


@router.post(
    "/context",
    summary="Context",
    tags=["owners"],
    responses=documented(ContextBlock, "The block, and everything in it by id.", 409, 504),
)
def context(
    application: Asked, owner: Owner, asked: Annotated[ContextAsked, Body(openapi_examples=_ASKED)]
) -> Response:
    """The block to put into a prompt before a turn is answered; what is in it is recorded as injected, once for a turn."""
    return Json(application.contexts.context(owner, **asked.model_dump()))


@router.get(
    "/memories/{memory_id}/uses",
    summary="Uses",
    tags=["memories"],
    responses=documented(MemoryUses, "Turns and replies.", 404, 409, 504),
)
def uses(application: Asked, owner: Owner, memory_id: MemoryId, asked: Annotated[UsesAsked, Query()]) -> Response:
    """Which answers used a memory: the turns for which it was injected, and what was replied. Leaves no trace."""
    return Json(application.uses.uses(owner, memory_id, **asked.model_dump()))
