"""A port on which a process tells its metrics, and nothing else: no token is asked for, and nothing of anybody's is told.

Small on purpose: a fold worker loads no web framework for it. Connections are few, short, and never kept open.
"""

from __future__ import annotations

import socket
from contextlib import closing
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import BoundedSemaphore, Thread
from typing import Any, Self

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest

from engramlog_server.api.http.server.ports import bound
from engramlog_server.events.errors import BadSetting
from engramlog_server.events.text.origins import is_loopback

SETTING = "ENGRAMLOG_METRICS"
MOST_AT_ONCE = 8
"""Scrapes at once; who comes on top is closed."""
SECONDS = 3.0
"""How long a client may keep silent within a request."""
MOST_PORT = 65_535


def ports_of(port: int, processes: int) -> list[int]:
    """The ports of so many processes: one after the other from `port` on, or a free one each where it is 0."""
    if port + processes - 1 > MOST_PORT:
        raise BadSetting(
            f"{SETTING}: got {port} for {processes} workers, a port each from there on; allowed: at most"
            f" {MOST_PORT - processes + 1}",
            setting=SETTING,
            got=port,
        )
    return [port + number if port else 0 for number in range(processes)]


def refuse_taken(host: str, ports: list[int]) -> None:
    """Raise BadSetting for the first of these ports that is taken, before a process is started that would end by it."""
    for port in ports:
        with closing(bound(host, port, SETTING)):
            pass


class MetricsPort:
    """Answers `GET /metrics` with what a registry tells, until `close`. Host names other than this machine's own are refused where
    it listens on this machine alone: a page in a browser cannot ask under a name of its own."""

    def __init__(self, registry: CollectorRegistry, host: str, port: int) -> None:
        self._server = _Server(registry, host, bound(host, port, SETTING))
        self._thread = Thread(target=self._server.serve_forever, name="metrics", daemon=True)

    @property
    def url(self) -> str:
        """Where it is scraped."""
        host, port = self._server.server_address[:2]
        shown = host.decode() if isinstance(host, bytes | bytearray) else str(host)
        return f"http://{f'[{shown}]' if ':' in shown else shown}:{port}/metrics"

    def start(self) -> Self:
        """Begin to answer."""
        self._thread.start()
        return self

    def close(self) -> None:
        """Answer no more."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(SECONDS)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, registry: CollectorRegistry, host: str, listener: socket.socket) -> None:
        super().__init__(listener.getsockname()[:2], _Scrape, bind_and_activate=False)
        self.socket.close()
        self.socket = listener
        self.server_address = listener.getsockname()[:2]
        self.registry, self.own_only = registry, is_loopback(host)
        self._room = BoundedSemaphore(MOST_AT_ONCE)
        self.server_activate()

    def process_request(self, request: Any, client_address: Any) -> None:
        """In a thread, where there is room for one more."""
        if not self._room.acquire(blocking=False):
            self.shutdown_request(request)
            return
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """One connection."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._room.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Nothing: a client that left is nobody's trouble, and a thread's traceback is no line of the log."""


class _Scrape(BaseHTTPRequestHandler):
    timeout = SECONDS
    server: _Server

    def do_GET(self) -> None:
        """The metrics, at the one path there is."""
        if self.server.own_only and not is_loopback(_host(self.headers.get("host", ""))):
            self._answer(HTTPStatus.FORBIDDEN, b"this port is for this machine alone\n")
        elif self.path.partition("?")[0] != "/metrics":
            self._answer(HTTPStatus.NOT_FOUND, b"metrics are at /metrics\n")
        else:
            self._answer(HTTPStatus.OK, generate_latest(self.server.registry), CONTENT_TYPE_LATEST)

    def _answer(self, status: HTTPStatus, body: bytes, kind: str = "text/plain; charset=utf-8") -> None:
        self.send_response(status)
        for name, value in (
            ("content-type", kind),
            ("content-length", str(len(body))),
            ("cache-control", "no-store"),
            ("x-content-type-options", "nosniff"),
            ("connection", "close"),
        ):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def version_string(self) -> str:
        """What the server is called in answers."""
        return "engramlog"

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - as the library calls it
        """Nothing: a scrape every few seconds is no fact."""


def _host(told: str) -> str:
    """The name in a Host header, without its port."""
    return told[1 : told.find("]")] if told.startswith("[") else told.partition(":")[0]
