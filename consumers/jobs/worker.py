"""RQ's `SimpleWorker` for one store's queue: it runs strict jobs only, in this process, and takes no orders from Redis.

RQ's dequeuing, executions, retries, results and registries are used as they are. Left out is what would act on values that
others may have written: dependents, groups, rate limits, suspension, commands by channel, and RQ's own scheduler.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from threading import Event as Flag
from time import monotonic
from typing import Any

import redis
from rq import Queue, SimpleWorker, worker_registration
from rq.exceptions import DequeueTimeout, InvalidJobOperation, NoSuchJobError, StopRequested
from rq.executions import Execution
from rq.job import Job, JobStatus
from rq.registry import FailedJobRegistry, FinishedJobRegistry, ScheduledJobRegistry, StartedJobRegistry
from rq.utils import current_timestamp, now

from engramlog_server.consumers.jobs.job import MOST_ID, JobValidator, StoreJob
from engramlog_server.events.encryption.redaction import untold

POLL_SECONDS = 0.25
"""How often an idle worker asks for a job."""
ABANDONED_SECONDS = 60
"""A running job whose worker sent no heartbeat for so long is taken up by another."""
TIDY_SECONDS = 30
"""How often a worker looks for abandoned jobs and for those to be tried again."""
CHUNK = 500
"""Entries of a registry in one round."""

_PURGE = """
-- KEYS: a list and sorted sets. ARGV: most bytes of an entry, entries looked at, the pattern of each key's entries
for i, key in ipairs(KEYS) do
  local kind, wanted = redis.call('TYPE', key), i == 1 and 'list' or 'zset'
  if type(kind) == 'table' then kind = kind['ok'] end
  if kind ~= wanted then
    if kind ~= 'none' then redis.call('UNLINK', key) end
  else
    for _, entry in ipairs(redis.call(i == 1 and 'LRANGE' or 'ZRANGE', key, '0', ARGV[2])) do
      if #entry > tonumber(ARGV[1]) or not string.match(entry, ARGV[2 + i]) then
        if i == 1 then redis.call('LREM', key, '0', entry) else redis.call('ZREM', key, entry) end
      end
    end
  end
end
"""
_ID, _RUN_ID = "^[%w_-]+$", "^[%w_-]+:%w+$"


class StoreQueue(Queue):
    """The queue of one store as its workers use it: ids are checked when they are taken, and no job waits for another."""

    validator: JobValidator
    stop: Flag

    @classmethod
    def lmove(cls, connection: redis.Redis, queue_key: str, timeout: int | None) -> tuple[str, str] | None:  # noqa: ARG003 - RQ's signature
        """The queue and the next job's id; None if no job waits and `timeout` is None.

        It polls instead of blocking in Redis: a worker that is to stop goes at once and holds no job. Raises StopRequested then,
        and DequeueTimeout after `timeout` seconds.
        """
        until = monotonic() + (timeout or 0)
        while not cls.stop.is_set():
            if (job_id := cls.validator.take()) is not None:
                return queue_key, job_id
            if timeout is None:
                return None
            if monotonic() > until:
                raise DequeueTimeout(timeout, queue_key)
            cls.stop.wait(POLL_SECONDS)
        raise StopRequested

    def move_dependents_to_ready(self, *_arguments: Any, **_options: Any) -> dict[str, list[str]]:
        """No dependents."""
        return {}

    def enqueue_dependents(self, *_arguments: Any, **_options: Any) -> dict[str, list[str]]:
        """No dependents."""
        return {}


class _StartedJobs(StartedJobRegistry):
    """RQ's registry of running jobs, whose cleanup retries abandoned ones on our queue."""

    def __init__(self, queue: StoreQueue) -> None:
        super().__init__(queue=queue, job_class=queue.job_class)
        self._queue = queue

    def get_queue(self) -> StoreQueue:
        """The queue that enqueues no dependents."""
        return self._queue


def store_queue(client: redis.Redis, validator: JobValidator, stop: Flag) -> StoreQueue:
    """A store's queue for its workers, until `stop` is set. RQ passes classes on, so each store has its own."""
    job_class = type("StoreJob", (StoreJob,), {"validator": validator})
    queue_class = type("StoreQueue", (StoreQueue,), {"validator": validator, "stop": stop})
    queue: StoreQueue = queue_class(validator.name, connection=client, serializer="json", job_class=job_class)
    return queue


