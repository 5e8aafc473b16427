"""`POST /v1/owners/{owner}/chats`: exported chats become turns."""

from __future__ import annotations

from typing import Annotated

import orjson
from fastapi import APIRouter, Depends, Query, Request
from pydantic import Field
from starlette.responses import Response

from api.choices import SHAPE_NAMES
from api.exchange.chats import MOST_BYTES, MOST_TURNS
from api.exchange.long_texts import LEAVE, WAYS
from api.http.admitted import AdmittedRoute
from api.http.answer import Json, documented
from api.http.asking import Asked, Owner, Question
from api.operations.answers import ChatsImported
from api.operations.answers.talk import EXAMPLE_CONVERSATION, EXAMPLE_TURN
from events.errors import ConcurrencyError

router = APIRouter(prefix="/v1/owners/{owner}", tags=["owners"], route_class=AdmittedRoute)


class ChatsAsked(Question):
    """How to read the chats."""

    shape: str = Field(
        default="auto",
        description=f"{', '.join(SHAPE_NAMES)}; auto: as the beginning shows.",
        examples=list(SHAPE_NAMES),
    )
    since: str | None = Field(
        default=None,
        alias="from",
        description="When conversations without times began; each message is a minute after the last.",
        examples=["2026-01-01T00:00:00Z"],
    )
    turns_only: bool = Field(
        default=False, description="Record the turns without making memories of them.", examples=[False]
    )
    long_turns: str = Field(
        default=LEAVE, description="A turn over 64 KiB: `leave` it out, counted, or `cut` it.", examples=list(WAYS)
    )


_CONVERSATION = {"type": "object", "description": "A conversation in any of the shapes, or a turn for `lines`."}
_CHATS = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {
                "schema": {"oneOf": [{"type": "array", "items": _CONVERSATION}, _CONVERSATION]},
                "examples": {
                    "export": {"summary": "An export: a list of conversations", "value": [EXAMPLE_CONVERSATION]},
                    "one": {"summary": "One conversation", "value": EXAMPLE_CONVERSATION},
                },
            },
            "application/x-ndjson": {
                "schema": {"type": "string", "description": "One conversation, or one turn, a line."},
                "example": orjson.dumps(EXAMPLE_TURN).decode() + "\n",
            },
        },
    }
}
_TAKEN = documented(ChatsImported, "Every turn is in the log and folded.", 409, 413, 504, 507)
_TAKEN[207] = _TAKEN[200] | {
    "description": "Some turns stayed out, or wait: `conflicts`, `failed` and `quarantined` tell."
}


async def body_of(request: Request) -> bytes:
    """The request's body; it is read into conversations by a thread, not here."""
    return await request.body()


_TOLD = (
    "Exported chats become turns: OpenAI messages, ChatGPT, Claude, ShareGPT, or lines of turns. At most"
    f" {MOST_TURNS:,} turns and {MOST_BYTES >> 20} MiB, checked whole first, so that a bad message writes nothing. A"
    " conversation is a session; system prompts, tools, hidden messages, abandoned branches, attachments are left out and counted."
    " Importing again is safe: ids derive from what is sent."
)


@router.post("/chats", summary="Import chats", description=_TOLD, responses=_TAKEN, openapi_extra=_CHATS)
def import_chats(
    application: Asked, owner: Owner, chats: Annotated[bytes, Depends(body_of)], asked: Annotated[ChatsAsked, Query()]
) -> Response:
    """The turns of exported chats, appended and folded."""
    answer = application.chats.take_in_whole(
        owner, chats, shape=asked.shape, since=asked.since, memories=not asked.turns_only, long_turns=asked.long_turns
    )
    done = answer.imported.imported.done
    if (done.conflicts or done.failed) and not done.appended + done.already_appended:
        raise ConcurrencyError(
            "nothing was written: turns of these ids are in the log with other texts", **answer.as_dict()
        )
    return Json(answer.as_dict(), 200 if answer.whole else 207)
