"""What `engramlog bench` is asked to measure on: sets of texts, traffic, how many at a time, owners, workers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from events.errors import refused
from ops.bench.texts.sets import SETS

TRAFFIC = ("backlog", "live")
MOST = {"live": 1_000, "owners": 100_000, "workers": 16, "memories": 2_000_000, "scales": 10_000_000}
"""The largest number that each list takes."""
_LISTED = 12


class Asked(NamedTuple):
    """Each list as it was asked for, or what is measured where nothing was."""

    texts: Sequence[str] = tuple(SETS)
    traffic: Sequence[str] = TRAFFIC
    live: Sequence[int] = (1, 10, 100)
    owners: Sequence[int] = (20, 1_000, 10_000)
    workers: Sequence[int] = (1, 2, 3)
    held: tuple[int, int] = (160, 48_000)
    """Owners in a worker's memory, few and many, whose number should not matter to one event."""


QUICK = Asked(("talk", "chinese"), TRAFFIC, (1, 10), (20,), (2,), (20, 200))
"""Small: to see that it runs."""


def words(field: str, given: str, allowed: Sequence[str]) -> tuple[str, ...]:
    """The words of `a,b`. Raises InvalidInput for one that is not allowed."""
    found = tuple(one.strip() for one in given.split(","))
    if not set(found) <= set(allowed):
        raise refused(field, given, f"some of {', '.join(allowed)}, with commas between them")
    return found


def numbers(field: str, given: str) -> tuple[int, ...]:
    """The numbers of `1,10`. Raises InvalidInput for anything else, and for too many or too large ones."""
    found = [one.strip() for one in given.split(",")]
    fits = all(one.isascii() and one.isdigit() and len(one) < 9 and 1 <= int(one) <= MOST[field] for one in found)
    if not fits or len(found) > _LISTED:
        raise refused(field, given, f"1 to {_LISTED} numbers from 1 to {MOST[field]:,}, with commas between them")
    return tuple(map(int, found))