class JobWorker(SimpleWorker):
    """Runs the jobs of one queue in this process, one after the other, until the queue's flag is set."""

    max_connection_wait_time = 1.0

    def __init__(self, queue: StoreQueue, name: str, tell: Callable[..., None], *, words: bool = True) -> None:
        """`words`: whether failures are kept with their error messages. A sealed store keeps only types and lines."""
        super().__init__(
            [queue],
            name=name,
            connection=queue.connection,
            job_class=queue.job_class,
            queue_class=type(queue),
            serializer="json",
            worker_ttl=TIDY_SECONDS + 15,  # RQ waits 15 seconds less for a job
            maintenance_interval=TIDY_SECONDS,
            log_job_description=False,
        )
        self._words = words
        self._queue = queue
        self._tell = tell
        self._purge_script = self.connection.register_script(_PURGE)

    def beat(self) -> None:
        """Send the heartbeat of the worker and its job. For another thread, since this one runs the job."""
        if self.birth_date is None:
            return
        self.heartbeat(ABANDONED_SECONDS)
        for execution in list(self.executions.values()):
            if execution._job is not None:  # RQ's own property would fetch the job with pickle
                self.maintain_heartbeats(execution._job, execution)

    def give_back(self) -> list[str]:
        """Put the running job back at the head of the queue; returns job ids. For another thread of a process that ends.

        If the job ends by itself at the same moment, it is run once more, which changes nothing.
        """
        given = []
        for execution in list(self.executions.values()):
            job = execution._job
            if job is not None:
                with self.connection.pipeline() as pipeline:
                    execution.delete(job=job, pipeline=pipeline)
                    self._queue._enqueue_job(job, pipeline=pipeline, at_front=True)
                    pipeline.execute()
                given.append(job.id)
        self.register_death()  # type: ignore[no-untyped-call]
        return given

    def get_heartbeat_ttl(self, job: Job, working_time: float = 0.0) -> int:  # noqa: ARG002 - RQ's signature
        """Seconds until a job without a heartbeat counts as abandoned, however long it may run."""
        return ABANDONED_SECONDS

    def _finalize_failure(self, job: Job, queue: Queue, execution: Execution, exc_info: Any) -> None:
        """Keep a failure without its message if the store is sealed: it may quote contents."""
        error = exc_info[1]
        super()._finalize_failure(job, queue, execution, exc_info if self._words or error is None else untold(error))

    def run_maintenance_tasks(self) -> None:
        """Remove invalid entries, then clean RQ's registries. A part that fails is logged, and the others go on."""
        started = _StartedJobs(self._queue)
        for part in (self._purge, started.cleanup, self._requeue_due, self._requeue_stuck, self._forget_ended):
            try:
                part()
            except (redis.ResponseError, ValueError, TypeError) as error:
                name = part.__name__.strip("_")
                self._tell("queue not cleaned", part=name, reason=type(error).__name__, alarm=True)
        self.last_cleaned_at = now()  # type: ignore[assignment]

    def _purge(self) -> None:
        """Entries that cannot be ours, and keys of another type."""
        registries = [f"rq:{name}:{self._queue.name}" for name in ("wip", "scheduled", "finished", "failed")]
        patterns = (_ID, _RUN_ID, _ID, _ID, _ID)
        limits = (MOST_ID + 64, CHUNK)
        self._purge_script(keys=[self._queue.intermediate_queue_key, *registries], args=[*limits, *patterns])

    def _requeue_due(self) -> None:
        """Put jobs whose time to be tried again has come into the queue."""
        registry = ScheduledJobRegistry(queue=self._queue, job_class=self.job_class)  # type: ignore[no-untyped-call]
        for job_id in registry.get_jobs_to_schedule(chunk_size=CHUNK):
            try:
                with suppress(InvalidJobOperation):  # another worker was first
                    registry.requeue(job_id)
            except NoSuchJobError:
                registry.remove(job_id)

    def _requeue_stuck(self) -> None:
        """Put jobs that a worker took a minute ago and did not begin back into the queue. RQ's cleanup would fail them."""
        taken = self._queue.intermediate_queue
        for job_id in taken.get_job_ids()[:CHUNK]:
            job = self._queue.fetch_job(job_id)
            if job is None or job.get_status(refresh=False) != JobStatus.QUEUED:
                taken.remove(job_id)
            elif not taken.set_first_seen(job_id) and taken.should_be_cleaned_up(job_id):
                with self.connection.pipeline() as pipeline:
                    pipeline.lrem(taken.key, 1, job_id)
                    pipeline.lrem(self._queue.key, 0, job_id)
                    pipeline.rpush(self._queue.key, job_id)
                    pipeline.execute()

    def _forget_ended(self) -> None:
        """Entries of jobs that ended long ago, and of workers that are gone."""
        for registry in (FinishedJobRegistry, FailedJobRegistry):
            registry(queue=self._queue, job_class=self.job_class).cleanup(current_timestamp())
        worker_registration.clean_worker_registry(self._queue)

    def check_for_suspension(self, burst: bool) -> None:
        """Ignore suspension: a key in Redis stops no worker."""

    def subscribe(self) -> None:
        """Take no commands from a channel."""

    def unsubscribe(self) -> None:
        """See `subscribe`."""

    def _install_signal_handlers(self) -> None:
        """Install none: the process sets the flag."""
