"""What is watched of a service that is open to others: its certificate, and what is refused at its door."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from threading import Event as Flag
from threading import Lock, Thread
from time import monotonic
from typing import Final

from api.http.server.certificate import Certificate, Clock
from events.alarms import Alarms, TellingAlarms
from events.errors import BadSetting
from ops.clock import now

SOON: Final = timedelta(days=14)
LOOK_SECONDS: Final = 2.0
TROUBLE_SECONDS: Final = 10.0
"""Files that change one after the other do not fit for a moment."""
TELL_SECONDS: Final = 60.0
MOST_ADDRESSES: Final = 8
ENDS, UNREADABLE = "certificate_ends", "certificate_unreadable"
Tell = Callable[..., None]


class CertificateWatch:
    """Takes a renewed certificate, and raises alarms where it ends soon or cannot be read."""

    def __init__(
        self,
        certificate: Certificate | None,
        alarms: Alarms,
        tell: Tell,
        clock: Clock = now,
        seconds: Callable[[], float] = monotonic,
    ) -> None:
        self._certificate = certificate
        self._alarms = alarms
        self._tell = tell
        self._clock = clock
        self._seconds = seconds
        self._looked = -LOOK_SECONDS
        self._since: float | None = None
        self._told: dict[str, str | None] = {ENDS: "", UNREADABLE: ""}
        """What was told last; at first whatever an earlier process left."""

    def tend(self) -> None:
        """Look, and tell what has changed."""
        at = self._seconds()
        if at - self._looked < LOOK_SECONDS:
            return
        self._looked = at
        trouble = self._renew(at)
        soon = None
        if self._certificate is not None and self._certificate.ends - self._clock() < SOON:
            soon = f"it ends {self._certificate.ends:%Y-%m-%d %H:%M} UTC"
        self._alarm(ENDS, soon)
        self._alarm(UNREADABLE, trouble)

    def _renew(self, at: float) -> str | None:
        """Take new files; what hinders it, once it has for a while."""
        try:
            if self._certificate is not None and self._certificate.renewed():
                self._tell("certificate renewed", ends=self._certificate.ends.isoformat())
        except BadSetting as error:
            self._since = at if self._since is None else self._since
            return error.message if at - self._since >= TROUBLE_SECONDS else self._told[UNREADABLE] or None
        self._since = None
        return None

    def _alarm(self, name: str, text: str | None) -> None:
        if text == self._told[name]:
            return
        self._told[name] = text
        if text is None:
            self._alarms.cleared(name)
        else:
            self._alarms.raised(name, "", text)


@contextmanager
def certificate_tended(certificate: Certificate | None, tell: Tell) -> Iterator[None]:
    """Have a thread look at a certificate for the length of a block."""
    if certificate is None:
        yield
        return
    over, watch = Flag(), CertificateWatch(certificate, TellingAlarms(tell), tell)

    def tend() -> None:
        while not over.wait(LOOK_SECONDS):
            watch.tend()

    thread = Thread(target=tend, name="certificate", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


class RefusedWatch:
    """Tells, at most once a minute, how many requests were refused at the open door, why, and from where. Safe for threads."""

    def __init__(self, tell: Tell, seconds: Callable[[], float] = monotonic) -> None:
        self._tell = tell
        self._seconds = seconds
        self._lock = Lock()
        self._reasons = Counter[str]()
        self._addresses: dict[str, None] = {}
        self._told = -TELL_SECONDS

    def one(self, reason: str, address: str) -> None:
        """One more."""
        with self._lock:
            self._reasons[reason] += 1
            if len(self._addresses) < MOST_ADDRESSES:
                self._addresses[address[:64]] = None

    def tend(self) -> None:
        """Tell what is new."""
        at = self._seconds()
        with self._lock:
            if not self._reasons or at - self._told < TELL_SECONDS:
                return
            reasons, addresses = dict(self._reasons), list(self._addresses)
            self._reasons.clear()
            self._addresses.clear()
            self._told = at
        self._tell("requests refused", reasons=reasons, addresses=addresses, alarm=True)
