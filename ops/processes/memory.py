"""Memory given back to the system: what a heavy question took, its allocator keeps for the next unless it is told otherwise."""

from __future__ import annotations

import ctypes
import platform
from collections.abc import Callable


def give_back() -> None:
    """Hand free memory back to the system. Milliseconds, without Python's lock; nothing happens where there is no glibc."""
    trim = _trim()
    if trim is not None:
        trim(0)


def _trim() -> Callable[[int], int] | None:
    """glibc's `malloc_trim`; None on any other C library."""
    if platform.libc_ver()[0] != "glibc":
        return None
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim.argtypes, trim.restype = [ctypes.c_size_t], ctypes.c_int
    return trim
