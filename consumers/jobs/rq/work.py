"""RQ's worker with nothing left in it that is named in Redis: jobs come through `consumers.jobs.rq.validation`, and do one thing.

Not used, since each of them imports, decodes or obeys what others may have written: RQ's own reading of a job, callbacks,
webhooks, dependents, groups, rate limits, repeats, commands by channel, suspension, scheduler and housekeeping.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from threading import Event as Flag
from typing import Any

import redis
from rq import Queue, SimpleWorker
from rq.exceptions import NoSuchJobError, StopRequested
from rq.executions import Execution
from rq.job import Job
from rq.utils import now
from rq.worker import WorkerStatus

from consumers.jobs.rq.cron import FAILED_SECONDS, JOB_SECONDS, RETRY
from consumers.jobs.rq.house import House
from consumers.jobs.rq.jobs import FUNCTION, GIVEN_UP, run
from consumers.jobs.rq.validation import TIMES, JobValidator, Refused, bounded
from events.sealing.untold import untold

POLL_SECONDS = 0.25
"""How long it waits before it looks again whether there is a job."""
ABANDONED_SECONDS = 60
"""A running job whose worker did not beat for so long is taken up by another."""
HOUSE_SECONDS = 30
"""How often a worker looks for abandoned jobs and for those to be tried again."""


class StoreJob(Job):
    """A job that validation let in. It runs `run`, and holds nothing but what validation read."""

    validator: JobValidator

    def __init__(self, id: str | None = None, connection: redis.Redis | None = None, serializer: Any = None) -> None:  # noqa: A002, ARG002 - RQ's signature
        super().__init__(id, connection=connection, serializer="json")

    @classmethod
    def fetch(cls, id: str, connection: redis.Redis | None = None, serializer: Any = None) -> Job:  # noqa: A002
        """The job by this id. Raises NoSuchJobError where there is none, or where it was refused just now."""
        job = cls(id, connection=connection, serializer=serializer)
        job.refresh()
        return job

    @classmethod
    def fetch_many(cls, job_ids: Iterable[str], connection: redis.Redis, serializer: Any = None) -> list[Job | None]:
        """Raises NotImplementedError: nothing here asks for jobs by names that stand in Redis."""
        raise NotImplementedError

    def restore(self, raw_data: Any) -> Any:
        """Raises NotImplementedError: RQ's way of reading a hash trusts it."""
        raise NotImplementedError

    def refresh(self) -> None:
        """Read it through validation. Raises NoSuchJobError as `fetch` does."""
        try:
            found = self.validator.read(self.id)
        except Refused as error:
            self.validator.refuse(self.id.encode(), str(error))
            raise NoSuchJobError(f"{self.id} was refused: {error}") from None
        if found is None:
            raise NoSuchJobError(f"No such job: {self.id}")
        self._func_name, self._instance, self._args, self._kwargs = FUNCTION, None, found.arguments, {}
        self.origin = self.validator.name
        self._status = found.status
        times, numbers = found.times, found.numbers
        self.created_at = times["created_at"] or self.created_at
        self.enqueued_at, self.started_at, self.ended_at = (times[name] for name in TIMES[1:])
        self.timeout = bounded(numbers["timeout"], JOB_SECONDS)
        self.result_ttl = bounded(numbers["result_ttl"], FAILED_SECONDS)
        self.failure_ttl = FAILED_SECONDS
        self.ttl = bounded(numbers["ttl"], FAILED_SECONDS)
        self.retries_left = min(max(numbers["retries_left"] or 0, 0), RETRY.max)
        self.retry_intervals = list(RETRY.intervals)
        self.number_of_retries = min(max(numbers["number_of_retries"] or 0, 0), GIVEN_UP)

    @property
    def func(self) -> Any:
        """The one job function."""
        return run

    @property
    def success_callback(self) -> None:
        """None, whatever is named."""

    @property
    def failure_callback(self) -> None:
        """None, likewise."""

    @property
    def stopped_callback(self) -> None:
        """None, likewise."""

    def send_webhooks(self, status: Any, *, exc_string: str | None = None) -> None:
        """Nothing."""


