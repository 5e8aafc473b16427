"""`engramlog mcp --http`: the store as an MCP server on a port, until it is told to end.

A module of its own: a server over standard input and output loads no web framework.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from engramlog_server.api.admission import KEY_RATES
from engramlog_server.api.http.callers import GONE, Admits, Callers
from engramlog_server.api.http.serve import Listening, ListeningServer, listening
from engramlog_server.api.mcp.connection import Connection
from engramlog_server.api.mcp.http import PATH, audiences, create_app
from engramlog_server.ops.clock import Tell
from engramlog_server.ops.identity_provider import ProviderKeys, provider_of
from engramlog_server.ops.listeners import certificate_tended, listeners_of, require_key
from engramlog_server.ops.processes.life import end_by_signal, raise_file_limit, started
from engramlog_server.ops.processes.mcp import Supervisor, memory_server, metrics_served
from engramlog_server.ops.settings import Settings
from engramlog_server.ops.token import admits_of
from engramlog_server.projections.access.caller import AccessBook, Caller


class _Uvicorn(ListeningServer):
    """uvicorn without signal handlers of its own: it ends when `end` is called."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Take none over."""
        yield

    def end(self, _number: int) -> None:
        """Take no more requests, and end."""
        self.should_exit = True


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
    also: Sequence[str] = (),
) -> None:
    """Serve every owner, or the one that is named, on a port until SIGINT or SIGTERM.

    `metrics_at` and `also` as of `over_stdio`. Raises BadSetting for an address that others could reach, and for a port that is
    taken.
    """
    with metrics_served(metrics_at, tell) as metrics:
        listeners = listeners_of(settings, settings.host)
        admits, mended = admits_of(settings)
        if mended:
            tell("data folder closed", what=mended, alarm=True)
        listener = listening(settings.host, port, setting="--port", listener=listeners.main)
        supervisor = Supervisor(settings, tell, on_open=None if metrics is None else metrics.watch)
        connection = Connection(supervisor, owner, also=also)
        provider = provider_of(settings, tell)
        callers = callers_of(supervisor, admits, provider)
        served = memory_server(connection, toolset, tell, metrics)
        rules = None if provider is None else provider.rules
        app = create_app(served, connection, admits, callers, rules, KEY_RATES)
        raise_file_limit()
        host = f"[{settings.host}]" if ":" in settings.host else settings.host
        url = f"{listeners.main.scheme}://{host}:{listener.getsockname()[1]}{PATH}"
        server = _Uvicorn(app, [Listening(listener, listeners.main)])
        end_by_signal(server.end, cut_off=lambda: tell("service stopped", in_the_middle=True))
        try:
            if listeners.main.public:
                with supervisor() as application:
                    require_key(listeners, application.access_follower.book)
            started()
            tell("service started", url=f"{url}/{owner or 'OWNER'}")
            with certificate_tended(listeners.certificate, tell):
                server.run(sockets=[listener])
        finally:
            listener.close()
            supervisor.close()
            tell("service stopped")
