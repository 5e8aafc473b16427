"""How a long computation is stopped from outside: it knows no clock, and asks between its steps whether to go on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, TypeVar

Check = Callable[[int, int], None]
"""Called with how many steps are done, and of how many (0 where nobody knows); raises where the computation is to end. Whatever
it raises passes through: nothing is half done, since nothing was written."""
EVERY = 256
"""Steps between two checks: some milliseconds."""


_T = TypeVar("_T")


def unchecked(_done: int, _total: int) -> None:
    """Goes on to the end."""


def _weightless(_steps: int) -> None:
    """May be as long as it likes."""


class Bounds(NamedTuple):
    """What a long piece of work asks between its steps, and what it tells of its length before the first."""

    check: Check = unchecked
    weigh: Callable[[int], None] = _weightless
    """Gets about how many steps there will be; raises where that is too many for here."""


UNBOUNDED = Bounds()


def counted(items: Iterable[_T], check: Check, total: int, every: int = EVERY) -> Iterator[_T]:
    """The items one by one, of `total`; asks before the first and between every so many of them whether to go on."""
    for number, item in enumerate(items):
        if not number % every:
            check(number, total)
        yield item
