"""Whoever is told of a service finds it: every socket lets callers in from the first moment, and they wait until it answers."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from threading import Event as Flag
from typing import Any

from fastapi import FastAPI

from engramlog_server.api.http.app import create_app
from engramlog_server.api.http.serve import Server, serve, serve_on
from tests.patience import PATIENCE
from tests.rows import each_row

WAYS: dict[str, Callable[[FastAPI, socket.socket], Server]] = {
    "beside a port": lambda app, listener: serve(app, "127.0.0.1", 0, beside=[listener]),
    "alone": serve_on,
}


class _NoApplication:
    """Enough of an application to start with."""

    def __getattr__(self, _name: str) -> Any:
        return self

    def __call__(self, *_told: Any, **_more: Any) -> Any:
        return self


@each_row("way", WAYS)
def test_a_socket_of_a_service_that_has_not_started_yet_lets_callers_in(way: str, tmp_path: Path) -> None:
    may_start, folder = Flag(), tmp_path / "s"

    app = create_app(_NoApplication())  # type: ignore[arg-type]
    started = app.router.lifespan_context

    @asynccontextmanager
    async def starting(one: FastAPI) -> AsyncIterator[Any]:
        may_start.wait(PATIENCE)
        async with started(one) as state:
            yield state

    app.router.lifespan_context = starting
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(str(folder))
    server = WAYS[way](app, listener)
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as caller:
            caller.settimeout(PATIENCE)
            caller.connect(str(folder))  # nobody answers yet
            caller.sendall(b"GET /nowhere HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
            may_start.set()
            assert caller.recv(9) == b"HTTP/1.1 "
    finally:
        may_start.set()
        server.stop(PATIENCE)
