"""What is watched of a service that is open to others: its certificate, and what is refused at its door."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from threading import Lock
from time import monotonic
from typing import Final

from api.http.server.certificate import Certificate, Clock
from events.alarms import Alarms, ConditionAlarm, TellingAlarms
from events.errors import BadSetting
from ops.clock import now
from ops.every import Every

SOON: Final = timedelta(days=14)
LOOK_SECONDS: Final = 2.0
TROUBLE_SECONDS: Final = 10.0
"""Files that change one after the other do not fit for a moment."""
TELL_SECONDS: Final = 60.0
MOST_ADDRESSES: Final = 8
ENDS, UNREADABLE = "certificate_ends", "certificate_unreadable"
Tell = Callable[..., None]


class CertificateWatch:
    """Takes a renewed certificate, and raises alarms if it ends soon or cannot be read."""

    def __init__(
        self,
        certificate: Certificate | None,
        alarms: Alarms,
        tell: Tell,
        clock: Clock = now,
        seconds: Callable[[], float] = monotonic,
    ) -> None:
        self._certificate = certificate
        self._tell = tell
        self._clock = clock
        self._ends = ConditionAlarm(alarms, ENDS)
        self._unreadable = ConditionAlarm(alarms, UNREADABLE, patient_seconds=TROUBLE_SECONDS, clock=seconds)

    def check(self) -> None:
        """Take new files, and report what is wrong with them."""
        trouble, soon = None, None
        try:
            if self._certificate is not None and self._certificate.renewed():
                self._tell("certificate renewed", ends=self._certificate.ends.isoformat())
        except BadSetting as error:
            trouble = error.message
        if self._certificate is not None and self._certificate.ends - self._clock() < SOON:
            soon = f"it ends {self._certificate.ends:%Y-%m-%d %H:%M} UTC"
        self._ends.report(soon)
        self._unreadable.report(trouble)


@contextmanager
def certificate_tended(certificate: Certificate | None, tell: Tell) -> Iterator[None]:
    """Check a certificate every few seconds for the length of a block."""
    if certificate is None:
        yield
        return
    watch = CertificateWatch(certificate, TellingAlarms(tell), tell)
    every = Every(LOOK_SECONDS, watch.check, "certificate", tell).start()
    try:
        yield
    finally:
        every.stop()


class RefusedRequests:
    """Logs, at most once a minute, how many requests were refused, why, and from where. Safe for threads."""

    def __init__(self, tell: Tell, seconds: Callable[[], float] = monotonic) -> None:
        self._tell = tell
        self._seconds = seconds
        self._lock = Lock()
        self._reasons = Counter[str]()
        self._addresses: dict[str, None] = {}
        self._told = -TELL_SECONDS

    def count(self, reason: str, address: str) -> None:
        """One more request."""
        with self._lock:
            self._reasons[reason] += 1
            if len(self._addresses) < MOST_ADDRESSES:
                self._addresses[address[:64]] = None

    def report(self) -> None:
        """Log what is new."""
        at = self._seconds()
        with self._lock:
            if not self._reasons or at - self._told < TELL_SECONDS:
                return
            reasons, addresses = dict(self._reasons), list(self._addresses)
            self._reasons.clear()
            self._addresses.clear()
            self._told = at
        self._tell("requests refused", reasons=reasons, addresses=addresses, alarm=True)
