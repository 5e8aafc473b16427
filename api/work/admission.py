"""Admission: which questions run now, in which threads, and for how long. One for every process that has a face.

Each lane has threads of its own: a heavy question never takes a thread from a light one, nor does an append.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, nullcontext
from functools import partial
from time import thread_time
from typing import Any, NamedTuple, TypeVar

from anyio import CapacityLimiter
from anyio.to_thread import run_sync

from api.work.buckets import Charge, charge_in_hand
from api.work.lane import Lane, LaneLimits
from api.work.patience import NeedsHeavyLane, Patience, Work, with_patience
from events.errors import EngramlogError, StoreUnavailable

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
                patience.give_up(ClientGone("whoever asked is gone"))
                if not patience.begun:
                    answer.cancel()
        if not answer.done():
            await asyncio.wait({answer})  # a thread is never left alone: its place is taken until it ends
            raise ClientGone("whoever asked is gone")
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
