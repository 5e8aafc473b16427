"""Which process schedules, and what it has scheduled: a lease and the last ticks, beside the queue they are about.

The lease spares work, it decides nothing: a tick's jobs have ids made of their kind, partition and tick, so that two leaders
at once, one of them paused beyond its lease, still enqueue each job once. It lies where the queue lies, in one hash a store:
who cannot reach the queue cannot lead.
"""

from __future__ import annotations

from typing import Any

from consumers.fold.presence import LEASE_MS
from events.redis.wire import Wire
from projections.redis.scripts import LEASE

STOPPED = "stopped:"
"""What the fields begin with that say why a kind of job stopped for a partition."""
DONE = "done:"
"""What the fields begin with that say when a kind of job last ran through for a partition, and how long it took, milliseconds."""
SINCE = "since:"
"""What the fields begin with that say since when a kind of job is scheduled."""
REFUSED = "refused"
"""The field that counts what lay in the queue and was no job of ours."""
BESIDE = "beside-"
"""What the fields of a kind begin with that is no part of the lifecycle."""


def queue_name(store_id: str) -> str:
    """The name of a store's RQ queue: several stores may share a Redis for their queues."""
    return f"engramlog-{store_id}"


def schedule_key(store_id: str) -> str:
    """The hash with the leader's lease and, by kind of job, the last tick and the time between two, milliseconds."""
    return f"engramlog-jobs:{store_id}"


class Leader:
    """One candidate. `tend` it well within the lease time; whoever stops doing so is replaced when the lease ends."""

    def __init__(self, wire: Wire, store_id: str, holder: str, lease_ms: int = LEASE_MS) -> None:
        self._wire = wire
        self._key = schedule_key(store_id)
        self._holder = holder
        self._lease_ms = lease_ms
        self._epoch: int | None = None

    @property
    def leads(self) -> bool:
        """Whether it held the lease when it last asked."""
        return self._epoch is not None

    def tend(self, now_ms: int) -> bool:
        """Renew the lease, or take it where nobody holds it; whether it leads now. Raises StoreError."""
        if self._epoch is not None and not self._ask("renew", now_ms, self._epoch)[0]:
            self._epoch = None
        if self._epoch is None:
            taken, epoch, _ = self._ask("take", now_ms, 0)
            self._epoch = int(epoch) if taken else None
        return self.leads

    def leave(self, wire: Wire | None = None) -> None:
        """Let the next one lead at once; nothing happens where it does not lead. Raises StoreError.

        `wire` is for a thread that is not the one which tends.
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
    """Whether a job waits, runs, lies on its way to a worker or is to be tried again by now. Raises StoreError."""
    name, soon = queue_name(store_id), now_ms // 1_000 + 1
    queue = f"rq:queue:{name}"
    return bool(
        wire.call("LLEN", queue)
        or wire.call("LLEN", f"{queue}:intermediate")
        or wire.call("ZCARD", f"rq:wip:{name}")
        or wire.call("ZCOUNT", f"rq:scheduled:{name}", "-inf", soon)
    )


def done_field(kind: str, partition: int) -> str:
    """The field that says when a kind of job last ran through for a partition."""
    return f"{DONE}{kind}:{partition}"


def folded_field(kind: str, partition: int) -> str:
    """The field with the seq up to which a kind of job is done for a partition."""
    return f"{kind}-to:{partition}"
