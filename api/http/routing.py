"""Routes: what they are given, bodies read strictly and by a thread, endpoints run where their class of work says.

A route is made when it is asked for first: FastAPI and pydantic take a third of a second to make all of them.
"""

from __future__ import annotations

import builtins
import json
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Mapping
from contextlib import AsyncExitStack, contextmanager, nullcontext, suppress
from functools import cache, cached_property, partial, wraps
from inspect import Parameter as Argument
from inspect import Signature, iscoroutinefunction, signature
from math import isfinite
from time import monotonic
from typing import Annotated, Any, Final, NamedTuple, TypeVar, cast
from urllib.parse import unquote

import anyio
import orjson
from anyio.to_thread import run_sync
from fastapi import APIRouter, Body, Depends, Path, Query, Request
from fastapi.routing import APIRoute
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, create_model
from pydantic_core import PydanticCustomError
from starlette.responses import Response, StreamingResponse
from starlette.routing import Match, Route, compile_path
from starlette.types import Receive, Scope, Send

from engramlog_server.api.access import Recorder, checked_call
from engramlog_server.api.admission import Admission
from engramlog_server.api.application import Application
from engramlog_server.api.checks import come_in_by
from engramlog_server.api.http.callers import CALLER, caller_in
from engramlog_server.api.http.feed import Feeds, Waits
from engramlog_server.api.http.guard import JSON_TYPES, THREADS, media_type, taken_by
from engramlog_server.api.http.metrics import Metrics
from engramlog_server.api.http.problem import SCHEMAS, Responses, input_error, problems
from engramlog_server.api.http.serve import listener_of
from engramlog_server.api.operations.definition import NEVER, REQUIRED, SPEAKER, Given, Operation, Parameter, Record
from engramlog_server.api.operations.needs import Need
from engramlog_server.api.work import Work, takes
from engramlog_server.events.catalogue import Verb
from engramlog_server.events.errors import AccessDenied, refused
from engramlog_server.events.standing import OWN, claimed
from engramlog_server.events.standing import Speaker as Speaks
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


class Json(Response):
    """JSON as the service layer made it, not validated a second time: the shapes are documented, and tested."""

    media_type = "application/json"

    def __init__(self, content: Any, status_code: int = 200) -> None:
        super().__init__(content, status_code, {"cache-control": "no-store"})

    def render(self, content: Any) -> bytes:
        """The same bytes as the command line's `--json`, without indentation."""
        return orjson.dumps(content, option=orjson.OPT_NON_STR_KEYS)


def documented(answer: str, description: str, *statuses: int) -> Responses:
    """The `responses` of a route: its answer, a class of `engramlog.answers`, and the problems it may answer with.

    `api.http.document` adds the schema and an example, and without a description that of the class.
    """
    content = {"application/json": {"schema": {"$ref": SCHEMAS + answer}}}
    return {200: {"content": content} | ({"description": description} if description else {})} | problems(*statuses)


SEND_SECONDS = 30.0
"""How long a client may take nothing at all before its connection is cut."""
SLOW_SECONDS = 60.0
"""How much longer than at the least rate a client may take over all of an answer."""
LEAST_RATE = 32 * 1024
"""Bytes a second that a client takes at least, on the whole."""


