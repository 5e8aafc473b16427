"""How a long computation is stopped from outside: it knows no clock, and asks between its steps whether to go on."""

from __future__ import annotations

from collections.abc import Callable

Check = Callable[[int, int], None]
"""Called with how many steps are done, and of how many; raises where the computation is to end. Whatever it raises passes
through: nothing is half done, since nothing was written."""
EVERY = 256
"""Steps between two checks: some milliseconds."""


def unchecked(_done: int, _total: int) -> None:
    """Goes on to the end."""
