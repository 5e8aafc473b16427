"""The queue of a store's jobs: which jobs it accepts, the worker that runs them, and the scheduler that enqueues them.

RQ runs any function that a job names, imports its callbacks and unpickles some of its fields. Anybody who can write to the queue
could run code in a worker that way. So `StoreJob` is read field by field, with a bound on each, before anything is imported or
unpickled: its data must be a call of the one job function with four checked arguments, and fields such as callbacks, webhooks,
dependencies and groups must be empty. Every other job is removed, counted, and raises an alarm without its contents.

`JobWorker` is RQ's `SimpleWorker`, in this process. RQ's dequeuing, executions, retries, results and registries are used as they
are. Left out is everything that would act on values which others may have written: dependents, groups, rate limits, suspension,
commands by channel, and RQ's own scheduler.

`JobScheduler` enqueues one job per partition for each tick if its process leads, and records the tick next to the queue. RQ's own
`CronScheduler` pickles, keeps its ticks in its process, and enqueues twice if two run. Here a tick is a whole multiple of the
interval since 1970, and a job's id is made of kind, partition and tick: enqueuing it again adds nothing. One job makes up for all
missed ticks.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from threading import Event as Flag
from time import monotonic
from typing import Any

import redis
from rq import Queue, Retry, SimpleWorker, worker_registration
from rq.exceptions import DequeueTimeout, DuplicateJobError, InvalidJobOperation, NoSuchJobError, StopRequested
from rq.executions import Execution
from rq.job import Job, JobStatus
from rq.registry import FailedJobRegistry, FinishedJobRegistry, ScheduledJobRegistry, StartedJobRegistry
from rq.utils import current_timestamp, now, utcparse

from engramlog_server.consumers.fold.presence import LEASE_MS
from engramlog_server.consumers.jobs.embedding import mark_of, walked_to
from engramlog_server.consumers.jobs.owner_texts import folded_to, live_build
from engramlog_server.consumers.jobs.run import EMBED, EXTRACT, FORMER_JOBS, FUNCTION, GIVEN_UP, JOBS, KINDS, Kinds, run
from engramlog_server.consumers.jobs.schedule import (
    BESIDE,
    REFUSED,
    SINCE,
    Leader,
    done_field,
    folded_field,
    queue_name,
    schedule_key,
)
from engramlog_server.events.alarms import Alarms, Tell, silent
from engramlog_server.events.errors import untold
from engramlog_server.events.partitions import LogKeys
from engramlog_server.events.redis.server import redis_ms
from engramlog_server.events.redis.wire import Wire, as_store_error, open_wire
from engramlog_server.projections.embedding.choosing import Embedders
from engramlog_server.projections.embedding.vectors import VectorKeys
from engramlog_server.projections.lifecycle.extraction import JUDGE

ALARM = "job_refused"
RETRY = Retry(max=3, interval=[30, 120, 600])
"""Seconds after which a failed job is tried again. The next tick does what is left then."""
_JOB_SECONDS = 6 * 3_600
"""A job that takes longer is ended."""
FAILED_SECONDS = 7 * 86_400
"""How long a job that failed for good is kept."""
_MOST_DATA = 4_096
"""Bytes of a job's data, packed and unpacked: ours have about a hundred."""
_MOST_FIELD = 64
"""Bytes of any other field that is read."""
MOST_ID = 160
"""Bytes of a job's id."""
SHOWN = 80
"""Characters of an id in an alarm."""
SUBJECTS = 20
"""Refused jobs that one process names in alarms. The others share one alarm, so that a flood does not displace other alarms."""

_LIMITS = {
    "timeout": _JOB_SECONDS, "result_ttl": FAILED_SECONDS, "ttl": FAILED_SECONDS,
    "retries_left": RETRY.max, "number_of_retries": GIVEN_UP,
}  # fmt: skip
"""The numbers of a job, with the highest value of each."""
_TIMES = ("created_at", "enqueued_at", "started_at", "ended_at")
_READ = ("data", "status", "origin", *_TIMES, *_LIMITS)
"""The fields that are read. All others stay in Redis, whatever they hold."""
_EMPTY = (
    "success_callback_name", "failure_callback_name", "stopped_callback_name", "webhooks", "meta", "group_id",
    "dependency_id", "dependency_ids", "rate_limit_key", "rate_limit_concurrency", "repeats_left", "repeat_intervals",
)  # fmt: skip
"""The fields that must be empty."""
_ID = re.compile(rb"[A-Za-z0-9_-]+")
_TICK = re.compile(r"[0-9]{8}T[0-9]{4}(?:[0-9]{2})?")
_NUMBER = re.compile(rb"-?[0-9]{1,18}")

