"""The owners of a store by name, in pages."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from api.choices import MOST_NAME, MOST_OWNERS, OWNERS_PAGE
from api.services.store.owner_names import OwnerNames
from events.errors import refused
from events.redis.wire import WirePool
from projections.access.caller import Caller
from projections.fold.builds import BuildKeys
from projections.language.traditional import part_folded


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
    ) -> dict[str, Any]:
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
        told = [
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
