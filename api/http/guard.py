"""What every request passes before a route sees it: who may call, how much, how its path is read, and its body.

It comes by a listener that is for it, the Host must be this service, the Origin too if a browser sends one
(`api.http.serve`). All but a few paths that tell nothing of anybody ask who it is (`api.http.callers`), and no
key takes more than its share: requests, bytes and CPU of each principal, in all and of one owner. Requests are counted by route and
status, refused ones too; no label has a path or a word of a caller: a request that no route took is of the route `none`, one of an
unknown method `other`.

Bodies are taken in whole, as large and as deep as the table of limits says, and in time. Nothing of a body is parsed on the event
loop: it is read there, counted, and parsed (`api.http.routing`) by a few threads of its own. How much JSON a text holds is counted
on its bytes before any parser makes objects of it, because a value costs a parser up to a hundred times its bytes (`[],[],[]`). The
count is never less than what a parser makes up to the first thing that is no JSON.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from http import HTTPStatus
from io import BytesIO
from itertools import accumulate
from time import perf_counter
from types import MappingProxyType
from typing import Any, Final, NamedTuple
from urllib.parse import quote, unquote

import anyio
from anyio.to_thread import run_sync
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from engramlog_server.api.admission import Buckets, charged
from engramlog_server.api.http.callers import CALLER, KNOWN, MOST_OPEN, OPEN_POST, READS, Callers, unauthorized
from engramlog_server.api.http.metrics import Metrics
from engramlog_server.api.http.problem import Problem, plain_problem, problem_of
from engramlog_server.api.http.serve import (
    OWN_HEADER,
    Listener,
    asked_from,
    listener_of,
    refused_operating,
    refused_place,
    refused_way,
)
from engramlog_server.events.errors import EngramlogError, InputError, RequestTooLarge, ServerBusy, TooManyRequests
from engramlog_server.projections.access.keys import Recognised

PIECE: Final = 256 * 1024
"""Bytes looked at together: a millisecond, so that other threads get their turn."""
_DELETED: Final = bytes(set(range(256)) - set(b"[]{},"))
_STEPS: Final = {ord(","): 0, ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}
JSON_TYPES: Final = frozenset({"application/json"})
LINES_TYPES: Final = frozenset(
    {"application/x-ndjson", "application/ndjson", "application/jsonl", "application/jsonlines"}
)
THREADS: Final = "engramlog.threads"
"""Where in a request's scope stands which threads parse its body."""


def media_type(headers: Headers) -> str:
    """The content type without its parameters, in lower case."""
    return headers.get("content-type", "").partition(";")[0].strip().lower()


class Most(NamedTuple):
    """What one JSON text may hold."""

    values: int
    """Items of arrays and members of objects, of all of them together; an empty one counts as one."""
    depth: int
    """Arrays and objects within each other."""


def check_structure(text: bytes | memoryview, most: Most, what: str = "body") -> None:
    """Raise RequestTooLarge for too many values, InputError for too deep a text. Of what is no JSON nothing else is said."""
    _Counter(most, what).count(memoryview(text))


def check_lines(text: bytes, most: Most) -> None:
    """The same for JSON Lines: values of all lines together, the depth of each. A string ends with its line at the latest."""
    counter = _Counter(most, "body")
    counter.add(text.count(b"\n"))
    if _at_most(text) <= most.depth:
        return
    begin = 0
    while begin < len(text):
        end = text.find(b"\n", begin) + 1 or len(text)
        counter.next_line()
        counter.count(memoryview(text)[begin:end])
        begin = end


def _at_most(text: bytes) -> int:
    """No fewer than the values of a text: commas and brackets, also those within strings."""
    return text.count(b",") + text.count(b"[") + text.count(b"{")


