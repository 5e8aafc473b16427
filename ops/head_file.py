"""A file of kept heads: appended to and fsynced under a lock, bounded, read with the one that it follows on."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Literal

from events.errors import InputError, StoreUnavailable
from events.heads import Head, HeadBook, line_number, next_line, read_book, write_line
from ops.settings import Settings

MOST_BYTES = 8 * 1024 * 1024
"""A file that is larger is put aside as `.1`, in the place of the one put aside before; the next begins with every head."""
MOST_READ = 64 * 1024 * 1024
"""What is read of a file that somebody names."""


def heads_path(settings: Settings, store_id: str) -> Path:
    """Where a store's heads are kept on this machine."""
    name = "heads.jsonl" if settings.redis_url is None else f"heads-{store_id}.jsonl"
    return settings.data.expanduser() / name


class HeadFile:
    """The kept heads of a store in its data folder. Several processes may append: each does under the file's lock."""

    def __init__(self, path: Path, *, most_bytes: int = MOST_BYTES) -> None:
        self.path = path
        self._most = most_bytes
        self._known: tuple[int, int] | None = None
        self._book = HeadBook()

    def read(self) -> HeadBook:
        """What is kept, with what was put aside before. Raises StoreUnavailable where it cannot be read."""
        try:
            now = self.path.stat() if self.path.exists() else None
            state = None if now is None else (now.st_ino, now.st_size)
            if state is None or state != self._known:
                raw = b"".join(one.read_bytes() for one in (aside(self.path), self.path) if one.exists())
                self._book, self._known = read_book(raw), state
        except OSError as error:
            raise StoreUnavailable(f"the kept heads cannot be read: {error}", file=str(self.path)) from error
        return self._book

    def lines_after(self, number: int, most: int) -> list[tuple[int, bytes]]:
        """Whole lines with a greater number, and their numbers: at most so many. Raises OSError."""
        found: list[tuple[int, bytes]] = []
        for path in (aside(self.path), self.path):
            raws = path.read_bytes().split(b"\n")[:-1] if path.exists() else []
            for raw in raws:
                if len(found) < most and (at := line_number(raw)) > number:
                    found.append((at, raw + b"\n"))
        return found

    def append(
        self,
        at: str,
        store: str,
        heads: Iterable[Head],
        kind: Literal["heads", "accepted"] = "heads",
        reason: str = "",
        every: Callable[[], Iterable[Head]] = tuple,
    ) -> bytes:
        """Write one line, on disk when this returns; gives it. `every`: all heads, where a new file begins.

        Raises StoreUnavailable where the disk refuses.
        """
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with self._locked():
                book = self.read()
                if self.path.exists() and self.path.stat().st_size > self._most:
                    self.path.replace(aside(self.path))
                    known = {head.partition: head for head in every()}
                    heads = (
                        [*{**known, **{head.partition: head for head in heads}}.values()] if kind == "heads" else heads
                    )
                line = write_line(next_line(book, at, store, heads, kind, reason))
                self._write(line, book.torn)
                self._known = None
        except OSError as error:
            raise StoreUnavailable(f"heads cannot be kept: {error}", file=str(self.path)) from error
        return line

    def _locked(self) -> _Lock:
        return _Lock(self.path.with_name(f".{self.path.name}.lock"))

    def _write(self, line: bytes, torn: int) -> None:
        new = not self.path.exists()
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            size = os.fstat(descriptor).st_size
            if torn and not new:  # what a dying writer left is no line, and nobody's hash runs over it
                size -= min(torn, size)
                os.ftruncate(descriptor, size)
            os.pwrite(descriptor, line, size)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        if new:
            folder = os.open(self.path.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)


class _Lock:
    """A lock file held for the length of a `with`."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor = -1

    def __enter__(self) -> None:
        self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        fcntl.flock(self._descriptor, fcntl.LOCK_EX)

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):
            os.close(self._descriptor)


def aside(path: Path) -> Path:
    """The file that this one follows on."""
    return path.with_name(f"{path.name}.1")


def read_copy(path: Path) -> HeadBook:
    """A file of heads that somebody holds. Raises InputError where it cannot be read or holds none."""
    try:
        if path.stat().st_size > MOST_READ:
            raise InputError(f"against: {path} is larger than {MOST_READ:,} bytes", field="against", got=str(path))
        book = read_book(path.read_bytes())
    except OSError as error:
        raise InputError(f"against: {path} cannot be read: {error}", field="against", got=str(path)) from error
    if not book.lines:
        raise InputError(
            f"against: {path} holds no line; allowed: a file of kept heads", field="against", got=str(path)
        )
    return book
