"""Memory given back to the machine after something large: glibc keeps what was freed, for each of its arenas."""

from __future__ import annotations

import ctypes
from threading import Lock
from time import monotonic

SECONDS = 2.0
"""At most so often: it takes milliseconds, and then keeps other threads from getting memory."""


class MemoryGivenBack:
    """Called after large work, from any thread. Where the C library has no `malloc_trim` it does nothing."""

    def __init__(self, seconds: float = SECONDS) -> None:
        self._seconds = seconds
        self._trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        self._lock = Lock()
        self._last = -seconds

    def __call__(self) -> bool:
        """Give back what is free; whether that was done now."""
        if self._trim is None:
            return False
        with self._lock:
            if monotonic() - self._last < self._seconds:
                return False
            self._last = monotonic()
        self._trim(0)
        return True
