"""A job worker as a process: `python -P -m engramlog_server.ops.job_worker`. It schedules and runs the jobs of one store.

SIGTERM ends it within a second, whatever its job is in the middle of, and the job goes back to the queue. Killed, it leaves a job
that another worker takes up a minute later.
"""

from __future__ import annotations

import argparse
import logging
import os
import signal
import sys
from collections.abc import Callable, Sequence
from functools import partial
from threading import Event as Flag
from typing import Any

import redis

from engramlog_server.consumers.fold.presence import LEASE_MS
from engramlog_server.consumers.jobs.episodes import EXTRACTIVE, OFF
from engramlog_server.consumers.jobs.job import JobValidator
from engramlog_server.consumers.jobs.lifecycle import RULE
from engramlog_server.consumers.jobs.opened import JobResources, Lent
from engramlog_server.consumers.jobs.raw_memories import RawMemories
from engramlog_server.consumers.jobs.run import kinds_of, serving
from engramlog_server.consumers.jobs.scheduler import LEAST_MINUTES, JobScheduler
from engramlog_server.consumers.jobs.worker import JobWorker, store_queue
from engramlog_server.events.alarms import JOBS_PATIENT_SECONDS, JOBS_WAIT, ConditionAlarm
from engramlog_server.events.errors import EngramlogError, StoreError, StoreMismatch
from engramlog_server.events.redis.alarms import RedisAlarms
from engramlog_server.events.redis.ready import refuse_kind
from engramlog_server.events.redis.wire import WirePool, connect, open_wire
from engramlog_server.events.sealing.key_store import OpenKeyStore
from engramlog_server.events.sealing.seals import MasterKey
from engramlog_server.ops.clock import now
from engramlog_server.ops.embedders import embed_minutes, embedders_of
from engramlog_server.ops.every import Every
from engramlog_server.ops.keys.place import keys_of
from engramlog_server.ops.logs import start_logging, teller
from engramlog_server.ops.models import chat_of
from engramlog_server.ops.processes.ending import end_by_signal, over
from engramlog_server.ops.sealing.master import master_of
from engramlog_server.ops.settings import load_settings
from engramlog_server.ops.tracebacks import reason_of, tell_words, words_are_told
from engramlog_server.ops.worker import add_json, open_url, store_url
from engramlog_server.ops.worker_id import new_worker_id
from engramlog_server.projections.choices import VIEW_BYTES
from engramlog_server.projections.embedding.choosing import Embedders
from engramlog_server.projections.models.chat import Chat
from engramlog_server.projections.redis.create import StoreIdentity, known_identity
from engramlog_server.projections.redis.model_uses import ModelLedger

Tell = Callable[..., None]
GRACE_SECONDS = 0.5
"""How long a job may take to give itself up."""
ATTEND_SECONDS = 1.0
BEAT_SECONDS = 15.0
AGAIN_SECONDS = 1.0


class Ending:
    """Ends the process at SIGTERM or SIGINT, within a second.

    A job gives itself up between owners and requests. It cannot while it waits for a model, for folding or for Redis. Jobs can be
    killed anywhere, so after `GRACE_SECONDS` the job is put back into the queue and the process ends. If the queue's Redis does not
    answer in time, another worker finds the job after a minute.
    """

    def __init__(self, stop: Flag, tell: Callable[..., None]) -> None:
        self._stop = stop
        self._tell = tell
        self.worker: JobWorker | None = None
        self.leave: Callable[[], None] = lambda: None
        """Lets another process lead the schedule."""

    def arm(self) -> None:
        """Begin. For the main thread, which handles signals."""
        end_by_signal(lambda _number: self._stop.set(), cut_off=self._cut_off, patient_seconds=GRACE_SECONDS)

    def _cut_off(self) -> None:
        self._tell("job worker stopped", in_the_middle=True)
        self._give_back()

    def _give_back(self) -> None:
        try:
            for job_id in self.worker.give_back() if self.worker is not None else ():
                self._tell("job given back", job=job_id)
            self.leave()
        except (StoreError, redis.RedisError, OSError) as error:
            self._tell("job not given back", reason=type(error).__name__)


