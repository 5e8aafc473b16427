"""How many connections may be open, and which of them make room: those that never asked anything first, then resting ones.

Lives on one event loop. A connection is fresh (it has not sent a whole request head yet), busy (a request is in hand) or resting
(kept alive after an answer).
"""

from __future__ import annotations

import asyncio
import logging
import resource
from collections.abc import Callable
from time import monotonic
from typing import Any, NamedTuple, Protocol

from api.http.server.lines import Malformed
from events.alarms import Alarms


class ConnectionLimits(NamedTuple):
    """What connections may hold, and for how long. Times are seconds."""

    most: int = 1_000
    """Open at once; fewer where the process may not open many files: half of them."""
    header_seconds: float = 10.0
    """From its first moment, or the first byte of a further request, to the end of the request's head."""
    resting_seconds: int = 15
    """Between an answer and the first byte of the next request."""
    linger_seconds: float = 5.0
    """How long the rest of a body that was refused is read and thrown away, so that the answer arrives."""
    write_seconds: float = 60.0
    """How long a client may take nothing of an answer."""
    head_bytes: int = 32 * 1024
    """Of a request's line and headers together."""
    pieces: int = 20_000
    """Chunks of one request's body: each costs as much as a request's head."""


class Closable(Protocol):
    """A connection, as far as making room goes."""

    def make_room(self) -> None:
        """Close now."""
        ...


def connections_within(limits: ConnectionLimits, files: int) -> tuple[int, int]:
    """How many connections may be open where `files` may be, and how many may wait to be accepted: those are open files too."""
    most = max(min(limits.most, files // 2), 8)
    return most, max(min(2_048, (files - most) // 2), 8)


def open_files() -> int:
    """How many files this process may open now."""
    soft, _hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    return 1_048_576 if soft == resource.RLIM_INFINITY else soft


class Refusals:
    """Tells of refused connections: an alarm at most every so often, taken back once it has been quiet for a while."""

    REPEAT_SECONDS = 10.0
    QUIET_SECONDS = 60.0

    def __init__(self, alarms: Alarms | None) -> None:
        self._alarms = alarms
        self._told = -self.REPEAT_SECONDS
        self._quiet: asyncio.TimerHandle | None = None
        self.count = 0

    def refused(self, why: str) -> None:
        """One more."""
        self.count += 1
        loop = asyncio.get_running_loop()
        if loop.time() - self._told < self.REPEAT_SECONDS:
            return
        self._told = loop.time()
        if self._quiet is not None:
            self._quiet.cancel()
        self._quiet = loop.call_later(self.QUIET_SECONDS, self._over)
        self._by_thread("raised", f"{why}; {self.count:,} so far")

    def _over(self) -> None:
        loop = asyncio.get_running_loop()
        if loop.time() - self._told < self.QUIET_SECONDS - 1:
            self._quiet = loop.call_later(self.QUIET_SECONDS, self._over)
        else:
            self._by_thread("cleared")

    def _by_thread(self, what: str, *text: str) -> None:
        """Alarms are kept in Redis: nobody waits for that here."""
        if self._alarms is not None:
            tell: Callable[..., None] = getattr(self._alarms, what)
            asyncio.get_running_loop().run_in_executor(None, tell, "connections_refused", "", *text)


class Connections:
    """All connections of one server."""

    TOLD = 100

    def __init__(self, limits: ConnectionLimits, most: int, malformed: Malformed, alarms: Alarms | None = None) -> None:
        self.limits = limits
        self.most = most
        self.malformed = malformed
        self.refusals = Refusals(alarms)
        self.made_room = 0
        """Connections that were closed to let others in."""
        self._fresh: dict[Closable, None] = {}
        self._resting: dict[Closable, None] = {}
        self._busy: set[Closable] = set()
        self._being_told = 0
        self._asked_at = monotonic()

    @property
    def open(self) -> int:
        """How many there are."""
        return len(self._fresh) + len(self._resting) + len(self._busy)

    def unasked_seconds(self) -> float:
        """How long ago the last request was over, or the server began; 0 while one is in hand. For any thread."""
        return 0.0 if self._busy else monotonic() - self._asked_at

    def admit(self, connection: Closable) -> bool:
        """Whether a new connection may stay; the one that has been idle longest goes for it."""
        if self.open >= self.most and not self._make_room():
            self.refusals.refused(f"{self.open:,} connections are open, and each has a request in hand")
            return False
        self._fresh[connection] = None
        return True

    def _make_room(self) -> bool:
        idle = self._fresh or self._resting
        if not idle:
            return False
        longest = next(iter(idle))
        del idle[longest]
        self.made_room += 1
        longest.make_room()
        return True

    def busy(self, connection: Closable) -> None:
        """A request has begun."""
        self._asked_at = monotonic()
        self._forget(connection)
        self._busy.add(connection)

    def rests(self, connection: Closable) -> None:
        """It was answered."""
        self._asked_at = monotonic()
        self._forget(connection)
        self._resting[connection] = None

    def may_be_told(self) -> bool:
        """Whether one that was refused is told why: so many at once, the others are cut."""
        if self._being_told >= self.TOLD:
            return False
        self._being_told += 1
        return True

    def left(self, connection: Closable, *, refused: bool) -> None:
        """It is closed."""
        if connection in self._busy:
            self._asked_at = monotonic()
        self._forget(connection)
        if refused:
            self._being_told = max(self._being_told - 1, 0)

    def _forget(self, connection: Closable) -> None:
        self._fresh.pop(connection, None)
        self._resting.pop(connection, None)
        self._busy.discard(connection)


def quiet_loop(loop: asyncio.AbstractEventLoop, refusals: Refusals, logger: logging.Logger) -> None:
    """Let `loop` tell what it cannot accept by an alarm, and anything else by at most a few lines.

    Where no file is left asyncio tells of it two thousand times a second, each with a traceback.
    """

    def told(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        if "accept" in str(context.get("message")):
            refusals.refused(f"a connection cannot be accepted: {context.get('exception')}")
            return
        logger.error(
            "the event loop: %s",
            context.get("message"),
            exc_info=context.get("exception") if loop.is_running() else None,
        )

    loop.set_exception_handler(told)
