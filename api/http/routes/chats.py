"""`POST /v1/owners/{owner}/chats`: exported chats become turns."""

from __future__ import annotations

from typing import Annotated, Any

import orjson
from fastapi import Depends, Request
from starlette.responses import Response

from api.http.answer import Json
from api.http.asking import Parts
from api.http.made import new_router, register
from api.http.routes.operations import partly
from api.operations.records import IMPORT_CHATS
from events.errors import ConcurrencyError

_ONE_CONVERSATION: dict[str, Any] = {
    "id": "c1",
    "created_at": "2026-11-22T09:30:00Z",
    "messages": [
        {"role": "user", "content": "I drink coffee every morning"},
        {"role": "assistant", "content": "Noted: coffee in the morning."},
    ],
}
_TURN: dict[str, Any] = {
    "turn_id": "D4:7",
    "occurred_at": "2026-11-22T09:30:00Z",
    "speaker": "user",
    "session": "s1",
    "text": "I drink coffee every morning",
}
_CONVERSATION = {"type": "object", "description": "A conversation in any of the shapes, or a turn for `lines`."}
_CHATS = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {
                "schema": {"oneOf": [{"type": "array", "items": _CONVERSATION}, _CONVERSATION]},
                "examples": {
                    "export": {"summary": "An export: a list of conversations", "value": [_ONE_CONVERSATION]},
                    "one": {"summary": "One conversation", "value": _ONE_CONVERSATION},
                },
            },
            "application/x-ndjson": {
                "schema": {"type": "string", "description": "One conversation, or one turn, a line."},
                "example": orjson.dumps(_TURN).decode() + "\n",
            },
        },
    }
}


async def body_of(request: Request) -> bytes:
    """The request's body; it is read into conversations by a thread, not here."""
    return await request.body()


def _import(parts: Parts, owner: str, sent: bytes, asked: Any) -> Response:
    told = asked.model_dump()
    answer = parts.application.chats.take_in_whole(owner, sent, memories=not told.pop("turns_only"), **told)
    done = answer.imported.imported.done
    if (done.conflicts or done.failed) and not done.appended + done.already_appended:
        raise ConcurrencyError(
            "nothing was written: turns of these ids are in the log with other texts", **answer.as_dict()
        )
    return Json(answer.as_dict(), 200 if answer.whole else 207)


router = new_router()
register(
    router,
    IMPORT_CHATS,
    _import,
    partly(IMPORT_CHATS, "Some turns stayed out, or wait: `conflicts`, `failed` and `quarantined` tell."),
    sent=Annotated[bytes, Depends(body_of)],
    openapi_extra=_CHATS,
)