_READ_JOB = """
-- KEYS: the job. ARGV: most bytes of data, most bytes of a field, how many fields are read, those, what must be empty
local kind = redis.call('TYPE', KEYS[1])
if type(kind) == 'table' then kind = kind['ok'] end
if kind == 'none' then return {'gone'} end
if kind ~= 'hash' then return {'refused', 'its key holds a ' .. kind .. ', no hash'} end
local fields, last = {}, 3 + tonumber(ARGV[3])
for i = 4, #ARGV do
  local bytes = redis.call('HSTRLEN', KEYS[1], ARGV[i])
  if i > last then
    if bytes > 0 then return {'refused', 'it has ' .. ARGV[i]} end
  else
    if bytes > tonumber(i == 4 and ARGV[1] or ARGV[2]) then
      return {'refused', ARGV[i] .. ' has ' .. string.format('%.0f', bytes) .. ' bytes'}
    end
    fields[#fields + 1] = redis.call('HGET', KEYS[1], ARGV[i]) or ''
  end
end
return {'job', fields}
"""
_TAKE = """
-- KEYS: queue, ids on their way to a worker. ARGV: most bytes of an id
for i = 1, 2 do
  local kind = redis.call('TYPE', KEYS[i])
  if type(kind) == 'table' then kind = kind['ok'] end
  if kind ~= 'list' and kind ~= 'none' then
    redis.call('UNLINK', KEYS[i])
    return {'reset', kind}
  end
end
local id = redis.call('LPOP', KEYS[1])
if not id then return {'none'} end
if #id > tonumber(ARGV[1]) then return {'refused', string.sub(id, 1, tonumber(ARGV[1]))} end
redis.call('LREM', KEYS[2], 1, id)
redis.call('RPUSH', KEYS[2], id)
return {'id', id}
"""


class Refused(Exception):
    """A job that is not one of ours. The reason names a field or a size, never a value."""


class _Former(Refused):
    """A job of ours, of a kind that this release no longer has: an earlier one put it into the queue."""


