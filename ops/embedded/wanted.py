"""Two locks of a data folder. `engramlog.wanted`: an `up` waits for the folder, so a service that only serves clients ends.
`engramlog.used`: a command uses the folder's Redis, so that service stays.

The kernel releases a lock when its holder dies, so a dead process changes nothing.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from engramlog_server.events.errors import EmbeddedRedisError
from engramlog_server.ops.embedded.folder import unusable

WANTED, USED = "engramlog.wanted", "engramlog.used"


@contextmanager
def wanting(folder: Path) -> Iterator[None]:
    """Want the folder for the length of a `with`. Raises EmbeddedRedisError where nothing can be written there."""
    descriptor = _held(folder, WANTED)
    try:
        yield
    finally:
        os.close(descriptor)


def using(folder: Path) -> int | None:
    """Use the folder's server until the descriptor is closed; None where no file for that was made. Makes nothing."""
    with suppress(EmbeddedRedisError):
        return _held(folder, USED, 0)
    return None


def may_be_used(folder: Path) -> None:
    """Make the file by which commands say that they use the server; on a full disk there is none, and nobody is waited for."""
    with suppress(EmbeddedRedisError):
        os.close(_held(folder, USED))


def is_wanted(folder: Path) -> bool:
    """Whether anybody wants the folder now. Never waits."""
    return _is_held(folder, WANTED)


def is_used(folder: Path) -> bool:
    """Whether any command uses the folder's server now. Never waits."""
    return _is_held(folder, USED)


def _held(folder: Path, name: str, create: int = os.O_CREAT) -> int:
    try:
        descriptor = os.open(folder / name, os.O_RDWR | create | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise unusable(folder, error) from error
    with suppress(OSError):  # a file system without locks: its own refusal follows
        fcntl.flock(descriptor, fcntl.LOCK_SH)  # shared: several may hold it
    return descriptor


def _is_held(folder: Path, name: str) -> bool:
    try:
        descriptor = os.open(folder / name, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
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
