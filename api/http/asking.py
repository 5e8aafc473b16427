"""What routes are given: the application, ids from the path, and questions from the query, all with examples."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple, cast
from urllib.parse import unquote

import orjson
from fastapi import Depends, Path, Request
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict
from pydantic_core import PydanticCustomError
from starlette.responses import Response

from engramlog_server.api.access import Recorder, checked_call
from engramlog_server.api.application import Application
from engramlog_server.api.http.callers import CALLER, caller_in
from engramlog_server.api.http.feed import Feeds
from engramlog_server.api.http.metrics import Metrics
from engramlog_server.api.http.server.listener import listener_of
from engramlog_server.api.http.waiting import Waits
from engramlog_server.api.operations.needs import Need
from engramlog_server.events.catalogue import Verb
from engramlog_server.events.errors import AccessDenied
from engramlog_server.events.standing import Speaker as Speaks
from engramlog_server.events.standing import claimed
from engramlog_server.projections.access.caller import AT_THE_FOLDER, Caller

NOBODY = Caller("nobody", ((),), "none")
EXAMPLES_OF_OWNERS = ["alice", "团队/α@x+1"]
EXAMPLES_OF_IDS = ["coffee", "D1:3", "a/b"]


class Parts(NamedTuple):
    """What the routes of one FastAPI application stand on, for whoever sent the request."""

    application: Application
    """As he may use it."""
    metrics: Metrics
    feeds: Feeds
    waits: Waits
    """Who waits for what comes."""
    caller: Caller = AT_THE_FOLDER
    whole: Any = None
    """The application without bounds: of open paths, and of what is recorded."""

    def check(self, verb: Verb, owner: str | None, call: str, least: int = 0) -> None:
        """What `api.access` does where a route asks no service; `least` as of a `Need`. Raises AccessDenied, which is recorded."""
        if not self.caller.is_unlimited:
            need = Need(verb, "store" if owner is None else "owner", least=least)
            checked_call(self.caller, call, need, {"owner": owner}, self.record)

    @property
    def record(self) -> Recorder:
        """Records who looked at what."""
        found: Recorder = self.whole.reads.record
        return found


async def parts_of(request: Request) -> Parts:
    """The parts of the application that was asked, as its caller may use them. Nobody known, on open paths, may nothing."""
    parts = cast("Parts", request.app.state.parts)
    caller = caller_in(cast("dict[str, object]", request.scope)) or NOBODY
    application = parts.application
    return parts._replace(application=application.for_(caller), caller=caller, whole=application)


async def renewed(request: Request) -> Parts:
    """The same, looked at anew, of a request that has waited: who was let in may be so no more. Raises AccessDenied then."""
    found = await request.app.state.callers.of(request.headers, listener_of(request.scope), attended=False)
    if found.caller is None:
        raise AccessDenied(f"Authorization: got {found.got}; allowed: a key that lives", field="Authorization")
    request.scope[CALLER] = found.caller
    return await parts_of(request)


async def application_of(request: Request) -> Application:
    """The application without bounds, for what is answered without a token."""
    return cast("Parts", request.app.state.parts).application


def _decoded(segment: str) -> str:
    """A path segment as it was meant: the guard hands paths on percent-encoded, so that `%2F` separates nothing."""
    try:
        return unquote(segment, errors="strict")
    except UnicodeDecodeError:
        raise ValueError("percent-encoded UTF-8") from None


Asked = Annotated[Application, Depends(application_of)]
AskedParts = Annotated[Parts, Depends(parts_of)]
Owner = Annotated[
    str,
    BeforeValidator(_decoded),
    Path(
        description="Whose memories: a user, an agent, a team. Percent-encoded; a `/` inside as `%2F`.",
        examples=EXAMPLES_OF_OWNERS,
    ),
]
MemoryId = Annotated[
    str,
    BeforeValidator(_decoded),
    Path(description="A memory's id. Percent-encoded; a `/` inside as `%2F`.", examples=EXAMPLES_OF_IDS),
]
TurnId = Annotated[
    str,
    BeforeValidator(_decoded),
    Path(
        description="A turn's id, a reply's, or the position of an injection. Percent-encoded; a `/` inside as `%2F`.",
        examples=["D4:7", "3:132"],
    ),
]

Partition = Annotated[int, Path(description="A partition's number, from 0.", examples=[3])]


class Question(BaseModel):
    """Query parameters; an unknown name is refused, since a misspelt `as_of` would answer about the present."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


def _never_by_get(value: bool) -> bool:
    if value:
        raise ValueError(
            "false: secrets are shown by POST alone (.../memories/{memory_id}/reveal, .../export), which records it"
        )
    return value


Unrevealed = Annotated[bool, AfterValidator(_never_by_get)]
"""`reveal` of a question, which reveals nothing."""


def _speaker(actor: str) -> str:
    if problem := claimed(actor, Speaks("http")):
        raise PydanticCustomError("speaker", "{rule}", {"rule": problem.allowed})
    return actor


Speaker = Annotated[str, AfterValidator(_speaker)]
"""For whom a caller speaks: whoever holds a token is not the operator by that."""


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
        "Not accepted: the code was used, has ended or is unknown; or a session was sent instead of the token.",
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


Schema = dict[str, Any]
"""A part of the OpenAPI document."""
Responses = dict[int | str, Schema]
"""The documented responses of a route, by status code."""


def documented(answer: str, description: str, *statuses: int) -> Responses:
    """The `responses` of a route: its answer, a class of `engramlog.answers`, and the problems it may answer with.

    `api.http.document` adds the schema and an example, and without a description that of the class.
    """
    content = {"application/json": {"schema": {"$ref": SCHEMAS + answer}}}
    return {200: {"content": content} | ({"description": description} if description else {})} | problems(*statuses)


def problems(*statuses: int) -> Responses:
    """The problems of these statuses, and 422, 429 and 503, which any route may answer with."""
    answers: Responses = {}
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