class ClientPace:
    """How long a client may still take, by what it took until now. Time in which no piece is ready is not its own."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._taking = 0.0
        self._taken = 0

    @property
    def left(self) -> float:
        """Seconds for the next piece; none where it was too slow on the whole."""
        return min(SEND_SECONDS, SLOW_SECONDS + self._taken / LEAST_RATE - self._taking)

    @contextmanager
    def piece(self, size: int) -> Iterator[None]:
        """Within it a piece of so many bytes is taken."""
        began = self._clock()
        yield
        self._taking += self._clock() - began
        self._taken += size


class StreamCut(Exception):
    """The answer ends before its end; the connection is cut, so that nobody takes it for whole."""


class Pieces(StreamingResponse):
    """A heavy answer whose pieces are made as they are taken. It cannot be sent before `placed`."""

    def __init__(
        self,
        pieces: Iterator[bytes],
        media_type: str,
        headers: Mapping[str, str],
        clock: Callable[[], float] = monotonic,
    ) -> None:
        super().__init__(iter(()), media_type=media_type, headers=headers)
        self._pace = ClientPace(clock)
        self._pieces = pieces
        self._place = AsyncExitStack()

    def placed(self, admission: Admission, place: AsyncExitStack) -> Pieces:
        """The same, made in the threads of `admission`; `place` is given back when the last piece was taken."""
        self.body_iterator = admission.pieces(self._pieces)
        self._place = place
        return self

    async def stream_response(self, send: Send) -> None:
        """Each piece within the time that a client has to take it, and all of them at a least rate."""
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        whole = False
        with suppress(StreamCut):
            async for piece in self.body_iterator:
                if self._pace.left <= 0:
                    return
                with anyio.move_on_after(self._pace.left) as sending, self._pace.piece(len(piece)):
                    await send({"type": "http.response.body", "body": piece, "more_body": True})
                if sending.cancelled_caught:
                    return
            whole = True
        if not whole:
            return
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Stream until the client goes or has all."""
        async with self._place:
            await super().__call__(scope, receive, send)


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
        owner = owner or getattr(given.get("batch"), "first_owner", "")
        call, gone = partial(come_in_by, "http", endpoint, **given), partial(_disconnected, request)
        if work is not Work.STREAM:
            return await admission.run(work, owner, call, gone)
        async with await admission.place(work, owner) as place:
            answer: Pieces = await admission.run(Work.HEAVY, owner, call, gone)
            return answer.placed(admission, place.pop_all())

    told = signature(endpoint)
    asked = Argument(_REQUEST, Argument.KEYWORD_ONLY, annotation=Request)
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


SUBJECTS: dict[str, Any] = {"owner": Owner, "memory_id": MemoryId, "turn_id": TurnId, "partition": Partition}
KINDS: dict[Any, Any] = {SPEAKER: Speaker, NEVER: Unrevealed}


class PostedBody(BaseModel):
    """A JSON body; unknown fields are refused."""

    model_config = ConfigDict(extra="forbid")


def new_router(tag: str | None = None) -> APIRouter:
    """A router whose endpoints run where their class of work says."""
    lazy: Any = LazyRoute
    return APIRouter(tags=None if tag is None else [tag], route_class=lazy)


def add(router: APIRouter, operation: Operation, timed: str | None = None) -> None:
    """Add the route of an operation. `timed`: the histogram among the metrics that takes its time."""
    refused_ones = {one.name for one in operation.question if one.kind == NEVER}

    def endpoint(parts: Parts, asked: Any = None, **subject: str) -> Response:
        given = (asked or shape_of(operation)()).model_dump(exclude=refused_ones)
        with getattr(parts.metrics, timed).time() if timed else nullcontext():
            answer = operation.ask(parts.application, subject | given | dict(operation.fixed))
        return Json(answer)

    register(router, operation, endpoint)


def register(
    router: APIRouter,
    operation: Operation,
    endpoint: Callable[..., Any],
    responses: dict[Any, Any] | None = None,
    sent: Any = None,
    **route: Any,
) -> None:
    """Add a route with an endpoint of its own: it is given `parts`, the subject by name, and `asked`, an object or None; where
    it is a coroutine, `request` too.

    `sent`: the kind of a body that is posted beside a question in the address. `route`: what else FastAPI is told.
    """

    def options() -> dict[str, Any]:
        def called(**given: Any) -> Any:
            return endpoint(**given)

        awaited = iscoroutinefunction(endpoint)
        if awaited:
            called = _awaited(endpoint)
        called.__name__ = operation.endpoint or operation.name + "_" * (operation.name in dir(builtins))
        called.__doc__ = operation.route_help or operation.described
        called.__signature__ = _signature(operation, sent, asks_itself=awaited)  # type: ignore[attr-defined]
        return {
            "endpoint": called,
            "summary": operation.title,
            "tags": [operation.tag],
            "responses": answers_of(operation) if responses is None else responses,
            "dependencies": [Depends(_asked_once(operation))],
            **route,
        }

    method = "GET" if operation.body is None and sent is None else "POST"
    router.routes.append(LazyRoute.deferred(operation.path, method, operation.work, options))


