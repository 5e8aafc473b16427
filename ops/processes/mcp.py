"""`engramlog mcp`: the store as an MCP server over standard input and output, until its client leaves.

An agent's client keeps its MCP servers running all day, so such a process must not keep the embedded store from others.
While it is at work commands join it, and where an `engramlog up` runs it joins that one; once nobody has asked for half a
minute it leaves, so that an `up` can start. Where the server that it joined has gone, the next question opens the store again.
The code that opens it is loaded then too: half a second of CPU for a server that is never asked.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from threading import Condition, Thread
from time import monotonic
from typing import TYPE_CHECKING, Any

import anyio

from engramlog_server.api.admission import Admission
from engramlog_server.api.mcp.connection import Connection, confined_to, in_hand
from engramlog_server.api.mcp.server import MemoryServer, serve
from engramlog_server.events.errors import BadSetting, EngramlogError, StoreUnavailable
from engramlog_server.ops.clock import Every, Tell
from engramlog_server.ops.processes.life import end_by_signal, give_back, started
from engramlog_server.ops.settings import Settings
from engramlog_server.ops.telemetry import telemetry_of

if TYPE_CHECKING:
    from engramlog_server.api.application import Application
    from engramlog_server.ops.metrics import ToolMetrics
    from engramlog_server.ops.store import OpenStore


class _SdkLog(logging.Handler):
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
def metrics_served(place: tuple[str, int] | None, tell: Tell) -> Iterator[ToolMetrics | None]:
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
    logging.basicConfig(level=logging.ERROR, handlers=[_SdkLog(tell)], force=True)  # or the SDK makes its own
    admission = Admission(on_quiet=give_back)
    server = MemoryServer(connection, tell, admission, toolset, None if metrics is None else metrics.called)
    if metrics is not None:
        metrics.know(server.tool_names)
    return server


def over_stdio(
    settings: Settings,
    owner: str,
    toolset: str,
    tell: Tell,
    metrics_at: tuple[str, int] | None = None,
    also: Sequence[str] = (),
) -> None:
    """Serve one owner until standard input ends. Standard output carries the protocol and nothing else.

    `metrics_at`: host and port where its metrics are told. Raises BadSetting where that is taken. `also`: other owners whom
    questions may name.
    """
    with metrics_served(metrics_at, tell) as metrics:
        supervisor = Supervisor(settings, tell, on_open=None if metrics is None else metrics.watch)

        def stop(number: int) -> None:
            # The thread that reads standard input cannot be interrupted: what is left is to close the store in order and go.
            supervisor.close()
            os._exit(128 + number)

        end_by_signal(stop, exit_code=None)
        who = in_hand if settings.key is None else confined_to(_checked(settings.key.get_secret_value()))
        server = memory_server(Connection(supervisor, owner, who, also), toolset, tell, metrics)
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


TEND_SECONDS = 1.0
"""How often what was shown is appended."""
IDLE_SECONDS = 30.0
"""How long an embedded store of one's own is kept open unasked; less than an `up` waits for it."""
STOP_SECONDS = 1.5
"""How long questions in hand are waited for at the end."""


