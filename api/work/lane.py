"""A lane: how many questions of one class of work run at once and wait, in all and of one owner.

Lives on one event loop, and needs no lock there. Whoever finds no room waits in line of its owner; lines are served in turn,
so that sixty questions of one owner do not stand before the first of another. A line that is full, or a wait that takes too
long, is refused with when to come again.
"""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict, deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from math import ceil
from time import monotonic
from typing import NamedTuple

from events.errors import TooManyRequests

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