class JobValidator:
    """Reads the jobs of one store's queue, and refuses all others with an alarm."""

    def __init__(
        self, client: redis.Redis, store_id: str, partitions: int, alarms: Alarms, tell: Tell = silent
    ) -> None:
        self._client = client
        self._tell = tell
        self._store_id = store_id
        self._partitions = partitions
        self._alarms = alarms
        self._named: set[str] = set()
        self._read_script = client.register_script(_READ_JOB)
        self._take_script = client.register_script(_TAKE)
        self.name = queue_name(store_id)
        self.queue_key = f"rq:queue:{self.name}"
        self.taken_key = f"{self.queue_key}:intermediate"

    def take(self) -> str | None:
        """Move the next job's id to RQ's intermediate queue and return it; None if no job waits. Refuses invalid ids."""
        while True:
            found = self._take_script(keys=[self.queue_key, self.taken_key], args=[MOST_ID])
            if found[0] == b"none":
                return None
            if found[0] == b"reset":
                self.refuse(b"the-queue", Refused(f"the queue's key held a {found[1].decode()}, no list"))
                continue
            if found[0] == b"id" and _ID.fullmatch(found[1]):
                return str(found[1].decode())
            wrong = "its id is too long" if found[0] == b"refused" else "its id has other characters"
            self.refuse(found[1], Refused(wrong))

    def read(self, job_id: str) -> dict[str, bytes] | None:
        """The checked fields of a job, numbers within their limits; None if there is none by this id. Raises Refused."""
        limits = (_MOST_DATA, _MOST_FIELD, len(_READ))
        answer = self._read_script(keys=[f"rq:job:{job_id}"], args=[*limits, *_READ, *_EMPTY])
        if answer[0] == b"gone":
            return None
        if answer[0] == b"refused":
            raise Refused(answer[1].decode())
        fields: dict[str, bytes] = dict(zip(_READ, answer[1], strict=True))
        if fields["origin"] != self.name.encode():
            raise Refused("it belongs to another queue")
        if fields["status"].decode("ascii", "replace") not in {status.value for status in JobStatus}:
            raise Refused("its status is none of RQ's")
        self._check_call(fields["data"])
        for name in _TIMES:
            try:
                utcparse(fields[name].decode("ascii") or "2026-01-01T00:00:00Z")
            except ValueError:
                raise Refused(f"{name} is no time") from None
        return fields | {name: b"%d" % _limited(name, fields[name]) for name in _LIMITS}

    def _check_call(self, packed: bytes) -> None:
        """Raises Refused unless the data is a call of the job function with valid arguments."""
        data = _unpacked(packed)
        if not (isinstance(data, list) and len(data) == 4):
            raise Refused("its data is no call")
        function, instance, arguments, named = data
        if function != FUNCTION or instance is not None:
            raise Refused("it names another function than the one job function")
        if not (isinstance(arguments, list) and len(arguments) == 4) or named != {}:
            raise Refused("its arguments are not kind, store, partition and tick")
        kind, store_id, partition, tick = arguments
        if not isinstance(kind, str) or kind not in JOBS.keys() | FORMER_JOBS:
            raise Refused(f"its kind is none of {', '.join(JOBS)}")
        if store_id != self._store_id:
            raise Refused("it is about another store")
        if type(partition) is not int or not 0 <= partition < self._partitions:
            raise Refused(f"its partition is no whole number from 0 to {self._partitions - 1}")
        if not isinstance(tick, str) or not _TICK.fullmatch(tick):
            raise Refused("its tick is no time such as 20261122T0900")
        if kind in FORMER_JOBS:
            raise _Former(f"an earlier release scheduled it, and {kind} jobs are gone")

    def refuse(self, job_id: bytes, why: Refused) -> None:
        """Remove a job from the queue and its registries. A former kind is logged, any other job is counted and alarms."""
        keys = [f"rq:{registry}:{self.name}" for registry in ("scheduled", "failed", "finished", "deferred")]
        with self._client.pipeline() as pipeline:
            pipeline.lrem(self.taken_key, 0, job_id)  # type: ignore[arg-type]
            if len(job_id) < MOST_ID:
                pipeline.unlink(b"rq:job:" + job_id)
            if not isinstance(why, _Former):
                pipeline.hincrby(schedule_key(self._store_id), REFUSED, 1)
            for key in keys:
                pipeline.zrem(key, job_id)
            pipeline.execute(raise_on_error=False)
        name = _shown(job_id)
        if isinstance(why, _Former):
            self._tell("job dropped", job=name, reason=str(why))
        elif name in self._named or len(self._named) < SUBJECTS:
            self._named.add(name)
            self._alarms.raised(ALARM, name, str(why))
        else:
            self._alarms.raised(ALARM, "", "many more: `engramlog status` counts them")


class StoreJob(Job):
    """A job that its queue's validator accepted. It runs `run`, and holds only the fields that were checked."""

    validator: JobValidator

    def refresh(self) -> None:
        """Read the job's fields. Raises NoSuchJobError if there is no such job, or it was refused just now."""
        try:
            fields = self.validator.read(self.id)
        except Refused as error:
            self.validator.refuse(self.id.encode(), error)
            raise NoSuchJobError(f"{self.id} was refused: {error}") from None
        if fields is None:
            raise NoSuchJobError(f"No such job: {self.id}")
        super().restore(fields)
        self.failure_ttl = FAILED_SECONDS
        self.retry_intervals = list(RETRY.intervals)

    def restore(self, raw_data: Any) -> Any:
        """Raises NotImplementedError: `Job.fetch_many` would pass a hash that nothing checked."""
        raise NotImplementedError

    @property
    def func(self) -> Any:
        """The one job function."""
        return run


def _unpacked(packed: bytes) -> Any:
    """A job's data: JSON, packed by zlib, bounded on both sides. Raises Refused."""
    unpacking = zlib.decompressobj()
    try:
        text = unpacking.decompress(packed, _MOST_DATA)
        if unpacking.unconsumed_tail:
            raise Refused(f"its data unpacks to more than {_MOST_DATA} bytes")
        return json.loads(text)
    except (zlib.error, ValueError, RecursionError):
        raise Refused("its data is not packed JSON") from None


