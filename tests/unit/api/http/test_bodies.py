"""Bodies within limits: how large, how slow, how many at once; and nothing of them is parsed where everybody waits."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import orjson
import pytest
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from engramlog_server.api.http import guard as bodies
from engramlog_server.api.http.callers import KNOWN, MOST_OPEN
from engramlog_server.api.http.guard import MIB, OTHERS, SMALL, Bodies, BodyLimit, Most, limit_of
from tests.rows import each_row

LIMIT = BodyLimit(100, Most(10, 5))
JSON = (b"content-type", b"application/json")
Answer = tuple[int, dict[str, Any], dict[bytes, bytes]]


async def echo(scope: Scope, receive: Receive, send: Send) -> None:
    """Answers with the size of the body it was given in one message."""
    message = await receive()
    assert not message.get("more_body", False)
    body = orjson.dumps({"got": len(message.get("body", b""))})
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": body})


def pieces(*sent: bytes, then: Callable[[], Awaitable[Message]] | None = None) -> Receive:
    """A sender of these pieces; `then` is asked for what comes after the last, which ends the body if there is none."""
    waiting = list(sent)

    async def receive() -> Message:
        if not waiting and then:
            return await then()
        if not waiting:
            return {"type": "http.disconnect"}
        piece = waiting.pop(0)
        return {"type": "http.request", "body": piece, "more_body": bool(waiting) or then is not None}

    return receive


async def never() -> Message:
    """A sender who stops in the middle."""
    await asyncio.Event().wait()
    raise AssertionError


async def gone() -> Message:
    """A sender who hangs up."""
    return {"type": "http.disconnect"}


async def ask(app: Any, receive: Receive, *headers: tuple[bytes, bytes], path: str = "/") -> Answer:
    """One request: status, document, headers."""
    told: list[Message] = []

    async def send(message: Message) -> None:
        told.append(message)

    await app({"type": "http", "path": path, "headers": [JSON, *headers]}, receive, send)
    start, body = told
    return start["status"], orjson.loads(body["body"]), dict(start["headers"])


def limited(app: Any = echo, **given: Any) -> ASGIApp:
    """An application that takes bodies of a hundred bytes."""
    return partial(Bodies(limits=lambda _path: LIMIT, **given).answered, app)


def test_a_stranger_sends_no_more_than_a_key() -> None:
    async def story() -> None:
        scope = {"type": "http", "path": "/ready", "headers": [JSON, length(MOST_OPEN + 1)], KNOWN: False}
        told: list[Message] = []

        async def send(message: Message) -> None:
            told.append(message)

        await Bodies().answered(echo, scope, pieces(b" " * (MOST_OPEN + 1)), send)
        assert told[0]["status"] == 413

    asyncio.run(story())


def length(size: int) -> tuple[bytes, bytes]:
    """What a request announces."""
    return b"content-length", str(size).encode()


CHUNKED = (b"transfer-encoding", b"chunked")


def test_a_body_within_its_limit_arrives_whole() -> None:
    async def story() -> None:
        assert await ask(limited(), pieces(b"[1,", b"2]"), length(5)) == (200, {"got": 5}, {})
        assert (await ask(limited(), pieces(b" " * 50, b" " * 50), CHUNKED))[1] == {"got": 100}

    asyncio.run(story())


def test_a_body_announced_too_large_is_refused_before_any_of_it_is_read() -> None:
    async def story() -> None:
        status, told, _ = await ask(limited(), never, length(101))
        assert (status, told["error"], told["allowed"]) == (413, "RequestEntityTooLarge", 100)
        assert "got 101 bytes; at most 100 bytes" in told["detail"]

    asyncio.run(story())


def test_a_body_that_becomes_too_large_is_refused_though_nothing_was_announced() -> None:
    async def story() -> None:
        status, told, _ = await ask(limited(), pieces(b" " * 60, b" " * 60, then=never), CHUNKED)
        assert (status, told["error"], told["field"]) == (413, "RequestEntityTooLarge", "body")

    asyncio.run(story())


@each_row(
    ("body", "status", "error"),
    [(b"[" + b"1," * 10 + b"1]", 413, "RequestTooLarge"), (b"[[[[[[]]]]]]", 422, "InputError")],
)
def test_what_holds_too_much_is_refused_before_the_route_sees_it(body: bytes, status: int, error: str) -> None:
    async def story() -> None:
        got, told, _ = await ask(limited(app=never), pieces(body), length(len(body)))
        assert (got, told["error"], told["field"]) == (status, error, "body")

    asyncio.run(story())


@each_row("encoding", [b"gzip", b"br", b"deflate, gzip"])
def test_a_compressed_body_is_refused_with_what_is_allowed(encoding: bytes) -> None:
    async def story() -> None:
        status, told, headers = await ask(limited(), never, length(20), (b"content-encoding", encoding))
        assert (status, told["field"], told["allowed"]) == (415, "Content-Encoding", "identity")
        assert headers[b"accept-encoding"] == b"identity"

    asyncio.run(story())


async def trickle() -> Message:
    """A sender of one byte at a time."""
    await asyncio.sleep(0.001)
    return {"type": "http.request", "body": b" ", "more_body": True}


@each_row("sender", [never, trickle])
def test_a_sender_who_does_not_come_to_an_end_is_answered(sender: Callable[[], Awaitable[Message]]) -> None:
    async def story() -> None:
        app = partial(Bodies(seconds=0.05).answered, echo)
        status, told, headers = await ask(app, pieces(b"[1,", then=sender), length(MIB))
        assert (status, told["error"], headers[b"connection"]) == (408, "RequestTimeout", b"close")

    asyncio.run(story())


def test_large_bodies_have_few_places_and_small_ones_never_wait_for_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever finds no place is told when to come again; a sender who hangs up gives his place back."""
    monkeypatch.setattr(bodies, "PLACE_SECONDS", 0.01)

    async def story() -> None:
        large: dict[str, Any] = {"path": "/v1/events"}
        app = partial(Bodies().answered, echo)
        held = [
            asyncio.create_task(ask(app, pieces(b" ", then=never), length(2 * MIB), **large))
            for _ in range(bodies.MOST_LARGE)
        ]
        await asyncio.sleep(0)
        status, told, headers = await ask(app, never, length(2 * MIB), **large)
        assert (status, told["error"], headers[b"retry-after"]) == (503, "ServerBusy", b"2")
        assert (await ask(app, pieces(b" " * MIB), length(MIB)))[0] == 200
        for one in held:
            one.cancel()
        await asyncio.gather(*held, return_exceptions=True)
        with pytest.raises(ValueError, match="not enough values"):  # no answer at all
            await ask(app, pieces(b"[", then=gone), length(2 * MIB), **large)
        assert (await ask(app, pieces(b" " * 2 * MIB), length(2 * MIB), **large))[0] == 200

    asyncio.run(story())


