"""What `up` checks while it runs: whether partitions with events to fold move, and what strangers tried at the console."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from engramlog_server.api.http.sessions import Sessions
from engramlog_server.events.alarms import Alarms
from engramlog_server.events.errors import EngramlogError

LOOK_SECONDS = 5.0
"""Seconds between two looks at the partitions."""
STILL_SECONDS = 30.0
"""How long a partition's checkpoint may stay while events wait behind it: ten lease times."""


class Standstill:
    """Raises `partition_stands_still` for each partition that does not move, and clears it when it does."""

    def __init__(self, status: Callable[[], Mapping[str, Any]], alarms: Alarms) -> None:
        self._status = status
        self._alarms = alarms
        self._seen: dict[int, tuple[int, float]] = {}
        self._still: set[int] = set()

    def look(self, now: float) -> None:
        """Look; `now` in monotonic seconds. A store that does not answer is reported elsewhere."""
        try:
            partitions = self._status()["partitions"]
        except EngramlogError:
            self._seen.clear()
            return
        for one in partitions:
            self._look(one["partition"], one["checkpoint"], one["lag"], one["holder"], now)

    def _look(self, number: int, checkpoint: int, lag: int, holder: str | None, now: float) -> None:
        seen, since = self._seen.get(number, (-1, now))
        first = number not in self._seen
        if seen != checkpoint or not lag:
            since = now
        self._seen[number] = (checkpoint, since)
        if lag and now - since >= STILL_SECONDS:
            self._still.add(number)
            waiting = "1 event waits" if lag == 1 else f"{lag:,} events wait"
            text = f"{waiting} behind position {number}:{checkpoint}; held by {holder or 'nobody'}"
            self._alarms.raised("partition_stands_still", f"partition {number}", text)
        elif since == now and (number in self._still or first):
            self._still.discard(number)
            if not first or not lag:
                self._alarms.cleared("partition_stands_still", f"partition {number}")


MANY = "console_codes_refused"


class ConsoleRefusals:
    """Logs and raises what the console refused since the last check."""

    def __init__(self, sessions: Sessions, alarms: Alarms, tell: Callable[..., None]) -> None:
        self._sessions = sessions
        self._alarms = alarms
        self._tell = tell
        self._used = self._limited = 0

    def check(self) -> None:
        """Report what is new, as one line however many there were."""
        used, limited = self._sessions.refused["used"], self._sessions.refused["limited"]
        if used > self._used:
            self._tell(
                "console link reused",
                times=used - self._used,
                advice="if not by you, engramlog token --rotate ends all sessions",
                alarm=True,
            )
        if limited > self._limited:
            self._alarms.raised(MANY, "", f"{limited - self._limited} codes of the console were refused unlooked at")
        self._used, self._limited = used, limited
