"""A job worker as a process: `python -P -m engramlog_server.ops.job_worker`. It runs the jobs that `up` schedules.

SIGTERM ends it within a second, whatever its job is in the middle of, and the job goes back to the queue. Killed, it leaves a job
that another worker takes up a minute later.
"""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Sequence
from threading import Event as Flag

import redis

from engramlog_server.consumers.jobs.opened import JobResources, Lent
from engramlog_server.consumers.jobs.queue import JobValidator, JobWorker, store_queue
from engramlog_server.consumers.jobs.run import serving
from engramlog_server.events.errors import EngramlogError, StoreMismatch
from engramlog_server.events.redis.alarms import RedisAlarms
from engramlog_server.events.redis.server import connect, refuse_kind
from engramlog_server.events.redis.wire import WirePool, open_wire
from engramlog_server.ops.clock import Every, Tell, now
from engramlog_server.ops.keys.master import keys_of, master_of
from engramlog_server.ops.logs import start_logging, teller
from engramlog_server.ops.models import chat_of, embedders_of
from engramlog_server.ops.processes.life import end_by_signal, end_with, new_worker_id, over
from engramlog_server.ops.settings import Settings, load_settings
from engramlog_server.ops.telemetry import Telemetry, telemetry_of
from engramlog_server.ops.tracebacks import log_words, reason_of, words_are_logged
from engramlog_server.ops.worker import add_options, awaited_identity, open_url, store_url
from engramlog_server.projections.redis.usage import ModelLedger

GRACE_SECONDS = 0.5
"""How long a job may take to give itself up."""
BEAT_SECONDS = 15.0
AGAIN_SECONDS = 1.0


class RunningJobs:
    """The worker that runs jobs now, which another thread keeps alive or ends.

    A job gives itself up between owners and requests. It cannot while it waits for a model, for folding or for Redis. Jobs can be
    killed anywhere, so after `GRACE_SECONDS` the job is put back into the queue and the process ends. If the queue's Redis does not
    answer in time, another worker finds the job after a minute.
    """

    def __init__(self, tell: Tell) -> None:
        self._tell = tell
        self.worker: JobWorker | None = None

    def beat(self) -> None:
        """Send the heartbeat of a running job."""
        try:
            if self.worker is not None:
                self.worker.beat()
        except (redis.RedisError, OSError) as error:
            self._tell("heartbeat not sent", reason=reason_of(error))

    def cut_off(self) -> None:
        """Put the job back into the queue: the process ends."""
        self._tell("job worker stopped", in_the_middle=True)
        try:
            for job_id in self.worker.give_back() if self.worker is not None else ():
                self._tell("job returned", job=job_id)
        except (redis.RedisError, OSError) as error:
            self._tell("job not returned", reason=type(error).__name__)


def run_job_worker(url: str, queue_url: str | None, settings: Settings, timeout: float) -> None:
    """Run jobs until SIGTERM or SIGINT, which end the process. `timeout`: seconds to wait for Redis."""
    stop, worker_id = Flag(), new_worker_id()
    tell = teller(worker=worker_id)
    running = RunningJobs(tell)
    end_by_signal(lambda _number: stop.set(), cut_off=running.cut_off, patient_seconds=GRACE_SECONDS)
    master, keys = master_of(settings), keys_of(settings)
    store = connect(url, timeout=timeout, master=master, keys=keys)
    identity = awaited_identity(store, stop, tell)
    store.close()
    client = connect(queue_url or url, timeout=timeout)
    setting = "ENGRAMLOG_QUEUE_URL" if queue_url else "ENGRAMLOG_REDIS_URL"
    if identity is None or not _is_queue(client, setting, stop, tell):
        client.close()
        return
    log_words(identity.sealed is None)
    _log_rq(tell)
    embedders, chat = embedders_of(settings, identity.embedder), chat_of(settings)
    alarms = RedisAlarms(WirePool(connect(url, timeout=timeout)), worker_id, tell)
    ledger = ModelLedger(WirePool(connect(url, timeout=timeout)), now)
    served = JobResources(
        *(url, timeout, tell, stop),
        embedder=None if embedders is None else Lent(lambda: embedders),
        chat=None if chat is None else Lent(chat),
        reviewer=settings.reviewer,
        extraction=settings.extraction,
        seen={},
        summaries=settings.summaries,
        looked_at={},
        view_bytes=settings.view_bytes,
        alarms=alarms,
        note=ledger.note,
        master=master,
        keys=keys,
    )
    if (telemetry := telemetry_of("lifecycle", tell)) is not None:
        telemetry.of_store(identity.store_id)
    beat = Every(BEAT_SECONDS, running.beat, "heartbeat", tell).start()
    tell("job worker started", store=identity.store_id)
    validator = JobValidator(client, identity.store_id, identity.partitions, alarms, tell)
    with serving(served):
        while not stop.is_set():
            _work(client, validator, running, stop, tell, telemetry)
            stop.wait(AGAIN_SECONDS)
    beat.stop()
    for part in (alarms, ledger, client):
        part.close()
    if telemetry is not None:
        telemetry.close()
    tell("job worker stopped")
    over()


def _work(
    client: redis.Redis,
    validator: JobValidator,
    running: RunningJobs,
    stop: Flag,
    tell: Tell,
    telemetry: Telemetry | None,
) -> None:
    """Run jobs until told to stop, or until the queue's Redis breaks off: RQ's loop ends there."""
    try:
        queue = store_queue(client, validator, stop)
        running.worker = JobWorker(queue, new_worker_id(), tell, words=words_are_logged())
        if telemetry is not None:
            telemetry.wrap(running.worker, "perform_job", "job")
        running.worker.work(logging_level="WARNING")
    except (redis.RedisError, OSError) as error:
        tell("queue not reached", reason=reason_of(error), next_try_seconds=AGAIN_SECONDS)


def _is_queue(client: redis.Redis, setting: str, stop: Flag, tell: Tell) -> bool:
    """Wait until the queue's Redis answers and is one that a queue can lie on; False where the process is to stop before."""
    while not stop.is_set():
        wire = open_wire(client)
        try:
            refuse_kind(wire, setting)
        except EngramlogError as error:
            refused = isinstance(error, StoreMismatch)
            tell("queue refused" if refused else "queue not reached", reason=error.message, alarm=refused)
        else:
            return True
        finally:
            wire.close()
        stop.wait(AGAIN_SECONDS)
    return False


def _log_rq(tell: Tell) -> None:
    """RQ's own warnings as lines of our log."""

    class Told(logging.Handler):
        """Tells each record."""

        def emit(self, record: logging.LogRecord) -> None:
            tell("rq reported", what=record.getMessage(), alarm=record.levelno >= logging.WARNING)

    logger = logging.getLogger("rq")
    logger.addHandler(Told())
    logger.propagate = False


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry of the process."""
    parser = argparse.ArgumentParser(prog="python -P -m engramlog_server.ops.job_worker", description=__doc__)
    parser.add_argument("--queue-url", type=open_url, help="of the queue, where it lies elsewhere; ENGRAMLOG_QUEUE_URL")
    options = add_options(parser).parse_args(arguments)
    start_logging(options.log_level, component="lifecycle", pretty=False if options.json else None)
    if options.parent is not None:
        end_with(options.parent)
    settings = load_settings()  # of the environment: a password or key is no argument, which everybody can read
    queue_url = options.queue_url or settings.queue_url
    run_job_worker(options.url or store_url(settings), queue_url, settings, options.timeout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
