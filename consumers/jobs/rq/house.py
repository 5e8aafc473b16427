"""Housekeeping of a store's queue: jobs whose worker died, jobs to be tried again, ids that got stuck on their way.

RQ's own would call the callbacks that a job names, read groups (and unpickle their jobs), and end at the first entry that is
not as it expects. Here each part goes on alone, so many entries at a time, and what is no job of ours is thrown out.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import redis
from rq import Queue, worker_registration
from rq.exceptions import InvalidJobOperation, NoSuchJobError
from rq.job import Job, JobStatus
from rq.job_lifecycle import record_job_failure
from rq.registry import ScheduledJobRegistry
from rq.utils import current_timestamp

from consumers.fold.folder import Tell
from consumers.jobs.rq.validation import MOST_ID, JobValidator, ids_of

CHUNK = 500
"""Entries of a registry looked at in one round."""
MOST_MEMBER = MOST_ID + 64
"""Bytes of an entry: an id, and in one registry that of the run."""

_DUE = """
-- KEYS: a registry. ARGV: now, most entries, most bytes of one. Gives the entries that are due; longer ones are taken out
local kind = redis.call('TYPE', KEYS[1])
if type(kind) == 'table' then kind = kind['ok'] end
if kind ~= 'zset' then
  if kind ~= 'none' then redis.call('UNLINK', KEYS[1]) end
  return {}
end
local due, kept = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[1], 'LIMIT', '0', ARGV[2]), {}
for _, member in ipairs(due) do
  if #member > tonumber(ARGV[3]) then redis.call('ZREM', KEYS[1], member) else kept[#kept + 1] = member end
end
return kept
"""


class House:
    """What one worker does for its queue between two jobs. Several workers may do it at once: each entry is claimed."""

    def __init__(self, queue: Queue, validator: JobValidator, tell: Tell) -> None:
        self._queue = queue
        self._validator = validator
        self._tell = tell
        self._client = queue.connection
        self._due_script = self._client.register_script(_DUE)

    def tend(self) -> None:
        """All of it; a part that fails is told, and the others go on."""
        parts: tuple[Callable[[], object], ...] = (self._abandoned, self._again, self._stuck, self._ended)
        for part in parts:
            try:
                part()
            except (redis.ResponseError, ValueError, TypeError) as error:
                self._tell("queue not tidied", part=part.__name__.strip("_"), reason=type(error).__name__, alarm=True)

    def _due(self, registry: str) -> list[tuple[bytes, str]]:
        """Entries whose time has come, each with its job id; "" where it can be none."""
        key = f"rq:{registry}:{self._validator.name}"
        return ids_of(self._due_script(keys=[key], args=[current_timestamp(), CHUNK, MOST_MEMBER]))

    def _job(self, job_id: str) -> Job | None:
        """None where there is no such job, or it was refused just now."""
        with suppress(NoSuchJobError):
            return self._queue.job_class.fetch(job_id, connection=self._client) if job_id else None
        return None

    def _abandoned(self) -> None:
        """Jobs whose worker did not beat: tried again, or failed for good."""
        key = f"rq:wip:{self._validator.name}"
        for member, job_id in self._due("wip"):
            job = self._job(job_id)
            with self._client.pipeline() as pipeline:
                pipeline.watch(key)  # type: ignore[no-untyped-call]
                if pipeline.zscore(key, member) is None:
                    continue
                pipeline.multi()
                pipeline.zrem(key, member)
                if job is not None and job.get_status(refresh=False) == JobStatus.STARTED:
                    if job.should_retry:
                        job.retry(self._queue, pipeline)
                    else:
                        record_job_failure(job, "its worker died", pipeline)
                with suppress(redis.WatchError):  # something moved: the next round looks again
                    pipeline.execute()

    def _again(self) -> None:
        """Jobs to be tried again, whose time has come, go back to the queue."""
        registry = ScheduledJobRegistry(queue=self._queue, job_class=self._queue.job_class)  # type: ignore[no-untyped-call]
        for member, job_id in self._due("scheduled"):
            if self._job(job_id) is None:
                self._client.zrem(registry.key, member)
                continue
            with suppress(InvalidJobOperation, NoSuchJobError):  # another worker was first, or its time is over
                registry.requeue(job_id)

    def _stuck(self) -> None:
        """Ids that a worker took and then died with, before it began: back to the queue after a minute."""
        taken = self._queue.intermediate_queue
        taken_ids: Any = self._client.lrange(self._validator.taken_key, 0, CHUNK)
        for job_id, name in ids_of(taken_ids):
            job = self._job(name)
            if job is None or job.get_status(refresh=False) != JobStatus.QUEUED:
                self._client.lrem(self._validator.taken_key, 1, job_id)  # type: ignore[arg-type]
            elif not taken.set_first_seen(name) and taken.should_be_cleaned_up(name):
                with self._client.pipeline() as pipeline:
                    pipeline.lrem(self._validator.taken_key, 1, job_id)  # type: ignore[arg-type]
                    pipeline.lrem(self._validator.queue_key, 0, job_id)  # type: ignore[arg-type]
                    pipeline.rpush(self._validator.queue_key, job_id)
                    pipeline.execute()

    def _ended(self) -> None:
        """Entries of jobs that ended long ago, and of workers that are gone."""
        for registry in ("finished", "failed"):
            key = f"rq:{registry}:{self._validator.name}"
            if gone := [member for member, _ in self._due(registry)]:
                self._client.zrem(key, *gone)
        worker_registration.clean_worker_registry(self._queue)
