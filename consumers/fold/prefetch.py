"""Reading ahead: what follows on each partition is asked for while the batch before it is folded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from events.partitions import LogKeys
from events.redis.wire import Wire

READ_COUNT = 500
"""Entries of a stream that one answer holds at most."""


class Prefetch:
    """One wire on which at most one read of all partitions is in flight."""

    def __init__(self, wire: Wire, tags: Sequence[str]) -> None:
        self.wire = wire
        self._streams = [LogKeys(tag).stream for tag in tags]
        self._asked: list[int] = []

    @property
    def is_in_flight(self) -> bool:
        """Whether an answer is still to come."""
        return bool(self._asked)

    def ask(self, after: Mapping[int, int], block_ms: int) -> bool:
        """Ask for the entries after these seqs, by partition; False where there is none to ask for."""
        self._asked = list(after)
        if not after:
            return False
        streams = [self._streams[partition] for partition in after]
        seqs = [f"{seq}-0" for seq in after.values()]
        self.wire.send("XREAD", "COUNT", READ_COUNT, "BLOCK", block_ms, "STREAMS", *streams, *seqs)
        return True

    def receive(self) -> Iterator[tuple[int, Any]]:
        """What came of it, undecoded, by partition. Raises what the wire raises: then nothing is asked for any more."""
        partition_of = {self._streams[partition].encode(): partition for partition in self._asked}
        self._asked = []
        for stream, found in self.wire.receive() or ():
            yield partition_of[stream], found

    def stop(self) -> bool:
        """Drop the read in flight; whether there was one."""
        if not self._asked:
            return False
        self._asked = []
        self.wire.close()
        return True
