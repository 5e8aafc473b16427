"""The owners of a store by name, in pages.

Their sorted names are kept in this process. A build never removes an owner's entry. So if a build on the same server has as many
names as before, they are the same names; a question reads the counts, and the names of partitions that have new ones.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from threading import Lock
from typing import NamedTuple

from engramlog_server.api.choices import MOST_NAME, MOST_OWNERS, OWNERS_PAGE
from engramlog_server.api.shapes import OwnerCount, OwnerPage
from engramlog_server.api.work.patience import current_check
from engramlog_server.events.door.of_the_store import SYSTEM_OWNERS
from engramlog_server.events.errors import refused
from engramlog_server.events.partitions import LogKeys
from engramlog_server.events.redis.wire import Wire, WirePool, all_runs
from engramlog_server.projections.access.caller import Caller
from engramlog_server.projections.fold.builds import BuildKeys
from engramlog_server.projections.language.traditional import part_folded

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


class Owners:
    """Lists the owners of one store. Safe for threads."""

    def __init__(self, wires: WirePool, tags: Sequence[str]) -> None:
        self._wires = wires
        self._names = OwnerNames(tags)

    def owners(
        self,
        *,
        after: str | None = None,
        prefix: str | None = None,
        search: str | None = None,
        limit: int = OWNERS_PAGE,
        among: Caller | None = None,
    ) -> OwnerPage:
        """Up to `limit` (1 to 1,000) owners in the order of their names, of those that begin with `prefix` and follow `after`.

        `search`: only names that hold this, by `part_folded`. `next`: what to give as `after` for the next page, None on the last.
        `matching`: how many begin with the prefix and hold that. `among`: only those whom this
        caller may read. Names are kept, see `OwnerNames`. Raises InputError naming
        the field.
        """
        if not 1 <= limit <= MOST_OWNERS:
            raise refused("limit", limit, f"a whole number from 1 to {MOST_OWNERS:,}")
        start, wanted = _name("after", after), _name("prefix", prefix)
        part = part_folded(_name("search", search, "part of an owner's name"))
        matching, page = 0, list[tuple[str, int, BuildKeys]]()
        with self._wires.wire() as wire:
            for number, keys, names in self._names.read(wire):
                found = names.matching(wanted, part)
                if among is not None and not among.covers_all("read"):
                    found = [name for name in found if among.may("read", name)]
                matching += len(found)
                begin = bisect_right(found, start)
                page += [(name, number, keys) for name in found[begin : begin + limit + 1]]
            page.sort(key=lambda one: one[0])
            counts = wire.answers([["HLEN", keys.records(name)] for name, _, keys in page[:limit]])
        told: list[OwnerCount] = [
            {"owner": name, "partition": number, "memories": int(count)}
            for (name, number, _), count in zip(page, counts, strict=False)
        ]
        return {"owners": told, "matching": matching, "next": told[-1]["owner"] if len(page) > limit else None}


def _name(field: str, text: str | None, what: str = "the beginning of an owner's name") -> str:
    if text is None:
        return ""
    if len(text) > MOST_NAME or not text.isprintable():
        raise refused(field, text[:80], f"{what}, at most {MOST_NAME} characters")
    return text
