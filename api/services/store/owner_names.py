"""The names of a store's owners in order, kept in this process until there are more of them.

An owner's entry in a build is made once and never taken away. So as many names of the same build on the same server are the same
names: what a question reads anew is how many there are, and the names of partitions that have new ones.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from threading import Lock
from typing import NamedTuple

from api.work.patience import current_check
from events.door.of_the_store import SYSTEM_OWNERS
from events.partitions import LogKeys
from events.redis.wire import Wire, all_runs
from projections.fold.builds import BuildKeys
from projections.language.traditional import part_folded

MOST_KEPT = 300_000
"""Names of all partitions; those of further partitions are read for each question."""
AT_ONCE = 10_000
"""Names that Redis may be asked for in one answer, some milliseconds of its time; more are scanned, with the owners' states."""
SCANNED = 500


class _Told(NamedTuple):
    """What the names of a partition hold for."""

    server: bytes | None
    build: str
    many: int


class PartitionNames(NamedTuple):
    """The names of a partition's owners, in order, and as parts of them are looked for."""

    told: _Told
    names: Sequence[str]
    folded: Sequence[str]

    def matching(self, prefix: str, part: str) -> Sequence[str]:
        """Those that begin so and hold a part."""
        size = len(prefix)
        begin = bisect_left(self.names, prefix)
        end = bisect_right(self.names, prefix, begin, key=lambda name: name[:size]) if prefix else len(self.names)
        found = self.names[begin:end] if end - begin < len(self.names) else self.names
        return (
            [one for one, folded in zip(found, self.folded[begin:end], strict=True) if part in folded]
            if part
            else found
        )


class OwnerNames:
    """Reads the names of one store. Safe for threads."""

    def __init__(self, tags: Sequence[str]) -> None:
        self._tags = tags
        self._kept: dict[int, PartitionNames] = {}
        self._lock = Lock()

    def read(self, wire: Wire) -> Iterator[tuple[int, BuildKeys, PartitionNames]]:
        """The names of each partition by its number, with the keys of its live build. Raises StoreError."""
        server = all_runs(wire)
        lives = wire.answers([["HGET", LogKeys(tag).meta, "live"] for tag in self._tags])
        keys = [BuildKeys(tag, (live or b"").decode()) for tag, live in zip(self._tags, lives, strict=True)]
        counts = wire.answers([["HLEN", one.owners] for one in keys])
        for number, (one, count) in enumerate(zip(keys, counts, strict=True)):
            yield number, one, self._names(wire, number, one, _Told(server, one.build, int(count)))

    def _names(self, wire: Wire, number: int, keys: BuildKeys, told: _Told) -> PartitionNames:
        kept = self._kept.get(number)
        if kept is not None and told.server is not None and kept.told == told:
            return kept
        read = list(_read(wire, keys, told.many))
        names = sorted(name for name in read if name not in SYSTEM_OWNERS)
        found = PartitionNames(told._replace(many=len(read)), names, [_folded(name) for name in names])
        with self._lock:
            others = sum(len(other.names) for at, other in self._kept.items() if at != number)
            if others + len(names) <= MOST_KEPT:
                self._kept[number] = found
            else:
                self._kept.pop(number, None)
        return found


def _folded(name: str) -> str:
    """A name that is folded already stands in memory once."""
    folded = part_folded(name)
    return name if folded == name else folded


def _read(wire: Wire, keys: BuildKeys, count: int) -> set[str]:
    """All names of a partition."""
    check = current_check()
    check(0, count)
    if count <= AT_ONCE:
        return set(map(bytes.decode, wire.call("HKEYS", keys.owners)))
    names, cursor = set[str](), b"0"
    while True:
        cursor, page = wire.call("HSCAN", keys.owners, cursor, "COUNT", SCANNED)
        names.update(map(bytes.decode, page[::2]))
        if cursor == b"0":
            return names
        check(len(names), count)
