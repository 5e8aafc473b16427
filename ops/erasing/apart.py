"""What was merged of a memory that is erased comes apart first: what else it was merged from stays, and is seen again. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from projections.memory.record import Memory


def comes_apart(named: Iterable[str], get: Callable[[str], Memory | None]) -> list[str]:
    """Merges that hide what is named and are not named themselves, in the order in which they are to be un-merged: the newest
    first, for what is merged away cannot be changed. What somebody deleted with all its sources stays as it is."""
    ids, found = set(named), dict[str, None]()
    for one in named:
        above = _above(one, get)
        if above and ids.isdisjoint(above) and (top := get(above[-1])) is not None and top.deleted_at is None:
            found |= dict.fromkeys(reversed(above))
    return list(found)


def _above(memory_id: str, get: Callable[[str], Memory | None]) -> list[str]:
    """The merges that a memory is merged into, one into the other."""
    found = list[str]()
    while (memory := get(memory_id)) is not None and (into := memory.merged_into) is not None and into not in found:
        found.append(into)
        memory_id = into
    return found
