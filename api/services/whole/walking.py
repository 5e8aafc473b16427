"""Owners of a store, one after the other: what keeps one of them from being looked at is counted, and keeps no other from it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import TypeVar

from api.work.patience import current_check
from events.errors import EngramlogError, FoldError, NotFound, OwnerErased, OwnerTooLarge, ReadError
from projections.reports.many.figures import OwnersFigures

Passing = Callable[[str], AbstractContextManager[None]]
"""Within it an owner is looked at in passing (`RedisViews.passing`)."""
LEFT_OUT: tuple[type[EngramlogError], ...] = (NotFound, OwnerErased, OwnerTooLarge, ReadError, FoldError)
"""What keeps one owner from being looked at. Anything else is wrong with the question, the store or this machine."""
_Found = TypeVar("_Found", bound=OwnersFigures)


def walk(
    owners: Sequence[str],
    found: _Found,
    take: Callable[[str], object],
    passing: Passing,
    left_out: tuple[type[EngramlogError], ...] = LEFT_OUT,
) -> _Found:
    """Have each owner taken in. `take` raises before it changes `found`, or not at all.

    Raises what is wrong with more than one owner, and what the question in hand ends for.
    """
    check = current_check()
    for number, owner in enumerate(owners):
        check(number, len(owners))
        try:
            with passing(owner):
                take(owner)
        except left_out as error:
            found.leaves_out(type(error).__name__)
    return found
