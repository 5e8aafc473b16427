"""Validation of the job queue: which of what lies in Redis is a job of ours, decided before anything is imported or decoded.

RQ runs what a job's hash names: any function that can be imported, three callbacks, web addresses to call; and parts of it
unpickle. Whoever can write to the queue would run code as its worker. Here a job is read by name, field by field, with a
bound on each: what it must not have must be empty, and its data must be the one function with the one shape of arguments.
Everything else is refused: taken out, counted and told of, never with its contents.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import redis
from rq.job import JobStatus
from rq.utils import utcparse

from consumers.jobs.leader import REFUSED, queue_name, schedule_key
from consumers.jobs.rq.jobs import FUNCTION, JOBS
from events.alarms import Alarms

ALARM = "job_refused"
MOST_DATA = 4_096
"""Bytes of a job's data, packed and unpacked: ours have about a hundred."""
MOST_FIELD = 64
"""Bytes of any other field that is read."""
MOST_ID = 160
"""Bytes of a job's id."""
SHOWN = 80
"""Characters of an id that are told."""
SUBJECTS = 20
"""Refused jobs that are told of by their ids, in one process; the others are told of together, so that no flood of them
takes the place of other alarms."""

NUMBERS = ("timeout", "result_ttl", "ttl", "retries_left", "number_of_retries")
TIMES = ("created_at", "enqueued_at", "started_at", "ended_at")
READ = ("data", "status", "origin", *TIMES, *NUMBERS)
"""The fields that are looked at. All others stay in Redis, whatever they hold."""
EMPTY = (
    *("success_callback_name", "failure_callback_name", "stopped_callback_name", "webhooks", "meta", "group_id"),
    *(
        "dependency_id",
        "dependency_ids",
        "rate_limit_key",
        "rate_limit_concurrency",
        "repeats_left",
        "repeat_intervals",
    ),
)
"""What no job of ours has: a job where one of them holds anything is refused."""
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
    """This is no job of ours; the reason names a field or a size, never what stood there."""


class JobFields(NamedTuple):
    """A job that may run."""

    arguments: tuple[str, str, int, str]
    """Kind, store, partition, tick."""
    status: JobStatus
    times: Mapping[str, datetime | None]
    """By the names of `TIMES`."""
    numbers: Mapping[str, int | None]
    """By the names of `NUMBERS`; as they stand there, not yet bounded."""


def shown(job_id: bytes) -> str:
    """An id for a log line: of letters, digits, - and _, and not too long."""
    text = re.sub(r"[^A-Za-z0-9_-]", "?", job_id[: 4 * SHOWN].decode("utf-8", "replace"))
    return text[:SHOWN] or "(empty)"