def test_of_very_large_bodies_one_is_in_hand_beside_a_large_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "PLACE_SECONDS", 0.01)

    async def story() -> None:
        huge: tuple[Any, dict[str, Any]] = (length(bodies.HUGE + 1), {"path": "/v1/events"})
        app = partial(Bodies().answered, echo)
        held = asyncio.create_task(ask(app, pieces(b" ", then=never), huge[0], **huge[1]))
        await asyncio.sleep(0)
        assert (await ask(app, never, huge[0], **huge[1]))[0] == 503
        assert (await ask(app, pieces(b" " * 2 * MIB), length(2 * MIB), **huge[1]))[0] == 200
        held.cancel()
        await asyncio.gather(held, return_exceptions=True)
        assert (await ask(app, pieces(b" " * 2 * MIB), huge[0], **huge[1]))[0] == 200

    asyncio.run(story())


def test_a_larger_body_is_counted_by_a_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    by: list[bool] = []
    monkeypatch.setattr(
        bodies, "check_structure", lambda *_: by.append(threading.current_thread() is threading.main_thread())
    )

    async def story() -> None:
        for size in (bodies.COUNTED_AT_ONCE, bodies.COUNTED_AT_ONCE + 1):
            assert (await ask(partial(Bodies().answered, echo), pieces(b" " * size), length(size)))[0] == 200

    asyncio.run(story())
    assert by == [True, False]


def test_each_route_has_its_limit_and_an_owner_with_a_slash_keeps_it() -> None:
    assert limit_of("/v1/owners/a%2Fb/chats") == OTHERS["/v1/owners/{owner}/chats"]
    assert limit_of("/v1/owners/a/import/records") == OTHERS["/v1/owners/{owner}/import/records"]
    assert limit_of("/v1/events") == OTHERS["/v1/events"]
    for path in ("/v1/owners/a/memories/chats", "/v1/owners/a/chats/x", "/v1/owners/a/merge", "/v1/events/", "/"):
        assert limit_of(path) == SMALL
