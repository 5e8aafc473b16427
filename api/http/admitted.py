"""Routes: bodies read strictly and by a thread, endpoints run where their class of work says, so none takes another's thread.

A route is made when it is asked for first: FastAPI and pydantic take a third of a second to make all of them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine
from functools import cached_property, partial, wraps
from inspect import Parameter, iscoroutinefunction, signature
from math import isfinite
from typing import Any, Final, TypeVar

from anyio.to_thread import run_sync
from fastapi import Request
from fastapi.routing import APIRoute
from starlette.responses import Response
from starlette.routing import Match, Route, compile_path
from starlette.types import Receive, Scope, Send

from api.http.access.callers import caller_in
from api.http.batch import Batch
from api.http.guard import JSON_TYPES, media_type
from api.http.metrics.requests import taken_by
from api.http.problem import input_error
from api.http.streamed import Pieces
from api.requests.speaking import come_in_by
from api.work.admission import Admission
from api.work.patience import Work, takes
from events.errors import refused
from events.standing import OWN

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


_REQUEST = "request_in_hand"


class AdmittedRoute(BodyRoute):
    """A route that asks for admission first."""

    def __init__(self, path: str, endpoint: Callable[..., Any], work: Work, **options: Any) -> None:
        super().__init__(path, _admitted(endpoint, work), **options)


class LazyRoute(Route):
    """A path and its methods; the `AdmittedRoute` behind them is made for the first request, and for the OpenAPI document.

    Raises LookupError at import if the endpoint takes a thread and nobody said of which class of work.
    """

    def __init__(
        self, path: str, endpoint: Callable[..., Any], *, methods: list[str] | None = None, **options: Any
    ) -> None:
        """What FastAPI's routers make a route of. An endpoint in `deferred` is made only with the route."""
        self.path, self.endpoint, self.include_in_schema = path, endpoint, options.get("include_in_schema", True)
        self.name, self.methods, self._options = str(options.get("name")), set(methods or ["GET"]), options
        self.path_regex, self.path_format, self.param_convertors = compile_path(path)
        work: Work | None = Work.FREE if iscoroutinefunction(endpoint) else getattr(endpoint, "work", None)
        if work is None:
            raise LookupError(f"{self.methods} {path} has no class of work: mark its endpoint with `takes`")
        self.work = work

    @classmethod
    def deferred(cls, path: str, method: str, work: Work, options: Callable[[], dict[str, Any]]) -> LazyRoute:
        """A route whose endpoint and options are told only when it is made."""
        route = cls(path, takes(work)(options), methods=[method])
        route._deferred = options
        return route

    _deferred: Callable[[], dict[str, Any]] | None = None

    @cached_property
    def route(self) -> AdmittedRoute:
        """The whole route."""
        options = self._options if self._deferred is None else self._deferred()
        endpoint = options.get("endpoint", self.endpoint)
        options = {name: value for name, value in options.items() if name != "endpoint"}
        return AdmittedRoute(self.path, endpoint, self.work, methods=self.methods, **options)

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """As of FastAPI's own routes."""
        match, child = super().matches(scope)
        return match, child if match is Match.NONE else {**child, "route": self}

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        await self.route.handle(scope, receive, send)


def admission_of(request: Request) -> Admission:
    """The admission of the application that was asked."""
    found: Admission = request.app.state.admission
    return found


def _admitted(endpoint: Callable[..., Any], work: Work) -> Callable[..., Any]:
    """The endpoint as a coroutine that runs it in its lane: what it takes is in the table, what it is given stays."""
    if iscoroutinefunction(endpoint):
        return endpoint

    @wraps(endpoint)
    async def admitted(**given: Any) -> Response:
        request: Request = given.pop(_REQUEST)
        admission, owner = admission_of(request), _line_of(request, given.get("owner", ""))
        if not owner and isinstance(batch := given.get("batch"), Batch):
            owner = batch.first_owner
        call, gone = partial(come_in_by, "http", endpoint, **given), partial(_disconnected, request)
        if work is not Work.STREAM:
            return await admission.run(work, owner, call, gone)
        async with await admission.place(work, owner) as place:
            answer: Pieces = await admission.run(Work.HEAVY, owner, call, gone)
            return answer.placed(admission, place.pop_all())

    told = signature(endpoint)
    asked = Parameter(_REQUEST, Parameter.KEYWORD_ONLY, annotation=Request)
    admitted.__signature__ = told.replace(parameters=[*told.parameters.values(), asked])  # type: ignore[attr-defined]
    return admitted


def _line_of(request: Request, owner: str) -> str:
    """In whose line a question waits: the owner's; the caller's if none is named, or the caller may do nothing to that owner."""
    caller = caller_in(request.scope)
    if caller is None or caller.is_unlimited or (owner and caller.may_anything(owner)):
        return owner
    return f"{OWN}{caller.name}"


async def _disconnected(request: Request) -> None:
    """Ends once the client is gone. The body was read before: nothing else can come."""
    while (await request.receive())["type"] != "http.disconnect":
        continue
