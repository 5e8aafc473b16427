"""The store of a process that lives long and is mostly idle: opened when it is asked for, given back when it is not.

An agent's client keeps its MCP servers running all day, so such a process must not keep the embedded store from others.
While it is at work commands join it, and where an `engramlog up` runs it joins that one; once nobody has asked for half a
minute it leaves, so that an `up` can start. Where the server that it joined has gone, the next question opens anew.
The code that opens it is loaded then too: half a second of CPU for a server that is never asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Condition, Thread
from time import monotonic
from typing import TYPE_CHECKING, Any

from engramlog_server.events.errors import EngramlogError, StoreUnavailable
from engramlog_server.ops.every import Every

if TYPE_CHECKING:
    from engramlog_server.api.application import Application
    from engramlog_server.ops.settings import Settings
    from engramlog_server.ops.store import OpenStore

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
        from engramlog_server.ops.kept.rejection_keeper import LOOK_SECONDS

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
