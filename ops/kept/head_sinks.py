"""Copies of kept heads elsewhere: other files, and web addresses that take each line as a POST.

Only a copy that others hold proves anything: whoever can write the store can write the data folder too.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

from events.alarms import Alarms
from events.heads import line_number
from ops.kept.head_file import HeadFile

POST_SECONDS = 5.0
"""How long one address may take for one line."""
MOST_AT_ONCE = 1_000
"""Lines given to a sink in one go; what is left follows at the next."""
BEGINS = b'{"n":'
"""How every line begins."""
END_BYTES = 1024 * 1024
"""What is read of the end of a file; a line takes at most a tenth of it."""


class NoSink(ValueError):
    """Lines may not be written there."""


class HeadSinks:
    """Gives every sink the lines that it lacks, in order. A file tells itself which; an address gets those of this run."""

    def __init__(self, targets: Sequence[str], kept: HeadFile, alarms: Alarms) -> None:
        self._kept = kept
        self._alarms = alarms
        self._sent: dict[str, int | None] = dict.fromkeys(targets)

    def flush(self) -> None:
        """Bring every sink up to date, as far as it lets. What fails raises an alarm, and is tried again at the next call."""
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
    """A sink as it may be told: an address without what may be a secret in it."""
    if not is_address(target):
        return target
    parts = urlsplit(target)
    return f"{parts.scheme}://{parts.hostname or ''}"


def _reason(error: Exception) -> str:
    if isinstance(error, NoSink):
        return str(error)
    return os.strerror(error.errno) if isinstance(error, OSError) and error.errno else type(error).__name__


def _last_number(path: Path) -> int:
    """The number of the last whole line that a file holds; 0 where there is none. Reads its end alone: a sink only grows."""
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
