"""What the server's libraries would write to standard error as bare text, told as facts like everything else in the log.

A request that is no HTTP says nothing about this service, and anybody may send thousands: they are counted, and told once a minute.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from time import monotonic
from typing import Any

Tell = Callable[..., None]
Later = Callable[[float, Callable[[], None]], Any]
"""Calls back after so many seconds, as `call_later` of an event loop does."""
MALFORMED = "Invalid HTTP request received."
"""What uvicorn writes of each of them."""


def silent(_fact: str, **_facts: Any) -> None:
    """Tells nobody."""


class Malformed:
    """Counts requests that cannot be read; tells of the first at once, of more at most once a minute. Lives on one event loop."""

    SECONDS = 60.0

    def __init__(self, tell: Tell) -> None:
        self._tell = tell
        self._quiet = False
        self._untold = 0
        self.count = 0

    def one(self, later: Later) -> None:
        """One more; what was asked for is not repeated."""
        self.count += 1
        self._untold += 1
        if not self._quiet:
            self._say(later)

    def end(self) -> None:
        """Tell what was not told yet: the server stops."""
        if self._untold:
            self._told()

    def _say(self, later: Later) -> None:
        self._quiet = bool(self._untold)
        if self._untold:
            self._told()
            later(self.SECONDS, lambda: self._say(later))

    def _told(self) -> None:
        requests, self._untold = self._untold, 0
        self._tell("malformed requests refused", requests=requests, in_all=self.count, alarm=True)


class FewLines(logging.Filter):
    """At most `most` lines in `seconds` of a logger; the next one says how many were left out."""

    def __init__(self, clock: Callable[[], float], most: int = 20, seconds: float = 10.0) -> None:
        super().__init__()
        self._clock = clock
        self._most = most
        self._seconds = seconds
        self._began = clock()
        self._lines = 0

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether this line is written."""
        now = self._clock()
        if now - self._began >= self._seconds:
            left_out = self._lines - self._most
            self._began, self._lines = now, 0
            if left_out > 0:
                record.msg, record.args = f"{record.getMessage()} ({left_out:,} lines before it were left out)", None
        self._lines += 1
        return self._lines <= self._most


def not_malformed(record: logging.LogRecord) -> bool:
    """A filter that drops uvicorn's line about each malformed request: `Malformed` tells of them."""
    return record.msg != MALFORMED


class ThreadLines(logging.Handler):
    """Tells what one thread writes to a logger as facts, a few lines at a time, with tracebacks.

    Loggers belong to the process. A filter of theirs would drop what another server in it says, so the handler filters.
    """

    def __init__(self, tell: Tell, thread: int) -> None:
        super().__init__()
        self._tell = tell
        self.addFilter(lambda record: record.thread == thread)
        self.addFilter(FewLines(monotonic))

    def emit(self, record: logging.LogRecord) -> None:
        """One line."""
        facts: dict[str, Any] = {"exc_info": record.exc_info} if record.exc_info and record.exc_info[0] else {}
        self._tell(record.getMessage().strip(), logger=record.name, alarm=record.levelno >= logging.WARNING, **facts)
