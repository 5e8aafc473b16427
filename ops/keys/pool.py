"""Salts that a process reserved ahead, so that an append waits for no commit of its own."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock

from engramlog_server.events.encryption.key_store import POOL_SECONDS
from engramlog_server.ops.clock import now_micros

LEAST, MOST = 8, 512
"""Salts that are reserved at once: twice as many each time, up to the most."""
Salts = list[tuple[int, bytes]]


def this_second() -> int:
    """Seconds since 1970: what ids of salts begin with."""
    return now_micros() // 1_000_000


class SaltPool:
    """Takes salts from reserved blocks. Salts of an old block are left to the job that removes unused ones. Safe for threads."""

    def __init__(self, reserve: Callable[[int], Salts]) -> None:
        self._reserve, self._lock = reserve, Lock()
        self._salts, self._block, self._since = Salts(), LEAST, 0

    def take(self, count: int) -> Salts:
        """So many; each is given once. Raises StoreUnavailable."""
        with self._lock:
            salts = self._salts
            if not 0 <= this_second() - self._since < POOL_SECONDS:  # ids may be ahead of a clock that was put right
                salts = []
            if len(salts) < count:
                self._since = self._since if salts else this_second()
                salts = salts + self._reserve(max(count, self._block))
                self._block = min(2 * self._block, MOST)
            self._salts = salts[count:]
            return salts[:count]
