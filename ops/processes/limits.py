"""Limits of a process: open files raised to what the machine allows, free memory given back, garbage looked for seldom.

What a heavy question took, the allocator keeps for the next one unless it is asked to give it back.
"""

from __future__ import annotations

import gc
import os
import resource
import sys
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
    import ctypes  # noqa: PLC0415 - a command that ends soon gives nothing back
    import platform  # noqa: PLC0415 - the same

    if platform.libc_ver()[0] != "glibc":
        return None
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim.argtypes, trim.restype = [ctypes.c_size_t], ctypes.c_int
    return trim


TUNABLES = "GLIBC_TUNABLES"
OVERWRITING = "glibc.malloc.tcache_count=0:glibc.malloc.perturb=165"
"""Freed memory is overwritten, and threads keep no freed blocks of their own, which are not."""


def overwrite_freed_memory() -> None:
    """Begin this program again, as the same process, with an allocator that overwrites what is freed: words that were erased do not
    stay in the memory of a process that goes on. Nothing happens the second time, for open stores, and where there is no glibc."""
    import platform  # noqa: PLC0415 - only a service needs it

    tunables = os.environ.get(TUNABLES, "")
    if tunables.endswith(OVERWRITING):
        os.environ[TUNABLES] = tunables.removesuffix(OVERWRITING).rstrip(":")  # not for processes that this one starts
    elif platform.libc_ver()[0] == "glibc" and os.environ.get("ENGRAMLOG_SEALED_BY") != "none":
        tunables = ":".join(filter(None, (tunables, OVERWRITING)))
        arguments = [sys.executable, *sys.orig_argv[1:]]
        os.execve(sys.executable, arguments, {**os.environ, TUNABLES: tunables})  # noqa: S606 - this very program


OBJECTS = 150_000
"""New objects after which garbage is looked for first: a search makes 110,000, imports most of them, and none is garbage."""


USUAL = gc.get_threshold()


def look_seldom() -> None:
    """Until `started`, or for the rest of this process."""
    gc.set_threshold(OBJECTS, *USUAL[1:])


def started() -> None:
    """From here on as Python does, but not among what the start made: modules and classes stay until the end."""
    gc.freeze()
    gc.set_threshold(*USUAL)
