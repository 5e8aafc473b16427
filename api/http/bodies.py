"""Request bodies, taken in whole before a route sees them: as large and as deep as `api.http.limits` says, and in time.

Nothing of a body is parsed on the event loop: it is read there, counted (`api.http.structure`) and parsed (`api.http.parsing`)
by a few threads of its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from http import HTTPStatus
from io import BytesIO
from typing import Final

import anyio
from anyio.to_thread import run_sync
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.http.guard import LINES_TYPES, media_type
from api.http.limits import MIB, BodyLimit, limit_of
from api.http.parsing import THREADS
from api.http.problem import Problem, plain_problem, problem_of
from api.http.structure import check_lines, check_structure
from events.errors import EngramlogError, ServerBusy

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
    """ASGI middleware within the guard: only who may call may send."""

    def __init__(
        self, app: ASGIApp, *, limits: Callable[[str], BodyLimit] = limit_of, seconds: float = SECONDS
    ) -> None:
        self._app = app
        self._limits = limits
        self._seconds = seconds
        self._large, self._huge = asyncio.Semaphore(MOST_LARGE), asyncio.Lock()
        self._threads = anyio.CapacityLimiter(READERS)

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
        announced = limit.size if length is None else int(length)
        app: ASGIApp | None = _refusal(headers, announced, limit)
        async with AsyncExitStack() as held:
            if app is None:
                try:
                    if announced > LARGE:
                        await self._place(held, huge=announced > HUGE)
                    body = await self._read(receive, limit)
                    await self._count(body, limit, lines=media_type(headers) in LINES_TYPES)
                    app, receive = self._app, _replayed(body, receive)
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
