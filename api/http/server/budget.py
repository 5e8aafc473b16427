"""Bytes that may be in hand at once: whoever asks for more waits a little for its turn, and is then sent away."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from events.errors import ServerBusy


class Budget:
    """Lives on one event loop. First come, first served, so that a large request is not passed for ever by small ones."""

    def __init__(self, most: int, waiting: int) -> None:
        self.most = most
        """Bytes."""
        self.used = 0
        """Bytes that are in hand now."""
        self._may_wait = waiting
        self._waiting: deque[tuple[int, asyncio.Future[None]]] = deque()

    @asynccontextmanager
    async def claim(self, size: int, seconds: float) -> AsyncIterator[None]:
        """Hold `size` bytes for the length of the block. Raises ServerBusy where they are not free within `seconds`.

        What could never be free is not asked for: `size` is `most` at the most.
        """
        if size > self.most:
            raise ValueError(f"a claim of {size} bytes of {self.most}")
        await self._take(size, seconds)
        try:
            yield
        finally:
            self.used -= size
            self._wake()

    async def _take(self, size: int, seconds: float) -> None:
        if not self._waiting and self.used + size <= self.most:
            self.used += size
            return
        if len(self._waiting) >= self._may_wait:
            raise self._busy()
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((size, turn))
        try:
            await asyncio.wait_for(turn, seconds)
        except BaseException as error:
            if turn.done() and not turn.cancelled():  # its turn came in the very moment in which it gave up
                self.used -= size
            self._waiting = deque(one for one in self._waiting if one[1] is not turn)
            self._wake()
            if isinstance(error, TimeoutError):
                raise self._busy() from None
            raise

    def _wake(self) -> None:
        while self._waiting and self.used + self._waiting[0][0] <= self.most:
            size, turn = self._waiting.popleft()
            if not turn.done():
                self.used += size
                turn.set_result(None)

    def _busy(self) -> ServerBusy:
        return ServerBusy(
            f"bodies of {self.used:,} bytes are in hand; at most {self.most:,} are held at once. Nothing was done; the same"
            " request can be sent again",
            retry_after=2,
            limit=self.most,
        )