class JobValidator:
    """What a worker of one store lets in. What it does not is an alarm."""

    def __init__(self, client: redis.Redis, store_id: str, partitions: int, alarms: Alarms) -> None:
        self._client = client
        self._store_id = store_id
        self._partitions = partitions
        self._alarms = alarms
        self._told: set[str] = set()
        self._read_script = client.register_script(_READ_JOB)
        self._take_script = client.register_script(_TAKE)
        self.name = queue_name(store_id)
        self.queue_key = f"rq:queue:{self.name}"
        self.taken_key = f"{self.queue_key}:intermediate"

    def take(self) -> str | None:
        """The id of the next job, now on its way to this worker; None where none waits. Refuses what can be no id."""
        while True:
            found = self._take_script(keys=[self.queue_key, self.taken_key], args=[MOST_ID])
            if found[0] == b"none":
                return None
            if found[0] == b"reset":
                self.refuse(b"the-queue", f"the queue's key held a {found[1].decode()}, no list")
                continue
            if found[0] == b"id" and _ID.fullmatch(found[1]):
                return str(found[1].decode())
            self.refuse(found[1], "its id is too long" if found[0] == b"refused" else "its id has other characters")

    def read(self, job_id: str) -> JobFields | None:
        """A job of this store; None where there is none by this id. Raises Refused."""
        limits = (MOST_DATA, MOST_FIELD, len(READ))
        answer = self._read_script(keys=[f"rq:job:{job_id}"], args=[*limits, *READ, *EMPTY])
        if answer[0] == b"gone":
            return None
        if answer[0] == b"refused":
            raise Refused(answer[1].decode())
        return self._checked(dict(zip(READ, answer[1], strict=True)))

    def _checked(self, fields: dict[str, bytes]) -> JobFields:
        if fields["origin"] != self.name.encode():
            raise Refused("it belongs to another queue")
        try:
            status = JobStatus(fields["status"].decode("ascii", "replace"))
        except ValueError:
            raise Refused("its status is none of RQ's") from None
        return JobFields(
            self._arguments(_data(fields["data"])),
            status,
            {name: _time(name, fields[name]) for name in TIMES},
            {name: _number(name, fields[name]) for name in NUMBERS},
        )

    def _arguments(self, data: Any) -> tuple[str, str, int, str]:
        """What the job function gets, where the data is nothing but a call of it."""
        if not (isinstance(data, list) and len(data) == 4):
            raise Refused("its data is no call")
        function, instance, arguments, named = data
        if function != FUNCTION or instance is not None:
            raise Refused("it names another function than the one job function")
        if not (isinstance(arguments, list) and len(arguments) == 4) or named != {}:
            raise Refused("its arguments are not kind, store, partition and tick")
        kind, store_id, partition, tick = arguments
        if not isinstance(kind, str) or kind not in JOBS:
            raise Refused(f"its kind is none of {', '.join(JOBS)}")
        if store_id != self._store_id:
            raise Refused("it is about another store")
        if type(partition) is not int or not 0 <= partition < self._partitions:
            raise Refused(f"its partition is no whole number from 0 to {self._partitions - 1}")
        if not isinstance(tick, str) or not _TICK.fullmatch(tick):
            raise Refused("its tick is no time such as 20261122T0900")
        return kind, store_id, partition, tick

    def refuse(self, job_id: bytes, reason: str) -> None:
        """Take it out wherever it stands, count it, and raise an alarm."""
        keys = [f"rq:{registry}:{self.name}" for registry in ("scheduled", "failed", "finished", "deferred")]
        with self._client.pipeline() as pipeline:
            pipeline.lrem(self.taken_key, 0, job_id)  # type: ignore[arg-type]
            if len(job_id) < MOST_ID:
                pipeline.unlink(b"rq:job:" + job_id)
            pipeline.hincrby(schedule_key(self._store_id), REFUSED, 1)
            for key in keys:
                pipeline.zrem(key, job_id)
            pipeline.execute(raise_on_error=False)
        name = shown(job_id)
        if name in self._told or len(self._told) < SUBJECTS:
            self._told.add(name)
            self._alarms.raised(ALARM, name, reason)
        else:
            self._alarms.raised(ALARM, "", "many more: `engramlog status` counts them")


def _data(packed: bytes) -> Any:
    """A job's data: JSON, packed by zlib, bounded on both sides. Nothing in it is looked up."""
    unpacking = zlib.decompressobj()
    try:
        text = unpacking.decompress(packed, MOST_DATA)
        if unpacking.unconsumed_tail:
            raise Refused(f"its data unpacks to more than {MOST_DATA} bytes")
        return json.loads(text)
    except (zlib.error, ValueError, RecursionError):
        raise Refused("its data is not packed JSON") from None


def _number(name: str, value: bytes) -> int | None:
    if not value:
        return None
    if not _NUMBER.fullmatch(value):
        raise Refused(f"{name} is no whole number")
    return int(value)


def _time(name: str, value: bytes) -> datetime | None:
    if not value:
        return None
    try:
        return utcparse(value.decode("ascii"))
    except ValueError:
        raise Refused(f"{name} is no time") from None


def bounded(value: int | None, most: int) -> int:
    """Seconds as they are used: never none, never for ever, never more than `most`."""
    return min(value, most) if value is not None and value > 0 else most


def ids_of(members: Sequence[bytes]) -> list[tuple[bytes, str]]:
    """Members of a registry with the job id that each begins with; what can be none is given as ""."""
    found = ((member, member.partition(b":")[0]) for member in members)
    return [(member, job_id.decode() if _ID.fullmatch(job_id) else "") for member, job_id in found]
