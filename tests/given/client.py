"""A service on a loopback port, a proxy before it that loses answers when told to, and both kinds of client."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from uuid import uuid4

import httpx2

from engramlog import AsyncMemory, Memory, Retry
from engramlog_server.api.http.serve import serve
from engramlog_server.events.partitions import LogKeys, partition_of
from engramlog_server.events.redis.wire import Wire
from tests.given.http import QUICK, SHOWN, HttpStore, app_of, http_store
from tests.patience import PATIENCE

KINDS = ("sync", "async")
EAGER = Retry(first=0.001, longest=0.002)
UNREADABLE = """
local seq = redis.call('HINCRBY', KEYS[1], 'head', 1)
redis.call('XADD', KEYS[2], seq .. '-0', 't', 'MemoryMentioned.99', 'i', ARGV[2], 'o', ARGV[1], 'e', '{}',
    'r', 1, 'p', 'local', 'l', '0:0', 'd', '', 'c', ('0'):rep(32), 's', ('0'):rep(16))
return seq"""
"""In one step: a worker that reads in between would find a log that ends before its head."""


def append_unreadable(wire: Wire, tag: str, owner: str, raw_id: bytes = b"") -> int:
    """Append an event of a version that no release can read; return its seq."""
    keys = LogKeys(tag)
    return int(wire.call("EVAL", UNREADABLE, 2, keys.meta, keys.stream, owner, raw_id or uuid4().bytes))


@dataclass
class Service:
    """A running service: where it is, and the store behind it."""

    url: str
    http: HttpStore

    def log(self, owner: str) -> list[tuple[str, str]]:
        """Every change of an owner: the event and what it decided."""
        return [(one["event"], one["decision"]) for one in self.http.application.reader.history(owner)["changes"]]

    def poison(self, owner: str) -> str:
        """Append an event that no release can read, so that the owner is quarantined there; its position."""
        store = self.http.store
        partition = partition_of(owner, store.identity.partitions)
        wire = store.wire()
        seq = append_unreadable(wire, store.identity.tags[partition], owner)
        wire.close()
        return f"{partition}:{seq}"


@contextmanager
def service(folder: Path, *, worker: bool = True) -> Iterator[Service]:
    """The real service on a free loopback port."""
    with http_store(folder, worker=worker) as http:
        running = serve(app_of(http.application, limits=QUICK), "127.0.0.1", 0)
        try:
            yield Service(running.url, http)
        finally:
            running.stop()


def new_owner() -> str:
    """An owner whom no other test knows, of a name that has to be percent-encoded."""
    return f"林/α@{uuid4().hex}"


def owner_of(memory: Any) -> str:
    """Whose memories a scoped client of either kind is about."""
    return str((memory.client if isinstance(memory, Awaited) else memory).scope.owner)


class Awaited:
    """An `AsyncMemory` whose verbs are carried out to the end when called, so that one test serves both kinds."""

    def __init__(self, client: AsyncMemory, runner: asyncio.Runner) -> None:
        self.client = client
        self._runner = runner

    def of(self, owner: str) -> Awaited:
        return Awaited(self.client.of(owner), self._runner)

    def __getattr__(self, name: str) -> Any:
        verb = getattr(self.client, name)
        return lambda *args, **named: self._runner.run(verb(*args, **named))


@contextmanager
def connected(kind: str, url: str, **options: Any) -> Iterator[Any]:
    """A client of one kind."""
    options = {"retry": EAGER, "timeout": PATIENCE} | options
    if kind == "sync":
        with Memory(url, **options) as memory:
            yield memory
        return
    with asyncio.Runner() as runner:
        memory = AsyncMemory(url, **options)
        yield Awaited(memory, runner)
        runner.run(memory.aclose())


@dataclass
class Proxy:
    """What happens to the next requests, in order; once nothing is left, all pass.

    `pass`; `lose`: carried out, and the answer lost; `cut`: the answer breaks off; `refuse`: not carried out, and no answer;
    a number: answered with that status, not carried out, `Retry-After: 0`.
    """

    url: str = ""
    fates: list[str | int] = field(default_factory=list)
    fates_of_posts: Iterator[str | int] | None = None
    """The same for POSTs alone, which no other request takes from."""
    asked: list[tuple[str, str, bytes]] = field(default_factory=list)
    """Method, path and body of every request that came."""

    def posted(self) -> list[bytes]:
        """The bodies of all POSTs, in order."""
        return [body for method, _, body in self.asked if method == "POST"]


@contextmanager
def proxy(target: str) -> Iterator[Proxy]:
    """A proxy before `target` on a free port."""
    told = Proxy()
    onward = httpx2.Client(base_url=target, trust_env=False, headers=SHOWN, timeout=PATIENCE)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def _meet(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            told.asked.append((self.command, self.path, body))
            fate = told.fates.pop(0) if told.fates else "pass"
            if self.command == "POST" and told.fates_of_posts is not None:
                fate = next(told.fates_of_posts, "pass")
            if fate == "refuse":
                self.close_connection = True
                return
            if isinstance(fate, int):
                self._answer(fate, b'{"detail": "not now", "error": "StoreUnavailable"}', {"retry-after": "0"})
                return
            headers = {"content-type": self.headers["content-type"]} if body else {}
            answer = onward.request(self.command, self.path, content=body, headers=headers)
            if fate == "lose":
                self.close_connection = True
                return
            self._answer(answer.status_code, answer.content, {}, cut=fate == "cut")

        def do_GET(self) -> None:
            self._meet()

        def do_POST(self) -> None:
            self._meet()

        def _answer(self, status: int, body: bytes, headers: dict[str, str], *, cut: bool = False) -> None:
            self.send_response_only(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body[: len(body) // 2] if cut else body)
            self.close_connection = cut

        def log_message(self, *arguments: object) -> None:
            """Nothing on the terminal."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True

    with onward, Server(("127.0.0.1", 0), Handler) as server:
        told.url = f"http://127.0.0.1:{server.server_address[1]}"
        serving = Thread(target=lambda: server.serve_forever(poll_interval=0.02))
        serving.start()
        try:
            yield told
        finally:
            with suppress(OSError):
                server.shutdown()
            serving.join()
