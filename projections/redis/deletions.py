"""Since when the sweep knows of each deletion, by the store's clock: a date that a producer told is no reason to destroy at once.

One hash a partition, owner -> {memory id: [deleted at, first seen]}, microseconds. It belongs to no build. Where it is lost, the
days are counted anew.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from engramlog_server.events.partitions import LogKeys, partition_of
from engramlog_server.events.redis.wire import WirePool
from engramlog_server.events.text import UNREADABLE

Seen = dict[str, tuple[int, int]]
"""Memory id -> when it was deleted, as told, and when the sweep saw that first."""
_DECODE = msgspec.msgpack.Decoder(Seen)


class RedisDeletions:
    """What the sweep knows of an owner's deletions. Safe for threads."""

    def __init__(self, wires: WirePool, tags: Sequence[str]) -> None:
        self._wires = wires
        self._tags = tags

    def seen(self, owner: str, deleted: Mapping[str, int], now: int) -> dict[str, int]:
        """Memory id -> since when its deletion is known, at the latest `now`; those not known yet are left out.

        `deleted` has when each was deleted, as told. Raises StoreError.
        """
        return {
            memory_id: min(first, now)
            for memory_id, (at, first) in (self._read(owner) if deleted else {}).items()
            if deleted.get(memory_id) == at
        }

    def note(self, owner: str, deleted: Mapping[str, int], now: int) -> dict[str, int]:
        """The same; what was not known is from now on, and what is deleted no more is forgotten. Raises StoreError."""
        known = self._read(owner)
        noted = _noted(known, deleted, now)
        if noted != known:
            self._write(owner, noted)
        return {memory_id: first for memory_id, (_, first) in noted.items()}

    def add(self, owner: str, deleted: Mapping[str, int], now: int) -> None:
        """These were deleted just now, by ourselves: known from now on, beside what is known. Raises StoreError."""
        if deleted:
            known = self._read(owner)
            self._write(owner, known | _noted(known, deleted, now))

    def _write(self, owner: str, noted: Seen) -> None:
        with self._wires.wire() as wire:
            if noted:
                wire.call("HSET", self._key(owner), owner, msgspec.msgpack.encode(noted))
            else:
                wire.call("HDEL", self._key(owner), owner)

    def _key(self, owner: str) -> str:
        return LogKeys(self._tags[partition_of(owner, len(self._tags))]).deletions

    def _read(self, owner: str) -> Seen:
        with self._wires.wire() as wire:
            raw = wire.call("HGET", self._key(owner), owner)
        try:
            return _DECODE.decode(raw) if raw else {}
        except UNREADABLE:
            return {}


def _noted(known: Seen, deleted: Mapping[str, int], now: int) -> Seen:
    """What is known of these deletions with `now`: another date is another deletion, and a clock may have gone back."""
    noted: Seen = {}
    for memory_id, at in deleted.items():
        told, first = known.get(memory_id, (at, now))
        noted[memory_id] = (at, min(first, now) if told == at else now)
    return noted