def _limited(name: str, value: bytes) -> int:
    """A number within its limit: a duration is never none or endless, a count never negative. Raises Refused."""
    if value and not _NUMBER.fullmatch(value):
        raise Refused(f"{name} is no whole number")
    most, number = _LIMITS[name], int(value or 0)
    if name in ("retries_left", "number_of_retries"):
        return min(max(number, 0), most)
    return min(number, most) if number > 0 else most


def _shown(job_id: bytes) -> str:
    """An id for an alarm: only letters, digits, - and _, at most `SHOWN` of them."""
    text = re.sub(r"[^A-Za-z0-9_-]", "?", job_id[: 4 * SHOWN].decode("utf-8", "replace"))
    return text[:SHOWN] or "(empty)"


_POLL_SECONDS = 0.25
"""How often an idle worker asks for a job."""
ABANDONED_SECONDS = 60
"""A running job whose worker sent no heartbeat for so long is taken up by another."""
_TIDY_SECONDS = 30
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
_ANY_ID, _ANY_RUN = "^[%w_-]+$", "^[%w_-]+:%w+$"


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
            cls.stop.wait(_POLL_SECONDS)
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
            worker_ttl=_TIDY_SECONDS + 15,  # RQ waits 15 seconds less for a job
            maintenance_interval=_TIDY_SECONDS,
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
        patterns = (_ANY_ID, _ANY_RUN, _ANY_ID, _ANY_ID, _ANY_ID)
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


class DueJobs:
    """Extraction is due if events were folded since the last run, judging if raw events wait, embedding if vectors are
    missing."""

    def __init__(
        self, queue: Wire, store: Wire, store_id: str, tags: Sequence[str], embedders: Embedders | None
    ) -> None:
        self._queue = queue
        self._store = store
        self._key = schedule_key(store_id)
        self._tags = tags
        self._embedders = embedders

    def __call__(self, kind: str, partition: int) -> bool:
        """True for every other kind. A kind without work is recorded as done. Raises StoreError."""
        tag = self._tags[partition]
        if kind == EXTRACT:
            recorded = self._queue.call("HGET", self._key, folded_field(kind, partition))
            due = folded_to(self._store, tag) != int(recorded or 0)
        elif kind == JUDGE:
            due = bool(self._store.call("EXISTS", LogKeys(tag).unjudged))
        elif kind == EMBED and self._embedders is not None:
            keys = live_build(self._store, tag)
            marked = self._store.call("HGET", VectorKeys(tag).models, mark_of(self._embedders))
            complete = marked == walked_to(self._store, keys).encode()
            due = not complete and bool(self._store.call("EXISTS", keys.owners))
        else:
            return True
        if not due:
            self._queue.call("HSET", self._key, done_field(kind, partition), f"{redis_ms(self._queue)} 0")
        return due


_LEAST_MINUTES = 60
_MINUTE_MS = 60_000


def lifecycle_queue(client: redis.Redis, store_id: str) -> Queue:
    """A store's queue, to put jobs into it. Workers use `consumers.jobs.queue.store_queue`, which checks each job."""
    return Queue(queue_name(store_id), connection=client, serializer="json")


