"""Connections over a real server: an end to whatever a client leaves undone, and room for those that ask something."""

from __future__ import annotations

import asyncio
import json
import logging
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from threading import Event as Flag
from typing import Any

import pytest
from fastapi import FastAPI
from starlette.responses import StreamingResponse

from engramlog_server.api.http.feed import Limits
from engramlog_server.api.http.serve import ConnectionLimits, Server, serve
from tests.given.http import SHOWN, HttpStore, app_of, created
from tests.rows import each_row

NEVER = 10_000
"""Seconds that no test takes."""
PATIENT = ConnectionLimits(header_seconds=NEVER, resting_seconds=NEVER, write_seconds=NEVER)
TOKEN = "".join(f"{name}: {value}\r\n" for name, value in SHOWN.items())
GET = f"GET /health HTTP/1.1\r\nhost: 127.0.0.1\r\n{TOKEN}\r\n".encode()
WAIT = 60.0
"""Seconds after which a test that waits for something has failed."""


@contextmanager
def served(
    http: HttpStore, limits: ConnectionLimits = PATIENT, *, app: FastAPI | None = None, **given: Any
) -> Iterator[Server]:
    """A real server of the store."""
    running = serve(app or app_of(http.application), "127.0.0.1", 0, limits=limits, **given)
    try:
        yield running
    finally:
        running.stop()


def to(server: Server, sent: bytes) -> bytes:
    """A request with the host that it is sent to."""
    return sent.replace(b"host: 127.0.0.1\r\n", b"host: 127.0.0.1:%d\r\n" % server.port)


