"""A lock by which an `up` that waits for a folder says so; who only keeps it for others' convenience leaves then.

The kernel gives the lock back when its holder dies, so nobody leaves for an `up` that is gone.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ops.embedded.folder import unusable

NAME = "engramlog.wanted"


@contextmanager
def wanting(folder: Path) -> Iterator[None]:
    """Want the folder for the length of a `with`. Raises EmbeddedRedisError where nothing can be written there."""
    try:
        descriptor = os.open(folder / NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise unusable(folder, error) from error
    try:
        with suppress(OSError):  # a file system without locks: its own refusal follows
            fcntl.flock(descriptor, fcntl.LOCK_SH)  # shared: several may want it
        yield
    finally:
        os.close(descriptor)


def is_wanted(folder: Path) -> bool:
    """Whether anybody wants the folder now. Never waits."""
    try:
        descriptor = os.open(folder / NAME, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return False
