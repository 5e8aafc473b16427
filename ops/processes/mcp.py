"""`engramlog mcp`: the store as an MCP server over standard input and output, until its client leaves."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING

import anyio

from engramlog_server.api.mcp.connection import Connection, confined_to, in_hand
from engramlog_server.api.mcp.server import MemoryServer
from engramlog_server.api.mcp.stdio import serve
from engramlog_server.api.work.admission import Admission
from engramlog_server.events.errors import BadSetting
from engramlog_server.ops.processes.ending import end_by_signal
from engramlog_server.ops.processes.limits import give_back, started
from engramlog_server.ops.processes.supervisor import Supervisor
from engramlog_server.ops.settings import Settings
from engramlog_server.ops.telemetry import telemetry_of

if TYPE_CHECKING:
    from engramlog_server.ops.metrics import ToolMetrics

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
        self._tell("protocol failed", where=where, error=None if error is None else error.__name__, alarm=True)


@contextmanager
def told_metrics(place: tuple[str, int] | None, tell: Tell) -> Iterator[ToolMetrics | None]:
    """The metrics of this server, where it is to tell any: who tells none loads no library for them."""
    telemetry = telemetry_of("mcp", tell)
    if place is None and telemetry is None:
        yield None
        return
    from engramlog_server.ops.metrics import ToolMetrics, tool_metrics

    with nullcontext(ToolMetrics()) if place is None else tool_metrics(place, tell) as metrics:
        if telemetry is not None:
            metrics.on_open = telemetry.watch
            telemetry.mirror(metrics.registry)
        try:
            yield metrics
        finally:
            if telemetry is not None:
                telemetry.close()


def memory_server(connection: Connection, toolset: str, tell: Tell, metrics: ToolMetrics | None) -> MemoryServer:
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
    with told_metrics(metrics_at, tell) as metrics:
        supervisor = Supervisor(settings, tell, on_open=None if metrics is None else metrics.watch)

        def stop(number: int) -> None:
            # The thread that reads standard input cannot be interrupted: what is left is to close the store in order and go.
            supervisor.close()
            os._exit(128 + number)

        end_by_signal(stop, exit_code=None)
        who = in_hand if settings.key is None else confined_to(_checked(settings.key.get_secret_value()))
        server = memory_server(Connection(supervisor, owner, who), toolset, tell, metrics)
        started()
        try:
            anyio.run(serve, server)
        finally:
            supervisor.close()


def _checked(key: str) -> str:
    """The key itself. Raises BadSetting where it is none, and no token of one."""
    from engramlog_server.projections.access.keys import is_of_a_key

    if not is_of_a_key(key):
        raise BadSetting(
            "ENGRAMLOG_KEY: got a value that is not shown; allowed: egl_... as it was shown once, or a token made from one",
            setting="ENGRAMLOG_KEY",
        )
    return key
