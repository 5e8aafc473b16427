"""What routes answer with, and how each answer is documented."""

from __future__ import annotations

from typing import Any

import orjson
from pydantic import BaseModel
from starlette.responses import Response

SCHEMAS = "#/components/schemas/"
"""Where the OpenAPI document has the schemas."""


class Json(Response):
    """JSON as the service layer made it, not validated a second time: the shapes are documented, and tested."""

    media_type = "application/json"

    def __init__(self, content: Any, status_code: int = 200) -> None:
        super().__init__(content, status_code, {"cache-control": "no-store"})

    def render(self, content: Any) -> bytes:
        """The same bytes as the command line's `--json`, without indentation."""
        return orjson.dumps(content, option=orjson.OPT_NON_STR_KEYS)


class ProblemShape(BaseModel):
    """An error (RFC 9457). Further fields are the error's context: `field`, `got`, `allowed`, `owner`, `position` ..."""

    type: str
    title: str
    status: int
    detail: str
    error: str


_PROBLEMS: dict[int, tuple[str, str, str]] = {
    401: (
        "No token was shown, or another than this service's.",
        "Unauthorized",
        "Authorization: got none; allowed: Bearer and the token of this service, which `engramlog token` prints",
    ),
    403: (
        "What is shown opens nothing here: a code that was used, is over or is none; a session instead of the token itself.",
        "CodeRefused",
        "code: got one that is over; allowed: one of `engramlog console`, which works once, within ten minutes",
    ),
    404: ("There is no such owner, memory or route.", "NotFound", "owner alice has no memory tea (position 3:128)"),
    408: (
        "The body came too slowly; the same request can be sent again.",
        "RequestTimeout",
        "body: it came too slowly; allowed: at least 65,536 bytes in 10 s, and all of it within 60 s",
    ),
    409: (
        "The position does not exist or is parked, or the owner's head is another.",
        "BeyondHead",
        "position 3:999 does not exist: the head is 128",
    ),
    411: (
        "The body does not say how long it is.",
        "LengthRequired",
        "Content-Length: got none; allowed: 1 to 10,240, and no Transfer-Encoding here",
    ),
    413: (
        "Too many events or bytes.",
        "RequestTooLarge",
        "a request of 1001 events; at most 1000 are allowed: split it",
    ),
    415: (
        "A content type that is not JSON, or a body that is compressed.",
        "UnsupportedMediaType",
        "Content-Encoding: got 'gzip'; allowed: none, bodies are sent as they are",
    ),
    422: (
        "Something in the request cannot be right; nothing was done.",
        "InputError",
        "mode: got 'all'; allowed: normal, review, debug",
    ),
    429: (
        "This caller, owner or class of work has as much in hand as it may have; `Retry-After` says when to come again.",
        "TooManyRequests",
        "50 feeds of alice are open; at most 50 of an owner are allowed: close one, or come again",
    ),
    503: (
        "Redis does not answer, or the service carries as much as it can; the same request can be sent again.",
        "StoreUnavailable",
        "no connection to Redis; the same request can be sent again safely",
    ),
    504: (
        "The position was not folded in time, or a heavy question took longer than it may.",
        "NotYetFolded",
        "position 3:128 was not folded within 2 s: the checkpoint is 120; is a worker running?",
    ),
    507: (
        "Redis is too close to its maxmemory, or the owner has more memories than a process loads (`OwnerTooLarge`).",
        "StoreFull",
        "Redis uses 86% of its maxmemory; appends are refused from 85% on",
    ),
}


def documented(answer: str, description: str, *statuses: int) -> dict[int | str, dict[str, Any]]:
    """The `responses` of a route: its answer, a class of `engramlog.answers`, and the problems it may answer with.

    `api.http.document` adds the schema and an example.
    """
    content = {"application/json": {"schema": {"$ref": SCHEMAS + answer}}}
    return {200: {"description": description, "content": content}} | problems(*statuses)


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The problems of these statuses, and 422, 429 and 503, which any route may answer with."""
    answers: dict[int | str, dict[str, Any]] = {}
    for status in sorted({422, 429, 503, *statuses}):
        description, kind, detail = _PROBLEMS[status]
        example = {
            "type": f"urn:engramlog:problem:{kind}",
            "title": kind,
            "status": status,
            "detail": detail,
            "error": kind,
        }
        answers[status] = {
            "description": description,
            "content": {
                "application/problem+json": {
                    "schema": {"$ref": SCHEMAS + "ProblemShape"},
                    "example": example,
                }
            },
        }
    return answers