class Attendant:
    """A thread next to the jobs: it schedules, sends the heartbeat of a running job, and looks whether the parent lives."""

    def __init__(
        self,
        cron: JobScheduler | None,
        stop: Flag,
        tell: Tell,
        parent: int | None,
        ending: Ending,
        watch: ConditionAlarm,
    ) -> None:
        """Without `cron` the process that started this one schedules."""
        self._cron = cron
        self._stop = stop
        self._tell = tell
        self._parent = parent
        self._ending = ending
        self._watch = watch
        self._looks = 0
        self._every = Every(ATTEND_SECONDS, self._attend, "attendant", tell)

    def start(self) -> None:
        """Begin."""
        self._every.start()

    def end(self) -> None:
        """Wait for its last look, then let another lead at once."""
        self._every.stop()
        try:
            if self._cron is not None:
                self._cron.leave()
        except StoreError as error:
            self._tell("schedule not handed over", reason=error.message)

    def _attend(self) -> None:
        if self._stop.is_set():
            return
        if _orphaned(self._parent):
            self._tell("parent gone")
            os.kill(os.getpid(), signal.SIGTERM)
            return
        try:
            if self._cron is not None:
                self._cron.tend(self._cron.now_ms())
                self._watch.report(None)
            if self._looks % int(BEAT_SECONDS / ATTEND_SECONDS) == 0 and self._ending.worker is not None:
                self._ending.worker.beat()
        except Exception as error:  # noqa: BLE001 - whatever it is, it is an alarm that jobs wait
            expected = isinstance(error, EngramlogError | redis.RedisError | OSError)
            self._tell("schedule waits", reason=reason_of(error), alarm=not expected)
            if self._cron is not None:
                self._watch.report(reason_of(error))
        self._looks += 1


def nothing_embedded(_default: str) -> None:
    """Vectors are only taken away."""


def run_job_worker(
    url: str,
    *,
    queue_url: str | None = None,
    minutes: int = LEAST_MINUTES,
    timeout: float = 10.0,
    lease_ms: int = LEASE_MS,
    parent: int | None = None,
    embedders: Callable[[str], Embedders | None] = nothing_embedded,
    chat: Callable[[], Chat] | None = None,
    reviewer: str = RULE,
    extraction: str = OFF,
    summaries: str = EXTRACTIVE,
    schedules: bool = True,
    view_bytes: int = VIEW_BYTES,
    master: MasterKey | None = None,
    keys: OpenKeyStore | None = None,
) -> None:
    """Run jobs until SIGTERM or SIGINT, which end the process, and schedule them unless another process does.

    `embedders` gives what embeds on a store with this default, `chat` the language model: both make models at first need.

    `extraction` and `summaries` are how turns become typed memories and episodes by themselves, or off.
    """
    stop = Flag()
    worker_id = new_worker_id()
    tell = teller(worker=worker_id)
    ending = Ending(stop, tell)
    ending.arm()
    identity = _identity(partial(connect, url, timeout=timeout, master=master, keys=keys), stop, tell, parent)
    if identity is None:
        return
    tell_words(identity.sealed is None)
    _tell_of_rq(tell)
    client = connect(queue_url or url, timeout=timeout)
    setting = "ENGRAMLOG_QUEUE_URL" if queue_url else "ENGRAMLOG_REDIS_URL"
    alarms = RedisAlarms(WirePool(connect(url, timeout=timeout)), worker_id, tell)
    watch = ConditionAlarm(alarms, JOBS_WAIT, patient_seconds=JOBS_PATIENT_SECONDS)
    if not _is_queue(client, setting, stop, tell, parent, watch):
        alarms.close()
        client.close()
        return
    cron, embed_with = None, embedders(identity.embedder)
    if schedules:
        kinds = kinds_of(extraction, summaries, embed_minutes=embed_minutes(embed_with))
        told: dict[str, Any] = {"minutes": minutes, "kinds": kinds, "tell": tell, "lease_ms": lease_ms}
        cron = JobScheduler(client, identity.store_id, identity.partitions, worker_id, **told)
        ending.leave = partial(cron.leave, client)
    attendant = Attendant(cron, stop, tell, parent, ending, watch)
    attendant.start()
    tell("job worker started", store=identity.store_id)
    lent = None if embed_with is None else Lent(lambda: embed_with)
    asked = None if chat is None else Lent(chat)
    served = JobResources(
        url, timeout, tell, stop, lent, asked, reviewer, extraction, {}, summaries, {}, view_bytes, alarms
    )
    ledger = ModelLedger(WirePool(connect(url, timeout=timeout)), now)
    served = served._replace(note=ledger.note, master=master, keys=keys)
    raw = None if cron is None else RawMemories(served, identity.store_id, lambda: cron.leads)
    if raw is not None:
        raw.start()
    validator = JobValidator(client, identity.store_id, identity.partitions, alarms)
    with serving(served):
        while not stop.is_set():
            _work(client, validator, ending, stop, tell)
            stop.wait(AGAIN_SECONDS)
    if raw is not None:
        raw.stop(GRACE_SECONDS)
    attendant.end()
    alarms.close()
    ledger.close()
    client.close()
    tell("job worker stopped")
    over()


