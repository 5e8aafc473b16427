"""A scripted embeddings endpoint on loopback: what it answers is told beforehand, what it was asked is kept."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any, NamedTuple


class Asked(NamedTuple):
    """A request as it came."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def inputs(self) -> list[str]:
        return list(self.body["input"])


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


def vectors(*rows: Sequence[Any]) -> dict[str, Any]:
    """An answer with these vectors, well-formed."""
    return {"object": "list", "data": [{"index": at, "embedding": list(row)} for at, row in enumerate(rows)]}


class Endpoint:
    """The replies are given in turn, the last one for ever; without any, each text's vector is (its length, 1, 0)."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self.replies: list[Reply] = []
        self.url = ""
        self.ended = Event()

    @property
    def inputs(self) -> list[str]:
        """Every text that came, in order."""
        return [text for asked in self.asked for text in asked.inputs]

    def reply(self, asked: Asked) -> Reply:
        self.asked.append(asked)
        if not self.replies:
            return Reply(body=vectors(*([len(text), 1, 0] for text in asked.inputs)))
        return self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]


@contextmanager
def endpoint() -> Iterator[Endpoint]:
    """A running endpoint on a free port."""
    scripted = Endpoint()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            sent = self.rfile.read(int(self.headers["content-length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            self._answer(scripted.reply(Asked(self.path, headers, json.loads(sent))))

        def _answer(self, reply: Reply) -> None:
            if reply.silent:
                scripted.ended.wait(30)
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
        serving = Thread(target=lambda: server.serve_forever(poll_interval=0.02))
        serving.start()
        try:
            yield scripted
        finally:
            scripted.ended.set()
            server.shutdown()
            serving.join()
