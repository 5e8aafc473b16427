"""A scripted endpoint on loopback, real HTTP: what it answers is told beforehand, what it was asked is kept."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Lock, Thread
from typing import Any, NamedTuple, TypeVar

from tests.patience import PATIENCE


class Asked(NamedTuple):
    """A request as it came."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def inputs(self) -> list[str]:
        """The texts of a request for vectors."""
        return list(self.body["input"])

    @property
    def said(self) -> str:
        """Everything that a model was sent, as one text."""
        return "\n".join(one["content"] for one in self.body["messages"] if one.get("content"))


class Reply(NamedTuple):
    """What is answered: `body` as bytes, or anything to be sent as JSON."""

    status: int = 200
    body: Any = b""
    headers: Mapping[str, str] = {}
    length: int | None = None
    """Told as Content-Length where it is not the body's."""
    parts: Sequence[bytes] = ()
    """Sent instead of the body, one after the other and a twentieth of a second apart."""
    silent: bool = False
    """Nothing is answered before the server ends."""


class Scripted:
    """The replies, or functions of what is asked, are given in turn, the last one until others are; without any, the usual one."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self.replies: list[Reply | Callable[[Asked], Reply]] = []
        self.url = ""
        self.came = Event()
        """Set when something is asked."""
        self.ended = Event()
        self._lock = Lock()
        self._last: Reply | Callable[[Asked], Reply] | None = None

    def anew(self, *replies: Reply | Callable[[Asked], Reply]) -> None:
        """Forget what was asked, and give these replies from now on."""
        with self._lock:
            self.asked, self.replies, self._last = [], list(replies), None
            self.came.clear()

    def usual(self, asked: Asked) -> Reply:
        """What is answered where nothing was told."""
        raise NotImplementedError

    def reply(self, asked: Asked) -> Reply:
        with self._lock:
            self.asked.append(asked)
            self.came.set()
            if len(self.replies) > 1 and self.replies[0] is self._last:
                self.replies.pop(0)
            told = self._last = self.replies[0] if self.replies else self.usual
        return told if isinstance(told, Reply) else told(asked)


S = TypeVar("S", bound=Scripted)


@contextmanager
def serving(scripted: S) -> Iterator[S]:
    """The endpoint, running on a free port."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # else a body waits 40 ms for the client's word that it has the head

        def do_POST(self) -> None:
            sent = self.rfile.read(int(self.headers["content-length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            self._answer(scripted.reply(Asked(self.path, headers, json.loads(sent))))

        def _answer(self, reply: Reply) -> None:
            if reply.silent:
                scripted.ended.wait(PATIENCE)
                self.close_connection = True
                return
            body = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
            self.send_response_only(reply.status)  # without a Date, which belongs to the script
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(body) if reply.length is None else reply.length))
            self.end_headers()
            for part in reply.parts:
                self.wfile.write(part)
                if scripted.ended.wait(0.05):
                    break
            if not reply.parts:
                self.wfile.write(body)
            self.close_connection = reply.length is not None

        def log_message(self, *arguments: object) -> None:
            """Nothing on the terminal."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *arguments: object) -> None:
            """A client that went away is what some tests are about."""

    with Server(("127.0.0.1", 0), Handler) as server:
        scripted.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
        running = Thread(target=lambda: server.serve_forever(poll_interval=0.02))
        running.start()
        try:
            yield scripted
        finally:
            scripted.ended.set()
            server.shutdown()
            running.join()
