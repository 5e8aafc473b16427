"""Limits of a process: open files raised to what the machine allows, and free memory given back to the system.

What a heavy question took, the allocator keeps for the next one unless it is asked to give it back.
"""

from __future__ import annotations

import ctypes
import platform
import resource
from collections.abc import Callable

ENOUGH = 1_048_576
"""Where there is no limit at all."""


FEW_FILES = 2_000
"""Fewer open files leave fewer than a thousand connections."""


def raise_file_limit() -> int:
    """Raise the limit of open files, connections among them, to the hard one; what it is now. Children inherit it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = ENOUGH if hard == resource.RLIM_INFINITY else hard
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return ENOUGH if soft == resource.RLIM_INFINITY else soft
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    except (OSError, ValueError):  # some systems allow less than they say
        return soft
    return wanted


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
