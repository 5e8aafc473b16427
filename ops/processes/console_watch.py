"""What strangers tried at the console: a link that was used twice, and many invalid codes."""

from __future__ import annotations

from collections.abc import Callable

from api.http.sessions import Sessions
from events.alarms import Alarms

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
                "a link to the console was used twice: if not by you, engramlog token --rotate ends all sessions",
                times=used - self._used,
                alarm=True,
            )
        if limited > self._limited:
            self._alarms.raised(MANY, "", f"{limited - self._limited} codes of the console were refused unlooked at")
        self._used, self._limited = used, limited
