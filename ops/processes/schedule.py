"""The schedule of an `up`, and whether there is anything for its job workers to do.

A job worker takes as much memory as all the rest of an idle service, and works for seconds every ten minutes. So the process that
stays keeps the schedule, and job workers run while something waits, runs or is to be tried again, and a while longer.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Event as Flag
from threading import Thread
from time import monotonic

from consumers.jobs.due import DueJobs
from consumers.jobs.leader import has_work
from consumers.jobs.run import kinds_of
from consumers.jobs.scheduler import JobScheduler
from events.alarms import Alarms
from events.errors import EngramlogError, StoreError, StoreMismatch
from events.redis.ready import refuse_kind
from events.redis.wire import Wire, connect
from ops.embedders import embed_minutes, embedders_of
from ops.processes.queue_watch import QueueWatch
from ops.settings import Settings
from ops.tracebacks import reason_of
from ops.worker_id import new_worker_id
from projections.redis.create import StoreIdentity

LOOK_SECONDS = 1.0
REST_SECONDS = 20.0
"""After so long without anything to do job workers rest."""
SWEEP_MINUTES = 60
"""Between two sweeps of all owners."""
OFTEN_MINUTES = 5
"""What is due more often than this keeps them for longer: a start each minute would cost more than their memory is worth."""
LONG_REST_SECONDS = 600.0
"""After so long they rest then too."""
Tell = Callable[..., None]


class JobSchedule:
    """Enqueues what is due where this process leads, from a thread of its own. `rests` may be asked from any."""

    def __init__(self, url: str, identity: StoreIdentity, settings: Settings, tell: Tell, alarms: Alarms) -> None:
        self._client = connect(settings.queue_url or url, timeout=settings.redis_timeout)
        self._setting = "ENGRAMLOG_QUEUE_URL" if settings.queue_url else "ENGRAMLOG_REDIS_URL"
        self._wire = Wire(self._client)
        self._kept = connect(url, timeout=settings.redis_timeout)
        self._store = Wire(self._kept)
        """Of the store itself; a queue may lie elsewhere."""
        self._store_id = identity.store_id
        self._workers = settings.job_workers
        self._tell = tell
        embedders = embedders_of(settings, identity.embedder)
        kinds = kinds_of(settings.extraction, settings.summaries, embed_minutes=embed_minutes(embedders))
        self._seldom = all((one.every_minutes or SWEEP_MINUTES) >= OFTEN_MINUTES for one in kinds.values())
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
        self._checked = False
        self._watch = QueueWatch(alarms)
        self._trouble = ""
        self._nothing_since: float | None = None
        self._stop = Flag()
        self._thread = Thread(target=self._run, name="schedule", daemon=True)

    def start(self) -> None:
        """Begin, unless no job worker is to run: then nothing is scheduled."""
        if self._workers:
            self._thread.start()

    @property
    def rests(self) -> bool:
        """Whether job workers have nothing to do, and had not for a while, nor will have every minute."""
        since = self._nothing_since
        rest = REST_SECONDS if self._seldom else LONG_REST_SECONDS
        return since is not None and monotonic() - since >= rest

    def stop(self, seconds: float) -> None:
        """Have another lead at once; what takes longer than this is left behind."""
        self._stop.set()
        if self._workers and self._thread.ident is not None:
            self._thread.join(seconds)

    def _leave(self) -> None:
        try:
            self._cron.leave()
        except StoreError as error:
            self._tell("schedule not handed over", reason=error.message)
        for one in (self._wire, self._client, self._store, self._kept):
            one.close()

    def _run(self) -> None:
        pause = 0.0
        while not self._stop.wait(pause):
            pause = LOOK_SECONDS
            try:
                self._look()
                self._trouble = ""
                self._watch.worked()
            except Exception as error:  # noqa: BLE001 - the thread's end would end all scheduling unnoticed
                self._nothing_since = None  # who cannot tell lets them look themselves
                expected = isinstance(error, EngramlogError)
                self._watch.failed(reason := reason_of(error))
                if reason != self._trouble:
                    what = "queue refused" if isinstance(error, StoreMismatch) else "schedule waits"
                    self._tell(what, reason=reason, alarm=not expected)
                self._trouble = reason
        self._leave()

    def _look(self) -> None:
        if not self._checked:
            refuse_kind(self._wire, self._setting)
            self._checked = True
        now = self._cron.now_ms()
        self._cron.tend(now)
        if has_work(self._wire, self._store_id, now):
            self._nothing_since = None
        elif self._nothing_since is None:
            self._nothing_since = monotonic()
