"""The owners of a store by name, in pages."""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Sequence
from typing import Any

from api.choices import MOST_NAME, MOST_OWNERS, OWNERS_PAGE
from api.work.patience import current_check
from events.errors import refused
from events.partitions import LogKeys
from events.redis.wire import Wire
from projections.fold.builds import BuildKeys
from projections.language.traditional import part_folded

AT_ONCE = 500
_GLOB = str.maketrans({sign: f"\\{sign}" for sign in "\\*?[]^-"})


class Owners:
    """Lists the owners of one store. Safe for threads: a connection of its own a call, made by `wire`."""

    def __init__(self, wire: Callable[[], Wire], tags: Sequence[str]) -> None:
        self._wire = wire
        self._tags = tags

    def owners(
        self,
        *,
        after: str | None = None,
        prefix: str | None = None,
        search: str | None = None,
        limit: int = OWNERS_PAGE,
    ) -> dict[str, Any]:
        """Up to `limit` (1 to 1,000) owners in the order of their names, of those that begin with `prefix` and follow `after`.

        `search`: only names that hold this, by `part_folded`. `next`: what to give as `after` for the next page, None on the last.
        `matching`: how many begin with the prefix and hold that. Every name of the store is looked at for each page; those
        of one partition that match and a page are held. Raises InputError naming the field.
        """
        if not 1 <= limit <= MOST_OWNERS:
            raise refused("limit", limit, f"a whole number from 1 to {MOST_OWNERS:,}")
        start, wanted = _name("after", after), _name("prefix", prefix)
        part = part_folded(_name("search", search, "part of an owner's name"))
        matching, page = 0, list[tuple[str, int, BuildKeys]]()
        wire = self._wire()
        try:
            for number, tag in enumerate(self._tags):
                keys = BuildKeys(tag, (wire.call("HGET", LogKeys(tag).meta, "live") or b"").decode())
                for name in _names(wire, keys, wanted, part):
                    matching += 1
                    if name > start and (len(page) <= limit or name < page[-1][0]):
                        insort(page, (name, number, keys), key=lambda one: one[0])
                        del page[limit + 1 :]
            counts = wire.answers([["HLEN", keys.records(name)] for name, _, keys in page[:limit]])
            told = [
                {"owner": name, "partition": number, "memories": int(count)}
                for (name, number, _), count in zip(page, counts, strict=False)
            ]
        finally:
            wire.close()
        return {"owners": told, "matching": matching, "next": told[-1]["owner"] if len(page) > limit else None}


def _names(wire: Wire, keys: BuildKeys, prefix: str, part: str) -> set[str]:
    """The owners of a partition whose names begin so and hold a part, as they are compared; a scan may tell one twice."""
    names, cursor, check, looked = set[str](), b"0", current_check(), 0
    match = f"{prefix.translate(_GLOB)}*"
    while True:
        check(looked, 0)
        cursor, page = wire.call("HSCAN", keys.owners, cursor, "MATCH", match, "COUNT", AT_ONCE)
        looked += len(page) // 2
        names.update(name for name in map(bytes.decode, page[::2]) if not part or part in part_folded(name))
        if cursor == b"0":
            return names


def _name(field: str, text: str | None, what: str = "the beginning of an owner's name") -> str:
    if text is None:
        return ""
    if len(text) > MOST_NAME or not text.isprintable():
        raise refused(field, text[:80], f"{what}, at most {MOST_NAME} characters")
    return text
