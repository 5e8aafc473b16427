"""`engramlog mcp`: the store as an MCP server, over standard input and output or over HTTP, until its client leaves."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import anyio

from api.http.access.bearer import Admits
from api.http.access.callers import GONE, Callers
from api.http.server.serve import Listening, ListeningServer, listening
from api.mcp.confined import confined_to
from api.mcp.connection import Connection, in_hand
from api.mcp.http import create_app
from api.mcp.resource import PATH, audiences
from api.mcp.server import MemoryServer
from api.mcp.stdio import serve
from api.work.admission import Admission
from api.work.buckets import KEY_RATES
from events.errors import BadSetting
from ops.beyond.listeners import listeners_of, require_key
from ops.beyond.watch import certificate_tended
from ops.identity.keys import ProviderKeys, provider_of
from ops.processes.ending import end_by_signal
from ops.processes.file_limit import raise_file_limit
from ops.processes.memory import give_back
from ops.processes.supervisor import Supervisor
from ops.settings import Settings
from ops.token import admits_of
from projections.access.book import AccessBook
from projections.access.caller import Caller
from projections.access.recognising import is_of_a_key

if TYPE_CHECKING:
    from ops.metrics.tools import ToolMetrics

Tell = Callable[..., None]


class SdkLog(logging.Handler):
    """What the SDK logs, as facts without its text: that may quote what a client sent."""

    def __init__(self, tell: Tell) -> None:
        super().__init__(logging.ERROR)
        self._tell = tell

    def emit(self, record: logging.LogRecord) -> None:
        """Tell where it was logged, and of which error."""
        error = record.exc_info[0] if record.exc_info else None
        where = f"{record.name}:{record.lineno}"
        self._tell("protocol trouble", where=where, error=None if error is None else error.__name__, alarm=True)


class _Uvicorn(ListeningServer):
    """uvicorn without signal handlers of its own: it ends when `end` is called."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Take none over."""
        yield

    def end(self, _number: int) -> None:
        """Take no more requests, and end."""
        self.should_exit = True


@contextmanager
def _told(place: tuple[str, int] | None, tell: Tell) -> Iterator[ToolMetrics | None]:
    """The metrics of this server, where it is to tell any: who tells none loads no library for them."""
    if place is None:
        yield None
        return
    from ops.metrics.tools import tool_metrics

    with tool_metrics(place, tell) as metrics:
        yield metrics


def _served(connection: Connection, toolset: str, tell: Tell, metrics: ToolMetrics | None) -> MemoryServer:
    logging.basicConfig(level=logging.ERROR, handlers=[SdkLog(tell)], force=True)  # or the SDK sets up a log of its own
    admission = Admission(on_quiet=give_back)
    server = MemoryServer(connection, tell, admission, toolset, None if metrics is None else metrics.called)
    if metrics is not None:
        metrics.know(server.tool_names)
    return server


def over_stdio(
    settings: Settings, owner: str, toolset: str, tell: Tell, metrics_at: tuple[str, int] | None = None
) -> None:
    """Serve one owner until standard input ends. Standard output carries the protocol and nothing else.

    `metrics_at`: host and port where its metrics are told. Raises BadSetting where that is taken.
    """
    with _told(metrics_at, tell) as metrics:
        _over_stdio(settings, owner, toolset, tell, metrics)


def _over_stdio(settings: Settings, owner: str, toolset: str, tell: Tell, metrics: ToolMetrics | None) -> None:
    supervisor = Supervisor(settings, tell, on_open=None if metrics is None else metrics.watch)

    def stop(number: int) -> None:
        # The thread that reads standard input cannot be interrupted: what is left is to close the store in order and go.
        supervisor.close()
        os._exit(128 + number)

    end_by_signal(stop, exit_code=None)
    who = in_hand if settings.key is None else confined_to(_checked(settings.key.get_secret_value()))
    server = _served(Connection(supervisor, owner, who), toolset, tell, metrics)
    try:
        anyio.run(serve, server)
    finally:
        supervisor.close()


def _checked(key: str) -> str:
    """The key itself. Raises BadSetting where it is none, and no token of one."""
    if not is_of_a_key(key):
        raise BadSetting(
            "ENGRAMLOG_KEY: got a value that is not shown; allowed: egl_... as it was told once, or a token that was made of one",
            setting="ENGRAMLOG_KEY",
        )
    return key


def callers_of(supervisor: Supervisor, admits: Admits, provider: ProviderKeys | None) -> Callers:
    """Who is recognised by a server that opens its store when it is asked for."""

    def book() -> AccessBook:
        with supervisor() as application:
            return application.access_follower.admitting()

    def now() -> int:
        with supervisor() as application:
            return application.log.now()

    def gone(caller: Caller) -> None:
        with supervisor() as application:
            application.reads.record(caller, "denied", GONE, None)

    if provider is not None:
        provider.look()
    return Callers(admits, book=book, clock=now, on_gone=gone, provider=provider, audiences=audiences)


def over_http(
    settings: Settings,
    port: int,
    owner: str | None,
    toolset: str,
    tell: Tell,
    metrics_at: tuple[str, int] | None = None,
) -> None:
    """Serve every owner, or the one that is named, on a port until SIGINT or SIGTERM.

    `metrics_at` as of `over_stdio`. Raises BadSetting for an address that others could reach, and for a port that is taken.
    """
    with _told(metrics_at, tell) as metrics:
        _over_http(settings, port, owner, toolset, tell, metrics)


def _over_http(
    settings: Settings, port: int, owner: str | None, toolset: str, tell: Tell, metrics: ToolMetrics | None
) -> None:
    listeners = listeners_of(settings, settings.host)
    admits, mended = admits_of(settings)
    if mended:
        tell("data folder closed", what=mended, alarm=True)
    listener = listening(settings.host, port, setting="--port", listener=listeners.main)
    supervisor = Supervisor(settings, tell, on_open=None if metrics is None else metrics.watch)
    connection = Connection(supervisor, owner)
    provider = provider_of(settings, tell)
    callers = callers_of(supervisor, admits, provider)
    served = _served(connection, toolset, tell, metrics)
    rules = None if provider is None else provider.rules
    app = create_app(served, connection, admits, callers, rules, KEY_RATES)
    raise_file_limit()
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    url = f"{listeners.main.scheme}://{host}:{listener.getsockname()[1]}{PATH}"
    server = _Uvicorn(app, [Listening(listener, listeners.main)])
    end_by_signal(server.end, cut_off=lambda: tell("stopped", in_the_middle=True))
    try:
        if listeners.main.public:
            with supervisor() as application:
                require_key(listeners, application.access_follower.book)
        tell("ready", url=f"{url}/{owner or 'OWNER'}")
        with certificate_tended(listeners.certificate, tell):
            server.run(sockets=[listener])
    finally:
        listener.close()
        supervisor.close()
        tell("stopped")
