"""No key takes more than its share: requests, bytes and CPU of each principal, in all and of one owner."""

from __future__ import annotations

from urllib.parse import unquote

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.http.access.callers import caller_in
from api.http.problem import problem_of
from api.work.buckets import Buckets, charged
from events.errors import TooManyRequests

_BEFORE_OWNERS = ("/v1/owners/", "/mcp/")


class Paced:
    """ASGI middleware behind the guard: whoever shows the folder's token is not counted."""

    def __init__(self, app: ASGIApp, *, buckets: Buckets) -> None:
        self._app = app
        self._buckets = buckets

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse with when to come again, or hand on and count what it takes."""
        caller = caller_in(dict(scope)) if scope["type"] == "http" and self._buckets.bound else None
        if caller is None or caller.key_id is None:
            await self._app(scope, receive, send)
            return
        name, owner = caller.name, owner_in(scope["path"])
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
            await self._app(scope, received, sent)
        finally:
            end()


def owner_in(path: str) -> str | None:
    """The owner whom a path names, percent-encoded as it was sent; None where it names none."""
    for begin in _BEFORE_OWNERS:
        if path.startswith(begin):
            rest = path.removeprefix(begin)
            return unquote(rest if begin == "/mcp/" else rest.partition("/")[0]) or None
    return None
