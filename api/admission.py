"""Admission: which questions run now, in which threads, and for how long. One for every process that has a face.

Each lane has threads of its own: a heavy question never takes a thread from a light one, nor does an append.
"""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict, deque
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, nullcontext
from contextvars import ContextVar
from functools import partial
from math import ceil
from threading import Lock
from time import monotonic, thread_time
from typing import Any, Final, NamedTuple, TypeVar

from anyio import CapacityLimiter
from anyio.to_thread import run_sync

from engramlog_server.api.work import NeedsHeavyLane, Patience, Work, with_patience
from engramlog_server.events.errors import (
    EngramlogError,
    StoreUnavailable,
    TooManyRequests,
)

LONGEST_RETRY = 60
"""Seconds that a `Retry-After` says at the most."""
_NEWEST = 0.2
"""How much the newest question counts in the mean that a `Retry-After` is reckoned from."""


class LaneLimits(NamedTuple):
    """How much a lane takes."""

    running: int
    """Questions that run at once: its threads."""
    of_owner: int
    """Of these, of one owner."""
    waiting: int
    """Questions that wait in all."""
    waiting_of_owner: int
    wait_seconds: float = 30.0
    """How long one waits at the most."""


class Lane:
    """The questions of one class of work."""

    def __init__(self, name: str, limits: LaneLimits, on_refused: Callable[[str], None] = lambda _name: None) -> None:
        self.name = name
        self.limits = limits
        self._on_refused = on_refused
        self._running: Counter[str] = Counter()
        self._lines: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()
        """The owners who wait; whose turn is next stands first."""
        self._mean = 0.0
        """Seconds that a question takes, about."""

    @property
    def running(self) -> int:
        """How many run."""
        return self._running.total()

    @property
    def waiting(self) -> int:
        """How many wait."""
        return sum(len(line) for line in self._lines.values())

    @asynccontextmanager
    async def place(self, owner: str) -> AsyncIterator[None]:
        """A place among those that run, held for the length of a question. Raises TooManyRequests."""
        await self._enter(owner)
        began = monotonic()
        try:
            yield
        finally:
            self._mean += (monotonic() - began - self._mean) * (_NEWEST if self._mean else 1.0)
            self._leave(owner)

    async def _enter(self, owner: str) -> None:
        if self.running < self.limits.running and self._running[owner] < self.limits.of_owner:
            self._running[owner] += 1  # whoever waits has as many running as it may: nobody is passed by
            return
        line = self._lines.get(owner, ())
        if len(line) >= self.limits.waiting_of_owner or self.waiting >= self.limits.waiting:
            raise self._refusal(owner, len(line))
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._lines.setdefault(owner, deque()).append(turn)
        try:
            async with asyncio.timeout(self.limits.wait_seconds):
                await turn
        except BaseException as error:
            if turn.done() and not turn.cancelled():
                self._leave(owner)  # its turn came just as it went
            else:
                self._forget(owner, turn)
            if isinstance(error, TimeoutError):
                raise self._refusal(owner, len(self._lines.get(owner, ()))) from None
            raise

    def _leave(self, owner: str) -> None:
        self._running[owner] -= 1
        if not self._running[owner]:
            del self._running[owner]
        if owner in self._lines:
            self._lines.move_to_end(owner)  # it has just had its turn
        while self.running < self.limits.running:
            following = next((one for one in self._lines if self._running[one] < self.limits.of_owner), None)
            if following is None:
                return
            turn = self._lines[following].popleft()
            self._lines.move_to_end(following)
            if not self._lines[following]:
                del self._lines[following]
            if not turn.done():
                self._running[following] += 1
                turn.set_result(None)

    def _forget(self, owner: str, turn: asyncio.Future[None]) -> None:
        line = self._lines.get(owner)
        if line is not None and turn in line:
            line.remove(turn)
            if not line:
                del self._lines[owner]

    def _refusal(self, owner: str, waiting: int) -> TooManyRequests:
        self._on_refused(self.name)
        limits, mine = self.limits, self._running[owner]
        ahead = max(self.running + self.waiting, 1)
        again = min(max(ceil(self._mean * ahead / limits.running), 1), LONGEST_RETRY)
        whose = f"of owner {owner}" if owner else "in hand"
        return TooManyRequests(
            f"{mine} {self.name} questions {whose} run and {waiting} wait, {self.running} and {self.waiting} in all; allowed:"
            f" {limits.of_owner} and {limits.waiting_of_owner} of one owner, {limits.running} and {limits.waiting} in all."
            f" Nothing was done: come again in {again} s",
            retry_after=again,
            work=self.name,
            owner=owner or None,
            limit=limits.of_owner + limits.waiting_of_owner,
        )


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


QUIET_SECONDS = 1.0
"""How long no heavy question must have run until the process is taken for quiet."""
WATCHING = 4
"""Threads that answer supervisors."""
SENDING = 2
"""Threads that make the pieces of answers that are being sent."""
_T = TypeVar("_T")
Gone = Callable[[], Any]
"""Makes an awaitable that ends once nobody waits for the answer any more."""


class ClientGone(EngramlogError):
    """Whoever asked does not wait for the answer any more; nobody reads this."""

    status = 499


class AdmissionLimits(NamedTuple):
    """Limits of each class of work in one process, and deadlines of heavy questions and appends."""

    light: LaneLimits = LaneLimits(32, 8, 1_024, 256)
    append: LaneLimits = LaneLimits(16, 2, 1_024, 256)
    heavy: LaneLimits = LaneLimits(2, 1, 64, 16)
    stream: LaneLimits = LaneLimits(8, 2, 0, 0)
    """Answers that are being sent piece by piece: what they are made of is held until they are taken."""
    heavy_seconds: float = 120.0