def _awaited(endpoint: Callable[..., Any]) -> Callable[..., Any]:
    async def called(**given: Any) -> Any:
        return await endpoint(**given)

    return called


def _asked_once(operation: Operation) -> Callable[[Request], Awaitable[None]]:
    """What refuses a name that stands twice in the address, or stands there where a body is asked for: neither would be heard."""
    posted = operation.body is not None
    several = {one.name for one in operation.question if "list[" in str(one.kind)}

    async def checked(request: Request) -> None:
        for name, count in Counter(name for name, _ in request.query_params.multi_items()).items():
            if posted:
                raise refused(name, request.query_params[name], "in the body; the address has no question here")
            if count > 1 and name not in several:
                raise refused(name, request.query_params.getlist(name), "one of them")

    return checked


def answers_of(operation: Operation) -> dict[Any, Any]:
    """The documented answers of an operation, and what it may be refused with."""
    return documented(operation.answer, "", *(operation.statuses or ()))


@cache
def shape_of(operation: Operation) -> type[BaseModel]:
    """The model of an operation's query or body."""
    if operation.body is None:
        return _model(operation.name, operation.help, Question, operation.question)
    return _model(operation.body.name, operation.body.purpose, PostedBody, operation.question)


def _model(name: str, purpose: str, base: type[BaseModel], parameters: Iterable[Parameter]) -> type[BaseModel]:
    fields: Given = {one.name: _field(one) for one in parameters if one.route}
    return create_model(name, __base__=base, __doc__=purpose, **fields)


def _field(parameter: Parameter) -> tuple[Any, Any]:
    told: Given = {"description": parameter.description, **parameter.bounds}
    if parameter.examples:
        told["examples"] = list(parameter.examples)
    told["default_factory" if isinstance(parameter.default, type) else "default"] = parameter.default
    return _kind(parameter.kind), Field(**told)


def _kind(kind: Any) -> Any:
    if isinstance(kind, Record):
        return _record(kind)
    if isinstance(kind, list):  # of records; with None beside them it may be left out
        listed: Any = list[_kind(kind[0])]  # type: ignore[misc]
        return listed | None if None in kind else listed
    return KINDS.get(kind, kind) if isinstance(kind, str) else kind


@cache
def _record(record: Record) -> type[BaseModel]:
    return _model(record.name, record.purpose, PostedBody, record.fields)


def _signature(operation: Operation, sent: Any, *, asks_itself: bool = False) -> Signature:
    arguments = [Argument("parts", Argument.KEYWORD_ONLY, annotation=AskedParts)]
    if asks_itself:  # for admission, which nobody asks for it
        arguments.append(Argument("request", Argument.KEYWORD_ONLY, annotation=Request))
    arguments += [Argument(one, Argument.KEYWORD_ONLY, annotation=SUBJECTS[one]) for one in operation.subject]
    if sent is not None:
        arguments.append(Argument("sent", Argument.KEYWORD_ONLY, annotation=sent))
    if operation.body is not None and not operation.question:
        return Signature(arguments)
    shape: Any = shape_of(operation)
    if operation.body is None:  # also without a question: what is told in the address all the same is refused
        arguments.append(Argument("asked", Argument.KEYWORD_ONLY, annotation=Annotated[shape, Query()]))
        return Signature(arguments)
    body = Body(openapi_examples=dict(operation.body.examples))
    if operation.body.required or any(one.default is REQUIRED for one in operation.question):
        arguments.append(Argument("asked", Argument.KEYWORD_ONLY, annotation=Annotated[shape, body]))
    else:
        said = Annotated[shape | None, body]
        arguments.append(Argument("asked", Argument.KEYWORD_ONLY, annotation=said, default=None))
    return Signature(arguments)