def _work(client: redis.Redis, validator: JobValidator, ending: Ending, stop: Flag, tell: Tell) -> None:
    """Run jobs until told to stop, or until the queue's Redis breaks off: RQ's loop ends there."""
    try:
        queue = store_queue(client, validator, stop)
        ending.worker = JobWorker(queue, new_worker_id(), tell, words=words_are_told())
        ending.worker.work(logging_level="WARNING")
    except (redis.RedisError, OSError) as error:
        tell("queue not reached", reason=reason_of(error), next_try_seconds=AGAIN_SECONDS)


def _orphaned(parent: int | None) -> bool:
    """Whether the process that started this one, and that it goes with, is gone."""
    return parent is not None and os.getppid() != parent


def _identity(
    connect_to: Callable[[], redis.Redis], stop: Flag, tell: Tell, parent: int | None
) -> StoreIdentity | None:
    """The store at the URL, waited for; None where the process is to stop before."""
    client, identity = connect_to(), None
    while identity is None and not stop.is_set():
        if _orphaned(parent):
            tell("parent gone")
            break
        wire = open_wire(client)
        try:
            identity = known_identity(wire)
        except EngramlogError as error:
            tell("store not reached", reason=error.message)
        wire.close()
        if identity is None:
            stop.wait(0.5)
    client.close()
    return identity


def _is_queue(
    client: redis.Redis, setting: str, stop: Flag, tell: Tell, parent: int | None, watch: ConditionAlarm
) -> bool:
    """Wait until the queue's Redis answers and is one that a queue can lie on; False where the process is to stop before."""
    while not stop.is_set() and not _orphaned(parent):
        wire = open_wire(client)
        try:
            refuse_kind(wire, setting)
        except EngramlogError as error:
            refused = isinstance(error, StoreMismatch)
            tell("queue refused" if refused else "queue not reached", reason=error.message, alarm=refused)
            watch.report(error.message)
        else:
            return True
        finally:
            wire.close()
        stop.wait(AGAIN_SECONDS)
    return False


def _tell_of_rq(tell: Tell) -> None:
    """RQ's own warnings as lines of our log."""

    class Told(logging.Handler):
        """Tells each record."""

        def emit(self, record: logging.LogRecord) -> None:
            tell("rq", what=record.getMessage(), alarm=record.levelno >= logging.WARNING)

    logger = logging.getLogger("rq")
    logger.addHandler(Told())
    logger.propagate = False


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry of the process."""
    parser = argparse.ArgumentParser(prog="python -P -m engramlog_server.ops.job_worker", description=__doc__)
    parser.add_argument("--url", type=open_url, help="of the store; ENGRAMLOG_REDIS_URL, where it may hold a password")
    parser.add_argument("--queue-url", type=open_url, help="of the queue, where it lies elsewhere; ENGRAMLOG_QUEUE_URL")
    parser.add_argument("--minutes", type=int, default=LEAST_MINUTES, help="minutes between two sweeps, at least 60")
    parser.add_argument("--log-level", default="info")
    parser.add_argument(
        "--lease-ms", type=int, default=LEASE_MS, help="how long the leader's lease lasts without renewal"
    )
    parser.add_argument("--timeout", type=float, default=10.0, help="seconds to wait for Redis")
    parser.add_argument("--parent", type=int, help="stop when this process is no longer the parent")
    parser.add_argument("--unscheduled", action="store_true", help="schedule nothing: whoever started it does")
    add_json(parser)
    options = parser.parse_args(arguments)
    if options.minutes < LEAST_MINUTES:
        parser.error(f"--minutes: got {options.minutes}; allowed: {LEAST_MINUTES} or more")
    start_logging(options.log_level, component="lifecycle", pretty=False if options.json else None)
    settings = load_settings()  # of the environment: a password or key is no argument, which everybody can read
    run_job_worker(
        options.url or store_url(settings),
        queue_url=options.queue_url or settings.queue_url,
        minutes=options.minutes,
        timeout=options.timeout,
        lease_ms=options.lease_ms,
        parent=options.parent,
        embedders=partial(embedders_of, settings),
        chat=chat_of(settings),
        reviewer=settings.reviewer,
        extraction=settings.extraction,
        summaries=settings.summaries,
        schedules=not options.unscheduled,
        view_bytes=settings.view_bytes,
        master=master_of(settings),
        keys=keys_of(settings),
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
