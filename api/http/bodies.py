"""Request bodies, taken in whole before a route sees them: so large, so deep and so slow as `api.http.limits` says.

Nothing of a body is parsed on the event loop: it is read there, counted (`api.http.structure`) and parsed (`api.http.parsing`)
by a few threads of its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from functools import partial
from http import HTTPStatus
from io import BytesIO

import anyio
from anyio.to_thread import run_sync
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.http.guard import LINES_TYPES, media_type
from api.http.limits import MIB, BodyLimit, BodyPatience, InFlight, limit_of
from api.http.parsing import THREADS
from api.http.problem import Problem, plain_problem, problem_of
from api.http.server.budget import Budget
from api.http.structure import check_lines, check_structure
from events.errors import EngramlogError

COUNTED_AT_ONCE = 16 * 1024
"""Bytes that are counted where they are received: 50 us at most, less than a thread costs."""
LARGE = 4 * MIB
"""After a body of this size memory is given back."""
TRIM_SECONDS = 2.0
"""At most so often: meanwhile other threads wait for memory."""
READERS = 4
"""Threads that count and parse bodies."""


class _Gone(Exception):
    """The sender went away."""


class Bodies:
    """ASGI middleware within the guard: only who may call may send."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        limits: Callable[[str], BodyLimit] = limit_of,
        in_flight: InFlight = InFlight(),  # noqa: B008 - immutable
        patience: BodyPatience = BodyPatience(),  # noqa: B008 - immutable
        give_back: Callable[[], None] = lambda: None,
    ) -> None:
        """`give_back` hands free memory back to the system; it is called by a thread after large bodies."""
        self._app = app
        self._limits = limits
        self._patience = patience
        self._small = Budget(in_flight.small, in_flight.waiting)
        self._large = Budget(in_flight.large, in_flight.waiting)
        self._threads = anyio.CapacityLimiter(READERS)
        self._give_back = give_back
        self._gave_back = -TRIM_SECONDS

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Take the body in and hand the request on, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        scope = {**scope, THREADS: self._threads}
        headers = Headers(scope=scope)
        length = headers.get("content-length")
        if length in (None, "0") and "transfer-encoding" not in headers:
            await self._app(scope, receive, send)
            return
        limit = self._limits(scope["path"])
        announced = None if length is None else int(length)
        refusal = _refusal(headers, announced, limit)
        if refusal is not None:
            await refusal(scope, receive, send)
            return
        size = await self._handled(scope, receive, send, limit, announced)
        now = asyncio.get_running_loop().time()
        if size >= LARGE and now - self._gave_back >= TRIM_SECONDS:
            self._gave_back = now
            await run_sync(self._give_back, limiter=self._threads)

    async def _handled(
        self, scope: Scope, receive: Receive, send: Send, limit: BodyLimit, announced: int | None
    ) -> int:
        """Answer the request while its bytes are held; how many they were."""
        claimed = limit.size if announced is None else announced
        budget = self._small if claimed <= MIB else self._large
        async with AsyncExitStack() as held:
            app: ASGIApp
            try:
                await held.enter_async_context(budget.claim(min(claimed, budget.most), self._patience.budget_seconds))
                body = await self._read(receive, limit)
                size = len(body)
                await self._count(body, limit, lines=media_type(Headers(scope=scope)) in LINES_TYPES)
                app, receive = self._app, _replayed(body, receive)
            except _Gone:
                return 0
            except _TooLarge as error:
                app, size = too_large(f"more than {error.received:,} bytes", limit), error.received
            except TimeoutError:
                app, size = _too_slow(self._patience), limit.size
            except EngramlogError as error:
                app = problem_of(error)
                size = claimed
            body = b""  # what follows holds it no longer than it needs
            await app(scope, receive, send)
        return size

    async def _read(self, receive: Receive, limit: BodyLimit) -> bytes:
        """The whole body, in one piece of memory. Raises TimeoutError where it comes too slowly."""
        whole = BytesIO()
        more = True
        async with asyncio.timeout(self._patience.whole_seconds):
            while more:
                least = whole.tell() + self._patience.stall_bytes
                async with asyncio.timeout(self._patience.stall_seconds):
                    while more and whole.tell() < least:
                        message = await receive()
                        if message["type"] == "http.disconnect":
                            raise _Gone
                        more = message.get("more_body", False)
                        if whole.tell() + len(message.get("body", b"")) > limit.size:
                            raise _TooLarge(limit.size)
                        whole.write(message.get("body", b""))
        return whole.getvalue()

    async def _count(self, body: bytes, limit: BodyLimit, *, lines: bool) -> None:
        count = check_lines if lines else check_structure
        if len(body) <= COUNTED_AT_ONCE:
            count(body, limit.most)
        else:
            await run_sync(partial(count, body, limit.most), limiter=self._threads)


class _TooLarge(Exception):
    """More came than is allowed."""

    def __init__(self, received: int) -> None:
        super().__init__(received)
        self.received = received


def _refusal(headers: Headers, announced: int | None, limit: BodyLimit) -> Problem | None:
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
    if announced is not None and announced > limit.size:
        return too_large(f"{announced:,} bytes", limit)
    return None


def too_large(got: str, limit: BodyLimit) -> Problem:
    """413, with what is allowed on this route."""
    return plain_problem(
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        f"body: got {got}; at most {limit.size:,} bytes are allowed here: send it in pieces",
        field="body",
        got=got,
        allowed=limit.size,
    )


def _too_slow(patience: BodyPatience) -> Problem:
    return plain_problem(
        HTTPStatus.REQUEST_TIMEOUT,
        f"body: it came too slowly; allowed: at least {patience.stall_bytes:,} bytes in {patience.stall_seconds:g} s, and all of"
        f" it within {patience.whole_seconds:g} s. Nothing was done; the same request can be sent again",
        field="body",
        got="a body that came too slowly",
        allowed=f"at least {patience.stall_bytes} bytes in {patience.stall_seconds:g} s",
    )


def _replayed(body: bytes, receive: Receive) -> Receive:
    """`receive` that gives the body in one message, and then what comes after it: that the client went."""
    waiting: list[bytes] = [body]

    async def replayed() -> Message:
        if waiting:
            return {"type": "http.request", "body": waiting.pop(), "more_body": False}
        return await receive()

    return replayed
