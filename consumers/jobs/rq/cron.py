"""The scheduler: whoever leads enqueues one job per partition for each tick that has begun, and tells so beside the queue.

RQ's own `CronScheduler` pickles, keeps its ticks in its process and enqueues twice where two run. Here a tick is a whole
multiple of the time between two since 1970, the last one is kept beside the queue, and a job's id is made of kind,
partition and tick, so that enqueuing again adds nothing. A tick missed is made up for once, not as often as it was missed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime

import redis
from rq import Queue, Retry
from rq.exceptions import DuplicateJobError

from consumers.fold.folder import Tell, silent
from consumers.fold.presence import LEASE_MS
from consumers.jobs.leader import BESIDE, SINCE, Leader, queue_name, schedule_key
from consumers.jobs.rq.jobs import FUNCTION, KINDS, Kind
from events.redis.clock import redis_ms
from events.redis.wire import Wire, as_store_error

LEAST_MINUTES = 60
RETRY = Retry(max=3, interval=[30, 120, 600])
"""Seconds after which a job that failed is tried again; what is left then is done at the next tick."""
JOB_SECONDS = 6 * 3_600
"""A job that takes longer hangs, and is ended."""
FAILED_SECONDS = 7 * 86_400
"""How long a job that failed for good stays to be looked at."""
_MINUTE_MS = 60_000


def lifecycle_queue(client: redis.Redis, store_id: str) -> Queue:
    """A store's queue, to put jobs into it. Workers take them out by `consumers.jobs.rq.work`, which trusts none of it."""
    return Queue(queue_name(store_id), connection=client, serializer="json")


class Cron:
    """One scheduler of a store, a candidate for leading. Not for two threads at once."""

    def __init__(
        self,
        client: redis.Redis,
        store_id: str,
        partitions: int,
        holder: str,
        *,
        minutes: int = LEAST_MINUTES,
        kinds: Mapping[str, Kind] = KINDS,
        tell: Tell = silent,
        lease_ms: int = LEASE_MS,
        due: Callable[[str, int], bool] = lambda _kind, _partition: True,
    ) -> None:
        """`due`: whether a kind of job has anything to do in a partition; one that has not is not enqueued at this tick."""
        self._wire = Wire(client)
        self._store_id = store_id
        self._partitions = partitions
        self._tell = tell
        self._due = due
        self._queue = lifecycle_queue(client, store_id)
        self._leader = Leader(self._wire, store_id, holder, lease_ms)
        self._every_ms = {kind: int((told.every_minutes or minutes) * _MINUTE_MS) for kind, told in kinds.items()}

    @property
    def leads(self) -> bool:
        """Whether it led when it was last tended."""
        return self._leader.leads

    def now_ms(self) -> int:
        """The clock of the queue's Redis, by which all schedulers go."""
        return redis_ms(self._wire)

    def tend(self, now_ms: int) -> int:
        """Lead if nobody else does, and enqueue what is due; how many jobs that were. Raises StoreError."""
        led = self.leads
        if not self._leader.tend(now_ms):
            return 0
        if not led:
            self._tell("leads the schedule", store=self._store_id)
            self._forget_others()
            for kind in self._every_ms:
                self._note_since(f"{_within(kind)}{SINCE}{kind}", now_ms)
        return self.enqueue_due(now_ms)

    def enqueue_due(self, now_ms: int) -> int:
        """The jobs of every tick that has begun and is not enqueued yet, whoever leads; how many were new.

        The tick is noted after its jobs: a leader that dies between them is made up for by the next. Raises StoreError.
        """
        added = 0
        for kind, every in self._every_ms.items():
            tick = now_ms - now_ms % every
            within = _within(kind)
            last = self._wire.call("HGET", schedule_key(self._store_id), f"{within}tick:{kind}")
            # Not `>`: a clock that once went far ahead must not keep the schedule waiting for it.
            if last is not None and abs(tick - int(last)) < every:
                continue
            enqueued = self.enqueue(kind, tick)
            fields = f"{within}tick:{kind}", tick, f"{within}every:{kind}", self._every_ms[kind]
            self._wire.call("HSET", schedule_key(self._store_id), *fields)
            if not within:
                self._tell("jobs enqueued", kind=kind, tick=tick_name(tick), jobs=enqueued)
            added += enqueued
        return added

    def _note_since(self, field: str, now_ms: int) -> None:
        """From when a kind is scheduled; anew where a clock that once ran far ahead has noted a time that is still to come."""
        noted = self._wire.call("HGET", schedule_key(self._store_id), field)
        if noted is None or int(noted) > now_ms:
            self._wire.call("HSET", schedule_key(self._store_id), field, now_ms)

    def _forget_others(self) -> None:
        """Take away what is noted of kinds that were scheduled once and are not now, so that `status` does not tell of them."""
        fields = self._wire.call("HKEYS", schedule_key(self._store_id))
        noted = (field.decode() for field in fields)
        if gone := [
            name for name in noted if name.startswith(BESIDE) and name.rpartition(":")[2] not in self._every_ms
        ]:
            self._wire.call("HDEL", schedule_key(self._store_id), *gone)

    def enqueue(self, kind: str, tick_ms: int) -> int:
        """A tick's jobs, one per partition where it is due, but for those that are there; how many were new. Raises StoreError."""
        every, tick, added = self._every_ms[kind] // 1_000, tick_name(tick_ms), 0
        for partition in (one for one in range(self._partitions) if self._due(kind, one)):
            with suppress(DuplicateJobError):
                try:
                    self._queue.enqueue_call(
                        FUNCTION,
                        args=(kind, self._store_id, partition, tick),
                        job_id=f"{kind}-{self._store_id}-p{partition}-{tick}",
                        unique=True,
                        retry=RETRY,
                        timeout=JOB_SECONDS,
                        ttl=max(every, 60),  # not begun by the next tick: that one's job does it all
                        result_ttl=2 * every,  # so long the id is known, and nothing enqueues the tick again
                        failure_ttl=FAILED_SECONDS,
                    )
                except (redis.RedisError, OSError) as error:
                    raise as_store_error(error) from error
                added += 1
        return added

    def leave(self) -> None:
        """Let another lead at once. Raises StoreError."""
        self._leader.leave()
        self._wire.close()

    def leave_from(self, client: redis.Redis) -> None:
        """The same on a connection of its own, from another thread than the one that tends. Raises StoreError."""
        wire = Wire(client)
        self._leader.leave(wire)
        wire.close()


def _within(kind: str) -> str:
    """What a kind's fields begin with. What is no part of the lifecycle has its own: `status` tells when the lifecycle ran, not
    when others did."""
    return "" if kind in KINDS else BESIDE


def tick_name(tick_ms: int) -> str:
    """A tick as job ids hold it: 20261122T0900, in UTC; with seconds, 20261122T090010, unless the minute begins."""
    form = "%Y%m%dT%H%M%S" if tick_ms % _MINUTE_MS else "%Y%m%dT%H%M"
    return datetime.fromtimestamp(tick_ms / 1_000, UTC).strftime(form)
