"""Errors as problem+json (RFC 9457), and as routes document them: ours, FastAPI's own refusals, and what nobody foresaw.

Every answer has `type`, `title`, `status`, `detail`, the error's class as `error`, and its context fields: the same words as
the command line prints. `Retry-After` stands where the error knows when to come again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

import orjson
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.responses import Response

from engramlog_server.events.errors import EngramlogError, InputError
from engramlog_server.events.validation import allowed_words

TYPE_PREFIX = "urn:engramlog:problem:"
_RESERVED = frozenset({"type", "title", "status", "detail", "error"})
_SHOWN = 120
_TOLD = 100
"""Most errors of one request that are told one by one."""
_WORDS = re.compile(r"(?<=[a-z])(?=[A-Z])")


class Problem(Response):
    """A problem+json answer."""

    media_type = "application/problem+json"


def problem(kind: str, status: int, detail: str, context: Mapping[str, Any], headers: Mapping[str, str]) -> Problem:
    """An answer of this kind. What no encoding can carry is told as `?`."""
    document = {
        "type": TYPE_PREFIX + kind,
        "title": _WORDS.sub(" ", kind).capitalize(),
        "status": status,
        "detail": detail,
        "error": kind,
        **{name: value for name, value in context.items() if name not in _RESERVED},
    }
    retry_after = context.get("retry_after")
    told = {"cache-control": "no-store", "x-content-type-options": "nosniff", **headers} | (
        {"retry-after": str(retry_after)} if retry_after else {}
    )
    return Problem(orjson.dumps(_encodable(document), option=orjson.OPT_NON_STR_KEYS), status, told)


def problem_of(error: EngramlogError) -> Problem:
    """One of our errors as an answer."""
    from engramlog_server.api.checks import safe_refusal

    told = safe_refusal(error)
    context = {name: told[name] for name in error.context if name in told}
    return problem(type(error).__name__, error.status, told["message"], context, {})


def plain_problem(status: int, detail: str, headers: Mapping[str, str] | None = None, **context: Any) -> Problem:
    """An answer that HTTP itself has a name for: 404, 405, 408, 413, 415, 421."""
    kind = "".join(word.capitalize() for word in re.findall(r"[A-Za-z]+", HTTPStatus(status).phrase))
    return problem(kind, status, detail, context, headers or {})


def input_error(errors: Sequence[Mapping[str, Any]]) -> InputError:
    """pydantic's errors as one InputError in the words of the door: field, got, allowed, and all of them as `problems`."""
    problems = [_explain(error) for error in errors[:_TOLD]]
    first = problems[0]
    more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
    context = {name: value for name, value in first.items() if name != "message"}
    return InputError(first["message"] + more, **context, problems=problems)


def _explain(error: Mapping[str, Any]) -> dict[str, str]:
    where, *path = error["loc"]
    field = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)[1:] or str(where)
    allowed = allowed_words(error)
    got: object = error["input"]
    shown = repr(got)
    if error["type"] == "json_invalid":
        field, got = "body", "a text that is not JSON"
        shown, allowed = got, f"JSON ({error.get('ctx', {}).get('error', '')})"
    elif error["type"] == "missing":
        shown = got = "nothing"
        allowed = "a value: it is required"
    elif error["type"] == "extra_forbidden":
        allowed = f"no such field: unknown ones are refused in the {where}"
    field = _short(field)
    message = f"{field}: got {_short(shown)}; allowed: {allowed}"
    return {"in": str(where), "field": field, "got": _short(str(got)), "allowed": allowed, "message": message}


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"


def _encodable(value: Any) -> Any:
    """The same with everything that JSON cannot carry made into a text: lone surrogates, exotic types."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, Mapping):
        return {_encodable(name): _encodable(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_encodable(item) for item in value]
    return value if value is None or isinstance(value, bool | int | float) else _encodable(str(value))


def install(app: FastAPI) -> None:
    """Let every error of `app` leave as problem+json."""

    @app.exception_handler(EngramlogError)
    async def _ours(_request: Request, error: EngramlogError) -> Response:
        return problem_of(error)

    @app.exception_handler(RequestValidationError)
    async def _refused(_request: Request, error: RequestValidationError) -> Response:
        return problem_of(input_error(error.errors()))

    @app.exception_handler(HTTPException)
    async def _http(request: Request, error: HTTPException) -> Response:
        detail = str(error.detail)
        if error.status_code == HTTPStatus.NOT_FOUND:
            detail = (
                f"there is no {request.method} {request.url.path}; /v1/openapi.json lists all routes. Inside an owner or"
                " a memory id a / is written %2F"
            )
        elif error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
            detail = (
                f"{request.url.path} takes {(error.headers or {}).get('Allow', 'other methods')}, not {request.method}"
            )
        return plain_problem(error.status_code, detail, error.headers)

    @app.exception_handler(Exception)
    async def _unforeseen(_request: Request, error: Exception) -> Response:
        return problem(
            "InternalError",
            500,
            f"a {type(error).__name__} that nobody foresaw; the server's log has its traceback",
            {},
            {},
        )


SCHEMAS = "#/components/schemas/"
"""Where the OpenAPI document has the schemas."""


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
        "position 3:999 does not exist: the head is 3:128",
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
