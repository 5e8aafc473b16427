"""The clock by which a partition's lease is read: that of the server that holds the partition, which all workers ask alike."""

from __future__ import annotations

from collections.abc import Sequence
from time import monotonic
from typing import NamedTuple

from engramlog_server.events.partitions import LogKeys
from engramlog_server.events.redis.clock import redis_ms
from engramlog_server.events.redis.wire import Wire

READ_SECONDS = 0.25
"""How long a reading is carried on by this machine's monotonic clock: a small part of a lease."""


class _Read(NamedTuple):
    at: float
    ms: int


class NodeClocks:
    """Milliseconds since 1970, by partition; on a Cluster nodes' clocks differ."""

    def __init__(self, wire: Wire, tags: Sequence[str]) -> None:
        self._wire = wire
        self._keys = [LogKeys(tag).meta for tag in tags]
        self._read: dict[str, _Read] = {}

    def ms(self, partition: int) -> int:
        """The clock of a partition's server. Raises StoreError."""
        key = self._keys[partition]
        name = self._wire.node_of(key)
        read = self._read.get(name)
        if read is None or monotonic() - read.at > READ_SECONDS:
            ms = redis_ms(self._wire, key)
            read = self._read[name] = _Read(monotonic(), ms)
        return read.ms + int((monotonic() - read.at) * 1_000)

    def drop(self) -> None:
        """Read anew: connections were lost, or another server holds what this one held."""
        self._read.clear()