class JobScheduler:
    """One scheduler of a store, a candidate for leading. Not for two threads at once."""

    def __init__(
        self,
        client: redis.Redis,
        store_id: str,
        partitions: int,
        holder: str,
        *,
        minutes: int = _LEAST_MINUTES,
        kinds: Kinds = KINDS,
        tell: Tell = silent,
        lease_ms: int = LEASE_MS,
        due: Callable[[str, int], bool] = lambda _kind, _partition: True,
    ) -> None:
        """`due`: whether a kind of job has work in a partition; if not, it is not enqueued at this tick."""
        self._wire = open_wire(client)
        self._store_id = store_id
        self._key = schedule_key(store_id)
        self._partitions = partitions
        self._tell = tell
        self._due = due
        self._queue = lifecycle_queue(client, store_id)
        self._leader = Leader(self._wire, store_id, holder, lease_ms)
        self._every_ms = {name: int((every or minutes) * _MINUTE_MS) for name, every in kinds.items()}

    @property
    def leads(self) -> bool:
        """Whether it led at the last `tend`."""
        return self._leader.leads

    def now_ms(self) -> int:
        """The clock of the queue's Redis, which all schedulers use."""
        return redis_ms(self._wire)

    def tend(self, now_ms: int) -> int:
        """Lead if no other scheduler does, and enqueue what is due. Returns the number of new jobs. Raises StoreError."""
        led = self.leads
        if not self._leader.tend(now_ms):
            return 0
        if not led:
            self._tell("scheduler elected", store=self._store_id)
            self._forget_other_kinds()
            for kind in self._every_ms:
                self._note_since(f"{_prefix(kind)}{SINCE}{kind}", now_ms)
        return self.enqueue_due(now_ms)

    def enqueue_due(self, now_ms: int) -> int:
        """Enqueue the jobs of every tick that has begun, whoever leads. Returns the number of new jobs. Raises StoreError.

        The tick is recorded after its jobs, so the next leader completes a tick whose leader died.
        """
        added = 0
        for kind, every in self._every_ms.items():
            tick = now_ms - now_ms % every
            prefix = _prefix(kind)
            last = self._wire.call("HGET", self._key, f"{prefix}tick:{kind}")
            # Not `>`: a clock that once went far ahead must not keep the schedule waiting for it.
            if last is not None and abs(tick - int(last)) < every:
                continue
            enqueued = self.enqueue(kind, tick)
            self._wire.call("HSET", self._key, f"{prefix}tick:{kind}", tick, f"{prefix}every:{kind}", every)
            if not prefix:
                self._tell("jobs enqueued", kind=kind, tick=tick_name(tick), jobs=enqueued)
            added += enqueued
        return added

    def _note_since(self, field: str, now_ms: int) -> None:
        """Record since when a kind is scheduled. A time in the future, from a clock that ran ahead, is replaced."""
        noted = self._wire.call("HGET", self._key, field)
        if noted is None or int(noted) > now_ms:
            self._wire.call("HSET", self._key, field, now_ms)

    def _forget_other_kinds(self) -> None:
        """Remove the records of optional kinds that are no longer scheduled, so that `status` does not show them."""
        fields = (field.decode() for field in self._wire.call("HKEYS", self._key))
        optional = [name for name in fields if name.startswith(BESIDE)]
        if other := [name for name in optional if name.rpartition(":")[2] not in self._every_ms]:
            self._wire.call("HDEL", self._key, *other)

    def enqueue(self, kind: str, tick_ms: int) -> int:
        """Enqueue a tick's jobs in the partitions that are due. Returns the number of new jobs. Raises StoreError."""
        every, tick, added = self._every_ms[kind] // 1_000, tick_name(tick_ms), 0
        for partition in range(self._partitions):
            if not self._due(kind, partition):
                continue
            with suppress(DuplicateJobError):
                try:
                    self._queue.enqueue_call(
                        FUNCTION,
                        args=(kind, self._store_id, partition, tick),
                        job_id=f"{kind}-{self._store_id}-p{partition}-{tick}",
                        unique=True,
                        retry=RETRY,
                        timeout=_JOB_SECONDS,
                        ttl=max(every, 60),  # not begun by the next tick: that one's job does all of it
                        result_ttl=2 * every,  # while the id is known, no scheduler enqueues the tick again
                        failure_ttl=FAILED_SECONDS,
                    )
                except (redis.RedisError, OSError) as error:
                    raise as_store_error(error) from error
                added += 1
        return added

    def leave(self, client: redis.Redis | None = None) -> None:
        """Let another scheduler lead at once. Raises StoreError.

        `client` makes a connection of its own for a thread other than the one that tends.
        """
        wire = self._wire if client is None else open_wire(client)
        self._leader.leave(wire)
        wire.close()


def _prefix(kind: str) -> str:
    """The prefix of a kind's fields. Optional kinds have their own: `status` reports when the lifecycle itself ran."""
    return "" if kind in KINDS else BESIDE


def tick_name(tick_ms: int) -> str:
    """A tick as job ids contain it: 20261122T0900 in UTC, or 20261122T090010 within a minute."""
    form = "%Y%m%dT%H%M%S" if tick_ms % _MINUTE_MS else "%Y%m%dT%H%M"
    return datetime.fromtimestamp(tick_ms / 1_000, UTC).strftime(form)
