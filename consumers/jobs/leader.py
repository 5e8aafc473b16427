"""Which process schedules jobs: a lease in one hash per store, next to the queue, with the last ticks.

The lease only saves work. A tick's jobs have ids made of kind, partition and tick, so two leaders at once, one of them paused
beyond its lease, still enqueue each job once. A process that cannot reach the queue cannot lead.
"""

from __future__ import annotations

from typing import Any

from engramlog_server.consumers.fold.presence import LEASE_MS
from engramlog_server.events.redis.wire import Wire
from engramlog_server.projections.redis.store import LEASE

STOPPED = "stopped:"
"""Prefix of the fields that say why a kind of job stopped for a partition."""
DONE = "done:"
"""Prefix of the fields that say when a kind of job was last done for a partition, and how long it took, milliseconds."""
SINCE = "since:"
"""Prefix of the fields that say since when a kind of job is scheduled."""
REFUSED = "refused"
"""The field that counts refused jobs."""
BESIDE = "beside-"
"""Prefix of the fields of optional kinds, which are not part of the lifecycle."""


def queue_name(store_id: str) -> str:
    """The name of a store's RQ queue: several stores may share a Redis for their queues."""
    return f"engramlog-{store_id}"


def schedule_key(store_id: str) -> str:
    """The hash with the leader's lease and, by kind of job, the last tick and the time between two, milliseconds."""
    return f"engramlog-jobs:{store_id}"


class Leader:
    """One candidate. Call `tend` well within the lease time; a leader that stops doing so is replaced when the lease ends."""

    def __init__(self, wire: Wire, store_id: str, holder: str, lease_ms: int = LEASE_MS) -> None:
        self._wire = wire
        self._key = schedule_key(store_id)
        self._holder = holder
        self._lease_ms = lease_ms
        self._epoch: int | None = None

    @property
    def leads(self) -> bool:
        """Whether it held the lease at the last `tend`."""
        return self._epoch is not None

    def tend(self, now_ms: int) -> bool:
        """Renew the lease, or take it if it is free; returns whether it leads now. Raises StoreError."""
        if self._epoch is not None and not self._ask("renew", now_ms, self._epoch)[0]:
            self._epoch = None
        if self._epoch is None:
            taken, epoch, _ = self._ask("take", now_ms, 0)
            self._epoch = int(epoch) if taken else None
        return self.leads

    def leave(self, wire: Wire | None = None) -> None:
        """Release the lease if it leads. Raises StoreError.

        `wire`: the connection of a thread other than the one that tends.
        """
        if self._epoch is not None:
            self._ask("release", 0, self._epoch, wire)
            self._epoch = None

    def _ask(self, mode: str, now_ms: int, epoch: int, wire: Wire | None = None) -> list[Any]:
        answer: list[Any] = (wire or self._wire).run(
            LEASE, [self._key, self._key], [mode, self._holder, now_ms, self._lease_ms, epoch, ""]
        )
        return answer


def has_work(wire: Wire, store_id: str, now_ms: int) -> bool:
    """Whether a job waits, runs, is being taken, or is due to be tried again. Raises StoreError."""
    name, soon = queue_name(store_id), now_ms // 1_000 + 1
    queue = f"rq:queue:{name}"
    return bool(
        wire.call("LLEN", queue)
        or wire.call("LLEN", f"{queue}:intermediate")
        or wire.call("ZCARD", f"rq:wip:{name}")
        or wire.call("ZCOUNT", f"rq:scheduled:{name}", "-inf", soon)
    )


def done_field(kind: str, partition: int) -> str:
    """The field that says when a kind of job was last done for a partition."""
    return f"{DONE}{kind}:{partition}"


def folded_field(kind: str, partition: int) -> str:
    """The field with the seq up to which a kind of job is done for a partition."""
    return f"{kind}-to:{partition}"