class _Counter:
    """Counts on from piece to piece."""

    def __init__(self, most: Most, what: str) -> None:
        self._most = most
        self._what = what
        self._values = 0
        self._depth = 0
        self._inside = False
        self._escaped = False

    def next_line(self) -> None:
        """What comes is a text of its own."""
        self._depth, self._inside, self._escaped = 0, False, False

    def add(self, values: int) -> None:
        """So many more values, or raise."""
        self._values += values
        if self._values > self._most.values:
            raise RequestTooLarge(
                f"{self._what}: got more than {self._most.values:,} JSON values; at most {self._most.values:,} are"
                " allowed: send it in pieces",
                field=self._what,
                got=f"more than {self._most.values} values",
                allowed=self._most.values,
            )

    def count(self, text: memoryview) -> None:
        """Count a text, or raise."""
        for begin in range(0, len(text), PIECE):
            structure = self._outside_strings(bytes(text[begin : begin + PIECE])).translate(None, _DELETED)
            self.add(_at_most(structure))
            self._descend(structure)

    def _outside_strings(self, piece: bytes) -> bytes:
        """The piece without its strings. Escapes are paired from the left, as JSON reads them."""
        if self._escaped:
            piece = b"_" + piece[1:]
        self._escaped = False
        if b"\\" in piece:
            piece = piece.replace(b"\\\\", b"__")
            self._escaped = piece.endswith(b"\\")
            piece = piece.replace(b'\\"', b"__")
        parts = piece.split(b'"')
        outside = b" ".join(parts[1::2] if self._inside else parts[::2])
        self._inside ^= len(parts) % 2 == 0
        return outside

    def _descend(self, structure: bytes) -> None:
        if not structure:
            return
        depths = list(accumulate(map(_STEPS.__getitem__, structure), initial=self._depth))
        deepest, self._depth = max(depths), depths[-1]
        if deepest > self._most.depth:
            raise InputError(
                f"{self._what}: got arrays and objects more than {self._most.depth} deep; allowed: at most"
                f" {self._most.depth} within each other",
                field=self._what,
                got=f"more than {self._most.depth} levels",
                allowed=f"at most {self._most.depth} levels",
            )


MIB: Final = 1024 * 1024
DEPTH: Final = 100


class BodyLimit(NamedTuple):
    """What the body of a request may be."""

    size: int
    """Bytes."""
    most: Most
    """Values and depth of its JSON."""


SMALL: Final = BodyLimit(MIB, Most(20_000, DEPTH))
"""Of every route that is not named below."""
MCP: Final = BodyLimit(16 * MIB, Most(100_000, DEPTH))
"""Of a request of the MCP server: a hundred turns of 64 KiB, escaped."""
OF_STRANGERS: Final = BodyLimit(MOST_OPEN, Most(20, DEPTH))
"""Of every request without a token."""
OTHERS: Final[Mapping[str, BodyLimit]] = MappingProxyType(
    {
        "/v1/heads/check": BodyLimit(16 * MIB, Most(100, DEPTH)),
        "/v1/events": BodyLimit(64 * MIB, Most(500_000, DEPTH)),
        "/v1/owners/{owner}/import/records": BodyLimit(64 * MIB, Most(500_000, DEPTH)),
        "/v1/owners/{owner}/chats": BodyLimit(16 * MIB, Most(1_000_000, DEPTH)),
        OPEN_POST: OF_STRANGERS,
    }
)


def limit_of(path: str) -> BodyLimit:
    """The limit of a path as it was sent: percent-encoded, so that an owner is one segment."""
    segments = path.split("/")
    for route, limit in OTHERS.items():
        pattern = route.split("/")
        if len(pattern) == len(segments) and all(
            asked == sent or asked.startswith("{") for asked, sent in zip(pattern, segments, strict=True)
        ):
            return limit
    return SMALL


SECONDS: Final = 60.0
"""In which a body must be whole."""
LARGE: Final = MIB
"""Larger bodies share `MOST_LARGE` places."""
MOST_LARGE: Final = 2
HUGE: Final = 16 * MIB
"""Larger bodies are read one at a time: a body of 56 MiB takes 230 MiB until it is read and refused."""
PLACE_SECONDS: Final = 2.0
"""How long a large body waits for a place."""
COUNTED_AT_ONCE: Final = 16 * 1024
"""Bytes that are counted where they are received: 50 us at most, less than a thread costs."""
READERS: Final = 4
"""Threads that count and parse bodies."""


class _Gone(Exception):
    """The sender went away."""


class _TooLarge(Exception):
    """More came than is allowed."""


