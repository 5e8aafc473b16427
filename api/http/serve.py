"""Running the HTTP face: uvicorn on ports and unix sockets, in a thread of its own, stopped cleanly."""

from __future__ import annotations

import asyncio
import logging
import os
import resource
import socket
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from threading import Thread, get_ident
from time import monotonic
from typing import Any, NamedTuple

import h11
import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.h11_impl import H11Protocol

from engramlog_server.api.http.listener import AT_THE_FOLDER, LISTENER, OF_THIS_MACHINE, Listener, claim
from engramlog_server.api.http.ports import taken
from engramlog_server.api.http.problem import problem_of
from engramlog_server.events.errors import EngramlogError, ServerBusy

HEAD_BYTES = 32 * 1024
"""Of a request's line and headers together."""
TOLD = 100
"""So many connections beyond the limit get a 503; more are cut."""


class ConnectionLimits(NamedTuple):
    """Times are seconds."""

    most: int = 1_000
    """Open connections of one listener; a quarter of the files that the process may open where that is less."""
    header_seconds: float = 10.0
    """From the first byte of a request, or from the start of the connection, to the end of the head."""
    resting_seconds: int = 15
    """Between an answer and the next request."""
    write_seconds: float = 60.0
    """How long a client may take nothing of an answer."""


@dataclass(slots=True)
class OpenConnections:
    """What the connections of one listening socket share."""

    listener: Listener
    limits: ConnectionLimits
    refused: Callable[[str], None]
    """Counts a refused connection."""
    open: dict[HttpConnection, None] = field(default_factory=dict)
    """Open connections; the one that has been idle longest comes first."""

    @property
    def most(self) -> int:
        """How many may be open."""
        files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        return self.limits.most if files == resource.RLIM_INFINITY else max(min(self.limits.most, files // 4), 8)


class HttpConnection(H11Protocol):
    """A connection that came through a door."""

    def __init__(self, door: OpenConnections, **given: Any) -> None:
        super().__init__(**given)
        self._door = door
        self._late: asyncio.TimerHandle | None = None
        self._stuck: asyncio.TimerHandle | None = None

    @property
    def idle(self) -> bool:
        """Whether no request is in hand."""
        return self.cycle is None or self.cycle.response_complete

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a place, if need be that of the connection that has been idle longest."""
        super().connection_made(transport)
        self.client = self.client or _user_of(transport)
        self._await_head()
        door = self._door
        if len(door.open) >= door.most:
            idle = next((one for one in door.open if one.idle), None)
            if idle is not None:
                del door.open[idle]
                idle.transport.abort()
            else:
                door.refused("connections")
                self.app = _busy
                if len(door.open) >= door.most + TOLD:
                    transport.abort()
                    return
        door.open[self] = None

    def connection_lost(self, exc: Exception | None) -> None:
        """Give the place back."""
        self._door.open.pop(self, None)
        for timer in filter(None, (self._late, self._stuck)):
            timer.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read on; a head that has begun must end in time, and so must the rest of a refused body."""
        super().data_received(data)
        if self.idle:
            self._await_head()
        elif self._late is not None:
            self._late.cancel()
            self._late = None

    def _await_head(self) -> None:
        if self._late is None:
            self._late = self.loop.call_later(self._door.limits.header_seconds, self.transport.close)

    def on_response_complete(self) -> None:
        """Rest from now on."""
        if self in self._door.open:
            self._door.open[self] = self._door.open.pop(self)
        super().on_response_complete()

    def send_400_response(self, msg: str) -> None:
        """Say what is read, and close."""
        if self.conn.our_state is h11.SEND_BODY:
            self.transport.close()
        else:
            super().send_400_response(
                f"{msg} Allowed: HTTP/1.1, with at most {HEAD_BYTES:,} bytes of line and headers."
            )

    def pause_writing(self) -> None:
        """The client takes nothing."""
        super().pause_writing()
        self._stuck = self.loop.call_later(self._door.limits.write_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        """The client takes again."""
        super().resume_writing()
        if self._stuck is not None:
            self._stuck.cancel()


async def _busy(scope: Any, receive: Any, send: Any) -> None:
    """Answer on a connection beyond the limit."""
    busy = ServerBusy("every connection has a request in hand; come again", retry_after=1)
    answer = problem_of(busy)
    answer.headers["connection"] = "close"
    await answer(scope, receive, send)


def _user_of(transport: asyncio.Transport) -> tuple[str, int] | None:
    """The caller at a unix socket, as the kernel tells; where it does not, the file lets in no other user."""
    line: socket.socket | None = transport.get_extra_info("socket")
    if line is None or line.family is not socket.AF_UNIX:
        return None
    if not hasattr(socket, "SO_PEERCRED"):
        return AT_THE_FOLDER, os.geteuid()
    return AT_THE_FOLDER, struct.unpack("3i", line.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[1]


STOP_SECONDS = 1
"""How long requests in hand may take once the server stops: heavy questions and feeds are ended at once."""
ENDED_SECONDS = 5.0
"""How long the end of its thread is waited for."""
CLOSING_SECONDS = 5.0
"""How long the other end of a TLS connection may take to close, too."""
BACKLOG = 512
"""Connections that wait to be accepted."""
LOGGERS = (logging.getLogger("uvicorn.error"), logging.getLogger("asyncio"))
"""What the server's libraries write to."""
Tell = Callable[..., None]


def silent(_fact: str, **_facts: Any) -> None:
    """Tells nobody."""


class Listening(NamedTuple):
    """A socket that listens, and what holds for whoever comes by it."""

    socket: socket.socket
    listener: Listener = OF_THIS_MACHINE


class ListeningServer(uvicorn.Server):
    """uvicorn with a listener to each socket: it knows one TLS for all of them, and tells no request by which it came."""

    def __init__(
        self,
        app: Any,
        listening: Sequence[Listening],
        limits: ConnectionLimits = ConnectionLimits(),  # noqa: B008 - immutable
        refused: Callable[[str], None] = lambda _reason: None,
        on_started: Callable[[], None] = lambda: None,
        on_ending: Callable[[], None] = lambda: None,
    ) -> None:
        """`refused` counts what could not be let in, by reason; `on_ending` ends what would never end by itself."""
        config = uvicorn.Config(
            app,
            log_config=None,
            log_level=logging.ERROR,
            access_log=False,
            lifespan="on",
            ws="none",
            server_header=False,
            proxy_headers=False,
            backlog=BACKLOG,
            h11_max_incomplete_event_size=HEAD_BYTES,
            timeout_keep_alive=limits.resting_seconds,
            timeout_graceful_shutdown=STOP_SECONDS,
        )
        super().__init__(config)
        self._doors = [(one.socket, OpenConnections(one.listener, limits, refused)) for one in listening]
        self._refused, self._on_started, self._on_ending = refused, on_started, on_ending
        self._answered = 0
        self._asked_at = monotonic()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:  # noqa: ARG002 - as uvicorn calls it
        """Start the application, then let callers in."""
        asyncio.get_running_loop().set_exception_handler(self._troubled)
        await super().startup([])
        for listener, door in self._doors:
            self.servers.append(await self._listen(listener, door))
        self._on_started()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """uvicorn waits for open connections before it tells the application to stop."""
        self._on_ending()
        await super().shutdown(sockets)

    async def _listen(self, listener: socket.socket, door: OpenConnections) -> asyncio.Server:
        made: Callable[[], asyncio.Protocol] = partial(
            HttpConnection,
            door,
            config=self.config,
            server_state=self.server_state,
            app_state={**self.lifespan.state, LISTENER: door.listener},
        )
        certificate = door.listener.certificate
        tls: dict[str, Any] = {}
        if certificate is not None:
            tls = {
                "ssl": certificate.context,
                "ssl_handshake_timeout": door.limits.header_seconds,
                "ssl_shutdown_timeout": CLOSING_SECONDS,
            }
        return await asyncio.get_running_loop().create_server(made, sock=listener, backlog=self.config.backlog, **tls)

    def _troubled(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Count what cannot be accepted, which asyncio logs hundreds of times a second; log the rest as it does."""
        if "accept" in context["message"]:
            self._refused("files")
        else:
            loop.default_exception_handler(context)

    def unasked_seconds(self) -> float:
        """How long ago the last request was over, or the server began; 0 while one is in hand. Asked often, for any thread."""
        if self.server_state.tasks or self.server_state.total_requests != self._answered:
            self._answered, self._asked_at = self.server_state.total_requests, monotonic()
        return 0.0 if self.server_state.tasks else monotonic() - self._asked_at


class ThreadLines(logging.Handler):
    """Tells what one thread writes to a logger as facts, with tracebacks. Loggers belong to the process, so the handler filters."""

    def __init__(self, tell: Tell, thread: int) -> None:
        super().__init__()
        self._tell = tell
        self._thread = thread

    def emit(self, record: logging.LogRecord) -> None:
        """One line. A request that the end of the server cut off is no failure."""
        error = record.exc_info[0] if record.exc_info else None
        if record.thread != self._thread or error is asyncio.CancelledError:
            return
        facts: dict[str, Any] = {"exc_info": record.exc_info} if error else {}
        self._tell(record.getMessage().strip(), logger=record.name, alarm=record.levelno >= logging.WARNING, **facts)


class Server:
    """A running server: its address, and how to stop it."""

    def __init__(
        self,
        app: FastAPI,
        listening: Sequence[Listening],
        on_ready: Callable[[Server], None],
        limits: ConnectionLimits,
        tell: Tell,
    ) -> None:
        first, self.listener = listening[0]
        unix = first.family is socket.AF_UNIX
        host, port = (first.getsockname(), 0) if unix else first.getsockname()[:2]
        self.host: str = host
        """Of the first listener; a unix socket's path, which has no port."""
        self.port: int = port
        self.failure: BaseException | None = None
        """Why it ended by itself."""
        self._listeners = [one.socket for one in listening]
        self._tell = tell
        parts, metrics = app.state.parts, app.state.parts.metrics

        def end() -> None:
            for one in (app.state.admission, parts.feeds, parts.waits):
                one.close()

        def refused(reason: str) -> None:
            metrics.refused_requests.labels(reason).inc()

        self._uvicorn = ListeningServer(app, listening, limits, refused, lambda: on_ready(self), end)
        self.unasked_seconds = self._uvicorn.unasked_seconds
        self._thread = Thread(target=self._run, name="http", daemon=True)
        for listener in self._listeners:
            listener.listen(BACKLOG)  # now, and not once the thread has come so far: whoever is told of it finds it
        self._thread.start()

    @property
    def url(self) -> str:
        """Where it listens, first of all."""
        if self._listeners[0].family is socket.AF_UNIX:
            return f"unix://{self.host}"
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.listener.scheme}://{host}:{self.port}"

    @property
    def running(self) -> bool:
        """Whether it still serves."""
        return self._thread.is_alive()

    def _run(self) -> None:
        heard = ThreadLines(self._tell, get_ident())
        for one in LOGGERS:
            one.disabled = False  # whoever set up logging in this process before may have silenced what it did not know
            one.addHandler(heard)
        try:
            asyncio.run(self._uvicorn.serve(sockets=self._listeners))
        except BaseException as error:  # noqa: BLE001 - the thread's end: whoever waits for it is told
            self.failure = error
        finally:
            for one in LOGGERS:
                one.removeHandler(heard)
            for listener in self._listeners:
                listener.close()

    def wait(self, seconds: float | None = None) -> None:
        """Wait until it has ended. Raises EngramlogError where it failed."""
        self._thread.join(seconds)
        if self.failure is not None:
            raise EngramlogError(f"the HTTP server at {self.url} failed: {self.failure!r}") from self.failure

    def stop(self, seconds: float = ENDED_SECONDS) -> None:
        """Take no more requests, end the feeds, finish what is in hand (a second at most), and end the thread.

        What computes on after `seconds` is left behind.
        """
        self._uvicorn.should_exit = True
        self.wait(seconds)
        if self.running:
            self._tell("http server not stopped", seconds=round(seconds, 3), url=self.url, alarm=True)


def serve(
    app: FastAPI,
    host: str,
    port: int,
    *,
    claimed: socket.socket | None = None,
    beside: Sequence[socket.socket | Listening] = (),
    listener: Listener = OF_THIS_MACHINE,
    on_ready: Callable[[Server], None] = lambda _server: None,
    limits: ConnectionLimits = ConnectionLimits(),  # noqa: B008 - immutable
    tell: Tell = silent,
) -> Server:
    """Serve `app` on an address from a thread; port 0 takes a free one (`Server.port` tells which).

    `claimed` is the port as `claim` gave it, where that was asked for before; `beside` are sockets to listen on besides.
    `listener` says what holds for whoever comes by the port: unless told that is of loopback, and so are those besides.
    `on_ready` is called from that thread once requests are answered; they wait until then, none is refused.
    `tell` is told what the server's libraries log. Raises BadSetting for an address that others could reach, and for a
    port that is taken.
    """
    first = Listening(listening(host, port, claimed=claimed, listener=listener), listener)
    others = [one if isinstance(one, Listening) else Listening(one) for one in beside]
    return Server(app, [first, *others], on_ready, limits, tell)


def serve_on(app: FastAPI, listener: socket.socket, *, tell: Tell = silent) -> Server:
    """Serve `app` on a socket that is bound already, of a file that nobody but this user can reach; otherwise as `serve`."""
    return Server(app, [Listening(listener)], lambda _server: None, ConnectionLimits(), tell)


def listening(
    host: str,
    port: int,
    setting: str = "ENGRAMLOG_PORT",
    *,
    claimed: socket.socket | None = None,
    listener: Listener = OF_THIS_MACHINE,
) -> socket.socket:
    """A socket that listens on an address. Raises as `serve` does; `setting` is what the port was read from."""
    found = claimed or claim(host, port, setting, listener=listener)
    try:
        found.listen(socket.SOMAXCONN)
    except OSError as error:
        raise taken(found, host, port, setting, error) from None
    return found
