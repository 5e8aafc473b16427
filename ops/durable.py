"""Files that survive a crash, and files with a secret.

The first are replaced as a whole, or appended to line by line, by one process at a time. The others are read only if nobody else
can have read them.
"""

from __future__ import annotations

import fcntl
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from time import monotonic, sleep
from typing import IO

LOOK_SECONDS = 0.05
MOST_ID = 64
"""Characters of a store's id in the name of a file."""
_BLOCK = 4_096
_NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
Content = bytes | Callable[[IO[bytes]], None]
"""What a file shall contain, or what writes it."""


class FileLock:
    """The lock file next to a file, held for the length of a `with`. Raises OSError if it cannot be had."""

    def __init__(self, path: Path, seconds: float | None = None) -> None:
        """`seconds`: how long to wait for it; None: without end."""
        self._path = path.with_name(f".{path.name}.lock")
        self._seconds = seconds
        self._descriptor = -1

    def __enter__(self) -> None:
        self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        if self._seconds is None:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX)
            return
        end = monotonic() + self._seconds
        while True:
            try:
                fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except BlockingIOError:
                if monotonic() >= end:
                    os.close(self._descriptor)
                    raise
                sleep(LOOK_SECONDS)

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):
            os.close(self._descriptor)


class FileFull(Exception):
    """A file takes no more lines."""

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self.size = size
        """Bytes of the file now."""


def store_file(folder: Path, name: str, store_id: str | None) -> Path:
    """The file of a store: `name` with the store's id before the suffix, or without it in a folder of one store.

    The id comes from Redis, so only its first 64 letters, digits and - are used.
    """
    if store_id is not None:
        stem, _, suffix = name.rpartition(".")
        safe = "".join(one for one in store_id if (one.isascii() and one.isalnum()) or one == "-")[:MOST_ID]
        name = f"{stem}-{safe}.{suffix}"
    return folder.expanduser() / name


def append_lines(path: Path, lines: bytes, most: int | None = None, flags: int = 0) -> None:
    """Append whole lines to a private file; on disk when this returns. Under its lock.

    An unfinished line, which a killed process left, is cut off first. Raises FileFull if the file would have more than `most`
    bytes, and OSError.
    """
    is_new = not path.exists()
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | flags, 0o600)
    try:
        size = _whole_lines(descriptor)
        if most is not None and size + len(lines) > most:
            raise FileFull(size)
        os.ftruncate(descriptor, size)
        os.pwrite(descriptor, lines, size)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    if is_new:
        sync_path(path.parent)


def _whole_lines(descriptor: int) -> int:
    """How many bytes of a file are whole lines."""
    size = os.fstat(descriptor).st_size
    while size:
        start = max(size - _BLOCK, 0)
        if (at := os.pread(descriptor, size - start, start).rfind(b"\n")) >= 0:
            return start + at + 1
        size = start
    return 0


def replace_file(path: Path, content: Content, *, locked: bool = False, keep_name: bool = True) -> int:
    """Replace a file as a whole: readers, and a crash, see the old one or the new one. Returns its size. Raises OSError.

    `locked`: see `new_file_beside`. `keep_name`: sync the folder too, so that the new one also survives a power failure.
    """
    with new_file_beside(path, content, locked=locked) as fresh:
        size = fresh.stat().st_size
        fresh.replace(path)
    if keep_name:
        sync_path(path.parent)
    return size


@contextmanager
def new_file_beside(path: Path, content: Content, *, locked: bool = False) -> Iterator[Path]:
    """A new private file next to another, on disk; removed at the end unless it was renamed. Raises OSError.

    `locked`: the caller holds the file's lock, so the name is fixed, and what a killed process left there is removed.
    """
    fresh = path.with_name(f".{path.name}.new" if locked else f".{path.name}.{token_hex(8)}")
    if locked:
        fresh.unlink(missing_ok=True)
    try:
        with os.fdopen(os.open(fresh, _NEW, 0o600), "w+b") as file:
            if isinstance(content, bytes):
                file.write(content)
            else:
                content(file)
            file.flush()
            os.fsync(file.fileno())
        yield fresh
    finally:
        with suppress(OSError):
            fresh.unlink(missing_ok=True)


def sync_path(path: Path) -> None:
    """Have a file, or the names of a folder's files, on disk. Raises OSError."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def file_state(path: Path) -> tuple[int, int, int] | None:
    """What changes if a process writes a file; None if there is none. Raises OSError."""
    try:
        now = path.stat()
    except FileNotFoundError:
        return None
    return now.st_ino, now.st_size, now.st_mtime_ns


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
