"""Reading ahead: what follows on each partition is asked for while the batch before it is folded.

A partition of which an answer held as much as was asked for is *behind*. Those that are behind are read by turns, one at a time
and much of it, so that an owner's events meet in one commit; the others are read beside it, little of each.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from engramlog_server.events.partitions import LogKeys
from engramlog_server.events.redis.wire import Wire

READ_COUNT = 125
"""Entries of each partition that one answer holds at most."""
READ_BEHIND = 2_000
"""The same of one that is behind, where entries are short."""
READ_BYTES = 2 * 1024 * 1024
"""About as much as an answer about one that is behind should hold; `READ_COUNT` entries are asked for all the same."""
_LOOKED_AT = 8


class _Asked(NamedTuple):
    """One command that is in flight."""

    partitions: tuple[int, ...]
    most: int


class Prefetch:
    """One wire on which at most one read of all partitions is in flight."""

    def __init__(self, wire: Wire, tags: Sequence[str]) -> None:
        self.wire = wire
        self._streams = [LogKeys(tag).stream for tag in tags]
        self._asked: list[_Asked] = []
        self._behind: dict[int, int] = {}
        """How much to ask for next of each partition that is behind; whose turn is next stands first."""

    @property
    def is_in_flight(self) -> bool:
        """Whether an answer is still to come."""
        return bool(self._asked)

    def ask(self, after: Mapping[int, int], block_ms: int) -> bool:
        """Ask for the entries after these seqs, by partition; False where there is none to ask for.

        Nothing is waited for while a partition is behind, and at most `block_ms` else.
        """
        behind = next((partition for partition in self._behind if partition in after), None)
        self._asked = []
        if behind is not None:
            self._ask(after, _Asked((behind,), self._behind[behind]))
        level = tuple(partition for partition in after if partition not in self._behind)
        if level:
            self._ask(after, _Asked(level, READ_COUNT), *(() if self._asked else ("BLOCK", block_ms)))
        return bool(self._asked)

    def _ask(self, after: Mapping[int, int], asked: _Asked, *waiting: str | int) -> None:
        streams = [self._streams[partition] for partition in asked.partitions]
        seqs = [f"{after[partition]}-0" for partition in asked.partitions]
        self.wire.send("XREAD", "COUNT", asked.most, *waiting, "STREAMS", *streams, *seqs)
        self._asked.append(asked)

    def receive(self) -> Iterator[tuple[int, Any]]:
        """What came of it, undecoded, by partition. Raises what the wire raises: then nothing is asked for any more."""
        asked, self._asked = self._asked, []
        for partitions, most in asked:
            found = dict(self.wire.receive() or ())
            for partition in partitions:
                entries = found.get(self._streams[partition].encode(), ())
                self._behind.pop(partition, None)
                if len(entries) >= most:
                    self._behind[partition] = _worth_asking(entries)
                if entries:
                    yield partition, entries

    def stop(self) -> bool:
        """Drop the read in flight; whether there was one."""
        self._behind.clear()
        if not self._asked:
            return False
        self._asked = []
        self.wire.close()
        return True


def _worth_asking(entries: Sequence[Any]) -> int:
    """How many entries to ask for next, judged by the length of some that came."""
    some = entries[:: max(len(entries) // _LOOKED_AT, 1)]
    size = sum(len(value) for _, fields in some for value in fields)
    return min(READ_BEHIND, max(READ_COUNT, READ_BYTES * len(some) // max(size, 1)))
