"""Whether a kind of job has work in a partition. For the process that schedules."""

from __future__ import annotations

from collections.abc import Sequence

from engramlog_server.consumers.jobs.embedding import mark_of, walked_to
from engramlog_server.consumers.jobs.kinds.embed import EMBED
from engramlog_server.consumers.jobs.kinds.extract import EXTRACT
from engramlog_server.consumers.jobs.kinds.judge import JUDGE
from engramlog_server.consumers.jobs.kinds.links import LINKS
from engramlog_server.consumers.jobs.leader import done_field, folded_field, schedule_key
from engramlog_server.consumers.jobs.linking import folded_to
from engramlog_server.consumers.jobs.owner_texts import live_build
from engramlog_server.events.partitions import LogKeys
from engramlog_server.events.redis.clock import redis_ms
from engramlog_server.events.redis.wire import Wire
from engramlog_server.projections.embedding.choosing import Embedders
from engramlog_server.projections.embedding.vectors import VectorKeys


class DueJobs:
    """Links and extraction are due if events were folded since the last run, judging if raw events wait, embedding if vectors are
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
        if kind in (LINKS, EXTRACT):
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
