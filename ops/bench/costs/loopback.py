"""The application of a bench's store over HTTP on loopback, in this process: what a page asks, asked by a program."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple
from urllib.parse import quote, urlencode

from api.application import Application
from events.redis.wire import WirePool
from ops.bench.server import BenchServer
from ops.wiring import quiet

EMPTY = "/empty"
"""Answers with nothing: what HTTP itself takes."""


class Loopback(NamedTuple):
    """One connection to it, with the token of its folder."""

    application: Application
    wires: WirePool
    """Of the application."""
    connection: HTTPConnection
    shown: Mapping[str, str]

    def get(self, path: str, **asked: str | int) -> bytes:
        """A GET's answer, which must be there."""
        self.connection.request("GET", f"{path}?{urlencode(asked)}" if asked else path, headers=dict(self.shown))
        answer = self.connection.getresponse()
        told = answer.read()
        assert answer.status == 200, told
        return told


def of_owner(owner: str, *parts: str) -> str:
    """A path below an owner's."""
    return "/".join(("/v1/owners", *(quote(one, safe="") for one in (owner, *parts))))


@contextmanager
def over_loopback(server: BenchServer) -> Iterator[Loopback]:
    """An application that holds nothing yet, for the length of the block."""
    from api.http.app import create_app  # noqa: PLC0415 - FastAPI takes a third of a second to import
    from api.http.server.serve import serve  # noqa: PLC0415
    from ops.catch_up import FoldCatchUp  # noqa: PLC0415
    from ops.joined import JoinedApplication  # noqa: PLC0415
    from ops.settings import load_settings  # noqa: PLC0415
    from ops.store import open_the_store  # noqa: PLC0415
    from ops.token import TokenFile, make_token  # noqa: PLC0415

    with TemporaryDirectory(prefix="engramlog-bench-") as folder, ExitStack() as stack:
        settings = load_settings().model_copy(update={"redis_url": server.url, "data": Path(folder) / "data"})
        store = stack.enter_context(open_the_store(settings))
        application = JoinedApplication(store, FoldCatchUp(store, quiet)).join()
        app = create_app(application, admits=TokenFile(Path(folder)))
        shown = {"authorization": f"Bearer {make_token(Path(folder))}"}
        app.add_api_route(EMPTY, _empty, methods=["GET"])
        http = serve(app, "127.0.0.1", 0)
        try:
            connection = HTTPConnection(http.host, http.port)
            asking = Loopback(application, store.wires, connection, shown)
            asking.get(EMPTY)  # the first request of an application builds its routes
            yield asking
            connection.close()
        finally:
            http.stop()


def _empty() -> dict[str, str]:
    return {}
