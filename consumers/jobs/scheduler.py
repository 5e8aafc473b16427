"""The scheduler: the leading process enqueues one job per partition for each tick, and records the tick next to the queue.

RQ's own `CronScheduler` pickles, keeps its ticks in its process, and enqueues twice if two run. Here a tick is a whole multiple
of the interval since 1970, and a job's id is made of kind, partition and tick: enqueuing it again adds nothing. Missed ticks are
made up for by one job.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime

import redis
from rq import Queue
from rq.exceptions import DuplicateJobError

from engramlog_server.consumers.fold.folder import Tell, silent
from engramlog_server.consumers.fold.presence import LEASE_MS
from engramlog_server.consumers.jobs.embedding import mark_of, walked_to
from engramlog_server.consumers.jobs.job import FAILED_SECONDS, JOB_SECONDS, RETRY
from engramlog_server.consumers.jobs.leader import (
    BESIDE,
    SINCE,
    Leader,
    done_field,
    folded_field,
    queue_name,
    schedule_key,
)
from engramlog_server.consumers.jobs.owner_texts import folded_to, live_build
from engramlog_server.consumers.jobs.run import EMBED, EXTRACT, FUNCTION, KINDS, Kinds
from engramlog_server.events.partitions import LogKeys
from engramlog_server.events.redis.server import redis_ms
from engramlog_server.events.redis.wire import Wire, as_store_error, open_wire
from engramlog_server.projections.embedding.choosing import Embedders
from engramlog_server.projections.embedding.vectors import VectorKeys
from engramlog_server.projections.lifecycle.extraction import JUDGE


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


LEAST_MINUTES = 60
_MINUTE_MS = 60_000


def lifecycle_queue(client: redis.Redis, store_id: str) -> Queue:
    """A store's queue, to put jobs into it. Workers use `consumers.jobs.worker.store_queue`, which checks each job."""
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
        minutes: int = LEAST_MINUTES,
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
                        timeout=JOB_SECONDS,
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
