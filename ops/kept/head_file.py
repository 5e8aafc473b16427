"""A file of kept heads: appended to and fsynced under a lock, bounded, read with the one that it follows on."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from events.errors import InputError, StoreUnavailable
from events.heads import Head, HeadBook, copied_book, line_number, next_line, read_book, write_line
from ops.embedded.file_lock import FileLock
from ops.settings import Settings

MOST_BYTES = 8 * 1024 * 1024
"""A file that is larger is put aside as `.1`, in the place of the one put aside before; the next begins with every kept head."""
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
        self._known: tuple[int, int, int] | None = None
        self._book = HeadBook()

    def read(self) -> HeadBook:
        """What is kept, with what was put aside before. Raises StoreUnavailable where it cannot be read."""
        try:
            state = _state(self.path) if self.path.exists() else None
            if state is None or state != self._known:
                raw = b"".join(one.read_bytes() for one in (aside(self.path), self.path) if one.exists())
                self._book, self._known = read_book(raw), state
        except OSError as error:
            raise StoreUnavailable(f"the kept heads cannot be read: {error}", file=str(self.path)) from error
        return self._book

    def lines_after(self, number: int, most: int) -> list[tuple[int, bytes]]:
        """Whole lines with a greater number, and their numbers: at most so many. Raises OSError."""
        found: list[tuple[int, bytes]] = []
        for path in (self.path, aside(self.path)):
            for raw in reversed(path.read_bytes().split(b"\n")[:-1] if path.exists() else []):
                at = line_number(raw)
                if 0 < at <= number:
                    return found[::-1][:most]
                if at:
                    found.append((at, raw + b"\n"))
        return found[::-1][:most]

    def append(
        self, at: str, store: str, heads: Iterable[Head], kind: Literal["heads", "accepted"] = "heads", reason: str = ""
    ) -> bytes:
        """Write one line, on disk when this returns; gives it. A new file begins with every head that is kept.

        Raises StoreUnavailable where the disk refuses.
        """
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with FileLock(self.path):
                if self.path.exists() and self.path.stat().st_size > self._most:
                    self._turn_over(at, store)
                book = self.read()
                line = write_line(next_line(book, at, store, heads, kind, reason))
                self._write(line, book.torn)
                self._take(book, line)
        except OSError as error:
            raise StoreUnavailable(f"heads cannot be kept: {error}", file=str(self.path)) from error
        return line

    def _turn_over(self, at: str, store: str) -> None:
        """Put the file aside; the next begins with every kept head, so that none is forgotten with the file that goes then."""
        book = self.read()
        if book.torn:
            os.truncate(self.path, max(self.path.stat().st_size - book.torn, 0))
        newest = [head for partition in sorted(book.expected) if (head := book.newest(partition)) is not None]
        self._write_anew(write_line(next_line(book, at, store, newest)))
        self._known = None

    def _write_anew(self, line: bytes) -> None:
        """The line as a whole new file, which is there before the old one leaves its name: killed between, nothing is lost."""
        fresh = self.path.with_name(f".{self.path.name}.new")
        fresh.unlink(missing_ok=True)
        self._put(fresh, line, 0)
        self.path.replace(aside(self.path))
        fresh.replace(self.path)
        self._sync_folder()

    def _take(self, book: HeadBook, line: bytes) -> None:
        """What was written is known without reading it again."""
        book.take(line.rstrip(b"\n"))
        book.torn = 0
        self._known = _state(self.path)

    def _write(self, line: bytes, torn: int) -> None:
        new = not self.path.exists()
        self._put(self.path, line, 0 if new else torn)
        if new:
            self._sync_folder()

    @staticmethod
    def _put(path: Path, line: bytes, torn: int) -> None:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            size = os.fstat(descriptor).st_size
            if torn:  # what a dying writer left is no line, and nobody's hash runs over it
                size -= min(torn, size)
                os.ftruncate(descriptor, size)
            os.pwrite(descriptor, line, size)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def _sync_folder(self) -> None:
        folder = os.open(self.path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _state(path: Path) -> tuple[int, int, int]:
    """What changes when somebody writes a file."""
    now = path.stat()
    return now.st_ino, now.st_size, now.st_mtime_ns


def aside(path: Path) -> Path:
    """The file that this one follows on."""
    return path.with_name(f"{path.name}.1")


def read_copy(path: Path, field: str = "against") -> HeadBook:
    """A file of heads that somebody holds. Raises InputError where it cannot be read or holds none."""
    try:
        if path.stat().st_size > MOST_READ:
            raise InputError(f"{field}: {path} is larger than {MOST_READ:,} bytes", field=field, got=str(path))
        raw = path.read_bytes()
    except OSError as error:
        raise InputError(f"{field}: {path} cannot be read: {error}", field=field, got=str(path)) from error
    return copied_book(raw, field, str(path))
