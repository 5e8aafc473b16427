"""Whether the embedding job has anything to do in a partition. For whoever schedules."""

from __future__ import annotations

from collections.abc import Sequence

from consumers.jobs.embedding import mark_of, walked_to
from consumers.jobs.leader import done_field, schedule_key
from consumers.jobs.owner_texts import live_build
from consumers.jobs.run import EMBED
from events.redis.clock import redis_ms
from events.redis.wire import Wire
from projections.embedding.choosing import Embedders
from projections.embedding.vectors import VectorKeys


class EmbedDue:
    """Whether a partition has owners, and anything was folded in it since all of it had its vectors."""

    def __init__(
        self, queue: Wire, store: Wire, store_id: str, tags: Sequence[str], embedders: Embedders | None
    ) -> None:
        self._queue = queue
        self._store = store
        self._key = schedule_key(store_id)
        self._tags = tags
        self._embedders = embedders

    def __call__(self, kind: str, partition: int) -> bool:
        """True of every other kind. Where there is nothing to do it is noted as done. Raises StoreError."""
        if kind != EMBED or self._embedders is None:
            return True
        tag = self._tags[partition]
        keys = live_build(self._store, tag)
        marked = self._store.call("HGET", VectorKeys(tag).models, mark_of(self._embedders))
        if marked != walked_to(self._store, keys).encode() and self._store.call("EXISTS", keys.owners):
            return True
        self._queue.call("HSET", self._key, done_field(kind, partition), f"{redis_ms(self._queue)} 0")
        return False
