"""JSON bodies read strictly, and by a thread: what is ambiguous is refused, so that no two readers read two things."""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine
from math import isfinite
from typing import Any, Final, TypeVar

from anyio.to_thread import run_sync
from fastapi import Request
from fastapi.routing import APIRoute
from starlette.responses import Response

from api.http.guard import JSON_TYPES, media_type
from api.http.metrics.taken import taken_by
from api.http.problem import input_error
from events.errors import refused

THREADS: Final = "engramlog.threads"
"""Where in a request's scope stands which threads parse its body."""
DIGITS: Final = 20
"""Longest whole number, with its sign: Python takes time with the square of its digits."""
SHOWN: Final = 100
"""Characters of what was got."""
Read = TypeVar("Read")
Handler = Callable[[Request], Coroutine[Any, Any, Response]]


async def by_thread(request: Request, read: Callable[[bytes], Read]) -> Read:
    """What `read` makes of the request's body, made beside the event loop."""
    body = await request.body()
    return await run_sync(read, body, limiter=request.scope.get(THREADS))


class BodyRoute(APIRoute):
    """A route whose JSON body is parsed and validated by a thread; FastAPI does that where everybody waits for it."""

    def get_route_handler(self) -> Handler:
        """FastAPI's own handler, given the body as the object that it becomes."""
        handle = self._noted(super().get_route_handler())
        field = self.body_field
        if field is None:
            return handle

        def read(body: bytes) -> Any:
            value, errors = field.validate(read_json(body), loc=("body",))
            if errors:
                raise input_error(errors)
            return value

        async def read_first(request: Request) -> Response:
            if await request.body() and media_type(request.headers) in JSON_TYPES:
                request = _ReadRequest(request, await by_thread(request, read))
            return await handle(request)

        return read_first

    def _noted(self, handle: Handler) -> Handler:
        """The handler, noting that this route has the request."""

        async def noted(request: Request) -> Response:
            taken_by(request.scope, self.path_format)
            return await handle(request)

        return noted


class _ReadRequest(Request):
    """A request whose body was read; FastAPI takes an object of the right class as it is."""

    def __init__(self, request: Request, value: Any) -> None:
        super().__init__(request.scope, request.receive)
        self._value = value

    async def body(self) -> bytes:
        """Nothing that anybody reads again, but something."""
        return b"read"

    async def json(self) -> Any:
        """What it was read as."""
        return self._value


def read_json(body: bytes) -> Any:
    """A JSON document of UTF-8 without a byte order mark, duplicate names, NaN, infinities and numbers beyond any use.

    Raises InputError that says which of them it has.
    """
    try:
        text = body.decode()
    except UnicodeDecodeError as error:
        raise refused("body", f"bytes that are no UTF-8, at byte {error.start}", "JSON in UTF-8") from None
    if text.startswith("\ufeff"):
        raise refused("body", "a byte order mark", "JSON in UTF-8 without one")
    try:
        document = json.loads(
            text, object_pairs_hook=_members, parse_constant=_no_number, parse_int=_whole, parse_float=_finite
        )
    except json.JSONDecodeError as error:
        told = {"type": "json_invalid", "loc": ("body", error.pos), "msg": "", "input": {}, "ctx": {"error": error.msg}}
        raise input_error([told]) from None
    if "\\u" in text:
        _check_surrogates(document)
    return document


def _check_surrogates(document: Any) -> None:
    """Half a character cannot be stored, nor answered with."""
    for field, value in document.items() if isinstance(document, dict) else [("body", document)]:
        try:
            json.dumps([field, value], ensure_ascii=False).encode()
        except UnicodeEncodeError:
            shown = field.encode("utf-8", "replace").decode()
            allowed = "Unicode text without lone surrogates"
            raise refused(shown[:SHOWN], "a text with a lone surrogate", allowed) from None


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        seen: set[str] = set()
        twice = next(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise refused(twice[:SHOWN], "the same name twice in one object", "each name once")
    return members


def _no_number(name: str) -> Any:
    raise refused("body", name, "JSON, whose numbers are finite")


def _whole(digits: str) -> int:
    number = int(digits) if len(digits) <= DIGITS else 2**64
    if not -(2**63) <= number < 2**63:
        raise refused("body", f"a whole number of {len(digits):,} digits", "whole numbers of 64 bits")
    return number


def _finite(text: str) -> float:
    number = float(text)
    if not isfinite(number):
        raise refused("body", text[:SHOWN], "JSON, whose numbers are finite")
    return number
