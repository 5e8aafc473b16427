"""Reading a file that holds a secret: one that nobody else can have read."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path


class NotPrivate(Exception):
    """Why a file with a secret is not used: a sentence without its subject, for whoever reads it names that and the setting."""

    def __init__(self, what: str, *, missing: bool = False) -> None:
        super().__init__(what)
        self.what, self.missing = what, missing


def read_private(path: Path, most: int, *, ours: bool = True, cure: str = "; make it 0600") -> bytes:
    """What a plain file of at most `most` bytes holds, which no other user can read. Raises NotPrivate.

    `ours`, `cure`: as of `open_private`.
    """
    descriptor = open_private(path, ours=ours, cure=cure)
    try:
        size = os.fstat(descriptor).st_size
        if size > most:
            raise NotPrivate(f"has {size:,} bytes; {most:,} are allowed")
        return os.read(descriptor, most)
    except OSError as error:
        raise NotPrivate(f"cannot be read ({error.strerror})") from None
    finally:
        os.close(descriptor)


def open_private(path: Path, *, ours: bool = True, cure: str = "; make it 0600") -> int:
    """A descriptor of a plain file that no other user can read, open for reading. Raises NotPrivate.

    `ours`: it belongs to this user, and its name is no link, so nobody else can have put it there. Without, a link is followed,
    as the secrets of a container are mounted, and another program of this machine may own it. `cure`: what mends one that others
    could have read.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | (os.O_NOFOLLOW if ours else 0))
    except OSError as error:
        told = f"cannot be read ({error.strerror})" + (", or is a link" if ours else "")
        raise NotPrivate(told, missing=isinstance(error, FileNotFoundError)) from None
    if (wrong := not_private(os.fstat(descriptor), ours=ours, cure=cure)) is not None:
        os.close(descriptor)
        raise NotPrivate(wrong)
    return descriptor


def not_private(found: os.stat_result, *, ours: bool = True, cure: str = "; make it 0600") -> str | None:
    """Why a file that is open is not one that nobody else can have read or put there; None where it is. As `open_private`."""
    mode = stat.S_IMODE(found.st_mode)
    if not stat.S_ISREG(found.st_mode):
        return "is no plain file"
    if ours and found.st_uid != os.geteuid():
        return f"belongs to user {found.st_uid}, not to this one"
    return f"could be read by others ({mode:04o}){cure}" if mode & OTHERS else None


OTHERS = 0o077
"""What nobody else may have of it."""


def is_ours(path: Path, kind: Callable[[int], bool]) -> bool:
    """Whether this very name is of the kind (`stat.S_ISDIR` ...), belongs to this user and is closed to all others."""
    try:
        found = path.lstat()
    except OSError:
        return False
    return kind(found.st_mode) and found.st_uid == os.geteuid() and not stat.S_IMODE(found.st_mode) & OTHERS