class Bodies:
    """Reads the bodies of requests that the guard lets pass, for one event loop."""

    def __init__(self, *, limits: Callable[[str], BodyLimit] = limit_of, seconds: float = SECONDS) -> None:
        self._limits = limits
        self._seconds = seconds
        self._large, self._huge = asyncio.Semaphore(MOST_LARGE), asyncio.Lock()
        self._threads = anyio.CapacityLimiter(READERS)

    async def answered(self, handed_to: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
        """Take the body in and hand the request on, or refuse it."""
        scope = {**scope, THREADS: self._threads}
        headers = Headers(scope=scope)
        length = headers.get("content-length")
        if length in (None, "0") and "transfer-encoding" not in headers:
            await handed_to(scope, receive, send)
            return
        limit = self._limits(scope["path"]) if scope.get(KNOWN, True) else OF_STRANGERS
        announced = limit.size if length is None else int(length)
        app: ASGIApp | None = _refusal(headers, announced, limit)
        async with AsyncExitStack() as held:
            if app is None:
                try:
                    if announced > LARGE:
                        await self._place(held, huge=announced > HUGE)
                    body = await self._read(receive, limit)
                    await self._count(body, limit, lines=media_type(headers) in LINES_TYPES)
                    app, receive = handed_to, _replayed(body, receive)
                    del body  # what follows holds it no longer than it needs
                except _Gone:
                    return
                except _TooLarge:
                    app = too_large(f"more than {limit.size:,} bytes", limit)
                except TimeoutError:
                    app = _too_slow(self._seconds)
                except EngramlogError as error:
                    app = problem_of(error)
            await app(scope, receive, send)

    async def _place(self, held: AsyncExitStack, *, huge: bool) -> None:
        """Hold a place for a large body. Raises ServerBusy."""
        try:
            async with asyncio.timeout(PLACE_SECONDS):
                if huge:
                    await held.enter_async_context(self._huge)
                await held.enter_async_context(self._large)
        except TimeoutError:
            raise ServerBusy(
                f"{MOST_LARGE} bodies of more than {LARGE:,} bytes, or one of more than {HUGE:,}, are in hand. Nothing was done;"
                " the same request can be sent again",
                retry_after=2,
                limit=MOST_LARGE,
            ) from None

    async def _read(self, receive: Receive, limit: BodyLimit) -> bytes:
        """The whole body, in one piece of memory. Raises TimeoutError where it comes too slowly."""
        whole, more = BytesIO(), True
        async with asyncio.timeout(self._seconds):
            while more:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise _Gone
                more = message.get("more_body", False)
                whole.write(message.get("body", b""))
                if whole.tell() > limit.size:
                    raise _TooLarge
        return whole.getvalue()

    async def _count(self, body: bytes, limit: BodyLimit, *, lines: bool) -> None:
        count = check_lines if lines else check_structure
        if len(body) <= COUNTED_AT_ONCE:
            count(body, limit.most)
        else:
            await run_sync(count, body, limit.most, limiter=self._threads)


def _refusal(headers: Headers, announced: int, limit: BodyLimit) -> Problem | None:
    """What the head of a request shows already: nothing of the body is read then."""
    encoding = headers.get("content-encoding", "identity").strip().lower()
    if encoding not in ("", "identity"):
        return plain_problem(
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
            f"Content-Encoding: got {encoding!r}; allowed: none, bodies are sent as they are",
            {"accept-encoding": "identity"},
            field="Content-Encoding",
            got=encoding,
            allowed="identity",
        )
    return too_large(f"{announced:,} bytes", limit) if announced > limit.size else None


def too_large(got: str, limit: BodyLimit) -> Problem:
    """413, with what is allowed on this route."""
    return plain_problem(
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        f"body: got {got}; at most {limit.size:,} bytes are allowed here: send it in pieces",
        field="body",
        got=got,
        allowed=limit.size,
    )


def _too_slow(seconds: float) -> Problem:
    return plain_problem(
        HTTPStatus.REQUEST_TIMEOUT,
        f"body: it was not whole within {seconds:g} s. Nothing was done; the same request can be sent again",
        {"connection": "close"},
        field="body",
        got="a body that came too slowly",
        allowed=f"a whole body within {seconds:g} s",
    )


def _replayed(body: bytes, receive: Receive) -> Receive:
    """`receive` that gives the body in one message, and then what comes after it: that the client went."""
    waiting: list[bytes] = [body]

    async def replayed() -> Message:
        if waiting:
            return {"type": "http.request", "body": waiting.pop(), "more_body": False}
        return await receive()

    return replayed


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


def count_request(metrics: Metrics, method: str, route: str, status: int, seconds: float) -> None:
    """Count one request by method, route and status, and how long its answer took to begin."""
    method = method if method in METHODS else OTHER
    metrics.requests.labels(method, route, str(status)).inc()
    metrics.request_seconds.labels(method, route).observe(seconds)


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
        self._metrics = metrics

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
            if self._metrics is not None:
                status, at = answered[0] if answered else (CLOSED, perf_counter())
                count_request(self._metrics, scope["method"], taken[0] if taken else NONE, status, at - began)

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
                self._count_refusal(reason, scope, headers)
                return refusal
        return None

    def _refused_stranger(self, scope: Scope, path: str, found: Recognised, headers: Headers) -> Problem | None:
        if found.caller is not None or self._is_open(scope["method"], path):
            return None
        self._count_refusal("stranger", scope, headers)
        return unauthorized(
            headers,
            found.got,
            self._challenged(scope, path),
            why=None if found.why == "unknown" else found.why,
            keys_alone=listener_of(scope).public,
        )

    def _count_refusal(self, reason: str, scope: Scope, headers: Headers) -> None:
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
