"""The one place that reads the wall clock, and checks that run again and again. Everything else takes the time as an argument."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime
from threading import Event as Flag
from threading import Thread
from time import monotonic

from engramlog_server.ops.tracebacks import reason_of


def now_micros() -> int:
    """Microseconds since 1970 by this machine's clock."""
    return time.time_ns() // 1_000


def this_second() -> int:
    """Seconds since 1970."""
    return now_micros() // 1_000_000


def lasting_seconds() -> float:
    """Seconds of a clock that never goes back; while the machine sleeps it goes on, where the system has such a one."""
    asleep_too = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if asleep_too is None else time.clock_gettime(asleep_too)


def now() -> datetime:
    """The aware date-time of now, UTC."""
    return datetime.now(UTC)


Tell = Callable[..., None]


def silent(_fact: str, **_facts: object) -> None:
    """Log nothing."""


class Every:
    """Calls a check every so many seconds. An unexpected error is logged once and does not end the calls."""

    def __init__(
        self,
        seconds: float,
        check: Callable[[], object],
        name: str = "check",
        tell: Tell = silent,
        *,
        at_once: bool = True,
        at_end: Callable[[], object] | None = None,
    ) -> None:
        """`name`: of the thread, and in the log. `at_once`: also at the start. `at_end`: called by the thread at its end."""
        self._seconds = seconds
        self._check = check
        self._name = name
        self._tell = tell
        self._at_end = at_end
        self._next = 0.0 if at_once else monotonic() + seconds
        self._stop = Flag()
        self._thread: Thread | None = None
        self._trouble = ""

    def tend(self) -> None:
        """Call the check if it is due, in this thread. For loops. Raises what the check raises."""
        if (now := monotonic()) >= self._next:
            self._next = now + self._seconds
            self._check()

    def start(self) -> Every:
        """Call the check from a thread of its own, until `stop`."""
        self._thread = Thread(target=self._run, name=self._name, daemon=True)
        self._thread.start()
        return self

    def stop(self, seconds: float | None = None) -> bool:
        """End the thread, waiting for at most so many seconds; whether it has ended. Idempotent."""
        self._stop.set()
        if self._thread is None:
            return True
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def _run(self) -> None:
        while not self._stop.wait(max(self._next - monotonic(), 0.0)):
            self._next = monotonic() + self._seconds
            self._guarded(self._check)
        if self._at_end is not None:
            self._guarded(self._at_end)

    def _guarded(self, check: Callable[[], object]) -> None:
        try:
            check()
        except Exception as error:  # noqa: BLE001 - the thread's end would end all checks unnoticed
            if (reason := reason_of(error)) != self._trouble:
                self._trouble = reason
                self._tell("check failed", check=self._name, reason=reason, alarm=True)
        else:
            self._trouble = ""
