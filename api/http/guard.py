"""What every request passes before a route sees it: who may call, how much, how its path is read, and its body.

It comes by a listener that is for it, the Host must be this service, the Origin too if a browser sends one
(`api.http.server.listener`). All but a few paths that tell nothing of anybody ask who it is (`api.http.callers`), and no
key takes more than its share: requests, bytes and CPU of each principal, in all and of one owner. Requests are counted by route and
status, refused ones too; no label has a path or a word of a caller: a request that no route took is of the route `none`, one of an
unknown method `other`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from http import HTTPStatus
from time import perf_counter
from typing import Any
from urllib.parse import quote, unquote

from prometheus_client import Counter, Histogram
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.http.bodies import JSON_TYPES, LINES_TYPES, Bodies, media_type
from api.http.callers import CALLER, KNOWN, MOST_OPEN, OPEN_POST, READS, Callers, unauthorized
from api.http.metrics import Metrics
from api.http.problem import Problem, plain_problem, problem_of
from api.http.server.listener import (
    OWN_HEADER,
    Listener,
    asked_from,
    listener_of,
    refused_operating,
    refused_place,
    refused_way,
)
from api.work.admission import Buckets, charged
from events.errors import EngramlogError, TooManyRequests
from projections.access.recognising import Recognised

Refused = Callable[[str, str], None]


def closed(_method: str, _path: str) -> bool:
    """Nothing is open."""
    return False


def untold(_reason: str, _address: str) -> None:
    """Tells nobody."""


def plainly_challenged(_scope: Scope, _path: str) -> str:
    """A challenge says nothing besides."""
    return ""


TAKEN = "engramlog.taken"
"""Where in a request's scope the route that took it writes its path, in braces; there where somebody counts."""


def taken_by(scope: Mapping[str, Any], route: str) -> None:
    """Note which route took a request."""
    taken = scope.get(TAKEN)
    if taken is not None:
        taken.append(route)


NONE, OTHER = "none", "other"
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
CLOSED = 499
"""Told as the status where the client was gone before it was answered."""


