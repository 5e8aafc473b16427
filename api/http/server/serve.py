"""Running the HTTP face: uvicorn in a thread of its own on ports and unix sockets, stopped cleanly."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Callable, Sequence
from threading import Thread, get_ident

import uvicorn
from fastapi import FastAPI

from api.http.server.claiming import check_host, claim, taken
from api.http.server.connection import protocol_of
from api.http.server.connections import ConnectionLimits, Connections, connections_within, open_files, quiet_loop
from api.http.server.lines import Malformed, Tell, ThreadLines, not_malformed, silent
from api.http.server.listener import OF_THIS_MACHINE, Listener
from api.http.server.listening import Listening, ListeningServer
from events.alarms import Alarms
from events.errors import EngramlogError

__all__ = ["Server", "check_host", "claim", "serve", "serve_on"]

STOP_SECONDS = 1.0
"""How long requests in hand may take once the server stops: heavy questions and feeds are ended at once."""
ENDED_SECONDS = 5.0
"""How long the end of its thread is waited for."""
LOGGERS = (logging.getLogger("uvicorn.error"), logging.getLogger("asyncio"))
"""What the server's libraries write to; asyncio tells of each write to a client that has gone."""


PRIVATE_CONNECTIONS = 100
"""So many connections may be open at once by listeners of this machine beside a public one, whose callers cannot take them."""


class _Uvicorn(ListeningServer):
    """uvicorn waits for open connections before it tells the application to stop; feeds would never end."""

    def __init__(
        self,
        config: uvicorn.Config,
        app: FastAPI,
        listening: Sequence[Listening],
        connections: Connections,
        started: Callable[[], None],
    ) -> None:
        metrics = app.state.parts.metrics
        super().__init__(config, listening, connections, lambda reason: metrics.refused_requests.labels(reason).inc())
        self._app = app
        self._started = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, and say so."""
        await super().startup(sockets)
        self._started()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End the feeds, the waits and the heavy questions, then everything else."""
        self._app.state.admission.close()
        self._app.state.parts.feeds.close()
        self._app.state.parts.waits.close()
        await super().shutdown(sockets)


class Server:
    """A running server: its address, and how to stop it."""

    def __init__(
        self,
        app: FastAPI,
        listening: Sequence[Listening],
        on_ready: Callable[[Server], None],
        limits: ConnectionLimits,
        alarms: Alarms | None,
        tell: Tell,
    ) -> None:
        first, self.listener = listening[0][:2]
        unix = first.family is socket.AF_UNIX
        host, port = (first.getsockname(), 0) if unix else first.getsockname()[:2]
        self.host: str = host
        """Of the first listener; a unix socket's path, which has no port."""
        self.port: int = port
        self.failure: BaseException | None = None
        """Why it ended by itself."""
        self._listeners = [one.socket for one in listening]
        self._tell = tell
        most, backlog = connections_within(limits, open_files())
        self.connections = Connections(limits, most, Malformed(tell), alarms)
        if self.listener.public:
            few = min(most, PRIVATE_CONNECTIONS)
            listening = [
                one
                if one.listener.public
                else one._replace(connections=Connections(limits, few, self.connections.malformed, alarms))
                for one in listening
            ]
        config = uvicorn.Config(
            app,
            log_config=None,
            access_log=False,
            lifespan="on",
            ws="none",
            server_header=False,
            proxy_headers=False,
            http=protocol_of(self.connections),
            backlog=backlog,
            timeout_graceful_shutdown=int(STOP_SECONDS),
        )
        self._uvicorn = _Uvicorn(config, app, listening, self.connections, lambda: on_ready(self))
        self._thread = Thread(target=self._run, name="http", daemon=True)
        for listener in self._listeners:
            listener.listen(backlog)  # now, and not once the thread has come so far: whoever is told of it finds it
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
            one.addFilter(not_malformed)  # and stays: it keeps nothing, and any server of this process wants it
            one.addHandler(heard)
        try:
            asyncio.run(self._main())
        except BaseException as error:  # noqa: BLE001 - the thread's end: whoever waits for it is told
            self.failure = error
        finally:
            for one in LOGGERS:
                one.removeHandler(heard)
            self.connections.malformed.end()
            for listener in self._listeners:
                listener.close()

    async def _main(self) -> None:
        quiet_loop(asyncio.get_running_loop(), self.connections.refusals, LOGGERS[0])
        await self._uvicorn.serve(sockets=self._listeners)

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
            self._tell("the HTTP server has not ended", seconds=round(seconds, 3), url=self.url, alarm=True)


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
    alarms: Alarms | None = None,
    tell: Tell = silent,
) -> Server:
    """Serve `app` on an address from a thread; port 0 takes a free one (`Server.port` tells which).

    `claimed` is the port as `claim` gave it, where that was asked for before; `beside` are sockets to listen on besides.
    `listener` says what holds for whoever comes by the port: unless told that is of loopback, and so are those besides.
    `on_ready` is called from that thread once requests are answered; they wait until then, none is refused.
    `alarms` hear of connections that were refused, `tell` what else the server has to say.
    Raises BadSetting for an address that others could reach, and for a port that
    is taken.
    """
    first = Listening(listening(host, port, claimed=claimed, listener=listener), listener)
    others = [one if isinstance(one, Listening) else Listening(one) for one in beside]
    return Server(app, [first, *others], on_ready, limits, alarms, tell)


def serve_on(app: FastAPI, listener: socket.socket, *, alarms: Alarms | None = None, tell: Tell = silent) -> Server:
    """Serve `app` on a socket that is bound already, of a file that nobody but this user can reach; otherwise as `serve`."""
    return Server(app, [Listening(listener)], lambda _server: None, ConnectionLimits(), alarms, tell)


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
