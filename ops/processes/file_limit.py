"""How many files a process may open: as many as the machine lets it."""

from __future__ import annotations

import resource

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