class Supervisor:
    """Gives the application to whoever asks, from one thread that opens, tends and closes it. Safe for threads.

    The thread must be one: the embedded server dies with the thread that started it (`ops.embedded.launch`).
    """

    def __init__(
        self,
        settings: Settings,
        tell: Callable[..., None],
        *,
        idle_seconds: float = IDLE_SECONDS,
        on_open: Callable[[Application], None] | None = None,
    ) -> None:
        """`on_open` is given each application that is opened, before anybody asks it."""
        self._settings = settings
        self._tell = tell
        self._idle_seconds = idle_seconds
        self._on_open = on_open
        self._changed = Condition()
        self._open: tuple[Application, OpenStore] | None = None
        self._failure: EngramlogError | None = None
        self._wanted = self._stopping = False
        self._in_use = 0
        self._last_used = 0.0
        self._thread: Thread | None = None

    @contextmanager
    def __call__(self) -> Iterator[Application]:
        """The application for the length of one question. Raises EngramlogError where the store cannot be opened."""
        application = self._take()
        try:
            yield application
        finally:
            with self._changed:
                self._in_use -= 1
                self._last_used = monotonic()
                self._changed.notify_all()

    def _take(self) -> Application:
        with self._changed:
            if self._open is not None and self._gone(self._open[1]):
                self._open = None
            if self._open is None:
                self._failure, self._wanted = None, True
                self._changed.notify_all()
            if self._thread is None and not self._stopping:
                self._thread = Thread(target=self._run, name="store", daemon=True)
                self._thread.start()
            self._changed.wait_for(lambda: self._open is not None or self._failure is not None or self._stopping)
            if self._stopping:
                raise StoreUnavailable("this server is stopping; ask it again once it runs")
            if self._open is None:
                assert self._failure is not None
                raise self._failure
            self._in_use += 1
            return self._open[0]

    @staticmethod
    def _gone(store: OpenStore) -> bool:
        return store.embedded is not None and store.embedded.died() is not None

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._wanted or self._stopping)
                if self._stopping:
                    return
            opened = False
            try:
                from engramlog_server.ops.store import open_the_store
                from engramlog_server.ops.wiring import application_on

                with open_the_store(self._settings, "shared", tell=self._alarmed) as store:
                    self._recovered(store)
                    with application_on(store, self._settings, tell=self._alarmed) as application:
                        opened = True
                        if self._on_open is not None:
                            self._on_open(application)
                        self._give((application, store), None)
                        self._tend(application, store)
            except EngramlogError as error:
                self._ended(error, opened=opened)
            except Exception as error:  # noqa: BLE001 - the thread's end: whoever waits must be told
                self._ended(EngramlogError(f"the store could not be kept open: {error!r}"), opened=opened)

    def _alarmed(self, fact: str, *, alarm: bool = False, **facts: Any) -> None:
        """What parts that fold by themselves tell, as far as somebody must know it: a client shows every line to its user."""
        if alarm:
            self._tell(fact, alarm=True, **facts)

    def _recovered(self, store: OpenStore) -> None:
        if store.embedded is not None and store.embedded.recovery:
            self._tell("log recovered", what=store.embedded.recovery, alarm=True)
        if store.mended:
            self._tell("data folder closed", what=store.mended, alarm=True)

    def _give(self, opened: tuple[Application, OpenStore] | None, failure: EngramlogError | None) -> None:
        with self._changed:
            self._open, self._failure, self._wanted = opened, failure, False
            self._last_used = monotonic()
            self._changed.notify_all()

    def _ended(self, error: EngramlogError, *, opened: bool) -> None:
        """Opening failed: whoever waits is told. What was open broke off: the next question opens it anew."""
        self._tell("store closed" if opened else "store not opened", reason=error.message, alarm=True)
        if not opened:
            self._give(None, error)
            return
        with self._changed:
            self._open = None
            self._changed.notify_all()

    def _tend(self, application: Application, store: OpenStore) -> None:
        """Append what was shown, until this is not to be used any more."""
        from engramlog_server.ops.kept.rejections import LOOK_SECONDS

        values = Every(LOOK_SECONDS, lambda: application.writer.settle_positions(store.values.look()))
        while True:
            with self._changed:
                self._changed.wait_for(self._is_done, TEND_SECONDS)
                if self._is_done() or self._is_idle(store):
                    self._open = None  # who asks now waits for the next opening
                    self._changed.wait_for(lambda: not self._in_use, STOP_SECONDS)
                    return
            if store.embedded is not None and (mended := store.embedded.tend_socket()):
                store.alarms.raised("socket_removed", str(store.embedded.folder), mended)
            try:
                application.writer.settle(application.accesses.flush())
            except EngramlogError as error:
                self._tell("accesses not folded", reason=error.message)
            try:
                values.tend()
            except EngramlogError as error:
                self._tell("rejections not folded", reason=error.message, alarm=True)

    def _is_done(self) -> bool:
        return self._stopping or self._open is None

    def _is_idle(self, store: OpenStore) -> bool:
        from engramlog_server.ops.embedded.lock import is_used

        ours = store.embedded is not None and store.embedded.owned
        idle = ours and not self._in_use and monotonic() - self._last_used > self._idle_seconds
        return idle and store.embedded is not None and not is_used(store.embedded.folder)

    def close(self) -> None:
        """Close the store in order and end the thread. Idempotent."""
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join(2 * STOP_SECONDS)