class Admission:
    """The lanes of one process. For one event loop."""

    def __init__(
        self,
        limits: AdmissionLimits = AdmissionLimits(),  # noqa: B008 - immutable
        *,
        on_refused: Callable[[str], None] = lambda _work: None,
        on_quiet: Callable[[], None] = lambda: None,
    ) -> None:
        """`on_refused` is told the class of each question that was refused.

        `on_quiet` is called in a thread once heavy questions have run, and none did for `QUIET_SECONDS`.
        """
        self._limits = limits
        self.lanes = {
            work: Lane(work.value, getattr(limits, work.value), on_refused)
            for work in (Work.LIGHT, Work.APPEND, Work.HEAVY, Work.STREAM)
        }
        self._threads: dict[Work, CapacityLimiter] = {}
        self._sending: CapacityLimiter | None = None
        self._on_quiet = on_quiet
        self._in_hand: set[Patience] = set()
        self._closing = False
        self._quiet: asyncio.TimerHandle | None = None
        self.quiet_seconds = QUIET_SECONDS

    async def run(self, work: Work, owner: str, call: Callable[[], _T], gone: Gone | None = None) -> _T:
        """What `call` returns, run in a thread of its lane once there is a place.

        A light question and an append are asked again in the heavy lane where they turn out to be long. `gone`: an append and a
        heavy question end early with it, wherever they are. Raises TooManyRequests, DeadlineExceeded, and what `call` raises.
        """
        try:
            if work is Work.APPEND:
                return await self._watched(
                    work, owner, call, Patience(light=True, less="send fewer events at a time"), gone
                )
            if work is not Work.HEAVY:
                return await self._placed(work, owner, call, Patience(light=work is Work.LIGHT))
        except NeedsHeavyLane:
            pass
        return await self._watched(Work.HEAVY, owner, call, Patience(), gone)

    async def _watched(
        self, work: Work, owner: str, call: Callable[[], _T], patience: Patience, gone: Gone | None
    ) -> _T:
        """What `call` returns, unless nobody waits for it any more."""
        answer = asyncio.ensure_future(self._placed(work, owner, call, patience))
        answer.add_done_callback(_heard)
        leaving = None if gone is None else asyncio.ensure_future(gone())
        try:
            ends: list[asyncio.Future[Any]] = [answer] if leaving is None else [answer, leaving]
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        finally:
            if leaving is not None:
                leaving.cancel()
            if not answer.done():  # nobody waits: out of the line, or out of its thread at the next check
                patience.give_up(ClientGone("the caller has disconnected"))
                if not patience.begun:
                    answer.cancel()
        if not answer.done():
            await asyncio.wait({answer})  # a thread is never left alone: its place is taken until it ends
            raise ClientGone("the caller has disconnected")
        return answer.result()

    async def _placed(self, work: Work, owner: str, call: Callable[[], _T], patience: Patience) -> _T:
        if self._closing:
            raise StoreUnavailable("the server is stopping; come again", retry_after=1)
        bounded = work in (Work.HEAVY, Work.APPEND)
        async with nullcontext() if work is Work.WATCH else self.lanes[work].place(owner):
            if bounded:
                patience.begin(self._limits.heavy_seconds)
                self._in_hand.add(patience)
            try:
                return await run_sync(partial(_patiently, patience, call), limiter=self._limiter(work))
            finally:
                self._in_hand.discard(patience)
                if bounded and not self._in_hand:
                    self._await_quiet()

    async def place(self, work: Work, owner: str) -> AsyncExitStack:
        """A place in a lane, until it is closed. Raises TooManyRequests."""
        stack = AsyncExitStack()
        await stack.enter_async_context(self.lanes[work].place(owner))
        return stack

    async def pieces(self, made: Iterator[bytes]) -> AsyncIterator[bytes]:
        """The pieces of an answer, each made in a thread of those that only do this."""
        if self._sending is None:
            self._sending = CapacityLimiter(SENDING)
        charge = charge_in_hand()
        while (piece := await run_sync(_next, made, charge, limiter=self._sending)) is not None:
            yield piece

    def _await_quiet(self) -> None:
        if self._quiet is not None:
            self._quiet.cancel()
        self._quiet = asyncio.get_running_loop().call_later(self.quiet_seconds, self._be_quiet)

    def _be_quiet(self) -> None:
        self._quiet = None
        if not self._in_hand and not self._closing:
            asyncio.get_running_loop().run_in_executor(None, self._on_quiet)

    def _limiter(self, work: Work) -> CapacityLimiter:
        """The threads of a lane; made on the event loop that they serve."""
        found = self._threads.get(work)
        if found is None:
            threads = WATCHING if work is Work.WATCH else self.lanes[work].limits.running
            found = self._threads[work] = CapacityLimiter(threads)
        return found

    def close(self) -> None:
        """Take no more questions, and end the heavy ones and the appends at their next check."""
        self._closing = True
        for patience in self._in_hand:
            patience.give_up(StoreUnavailable("the server is stopping; come again", retry_after=1))


def _patiently(patience: Patience, call: Callable[[], _T]) -> _T:
    charge = charge_in_hand()
    began = 0.0 if charge is None else thread_time()
    try:
        with with_patience(patience):
            return call()
    finally:
        if charge is not None:
            charge(thread_time() - began)


def _heard(answer: asyncio.Future[Any]) -> None:
    """What a question that nobody waits for ended with is no alarm."""
    if not answer.cancelled():
        answer.exception()


def _next(made: Iterator[bytes], charge: Charge | None) -> bytes | None:
    began = 0.0 if charge is None else thread_time()
    try:
        return next(made, None)
    finally:
        if charge is not None:
            charge(thread_time() - began)