class StoreQueue(Queue):
    """The queue of one store as its workers see it: no job waits for another."""

    def move_dependents_to_ready(self, *_arguments: Any, **_options: Any) -> dict[str, list[str]]:
        """None."""
        return {}

    def enqueue_dependents(self, *_arguments: Any, **_options: Any) -> dict[str, list[str]]:
        """None."""
        return {}

    def enqueue_ready_jobs_by_queue(self, *_arguments: Any, **_options: Any) -> None:
        """Nothing."""


def store_queue(client: redis.Redis, validator: JobValidator) -> StoreQueue:
    """A store's queue for a worker of it: what is read from it comes through validation."""
    job_class = type("StoreJobOfOne", (StoreJob,), {"validator": validator})
    return StoreQueue(validator.name, connection=client, serializer="json", job_class=job_class)


class JobWorker(SimpleWorker):
    """Runs the jobs of one queue in this process, one after the other, until a flag is set."""

    def __init__(
        self, queue: StoreQueue, stop: Flag, name: str, tell: Callable[..., None], *, words: bool = True
    ) -> None:
        """`words`: whether a failure is kept with all that its error says; of a sealed store with kinds and places alone."""
        super().__init__(
            [queue],
            name=name,
            connection=queue.connection,
            job_class=queue.job_class,
            serializer="json",
            worker_ttl=2 * HOUSE_SECONDS,
            maintenance_interval=HOUSE_SECONDS,
            log_job_description=False,
        )
        self._words = words
        self._stop = stop
        self._queue = queue
        self._validator: JobValidator = queue.job_class.validator  # type: ignore[attr-defined]
        self._house = House(queue, self._validator, tell)

    def beat(self) -> None:
        """Say that it lives, and its job with it. From another thread, since this one is in the job."""
        if self.birth_date is None:
            return
        self.heartbeat(ABANDONED_SECONDS)
        for execution in list(self.executions.values()):
            if execution._job is not None:  # RQ's own property would read it anew, and unpickle
                self.maintain_heartbeats(execution._job, execution)

    def give_back(self) -> list[str]:
        """Put what it runs back at the head of the queue; ids. From another thread, of a process that is about to end.

        Where the job ends by itself at the same moment it is run once more, and does nothing twice.
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
        """Seconds until a job without a beat counts as abandoned, however long it may run."""
        return ABANDONED_SECONDS

    def dequeue_job_and_maintain_ttl(
        self,
        timeout: int | None,
        max_idle_time: int | None = None,  # noqa: ARG002 - RQ's signature
    ) -> tuple[Job, Queue] | None:
        """The next job; None where there is none and none is waited for (`timeout` None).

        It waits for the flag and looks, instead of waiting in Redis: told to stop, it goes at once and holds no job.
        """
        self.set_state(WorkerStatus.IDLE)
        while not self._stop.is_set():
            if self.should_run_maintenance_tasks:
                self.run_maintenance_tasks()
            job_id = self._validator.take()
            if job_id is not None:
                try:
                    job = self.job_class.fetch(job_id, connection=self.connection)
                except NoSuchJobError:
                    self._queue.intermediate_queue.remove(job_id)
                    continue
                job.redis_server_version = self.get_redis_server_version()  # type: ignore[no-untyped-call]
                return job, self._queue
            if timeout is None:
                return None
            self._stop.wait(POLL_SECONDS)
        raise StopRequested

    def _finalize_failure(self, job: Job, queue: Queue, execution: Execution, exc_info: Any) -> None:
        """What RQ keeps of a failure, and logs, is what this hands it: an error may quote what somebody said."""
        error = exc_info[1]
        told = exc_info if self._words or error is None else untold(error)
        super()._finalize_failure(job, queue, execution, told)

    def run_maintenance_tasks(self) -> None:
        """Ours instead of RQ's, which calls back, unpickles and moves what others wrote."""
        self._house.tend()
        self.last_cleaned_at = now()  # type: ignore[assignment]

    def check_for_suspension(self, burst: bool) -> None:
        """Nothing: a key in Redis suspends no worker."""

    def subscribe(self) -> None:
        """Nothing: it takes no commands but signals to its process."""

    def unsubscribe(self) -> None:
        """Nothing, likewise."""

    def _install_signal_handlers(self) -> None:
        """Nothing: the process sets the flag."""
