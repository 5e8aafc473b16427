"""The linking job of one partition, and how far it came: that stands beside the queue."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import monotonic

from consumers.jobs.leader import done_field, schedule_key
from consumers.jobs.lifecycle import LifecycleJobs
from consumers.jobs.linking import LinkingJob, NewMemories, folded_to
from events.redis.clock import redis_ms
from events.redis.wire import Wire

LINKS = "links"
"""The kind of job."""
LINK_SECONDS = 120.0
"""After so long a partition's rest is left to the daily job: a sweep must not wait for a whole import."""


def folded_field(kind: str, partition: int) -> str:
    """The field with the seq up to which a kind of job is done for a partition."""
    return f"{kind}-to:{partition}"


class PartitionLinks:
    """Links for what is new in one partition. Who is left out waits for the daily job."""

    def __init__(
        self, wire: Wire, tags: Sequence[str], lifecycle: LifecycleJobs, partition: int, since: bytes | str | None
    ) -> None:
        """`since`: what the last run noted of how far it came; None where there was none, and all is new."""
        self._job = LinkingJob(wire, tags, lifecycle)
        self._partition = partition
        self.to = folded_to(wire, tags[partition])
        """How far this run comes: to be noted at its end."""
        noted = int(since or 0)
        self._since = noted if noted <= self.to else 0  # the store came back shorter
        self._until = monotonic() + LINK_SECONDS
        self._new: dict[str, NewMemories] = {}

    def owners(self) -> list[str]:
        """To whom something was added since the last run."""
        if self._since != self.to:
            self._new = {one.owner: one for one in self._job.new(self._partition, self._since)}
        return list(self._new)

    def link(self, owner: str, go_on: Callable[..., None]) -> int:
        """How many links were appended for an owner; none once the time is over."""
        return self._job.link(self._new[owner], go_on) if monotonic() < self._until else 0


class FoldedSince:
    """Whether anything was folded in a partition since jobs of these kinds ran last. For whoever schedules."""

    def __init__(self, queue: Wire, store: Wire, store_id: str, tags: Sequence[str], kinds: Sequence[str]) -> None:
        self._kinds = kinds
        self._queue = queue
        self._store = store
        self._key = schedule_key(store_id)
        self._tags = tags

    def __call__(self, kind: str, partition: int) -> bool:
        """True of every other kind. Where there is nothing to do it is noted as done. Raises StoreError."""
        if kind not in self._kinds:
            return True
        noted = self._queue.call("HGET", self._key, folded_field(kind, partition))
        if folded_to(self._store, self._tags[partition]) != int(noted or 0):
            return True
        self._queue.call("HSET", self._key, done_field(kind, partition), f"{redis_ms(self._queue)} 0")
        return False