class RequestCounts:
    """Requests by method, route and status, and how long their answers took to begin."""

    def __init__(self, metrics: Metrics) -> None:
        self._requests, self._seconds = metrics.requests, metrics.request_seconds
        self._counters: dict[tuple[str, str, int], Counter] = {}
        self._clocks: dict[tuple[str, str], Histogram] = {}

    def count(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count one request."""
        method = method if method in METHODS else OTHER
        counter = self._counters.get((method, route, status))
        if counter is None:  # kept, for to find a label's series takes longer than to count
            counter = self._counters[method, route, status] = self._requests.labels(method, route, str(status))
        clock = self._clocks.get((method, route))
        if clock is None:
            clock = self._clocks[method, route] = self._seconds.labels(method, route)
        counter.inc()
        clock.observe(seconds)


class Guard:
    """The ASGI middleware around the application: it counts, refuses, recognises, paces, reads the body, and hands on."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        callers: Callers,
        is_open: Callable[[str, str], bool] = closed,
        refused: Refused = untold,
        challenged: Callable[[Scope, str], str] = plainly_challenged,
        buckets: Buckets | None = None,
        bodies: Bodies | None = None,
        metrics: Metrics | None = None,
    ) -> None:
        """What `is_open`, by method and path, is answered without a token.

        `refused` gets the reason and the address of each request that a public listener refuses. `challenged` returns, by scope and
        path, what a challenge says besides (RFC 6750): where tokens are issued. `buckets`: what a key may take; none without.
        """
        self._app = app
        self._callers = callers
        self._is_open = is_open
        self._refused = refused
        self._challenged = challenged
        self._buckets = buckets or Buckets()
        self._bodies = bodies or Bodies()
        self._counts = None if metrics is None else RequestCounts(metrics)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse, or hand on with the path as it was sent; count either."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})  # there is none, and none gets past
            return
        began, answered = perf_counter(), list[tuple[int, float]]()
        taken: list[str] = []
        scope[TAKEN] = taken

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                answered.append((message["status"], perf_counter()))
                headers = MutableHeaders(
                    scope=message
                )  # an answer is what it says it is, and nobody on the way keeps it
                headers["x-content-type-options"] = "nosniff"
                headers.setdefault("cache-control", "no-store")
            await send(message)

        try:
            await self._passed(scope, receive, sent)
        except Exception:
            if not answered:
                answered.append((500, perf_counter()))
            raise
        finally:
            if self._counts is not None:
                status, at = answered[0] if answered else (CLOSED, perf_counter())
                self._counts.count(scope["method"], taken[0] if taken else NONE, status, at - began)

    async def _passed(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers, listener = Headers(scope=scope), listener_of(scope)
        path, found = _path_as_sent(scope), Recognised(None)
        refusal = self._refused_here(scope, path, headers, listener)
        if refusal is None:
            try:
                found = await self._callers.of(headers, listener, path)
            except EngramlogError as error:
                if not self._is_open(scope["method"], path):
                    refusal = problem_of(error)
        refusal = refusal or self._refused_stranger(scope, path, found, headers)
        refusal = refusal or _refused_length(path, headers) or _refused_body(scope, headers)
        if refusal is not None:
            await refusal(scope, receive, send)
            return
        caller = found.caller
        scope = {**scope, "path": path, KNOWN: caller is not None, CALLER: caller}
        if caller is None or caller.is_unlimited or not self._buckets.bound:
            await self._bodies.answered(self._app, scope, receive, send)
        else:
            await self._paced(caller.name, scope, receive, send)

    async def _paced(self, name: str, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse with when to come again, or hand on and charge what it takes. A caller who took too much sends no body."""
        owner = owner_in(scope["path"])
        try:
            self._buckets.take(name, owner)
        except TooManyRequests as error:
            await problem_of(error)(scope, receive, send)
            return

        async def received() -> Message:
            message = await receive()
            self._buckets.charge(name, owner, size=len(message.get("body", b"")))
            return message

        async def sent(message: Message) -> None:
            self._buckets.charge(name, owner, size=len(message.get("body", b"")))
            await send(message)

        end = charged(lambda seconds: self._buckets.charge(name, owner, cpu=seconds))
        try:
            await self._bodies.answered(self._app, scope, received, sent)
        finally:
            end()

    def _refused_here(self, scope: Scope, path: str, headers: Headers, listener: Listener) -> Problem | None:
        """The refusal of what does not come by this way, or is not meant for it; whoever asks is not looked at."""
        looks: tuple[tuple[str, Callable[[], Problem | None]], ...] = (
            ("framing", lambda: _refused_framing(scope, headers)),
            ("way", lambda: refused_way(scope, headers, listener)),
            ("place", lambda: refused_place(scope, headers, listener)),
            ("operating", lambda: refused_operating(path, listener)),
        )
        for reason, look in looks:
            if (refusal := look()) is not None:
                self._tell(reason, scope, headers)
                return refusal
        return None

    def _refused_stranger(self, scope: Scope, path: str, found: Recognised, headers: Headers) -> Problem | None:
        if found.caller is not None or self._is_open(scope["method"], path):
            return None
        self._tell("stranger", scope, headers)
        return unauthorized(
            headers,
            found.got,
            self._challenged(scope, path),
            why=None if found.why == "unknown" else found.why,
            keys_alone=listener_of(scope).public,
        )

    def _tell(self, reason: str, scope: Scope, headers: Headers) -> None:
        listener, peer = listener_of(scope), scope.get("client")
        if listener.public:
            self._refused(
                reason, asked_from(str(peer[0]) if peer else "", headers.getlist("x-forwarded-for"), listener)
            )


def _refused_body(scope: Scope, headers: Headers) -> Problem | None:
    has_body = headers.get("content-length", "0") != "0" or "transfer-encoding" in headers
    if not has_body and (scope["method"] in READS or headers.get(OWN_HEADER)):
        return None
    if media_type(headers) not in JSON_TYPES | LINES_TYPES:
        bare = "" if has_body else "; without a body the header Engramlog-Request: 1 will do"
        return plain_problem(
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
            f"Content-Type: got {headers.get('content-type', 'none')[:80]!r}; allowed: application/json"
            f" (POST /v1/events also: application/x-ndjson){bare}",
        )
    return None


def _refused_framing(scope: Scope, headers: Headers) -> Problem | None:
    """The refusal of a request whose end two readers would see in two places (RFC 9112, 6.3)."""
    if "transfer-encoding" not in headers:
        return None
    version = scope.get("http_version", "1.1")
    if "content-length" not in headers and version == "1.1":
        return None
    return plain_problem(
        HTTPStatus.BAD_REQUEST,
        f"Transfer-Encoding: got it in HTTP/{version}, with Content-Length {headers.get('content-length', 'none')[:20]};"
        " allowed: it alone, in HTTP/1.1",
        {"connection": "close"},
    )


def _refused_length(path: str, headers: Headers) -> Problem | None:
    """The refusal of what a stranger may send, where it is long or does not say how long it is."""
    if path != OPEN_POST:
        return None
    told = headers.get("content-length", "")
    if "transfer-encoding" in headers or not (told.isascii() and told.isdigit()):
        return plain_problem(
            HTTPStatus.LENGTH_REQUIRED,
            f"Content-Length: got none; allowed: 1 to {MOST_OPEN:,}, and no Transfer-Encoding here",
        )
    if int(told[:9]) > MOST_OPEN:
        return plain_problem(
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"body: got {told[:20]} bytes; at most {MOST_OPEN:,} are allowed here"
        )
    return None


def _path_as_sent(scope: Scope) -> str:
    """The path still percent-encoded. A server decodes it whole, which makes `%2F` inside an id look like a separator."""
    raw = scope.get("raw_path")
    return raw.decode("ascii", "replace") if raw else quote(scope["path"])


_BEFORE_OWNERS = ("/v1/owners/", "/mcp/")


def owner_in(path: str) -> str | None:
    """The owner whom a path names, percent-encoded as it was sent; None where it names none."""
    for begin in _BEFORE_OWNERS:
        if path.startswith(begin):
            rest = path.removeprefix(begin)
            return unquote(rest if begin == "/mcp/" else rest.partition("/")[0]) or None
    return None
