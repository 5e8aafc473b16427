"""Routes whose endpoints run where their class of work says: no endpoint takes a thread that another class needs.

A route is made when it is asked for first: FastAPI and pydantic take a third of a second to make all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import cached_property, partial, wraps
from inspect import Parameter, iscoroutinefunction, signature
from typing import Any

from fastapi import Request
from starlette.responses import Response
from starlette.routing import Match, Route, compile_path
from starlette.types import Receive, Scope, Send

from api.http.access.callers import caller_in
from api.http.batch import Batch
from api.http.parsing import BodyRoute
from api.http.streamed import Pieces
from api.requests.speaking import come_in_by
from api.work.admission import Admission
from api.work.classes import Work, work_of_route
from events.standing import OWN

_REQUEST = "request_in_hand"


class AdmittedRoute(BodyRoute):
    """A route that asks for admission first."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        super().__init__(path, _admitted(endpoint, _work_of(path, options["methods"])), **options)


class LazyRoute(Route):
    """A path and its methods; the `AdmittedRoute` behind them is made for the first request, and for the OpenAPI document.

    Raises LookupError at import if the table of classes of work does not name the route.
    """

    def __init__(
        self, path: str, endpoint: Callable[..., Any], *, methods: list[str] | None = None, **options: Any
    ) -> None:
        """What FastAPI's routers make a route of. An endpoint in `deferred` is made only with the route."""
        self.path, self.endpoint, self.include_in_schema = path, endpoint, options.get("include_in_schema", True)
        self.name, self.methods, self._options = str(options.get("name")), set(methods or ["GET"]), options
        self.path_regex, self.path_format, self.param_convertors = compile_path(path)
        _work_of(path, self.methods)

    @classmethod
    def deferred(cls, path: str, method: str, options: Callable[[], dict[str, Any]]) -> LazyRoute:
        """A route whose endpoint and options are told only when it is made."""
        route = cls(path, options, methods=[method])
        route._deferred = options
        return route

    _deferred: Callable[[], dict[str, Any]] | None = None

    @cached_property
    def route(self) -> AdmittedRoute:
        """The whole route."""
        options = self._options if self._deferred is None else self._deferred()
        endpoint = options.get("endpoint", self.endpoint)
        options = {name: value for name, value in options.items() if name != "endpoint"}
        return AdmittedRoute(self.path, endpoint, methods=self.methods, **options)

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """As of FastAPI's own routes."""
        match, child = super().matches(scope)
        return match, child if match is Match.NONE else {**child, "route": self}

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        await self.route.handle(scope, receive, send)


def _work_of(path: str, methods: Collection[str]) -> Work:
    (method,) = methods
    return work_of_route("GET" if method == "HEAD" else method, path)


def admission_of(request: Request) -> Admission:
    """The admission of the application that was asked."""
    found: Admission = request.app.state.admission
    return found


def _admitted(endpoint: Callable[..., Any], work: Work) -> Callable[..., Any]:
    """The endpoint as a coroutine that runs it in its lane: what it takes is in the table, what it is given stays."""
    if iscoroutinefunction(endpoint):
        if work is not Work.FREE:
            raise TypeError(f"{endpoint.__name__} runs on the event loop, and is said to be {work.value}")
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
