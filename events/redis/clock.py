"""The store's clock: Redis's TIME, read once a minute and carried on between, which never goes back within a process.

A Redis whose clock goes back, or stands far from this machine's, makes honest events look as if they came from the future, and
what this process says itself look older than what it answers to. Both are told by an alarm; neither stops an append that is right
under either clock.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from time import monotonic

from engramlog_server.events.alarms import Alarms
from engramlog_server.events.envelope import from_micros, utc_text
from engramlog_server.events.errors import StoreUnavailable
from engramlog_server.events.partitions import STORE_KEY
from engramlog_server.events.redis.wire import Wire

READ_SECONDS = 60.0
"""How long one reading is carried on by the monotonic clock."""
AGAIN_SECONDS = 1.0
"""How soon it is read again while something is wrong with it."""
BACK_MICROS = 1_000_000
"""A clock more than a second behind what it said went back."""
APART_MICROS = 300_000_000
"""Redis and this machine more than five minutes apart: as much as an event may be ahead."""
Read = Callable[[], int]


def redis_micros(wire: Wire, key: str = STORE_KEY) -> int:
    """The clock of the Redis behind a wire, of a Cluster that of the node that holds the key, microseconds since 1970. Raises
    StoreError."""
    seconds, micros = wire.at(key).call("TIME")
    return int(seconds) * 1_000_000 + int(micros)


def redis_ms(wire: Wire, key: str = STORE_KEY) -> int:
    """The same in milliseconds."""
    return redis_micros(wire, key) // 1_000


class StoreClock:
    """Microseconds since 1970 by the store's clock. Safe for threads.

    `read` asks Redis, and raises StoreError where it does not answer; `own` is this machine's clock, where it is known.
    """

    def __init__(self, read: Read, own: Read | None = None, alarms: Alarms | None = None) -> None:
        self._read = read
        self._own = own
        self._alarms = alarms
        self._lock = Lock()
        self._known: tuple[float, int] | None = None
        self._read_at = 0.0
        self._apart = self._back = False
        self._held = False
        """Whether what is appended is recorded at an earlier event's time, for the clock is behind it."""

    def now(self) -> int:
        """The store's clock now; never less than what this process was told before, which is carried on while nobody answers.
        Raises StoreError."""
        with self._lock:
            due = self._known is None or monotonic() - self._read_at > (
                AGAIN_SECONDS if self._apart or self._back else READ_SECONDS
            )
            if due:
                self._read_anew()
            carried = self._carried()
        assert carried is not None
        return carried

    def _read_anew(self) -> None:
        try:
            found = self._read()
        except StoreUnavailable:
            if self._known is None:
                raise
            self._read_at = (
                monotonic() - READ_SECONDS + AGAIN_SECONDS
            )  # of a Cluster one node was lost: others take events
            return
        self._read_at = monotonic()
        carried = self._carried()
        self._judge(found, carried)
        self._known = (self._read_at, found if carried is None else max(found, carried))

    def saw(self, clock: int, recorded: int) -> None:
        """Take in what an append was told: the clock, and what was recorded, which is later where the clock is behind it."""
        held, own = recorded - clock > BACK_MICROS, self._own() if self._own is not None else clock
        with self._lock:
            tell, over, self._held = held and not self._held, self._held and not held, held
            apart = abs(clock - own) > APART_MICROS and not self._apart
            self._apart |= apart
        if tell:
            self._raised(
                "clock_back",
                f"Redis's clock says {_told(clock)}, and the log has an event recorded at {_told(recorded)}; what is appended until"
                " then is recorded at that time",
            )
        elif over and self._alarms is not None:
            self._alarms.cleared("clock_back")
        if apart:
            self._raised("clock_apart", f"Redis's clock says {_told(clock)}, this machine's {_told(own)}")

    def behind(self) -> int:
        """Microseconds by which the store's clock is behind this machine's by more than the tolerance; else 0."""
        if self._own is None:
            return 0
        lacking = self._own() - self.now()
        return lacking if lacking > APART_MICROS else 0

    def _carried(self) -> int | None:
        if self._known is None:
            return None
        read_at, value = self._known
        return value + int((monotonic() - read_at) * 1_000_000)

    def _judge(self, found: int, carried: int | None) -> None:
        """Tell of a clock that went back, or that is not this machine's; and that it is over."""
        back = carried is not None and found < carried - BACK_MICROS
        if back and carried is not None:
            self._raised(
                "clock_back",
                f"Redis's clock says {_told(found)} after {_told(carried)}; this process goes on from there",
            )
        elif self._back and self._alarms is not None:
            self._alarms.cleared("clock_back")
        own = self._own() if self._own is not None else found
        apart = abs(found - own) > APART_MICROS
        if apart:
            self._raised("clock_apart", f"Redis's clock says {_told(found)}, this machine's {_told(own)}")
        elif self._alarms is not None and (self._apart or self._known is None):
            self._alarms.cleared("clock_apart")
        self._back, self._apart = back, apart

    def _raised(self, name: str, text: str) -> None:
        if self._alarms is not None:
            self._alarms.raised(name, "", text)


def _told(micros: int) -> str:
    return utc_text(from_micros(micros))
