"""A file of kept heads: appended to and fsynced under a lock, bounded, read with the one that it follows on."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from events.errors import InputError, StoreUnavailable
from events.heads import Head, HeadBook, copied_book, line_number, next_line, read_book, write_line
from ops.durable import FileLock, append_lines, file_state, sync_folder, written_beside
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
            state = file_state(self.path)
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
                append_lines(self.path, line)
                book.take(line.rstrip(b"\n"))  # known without reading it again
                book.torn = 0
                self._known = file_state(self.path)
        except OSError as error:
            raise StoreUnavailable(f"heads cannot be kept: {error}", file=str(self.path)) from error
        return line

    def _turn_over(self, at: str, store: str) -> None:
        """Put the file aside; the next begins with every kept head, so that none is forgotten with the file that goes then."""
        book = self.read()
        if book.torn:
            os.truncate(self.path, max(self.path.stat().st_size - book.torn, 0))
        newest = [head for partition in sorted(book.expected) if (head := book.newest(partition)) is not None]
        line = write_line(next_line(book, at, store, newest))
        with written_beside(self.path, line, locked=True) as fresh:  # it is there before the old one leaves its name
            self.path.replace(aside(self.path))
            fresh.replace(self.path)
        sync_folder(self.path.parent)
        self._known = None


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
