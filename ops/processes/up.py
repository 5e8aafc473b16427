"""`engramlog up`: the embedded Redis, fold workers, job workers and the API, started in order and stopped in order.

Processes are started by exec. Whoever loses its parent stops by itself, so a killed `up` leaves nothing behind.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from threading import Event as Flag
from time import monotonic

from api.application import Application
from api.http.app import create_app
from api.http.bearer import Admits
from api.http.server.serve import claim, serve
from api.version import program_version
from events.errors import EmbeddedRedisError, EngramlogError, StoreError
from ops.admission import admission_limits
from ops.catch_up import FoldCatchUp
from ops.embedded.disk import DiskGuard, look
from ops.embedders import meanings_of
from ops.joined import JoinedApplication
from ops.kept.head_keeper import HeadKeeper
from ops.models import model_of
from ops.processes.banner import Served
from ops.processes.ending import EndBounds, end_by_signal
from ops.processes.file_limit import raise_file_limit
from ops.processes.memory import give_back
from ops.processes.standstill import Standstill
from ops.settings import Settings
from ops.store import OpenStore, check_queue, open_the_store
from ops.token import TokenWatch, admits_of

LOOK_SECONDS = 0.25
RESTART_SECONDS = 1.0
PAUSE_SECONDS = 5.0
"""How long processes that are to pause may take to hand over."""
GREET_SECONDS = 5.0
"""After so long the banner is shown although workers are still missing."""
MARKS = EndBounds()
FEW_FILES = 2_000
"""Fewer open files leave fewer than a thousand connections."""
Tell = Callable[..., None]
Greet = Callable[[Served], None]


class End:
    """When `up` was told to end, and what each part of its end may still take."""

    def __init__(self) -> None:
        self.told = Flag()
        self._at: float | None = None

    def begin(self, _number: int = 0) -> None:
        """It is told, now."""
        self._at = monotonic()
        self.told.set()

    def left(self, mark: float) -> float:
        """Seconds until so many seconds after it was told; a moment at least. What ends by itself is told at the first question."""
        if self._at is None:
            self._at = monotonic()
        return max(self._at + mark - monotonic(), 0.1)


class Workers:
    """Processes of one kind that this `up` started: one that dies is started again."""

    def __init__(self, kind: str, command: Sequence[str], count: int, tell: Tell, environment: dict[str, str]) -> None:
        self._kind = kind
        self._command = list(command)
        self._count = count
        self._environment = environment
        self._tell = tell
        self._running: list[subprocess.Popen[bytes]] = [self._start() for _ in range(count)]
        self._not_before = 0.0

    def _start(self) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            self._command, env=self._environment, stdin=subprocess.DEVNULL, start_new_session=True
        )
        self._tell(f"{self._kind} process started", pid=process.pid)
        return process

    def tend(self) -> None:
        """Start again what died, at most once a second."""
        for number, process in enumerate(self._running):
            if process.poll() is not None and monotonic() >= self._not_before:
                self._not_before = monotonic() + RESTART_SECONDS
                self._tell(f"{self._kind} process died", pid=process.pid, exit_code=process.returncode, alarm=True)
                self._running[number] = self._start()

    def pause(self, *, paused: bool) -> None:
        """Have none of them run for a while, or all of them again; at once either way."""
        if paused and self._running:
            self.stop(PAUSE_SECONDS)
            self._running = []
            self._tell(f"{self._kind} processes paused")
        elif not paused and not self._running:
            self._running = [self._start() for _ in range(self._count)]

    def kill(self) -> None:
        """End all of them at once."""
        for process in self._running:
            with suppress(ProcessLookupError):
                process.kill()

    def stop(self, seconds: float) -> None:
        """Ask every worker to hand over, and wait for it; kill those that have not after so many seconds."""
        for process in self._running:
            with suppress(ProcessLookupError):
                process.terminate()
        end = monotonic() + seconds
        for process in self._running:
            try:
                process.wait(timeout=max(end - monotonic(), 0.1))
            except subprocess.TimeoutExpired:
                self._tell(f"{self._kind} did not stop in time and was killed", pid=process.pid, alarm=True)
                process.kill()
                process.wait()


def up(settings: Settings, tell: Tell, on_wait: Callable[[str], None], greet: Greet | None = None) -> None:
    """Run until SIGINT or SIGTERM. Raises EmbeddedRedisError with its last log lines where the private Redis dies.

    A port that is taken is noticed first, before anything is started: BadSetting, with who has it. `greet` is called once, when
    questions are answered and workers hold every partition; without it every line of every process is JSON.
    """
    with closing(claim(settings.host, settings.port)) as port:
        _up(settings, port, tell, on_wait, greet)


def _up(
    settings: Settings, port: socket.socket, tell: Tell, on_wait: Callable[[str], None], greet: Greet | None
) -> None:
    check_queue(settings.queue_url, settings.redis_timeout)
    files = raise_file_limit()
    admits, mended = admits_of(settings)
    end, started = End(), list[Workers]()

    def cut_off() -> None:
        for kind in started:
            kind.kill()
        tell("stopped in the middle", alarm=True)

    end_by_signal(end.begin, cut_off=cut_off, exit_code=1)
    with open_the_store(settings, "up", on_wait=on_wait, tell=tell) as store:
        told = {"pid": store.embedded.pid, "version": store.embedded.version} if store.embedded else {}
        tell("redis ready", url=store.url, store=store.identity.store_id, partitions=store.identity.partitions, **told)
        if files < FEW_FILES:
            tell("few files may be open: raise the hard limit (ulimit -Hn)", files=files, alarm=True)
        for what in filter(None, (mended, store.mended)):
            tell("data folder closed", what=what, alarm=True)
        if store.embedded and store.embedded.recovery:
            tell("log recovered", what=store.embedded.recovery, alarm=True)
        environment = _environment(store, settings)
        lines = [] if greet else ["--json"]
        workers = Workers("worker", _command("ops.worker", settings) + lines, settings.workers, tell, environment)
        jobs = Workers("job worker", _job_command(settings) + lines, settings.job_workers, tell, environment)
        started += [workers, jobs]
        try:
            _serve(store, settings, admits, port, workers, jobs, end, tell, greet)
        finally:
            jobs.stop(end.left(MARKS.jobs))
            workers.stop(end.left(MARKS.workers))
            tell("workers stopped")
    tell("stopped")


def _command(module: str, settings: Settings) -> list[str]:
    """How a process of ours is started. Its store stands in its environment: everybody can read arguments."""
    return [
        *(sys.executable, "-P", "-m", module, "--log-level", settings.log_level),
        *("--timeout", str(settings.redis_timeout), "--parent", str(os.getpid())),
    ]


def _job_command(settings: Settings) -> list[str]:
    return [*_command("ops.job_worker", settings), "--minutes", str(settings.lifecycle_minutes)]


def _environment(store: OpenStore, settings: Settings) -> dict[str, str]:
    """What a process of ours is told of addresses, which may hold passwords."""
    told = {"ENGRAMLOG_REDIS_URL": store.url, "ENGRAMLOG_QUEUE_URL": settings.queue_url or ""}
    return {**os.environ, **told}


def _serve(
    store: OpenStore,
    settings: Settings,
    admits: Admits,
    port: socket.socket,
    workers: Workers,
    jobs: Workers,
    end: End,
    tell: Tell,
    greet: Greet | None,
) -> None:
    catch_up = FoldCatchUp(store, tell)
    _ask_receipts(store, tell)
    meanings = meanings_of(settings, store)
    if meanings is not None:
        tell("embedder chosen", model=meanings.model)  # what it lacks is said now, not at the first question
    if settings.extraction != "off":
        tell("extraction chosen", by=settings.extraction)
    model = model_of(settings)
    application = JoinedApplication(
        store, catch_up, tell, queue_url=settings.queue_url, meanings=meanings, model=model
    ).join()
    application.accesses.start()
    app = create_app(application, admits=admits, admission=admission_limits(settings), on_quiet=give_back)
    server = serve(app, settings.host, settings.port, claimed=port, alarms=store.alarms, tell=tell)
    keeper = HeadKeeper(store, settings)
    keeper.start()
    watch = TokenWatch(admits, store.alarms)
    guard = _guard(store)
    standstill = Standstill(application.operator.status, store.alarms)
    tell("ready", url=f"http://{settings.host}:{server.port}", docs=f"http://{settings.host}:{server.port}/docs")
    ready_at = monotonic()
    try:
        while not end.told.wait(LOOK_SECONDS):
            if greet is not None and (_all_there(application, settings) or monotonic() > ready_at + GREET_SECONDS):
                greet(_served(application, settings, server.url))
                greet = None
            _tend_socket(store)
            if guard is not None:
                guard.tend(monotonic())
                jobs.pause(
                    paused=guard.locked
                )  # their queue takes no writes either, and they would die and start for ever
            workers.tend()
            jobs.tend()
            standstill.tend(monotonic())
            watch.tend()
            died = store.embedded.died() if store.embedded else None
            if died:
                raise EmbeddedRedisError(f"the private Redis died; run `engramlog up` again. Its last lines:\n{died}")
    finally:
        tell("stopping")
        server.stop(end.left(MARKS.api))
        tell("api stopped")
        jobs.stop(end.left(MARKS.jobs))  # before the drain, which folds what they appended
        tell("job workers stopped")
        _drain(application, end, tell)
        keeper.stop(end.left(MARKS.heads))
        model.close()
        catch_up.end()


def _ask_receipts(store: OpenStore, tell: Tell) -> None:
    """Look now whether what processes before this one acknowledged is in the log, and not only when somebody appends."""
    try:
        store.log.ask_receipts()
    except StoreError as error:
        tell("receipts not asked for", reason=error.message, alarm=True)


def _guard(store: OpenStore) -> DiskGuard | None:
    """Who watches the disk of a server of ours; None for a Redis given by URL, whose disk is elsewhere."""
    if store.embedded is None:
        return None
    folder = store.embedded.folder
    return DiskGuard(folder, store.client, store.alarms, lambda: look(folder))


def _tend_socket(store: OpenStore) -> None:
    """Put a removed socket back, with an alarm. Raises EmbeddedRedisError where it cannot be."""
    mended = store.embedded.tend_socket() if store.embedded else None
    if mended:
        store.alarms.raised("socket_removed", str(store.embedded and store.embedded.folder), mended)


def _all_there(application: Application, settings: Settings) -> bool:
    """Whether workers hold every partition, and jobs are scheduled where they are to be."""
    status = application.operator.status()
    scheduled = not settings.job_workers or status["lifecycle"]["leader"] is not None
    return scheduled and all(one["holder"] for one in status["partitions"])


def _served(application: Application, settings: Settings, url: str) -> Served:
    largest = application.operator.stats()["largest_owners"]
    elsewhere = settings.redis_url is None and settings.data != Settings.model_fields["data"].get_default(
        call_default_factory=True
    )
    return Served(
        url, program_version(), settings.data if elsewhere else None, largest[0]["owner"] if largest else None
    )


def _drain(application: Application, end: End, tell: Tell) -> None:
    """Append what was shown and let the workers finish, as far as there is time."""
    try:
        application.accesses.stop(end.left(MARKS.drain))
        lag = application.operator.status()["lag"]
        while lag and end.left(MARKS.drain) > LOOK_SECONDS:
            lag = application.operator.status()["lag"]
        tell("drained", lag=lag, alarm=bool(lag))
    except EngramlogError as error:
        tell("not drained", reason=error.message, alarm=True)
