"""The file of kept heads, and copies of it in other places.

A file is appended to under a lock, bounded, and read together with the one that it follows. Copies are other files, and web
addresses that take each line as a POST. Only a copy that others hold proves anything: whatever can write the store can write the
data folder too.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

from engramlog_server.events.errors import InputError, StoreUnavailable
from engramlog_server.events.heads import Head, HeadBook, copied_book, line_number, next_line, read_book, write_line
from engramlog_server.ops.durable import FileLock, append_lines, file_state, store_file, sync_folder, written_beside

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from engramlog_server.events.alarms import Alarms
    from engramlog_server.ops.settings import Settings

MOST_BYTES = 8 * 1024 * 1024
"""A larger file is renamed to `.1`, which replaces the earlier `.1`; the next file begins with every kept head."""
MOST_READ = 64 * 1024 * 1024
"""The most bytes of a file that a user names."""


def heads_path(settings: Settings, store_id: str) -> Path:
    """The file of a store's heads on this machine."""
    return store_file(settings.data, "heads.jsonl", None if settings.redis_url is None else store_id)


class HeadFile:
    """The kept heads of a store in its data folder. Several processes may append, under the file's lock."""

    def __init__(self, path: Path, *, most_bytes: int = MOST_BYTES) -> None:
        self.path = path
        self._most = most_bytes
        self._known: tuple[int, int, int] | None = None
        self._book = HeadBook()

    def read(self) -> HeadBook:
        """The kept heads, with those of the earlier file. Raises StoreUnavailable if they cannot be read."""
        try:
            state = file_state(self.path)
            if state is None or state != self._known:
                raw = b"".join(one.read_bytes() for one in (aside(self.path), self.path) if one.exists())
                self._book, self._known = read_book(raw), state
        except OSError as error:
            raise StoreUnavailable(f"the kept heads cannot be read: {error}", file=str(self.path)) from error
        return self._book

    def lines_after(self, number: int, most: int) -> list[tuple[int, bytes]]:
        """At most so many whole lines with a greater number, with their numbers. Raises OSError."""
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
        """Append one line, on disk when this returns, and return it. A new file begins with every kept head.

        Raises StoreUnavailable if the disk refuses.
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
        """Rename the file; the next begins with every kept head, so that none is lost with the file that is replaced."""
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
    """The earlier file, which this one continues."""
    return path.with_name(f"{path.name}.1")


def read_copy(path: Path) -> HeadBook:
    """A user's file of heads. Raises InputError if it cannot be read or holds none."""
    try:
        if path.stat().st_size > MOST_READ:
            raise InputError(f"against: {path} is larger than {MOST_READ:,} bytes", field="against", got=str(path))
        raw = path.read_bytes()
    except OSError as error:
        raise InputError(f"against: {path} cannot be read: {error}", field="against", got=str(path)) from error
    return copied_book(raw, "against", str(path))


POST_SECONDS = 5.0
"""How long one address may take for one line."""
MOST_AT_ONCE = 1_000
"""Lines given to a sink at once; the rest follows at the next flush."""
BEGINS = b'{"n":'
"""The first bytes of every line."""
END_BYTES = 1024 * 1024
"""Bytes read from the end of a file; a line takes at most a tenth of them."""


class NoSink(ValueError):
    """A file that lines must not be appended to."""


class HeadSinks:
    """Gives every sink the lines that it lacks, in order. A file shows which; an address gets the lines of this run."""

    def __init__(self, targets: Sequence[str], kept: HeadFile, alarms: Alarms) -> None:
        self._kept = kept
        self._alarms = alarms
        self._sent: dict[str, int | None] = dict.fromkeys(targets)

    def flush(self) -> None:
        """Send all lines to every sink. A failure raises an alarm, and is tried again at the next call."""
        for target, sent in self._sent.items():
            try:
                self._sent[target] = self._flush(target, sent)
                self._alarms.cleared("head_sink_failed", shown(target))
            except (OSError, ValueError) as error:
                self._alarms.raised("head_sink_failed", shown(target), f"{type(error).__name__}: {_reason(error)}")

    def _flush(self, target: str, sent: int | None) -> int:
        book = self._kept.read()
        newest = 0 if book.last is None else book.last.n
        if not is_address(target):
            path = Path(target).expanduser()
            sent = _last_number(path)
            lines = self._kept.lines_after(sent, MOST_AT_ONCE) if sent < newest else []
            _append(path, b"".join(raw for _, raw in lines))
            return lines[-1][0] if lines else sent
        if sent is None:
            sent = max(newest - 1, 0)
        for number, raw in self._kept.lines_after(sent, MOST_AT_ONCE) if sent < newest else ():
            _post(target, raw)
            self._sent[target] = sent = number
        return sent


def is_address(target: str) -> bool:
    """Whether a sink is a web address, and not a file."""
    return target.startswith(("http://", "https://"))


def shown(target: str) -> str:
    """A sink for messages: an address without parts that may be secret."""
    if not is_address(target):
        return target
    parts = urlsplit(target)
    return f"{parts.scheme}://{parts.hostname or ''}"


def _reason(error: Exception) -> str:
    if isinstance(error, NoSink):
        return str(error)
    return os.strerror(error.errno) if isinstance(error, OSError) and error.errno else type(error).__name__


def _last_number(path: Path) -> int:
    """The number of the last whole line of a file; 0 if there is none. Reads only its end, because a sink only grows."""
    if not path.exists():
        return 0
    with path.open("rb") as file:
        file.seek(max(path.stat().st_size - END_BYTES, 0))
        ends = file.read().split(b"\n")[:-1]
    return next((number for raw in reversed(ends) if (number := line_number(raw))), 0)


def _append(path: Path, lines: bytes) -> None:
    if not lines:
        return
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        size = os.fstat(descriptor).st_size
        end = os.pread(descriptor, END_BYTES, max(size - END_BYTES, 0))
        torn = end[end.rfind(b"\n") + 1 :]
        if torn[: len(BEGINS)] != BEGINS[: len(torn)]:
            raise NoSink("the file holds something else than kept heads; nothing was written to it")
        size -= len(torn)  # what a dying writer left is no line
        os.ftruncate(descriptor, size)
        os.pwrite(descriptor, lines, size)
        os.fsync(descriptor)
    finally:
        with suppress(OSError):
            os.close(descriptor)


def _post(address: str, line: bytes) -> None:
    from urllib.request import Request, urlopen  # noqa: PLC0415 - who has no address of a sink needs none

    request = Request(address, data=line.rstrip(b"\n"), headers={"Content-Type": "application/json"}, method="POST")  # noqa: S310 - http(s) only, checked in settings
    with urlopen(request, timeout=POST_SECONDS) as answer:  # noqa: S310
        answer.read(1_024)
