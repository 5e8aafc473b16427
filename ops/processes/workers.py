"""Worker processes that `up` starts and keeps running, and the job schedule by which job workers have work.

A job worker takes as much memory as the rest of an idle service, and works for seconds every ten minutes. So `up` schedules, and
job workers run only while a job waits, runs or is to be tried again, and a while longer.
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from contextlib import suppress
from threading import Event as Flag
from time import monotonic

from engramlog_server.consumers.jobs.opened import JobResources, Lent
from engramlog_server.consumers.jobs.queue import DueJobs, JobScheduler
from engramlog_server.consumers.jobs.raw_memories import RawMemories
from engramlog_server.consumers.jobs.run import kinds_of
from engramlog_server.consumers.jobs.schedule import has_work
from engramlog_server.events.alarms import JOBS_PATIENT_SECONDS, JOBS_WAIT, Alarms, ConditionAlarm
from engramlog_server.events.errors import EngramlogError, StoreError, StoreMismatch
from engramlog_server.events.keys import Seals
from engramlog_server.events.redis.server import connect, refuse_kind
from engramlog_server.events.redis.wire import open_wire
from engramlog_server.ops.clock import Every, Tell
from engramlog_server.ops.models import embed_minutes, embedders_of
from engramlog_server.ops.processes.life import new_worker_id
from engramlog_server.ops.settings import Settings
from engramlog_server.ops.tracebacks import reason_of
from engramlog_server.projections.embedding.choosing import Embedders
from engramlog_server.projections.redis.create import StoreIdentity, still_stands

RESTART_SECONDS = 1.0
PAUSE_SECONDS = 5.0
"""How long processes may take to hand over before a pause."""


class Workers:
    """Processes of one kind; one that dies is started again."""

    def __init__(self, kind: str, commands: Sequence[Sequence[str]], tell: Tell, environment: dict[str, str]) -> None:
        """`commands`: the command line of each process."""
        self._kind = kind
        self._commands = [list(command) for command in commands]
        self._environment = environment
        self._tell = tell
        self._running: list[subprocess.Popen[bytes]] = [self._start(command) for command in self._commands]
        self._not_before = 0.0

    def _start(self, command: Sequence[str]) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(command, env=self._environment, stdin=subprocess.DEVNULL, start_new_session=True)
        self._tell(f"{self._kind} process started", pid=process.pid)
        return process

    def tend(self) -> None:
        """Restart processes that died, at most one per second."""
        for number, process in enumerate(self._running):
            if process.poll() is not None and monotonic() >= self._not_before:
                self._not_before = monotonic() + RESTART_SECONDS
                self._tell(f"{self._kind} process died", pid=process.pid, exit_code=process.returncode, alarm=True)
                self._running[number] = self._start(self._commands[number])

    def pause(self, *, paused: bool) -> None:
        """Stop all processes for a while, or start them again."""
        if paused and self._running:
            self.stop(PAUSE_SECONDS)
            self._running = []
            self._tell(f"{self._kind} processes paused")
        elif not paused and not self._running:
            self._running = [self._start(command) for command in self._commands]

    def replace(self) -> None:
        """Have every process hand over and end, and start another in its place."""
        if self._running:
            self.stop(PAUSE_SECONDS)
            self._running = [self._start(command) for command in self._commands]
            self._tell(f"{self._kind} processes replaced")

    def kill(self) -> None:
        """Kill all processes."""
        for process in self._running:
            with suppress(ProcessLookupError):
                process.kill()

    def stop(self, seconds: float) -> None:
        """Ask every process to hand over and end; kill those that have not after so many seconds."""
        for process in self._running:
            with suppress(ProcessLookupError):
                process.terminate()
        end = monotonic() + seconds
        for process in self._running:
            try:
                process.wait(timeout=max(end - monotonic(), 0.1))
            except subprocess.TimeoutExpired:
                self._tell(f"{self._kind} process killed", pid=process.pid, reason="did not stop in time", alarm=True)
                process.kill()
                process.wait()


LOOK_SECONDS = 1.0
REST_SECONDS = 20.0
"""Job workers are stopped after so long without work."""
SWEEP_MINUTES = 60
"""Minutes between two sweeps of all owners."""
OFTEN_MINUTES = 5
"""If a kind is due more often than this, job workers stay longer: a start each minute costs more than their memory."""
LONG_REST_SECONDS = 600.0
"""They are stopped after so long then."""


class JobSchedule:
    """Enqueues due jobs while this process leads, from a thread of its own. `rests` may be read from any thread."""

    def __init__(
        self,
        url: str,
        identity: StoreIdentity,
        settings: Settings,
        tell: Tell,
        alarms: Alarms,
        *,
        embedders: Embedders | None = None,
        seals: Seals | None = None,
    ) -> None:
        """`embedders`: those that the process has already. `seals`: the master key and the key store of a sealed store."""
        self._client = connect(settings.queue_url or url, timeout=settings.redis_timeout)
        self._setting = "ENGRAMLOG_QUEUE_URL" if settings.queue_url else "ENGRAMLOG_REDIS_URL"
        self._wire = open_wire(self._client)
        self._kept = connect(url, timeout=settings.redis_timeout)
        self._store = open_wire(self._kept)
        """The store's Redis; the queue may be on another one."""
        self._store_id = identity.store_id
        self._workers = settings.job_workers
        self._tell = tell
        embedders = embedders or embedders_of(settings, identity.embedder)
        kinds = kinds_of(settings.extraction, settings.summaries, embed_minutes=embed_minutes(embedders))
        self._seldom = all((every or SWEEP_MINUTES) >= OFTEN_MINUTES for every in kinds.values())
        self._cron = JobScheduler(
            self._client,
            identity.store_id,
            identity.partitions,
            new_worker_id(),
            minutes=SWEEP_MINUTES,
            kinds=kinds,
            tell=tell,
            due=DueJobs(self._wire, self._store, identity.store_id, identity.tags, embedders),
        )
        lent = None if embedders is None else Lent(lambda: embedders)
        resources = JobResources(url, settings.redis_timeout, tell, Flag(), lent, alarms=alarms)
        if seals is not None:
            resources = resources._replace(master=seals.master, keys=seals.open_keys)
        self._raw = RawMemories(resources, identity.store_id, lambda: self._cron.leads and not self._is_copy)
        self._checked = False
        self._watch = ConditionAlarm(alarms, JOBS_WAIT, patient_seconds=JOBS_PATIENT_SECONDS)
        self._trouble = ""
        self._nothing_since: float | None = None
        restored = identity.restored
        self._is_copy = restored is not None and restored.stands
        """Whether the store was restored and nobody took it over yet: no job decides anything on it."""
        self._every = Every(LOOK_SECONDS, self._look_quietly, "schedule", tell, at_end=self._leave)

    def start(self) -> JobSchedule:
        """Begin. Without job workers nothing is scheduled, and raw memories are not judged."""
        if self._workers:
            self._every.start()
            self._raw.start()
        return self

    @property
    def rests(self) -> bool:
        """Whether job workers may do nothing, or have had nothing to do for a while and will not have every minute."""
        if self._is_copy:
            return True
        since = self._nothing_since
        rest = REST_SECONDS if self._seldom else LONG_REST_SECONDS
        return since is not None and monotonic() - since >= rest

    def stop(self, seconds: float) -> None:
        """Let another process lead; waits at most so many seconds."""
        until = monotonic() + seconds
        self._raw.stop(seconds)
        self._every.stop(max(until - monotonic(), 0.0))

    def _leave(self) -> None:
        try:
            self._cron.leave()
        except StoreError as error:
            self._tell("schedule not released", reason=error.message)
        for one in (self._wire, self._client, self._store, self._kept):
            one.close()

    def _look_quietly(self) -> None:
        try:
            self._look()
            self._trouble = ""
            self._watch.report(None)
        except Exception as error:  # noqa: BLE001 - whatever it is, job workers look for themselves then
            self._nothing_since = None
            expected = isinstance(error, EngramlogError)
            self._watch.report(reason := reason_of(error))
            if reason != self._trouble:
                what = "queue refused" if isinstance(error, StoreMismatch) else "schedule waits"
                self._tell(what, reason=reason, alarm=not expected)
            self._trouble = reason

    def _look(self) -> None:
        if self._is_copy:
            with suppress(StoreError):  # the next look asks again
                self._is_copy = still_stands(self._store)
            return
        if not self._checked:
            refuse_kind(self._wire, self._setting)
            self._checked = True
        now = self._cron.now_ms()
        self._cron.tend(now)
        if has_work(self._wire, self._store_id, now):
            self._nothing_since = None
        elif self._nothing_since is None:
            self._nothing_since = monotonic()