@contextmanager
def connected(server: Server, *sent: bytes) -> Iterator[socket.socket]:
    """A connection that sent this."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=WAIT) as opened:
        for piece in sent:
            opened.sendall(to(server, piece))
        yield opened


def to_the_end(opened: socket.socket) -> bytes:
    """All that comes until the server closes."""
    told = bytearray()
    try:
        while piece := opened.recv(65_536):
            told += piece
    except ConnectionResetError:
        pass
    return bytes(told)


def to_the_end_of_a_problem(opened: socket.socket) -> bytes:
    """One problem, whole."""
    told = bytearray()
    while not told.endswith(b"}"):
        piece = opened.recv(65_536)
        assert piece, told
        told += piece
    return bytes(told)


def answered(opened: socket.socket) -> bytes:
    """One answer of /health, whole."""
    told = bytearray()
    while b'{"status":"alive"}' not in told:
        piece = opened.recv(65_536)
        assert piece, told
        told += piece
    return bytes(told)


@each_row("sent", [b"", b"GET /health HT", GET[:-2] + b"x: y\r\n"])
def test_a_head_that_does_not_come_is_not_waited_for(http: HttpStore, sent: bytes) -> None:
    with served(http, PATIENT._replace(header_seconds=0.05)) as server, connected(server, sent) as opened:
        told = to_the_end(opened)
    assert told == b""


def test_a_byte_now_and_then_does_not_put_off_the_end_of_a_head(http: HttpStore) -> None:
    """A drip that goes on until the server has closed; each byte would be in time by itself."""
    with served(http, PATIENT._replace(header_seconds=0.2)) as server, connected(server, GET[:-2] + b"x: ") as opened:
        opened.settimeout(0.02)
        while True:
            try:
                opened.sendall(b"y")
                if opened.recv(10):
                    break
            except TimeoutError:
                continue
            except OSError:
                break


def test_a_head_after_an_answer_is_not_waited_for_either(http: HttpStore) -> None:
    with served(http, PATIENT._replace(header_seconds=0.05)) as server, connected(server, GET) as opened:
        answered(opened)
        opened.sendall(b"GET /hea")
        assert to_the_end(opened) == b""


def test_a_connection_that_rests_is_closed_after_a_while(http: HttpStore) -> None:
    with served(http, PATIENT._replace(resting_seconds=0)) as server, connected(server, GET) as opened:
        assert to_the_end(opened).endswith(b'{"status":"alive"}')


def test_requests_in_a_row_are_answered_one_after_the_other(http: HttpStore) -> None:
    with served(http) as server, connected(server, GET * 20) as opened:
        told = bytearray()
        while told.count(b'{"status":"alive"}') < 20:
            piece = opened.recv(65_536)
            assert piece
            told += piece


@each_row("sent", [b"GET /" + b"x" * 40_000, GET[:-2] + b"x: " + b"y" * 40_000, b"no HTTP at all\r\n\r\n"])
def test_a_head_too_long_or_broken_is_refused_with_what_is_allowed_and_closed(http: HttpStore, sent: bytes) -> None:
    with served(http) as server, connected(server, sent) as opened:
        told = to_the_end(opened)
    assert told.startswith(b"HTTP/1.1 400")
    assert b"Allowed: HTTP/1.1, with at most 32,768 bytes" in told


def test_a_head_within_its_bound_is_taken_whatever_body_comes_behind_it(http: HttpStore) -> None:
    head = GET[:-2] + b"content-type: application/json\r\nx: " + b"y" * 30_000 + b"\r\n"
    with served(http) as server, connected(server, head + b"content-length: 50000\r\n\r\n" + b" " * 50_000) as opened:
        assert answered(opened).startswith(b"HTTP/1.1 200")


def test_a_head_that_is_asked_for_alone_comes_alone(http: HttpStore) -> None:
    with served(http) as server, connected(server, GET.replace(b"GET", b"HEAD") + GET) as opened:
        told = answered(opened)
    head, _, rest = told.partition(b"\r\n\r\n")
    assert (head.startswith(b"HTTP/1.1 200"), rest.startswith(b"HTTP/1.1 200")) == (True, True)


@each_row(
    ("version", "framing"),
    [
        (b"1.1", b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"),
        (b"1.1", b"transfer-encoding: chunked\r\ncontent-length: 0\r\n"),
        (b"1.0", b"transfer-encoding: chunked\r\n"),
    ],
)
def test_a_request_whose_end_two_readers_would_see_in_two_places_is_refused_and_what_follows_is_not_read(
    http: HttpStore, version: bytes, framing: bytes
) -> None:
    head = GET[:-2].replace(b"HTTP/1.1", b"HTTP/" + version) + b"content-type: application/json\r\n" + framing
    with served(http) as server, connected(server, head + b"\r\n0\r\n\r\n" + GET) as opened:
        told = to_the_end(opened)
    assert told.startswith(b"HTTP/1.1 400")
    assert told.count(b"HTTP/1.1 ") == 1
    assert b"connection: close" in told.lower()
    assert json.loads(told.partition(b"\r\n\r\n")[2])["detail"].find("allowed: ") > 0


def broken(http: HttpStore) -> FastAPI:
    """The service with a route that fails."""
    app = app_of(http.application)

    @app.get("/health/broken")
    async def breaks() -> None:
        raise RuntimeError("nobody foresaw it")

    return app


def test_what_the_server_cannot_do_is_told_as_a_fact_with_its_traceback(http: HttpStore) -> None:
    app = broken(http)
    told: list[tuple[str, dict[str, Any]]] = []
    running = serve(app, "127.0.0.1", 0, limits=PATIENT, tell=lambda fact, **facts: told.append((fact, facts)))
    try:
        with connected(running, GET.replace(b"/health", b"/health/broken")) as opened:
            assert to_the_end_of_a_problem(opened).startswith(b"HTTP/1.1 500")
    finally:
        running.stop()
    ((fact, facts),) = told
    assert fact == "Exception in ASGI application"
    assert (facts["logger"], facts["alarm"], facts["exc_info"][0]) == ("uvicorn.error", True, RuntimeError)


def test_a_request_that_the_end_of_the_server_cuts_off_leaves_no_traceback(http: HttpStore) -> None:
    told: list[dict[str, Any]] = []
    head = f"POST /v1/events HTTP/1.1\r\nhost: 127.0.0.1\r\n{TOKEN}content-type: application/json\r\n"
    with served(http, tell=lambda _fact, **facts: told.append(facts)) as server, ExitStack() as opened:
        begun = head.encode() + b"expect: 100-continue\r\ncontent-length: 10\r\n\r\n"
        body = opened.enter_context(connected(server, begun))
        assert body.recv(100).startswith(b"HTTP/1.1 100")
        server.stop(WAIT)
    assert [facts for facts in told if "exc_info" in facts] == []


def test_a_client_that_takes_nothing_of_an_answer_is_cut(http: HttpStore) -> None:
    ended, app = Flag(), app_of(http.application)

    @app.get("/health/long")
    async def long() -> StreamingResponse:
        async def pieces() -> Any:
            try:
                while True:
                    await asyncio.sleep(0)
                    yield b" " * 1_000_000
            finally:
                ended.set()

        return StreamingResponse(pieces())

    with (
        served(http, PATIENT._replace(write_seconds=0.05), app=app) as server,
        connected(server, GET.replace(b"/health", b"/health/long")),
    ):
        assert ended.wait(WAIT)


def test_a_program_that_set_up_logging_before_silences_nothing_of_a_server(
    http: HttpStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging.getLogger("uvicorn.error"), "disabled", True)  # as `dictConfig` does by default
    told: list[str] = []
    with (
        served(http, app=broken(http), tell=lambda fact, **_: told.append(fact)) as server,
        connected(server, GET.replace(b"/health", b"/health/broken")) as asked,
    ):
        assert to_the_end_of_a_problem(asked).startswith(b"HTTP/1.1 500")
    assert told == ["Exception in ASGI application"]


def test_a_refused_body_is_read_off_so_that_the_answer_arrives_and_not_for_ever(http: HttpStore) -> None:
    head = f"POST /v1/events HTTP/1.1\r\nhost: 127.0.0.1\r\n{TOKEN}content-type: application/json\r\n".encode()
    with (
        served(http, PATIENT._replace(header_seconds=0.2)) as server,
        connected(server, head + b"content-length: 1000000000\r\n\r\n", b" " * 1_000_000) as opened,
    ):
        told = to_the_end(opened)
        assert told.startswith(b"HTTP/1.1 413")
        assert json.loads(told.partition(b"\r\n\r\n")[2])["allowed"] == 64 * 1024 * 1024


def test_the_connection_that_has_been_idle_longest_makes_room(http: HttpStore) -> None:
    with served(http, PATIENT._replace(most=8)) as server, ExitStack() as opened:
        silent = [opened.enter_context(connected(server)) for _ in range(7)]
        asked = opened.enter_context(connected(server, GET))
        answered(asked)
        for _ in range(7):
            answered(opened.enter_context(connected(server, GET)))
        assert [to_the_end(one) for one in silent] == [b""] * 7
        asked.sendall(to(server, GET))
        answered(asked)


def test_appends_go_on_while_more_connections_are_idle_than_may_be_open(http: HttpStore) -> None:
    with served(http, PATIENT._replace(most=50)) as server, ExitStack() as opened:
        for number in range(5):
            for _ in range(60):
                opened.enter_context(connected(server))
            body = json.dumps([created(f"idle-{number}", owner="idle")])
            head = f"POST /v1/events HTTP/1.1\r\nhost: 127.0.0.1\r\n{TOKEN}content-type: application/json\r\n"
            text = f"{head}content-length: {len(body)}\r\nconnection: close\r\n\r\n{body}".encode()
            with connected(server, text) as append:
                assert to_the_end(append).startswith(b"HTTP/1.1 200")


def test_where_every_connection_is_busy_a_new_one_is_told_when_to_come_again_and_is_counted(http: HttpStore) -> None:
    leave = Flag()
    app = app_of(http.application)

    @app.get("/health/slow")
    async def slow() -> StreamingResponse:
        async def pieces() -> Any:
            yield b"begun"
            while not leave.is_set():  # noqa: ASYNC110 - a thread says it
                await asyncio.sleep(0.01)

        return StreamingResponse(pieces())

    running = serve(app, "127.0.0.1", 0, limits=PATIENT._replace(most=8))
    try:
        with ExitStack() as opened:
            for _ in range(8):
                busy = opened.enter_context(connected(running, GET.replace(b"/health", b"/health/slow")))
                assert busy.recv(100).startswith(b"HTTP/1.1 200")
            with connected(running, GET) as late:
                told = to_the_end(late)
            assert told.startswith(b"HTTP/1.1 503")
            assert b"retry-after: 1" in told
            assert app.state.parts.metrics.refused_requests.labels("connections")._value.get() == 1
            leave.set()
    finally:
        leave.set()
        running.stop()


def test_feeds_are_capped_in_all_and_for_each_owner(http: HttpStore) -> None:
    app = app_of(http.application, limits=Limits(most=4, most_of_owner=2))
    running = serve(app, "127.0.0.1", 0, limits=PATIENT)

    def feed(owner: str) -> bytes:
        return GET.replace(b"/health", f"/v1/owners/{owner}/feed".encode())

    try:
        with ExitStack() as opened:
            for owner in ("a", "a", "b", "b"):
                one = opened.enter_context(connected(running, feed(owner)))
                assert one.recv(100).startswith(b"HTTP/1.1 200")
            of_owner = to_the_end_of_a_problem(opened.enter_context(connected(running, feed("a"))))
            assert of_owner.startswith(b"HTTP/1.1 429")
            assert b"retry-after: 5" in of_owner
            in_all = to_the_end_of_a_problem(opened.enter_context(connected(running, feed("c"))))
            assert b'"limit":4' in in_all
    finally:
        running.stop()
