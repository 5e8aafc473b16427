"""`engramlog up`: the embedded Redis, fold workers and the API, started in order and stopped in order.

Processes are started by exec. Whoever loses its parent stops by itself, so a killed `up` leaves nothing behind.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from threading import Event as Flag
from time import monotonic

from api.application import Application
from api.http.app import create_app
from api.http.serve import check_host, serve
from events.errors import EmbeddedRedisError, EngramlogError
from ops.settings import Settings
from ops.store import OpenStore, open_the_store
from ops.wiring import CatchUp, assemble

LOOK_SECONDS = 0.25
RESTART_SECONDS = 1.0
DRAIN_SECONDS = 10.0
STOP_SECONDS = 10.0
Tell = Callable[..., None]


class Workers:
    """The fold workers of this `up`: one that dies is started again."""

    def __init__(self, url: str, settings: Settings, tell: Tell) -> None:
        self._command = [
            *(sys.executable, "-P", "-m", "ops.worker", "--url", url, "--log-level", settings.log_level),
            *("--timeout", str(settings.redis_timeout), "--parent", str(os.getpid())),
        ]
        self._tell = tell
        self._running: list[subprocess.Popen[bytes]] = [self._start() for _ in range(settings.workers)]
        self._not_before = 0.0

    def _start(self) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(self._command, stdin=subprocess.DEVNULL, start_new_session=True)
        self._tell("worker process started", pid=process.pid)
        return process

    def tend(self) -> None:
        """Start again what died, at most once a second."""
        for number, process in enumerate(self._running):
            if process.poll() is not None and monotonic() >= self._not_before:
                self._not_before = monotonic() + RESTART_SECONDS
                self._tell("worker process died", pid=process.pid, exit_code=process.returncode, alarm=True)
                self._running[number] = self._start()

    def stop(self) -> None:
        """Ask every worker to hand over, and wait for it."""
        for process in self._running:
            with suppress(ProcessLookupError):
                process.terminate()
        end = monotonic() + STOP_SECONDS
        for process in self._running:
            try:
                process.wait(timeout=max(end - monotonic(), 0.1))
            except subprocess.TimeoutExpired:
                self._tell("worker did not stop in time and was killed", pid=process.pid, alarm=True)
                process.kill()
                process.wait()


def up(settings: Settings, tell: Tell, on_wait: Callable[[str], None]) -> None:
    """Run until SIGINT or SIGTERM. Raises EmbeddedRedisError with its last log lines where the private Redis dies."""
    check_host(settings.host)
    stop = Flag()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    with open_the_store(settings, "up", on_wait=on_wait) as store:
        told = {"pid": store.embedded.pid, "version": store.embedded.version} if store.embedded else {}
        tell("redis ready", url=store.url, store=store.identity.store_id, partitions=store.identity.partitions, **told)
        if store.embedded and store.embedded.recovery:
            tell("log recovered", what=store.embedded.recovery, alarm=True)
        workers = Workers(store.url, settings, tell)
        try:
            _serve(store, settings, workers, stop, tell)
        finally:
            workers.stop()
            tell("workers stopped")
    tell("stopped")


def _serve(store: OpenStore, settings: Settings, workers: Workers, stop: Flag, tell: Tell) -> None:
    catch_up = CatchUp(store, tell)
    application = assemble(store, catch_up, tell)
    application.accesses.start()
    server = serve(create_app(application), settings.host, settings.port)
    tell("ready", url=f"http://{settings.host}:{server.port}", docs=f"http://{settings.host}:{server.port}/docs")
    try:
        while not stop.wait(LOOK_SECONDS):
            workers.tend()
            died = store.embedded.died() if store.embedded else None
            if died:
                raise EmbeddedRedisError(f"the private Redis died; run `engramlog up` again. Its last lines:\n{died}")
    finally:
        tell("stopping")
        server.stop()
        tell("api stopped")
        _drain(application, tell)
        catch_up.close()


def _drain(application: Application, tell: Tell) -> None:
    """Append what was shown and let the workers finish, as far as that goes in ten seconds."""
    try:
        application.accesses.stop()
        end, lag = monotonic() + DRAIN_SECONDS, 1
        while lag and monotonic() < end:
            lag = application.operator.status()["lag"]
        tell("drained", lag=lag, alarm=bool(lag))
    except EngramlogError as error:
        tell("not drained", reason=error.message, alarm=True)
