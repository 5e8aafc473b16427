"""How much a principal may ask, in all and of one owner: token buckets of requests, bytes and CPU seconds.

Whoever has something left is let in, and what he took is charged as it is known: a bucket may go below nothing, and is then waited
for. So nobody has to say beforehand what his question takes.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from contextvars import ContextVar
from math import ceil
from threading import Lock
from time import monotonic
from typing import Final, NamedTuple

from api.work.lane import LONGEST_RETRY
from events.errors import TooManyRequests

BURST_SECONDS: Final = 10.0
"""Of so many seconds' worth a bucket is full."""
OF_ONE_OWNER: Final = 0.25
"""The share of a principal's that may be about one owner."""
MOST_BUCKETS: Final = 10_000
"""So many are held; of more the one that rested longest is forgotten, and is full when it is asked for again."""
NAMES: Final = ("requests", "bytes", "CPU seconds")


class Rates(NamedTuple):
    """What a principal may take, each second; 0: as much as he likes."""

    requests: float = 0.0
    bytes: float = 0.0
    cpu: float = 0.0
    """Seconds."""

    @property
    def bound(self) -> bool:
        """Whether anything is bounded."""
        return any(rate > 0 for rate in self)


UNBOUNDED = Rates()
KEY_RATES = Rates(200.0, 8.0 * 1024 * 1024, 2.0)
"""Limits of one principal with keys."""


def _full(rates: Rates) -> list[float]:
    """What a full bucket holds: one request at least."""
    return [max(rates.requests * BURST_SECONDS, 1.0), rates.bytes * BURST_SECONDS, rates.cpu * BURST_SECONDS]


class _Bucket:
    """What is left of each."""

    __slots__ = ("at", "left")

    def __init__(self, rates: Rates, now: float) -> None:
        self.left = _full(rates)
        self.at = now

    def fill(self, rates: Rates, now: float) -> None:
        passed, self.at = max(now - self.at, 0.0), max(now, self.at)
        self.left = [
            min(left + rate * passed, full) for left, rate, full in zip(self.left, rates, _full(rates), strict=True)
        ]

    def lacking(self, rates: Rates) -> tuple[float, int]:
        """Seconds until something is left of everything that is bounded, and of what there is least; 0.0 where it is now."""
        needed = (1.0, 0.0, 0.0)
        waits = [
            (need - left) / rate if rate > 0 and (left < need or left <= 0) else 0.0
            for need, left, rate in zip(needed, self.left, rates, strict=True)
        ]
        longest = max(range(len(waits)), key=waits.__getitem__)
        return waits[longest], longest


class Buckets:
    """The buckets of one process. Safe for threads."""

    def __init__(
        self,
        rates: Rates = UNBOUNDED,
        clock: Callable[[], float] = monotonic,
        on_refused: Callable[[str], None] = lambda _what: None,
    ) -> None:
        """`clock`: seconds, never backwards. `on_refused` is told of what there was too much: one of `NAMES`."""
        self._rates = rates
        self._of_owner = Rates(*(rate * OF_ONE_OWNER for rate in rates))
        self._clock = clock
        self._on_refused = on_refused
        self._lock = Lock()
        self._held: OrderedDict[tuple[str, str | None], _Bucket] = OrderedDict()

    @property
    def bound(self) -> bool:
        """Whether anything is bounded."""
        return self._rates.bound

    def take(self, principal: str, owner: str | None) -> None:
        """One request of a principal about an owner; None: about none, or several. Raises TooManyRequests."""
        longest, what, whose = 0.0, 0, (principal, owner)
        with self._lock:
            now = self._clock()
            for one in self._whose(principal, owner):
                wait, least = self._bucket(one, now).lacking(self._rates_of(one))
                if wait > longest:
                    longest, what, whose = wait, least, one
            if not longest:
                self._charge(principal, owner, (1.0, 0.0, 0.0), now)
                return
        self._on_refused(NAMES[what])
        again, rate = min(max(ceil(longest), 1), LONGEST_RETRY), self._rates_of(whose)[what]
        about = "" if whose[1] is None else " about one owner"
        raise TooManyRequests(
            f"{NAMES[what]}: {principal} took more than {rate:g} a second{about}; come again in {again} s",
            retry_after=again,
            limit=rate,
            field=NAMES[what],
        )

    def charge(self, principal: str, owner: str | None, *, size: int = 0, cpu: float = 0.0) -> None:
        """What a request took: bytes that came and went, and seconds of CPU."""
        with self._lock:
            self._charge(principal, owner, (0.0, float(size), cpu), self._clock())

    def _charge(self, principal: str, owner: str | None, took: tuple[float, float, float], now: float) -> None:
        for whose in self._whose(principal, owner):
            bucket = self._bucket(whose, now)
            bucket.left = [left - one for left, one in zip(bucket.left, took, strict=True)]

    def _whose(self, principal: str, owner: str | None) -> tuple[tuple[str, str | None], ...]:
        return ((principal, None),) if owner is None else ((principal, None), (principal, owner))

    def _rates_of(self, whose: tuple[str, str | None]) -> Rates:
        return self._rates if whose[1] is None else self._of_owner

    def _bucket(self, whose: tuple[str, str | None], now: float) -> _Bucket:
        found = self._held.get(whose)
        if found is None:
            found = self._held[whose] = _Bucket(self._rates_of(whose), now)
            while len(self._held) > MOST_BUCKETS:
                self._held.popitem(last=False)
        else:
            self._held.move_to_end(whose)
            found.fill(self._rates_of(whose), now)
        return found


Charge = Callable[[float], None]
"""Told how many seconds of CPU something took."""
_CHARGE: ContextVar[Charge | None] = ContextVar("charge", default=None)


def charged(charge: Charge) -> Callable[[], None]:
    """Everything from here on in this context is charged so, until what is returned is called."""
    token = _CHARGE.set(charge)
    return lambda: _CHARGE.reset(token)


def charge_in_hand() -> Charge | None:
    """By what the call in hand is charged, if at all."""
    return _CHARGE.get()
