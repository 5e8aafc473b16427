"""The one strict job class. RQ runs any function that a job names, imports its callbacks and unpickles some of its fields.

Anybody who can write to the queue could run code in a worker that way. `StoreJob` is read field by field, with a bound on each,
before anything is imported or unpickled: its data must be a call of the one job function with four checked arguments, and fields
such as callbacks, webhooks, dependencies and groups must be empty. Every other job is removed, counted, and raises an alarm
without its contents.
"""

from __future__ import annotations

import json
import re
import zlib
from typing import Any

import redis
from rq import Retry
from rq.exceptions import NoSuchJobError
from rq.job import Job, JobStatus
from rq.utils import utcparse

from engramlog_server.consumers.fold.folder import Tell, silent
from engramlog_server.consumers.jobs.leader import REFUSED, queue_name, schedule_key
from engramlog_server.consumers.jobs.run import FORMER_JOBS, FUNCTION, GIVEN_UP, JOBS, run
from engramlog_server.events.alarms import Alarms

ALARM = "job_refused"
RETRY = Retry(max=3, interval=[30, 120, 600])
"""Seconds after which a failed job is tried again. The next tick does what is left then."""
JOB_SECONDS = 6 * 3_600
"""A job that takes longer is ended."""
FAILED_SECONDS = 7 * 86_400
"""How long a job that failed for good is kept."""
MOST_DATA = 4_096
"""Bytes of a job's data, packed and unpacked: ours have about a hundred."""
MOST_FIELD = 64
"""Bytes of any other field that is read."""
MOST_ID = 160
"""Bytes of a job's id."""
SHOWN = 80
"""Characters of an id in an alarm."""
SUBJECTS = 20
"""Refused jobs that one process names in alarms. The others share one alarm, so that a flood does not displace other alarms."""

LIMITS = {
    "timeout": JOB_SECONDS, "result_ttl": FAILED_SECONDS, "ttl": FAILED_SECONDS,
    "retries_left": RETRY.max, "number_of_retries": GIVEN_UP,
}  # fmt: skip
"""The numbers of a job, with the highest value of each."""
TIMES = ("created_at", "enqueued_at", "started_at", "ended_at")
READ = ("data", "status", "origin", *TIMES, *LIMITS)
"""The fields that are read. All others stay in Redis, whatever they hold."""
EMPTY = (
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


class Former(Refused):
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
        limits = (MOST_DATA, MOST_FIELD, len(READ))
        answer = self._read_script(keys=[f"rq:job:{job_id}"], args=[*limits, *READ, *EMPTY])
        if answer[0] == b"gone":
            return None
        if answer[0] == b"refused":
            raise Refused(answer[1].decode())
        fields: dict[str, bytes] = dict(zip(READ, answer[1], strict=True))
        if fields["origin"] != self.name.encode():
            raise Refused("it belongs to another queue")
        if fields["status"].decode("ascii", "replace") not in {status.value for status in JobStatus}:
            raise Refused("its status is none of RQ's")
        self._check_call(fields["data"])
        for name in TIMES:
            try:
                utcparse(fields[name].decode("ascii") or "2026-01-01T00:00:00Z")
            except ValueError:
                raise Refused(f"{name} is no time") from None
        return fields | {name: b"%d" % _limited(name, fields[name]) for name in LIMITS}

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
            raise Former(f"an earlier release scheduled it, and {kind} jobs are gone")

    def refuse(self, job_id: bytes, why: Refused) -> None:
        """Remove a job from the queue and its registries. A former kind is logged, any other job is counted and alarms."""
        keys = [f"rq:{registry}:{self.name}" for registry in ("scheduled", "failed", "finished", "deferred")]
        with self._client.pipeline() as pipeline:
            pipeline.lrem(self.taken_key, 0, job_id)  # type: ignore[arg-type]
            if len(job_id) < MOST_ID:
                pipeline.unlink(b"rq:job:" + job_id)
            if not isinstance(why, Former):
                pipeline.hincrby(schedule_key(self._store_id), REFUSED, 1)
            for key in keys:
                pipeline.zrem(key, job_id)
            pipeline.execute(raise_on_error=False)
        name = _shown(job_id)
        if isinstance(why, Former):
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
        text = unpacking.decompress(packed, MOST_DATA)
        if unpacking.unconsumed_tail:
            raise Refused(f"its data unpacks to more than {MOST_DATA} bytes")
        return json.loads(text)
    except (zlib.error, ValueError, RecursionError):
        raise Refused("its data is not packed JSON") from None


def _limited(name: str, value: bytes) -> int:
    """A number within its limit: a duration is never none or endless, a count never negative. Raises Refused."""
    if value and not _NUMBER.fullmatch(value):
        raise Refused(f"{name} is no whole number")
    most, number = LIMITS[name], int(value or 0)
    if name in ("retries_left", "number_of_retries"):
        return min(max(number, 0), most)
    return min(number, most) if number > 0 else most


def _shown(job_id: bytes) -> str:
    """An id for an alarm: only letters, digits, - and _, at most `SHOWN` of them."""
    text = re.sub(r"[^A-Za-z0-9_-]", "?", job_id[: 4 * SHOWN].decode("utf-8", "replace"))
    return text[:SHOWN] or "(empty)"
