"""Who waits for what comes into the log: no request takes a thread while it waits.

One thread a process waits, as long as anybody does, for all partitions at once; the store itself tells when one grows. What came is
read once a partition, and only whose event it is looks again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

from anyio import CapacityLimiter
from anyio.to_thread import run_sync

from engramlog_server.api.choices import PAUSE
from engramlog_server.events.errors import StoreError, StoreUnavailable, TooManyRequests
from engramlog_server.events.log import EventLog

MOST = 500
"""Who may wait at once: half of the connections."""
MOST_OF_OWNER = 50
BLOCK_SECONDS = 0.25
"""How long the thread waits before it hears of those who came meanwhile."""


class _Waiting(NamedTuple):
    partition: int
    owner: str | None
    """None: anybody's event will do."""
    head: int
    """Up to which whoever waits has looked."""
    came: asyncio.Future[None]


class Waits:
    """All who wait in one process. For one event loop."""

    def __init__(self, log: EventLog) -> None:
        self._log = log
        self._waiting: list[_Waiting] = []
        self._heads: dict[int, int] = {}
        self._watch: asyncio.Task[None] | None = None
        self._limiter: CapacityLimiter | None = None
        self._closing = False

    async def wait(self, partition: int, owner: str | None, head: int, seconds: float) -> None:
        """Until an event with a seq beyond `head` is appended, the owner's or anybody's, or so many seconds are over.

        Raises TooManyRequests where as many wait as may, StoreUnavailable where the server stops.
        """
        with self._place(partition, owner, head) as one:
            self._heads[partition] = min(head, self._heads.get(partition, head))
            if self._watch is None or self._watch.done():
                self._watch = asyncio.create_task(self._watching(), name="waits")
            with suppress(TimeoutError):
                await asyncio.wait_for(one.came, seconds)

    @contextmanager
    def _place(self, partition: int, owner: str | None, head: int) -> Iterator[_Waiting]:
        if self._closing:
            raise StoreUnavailable("the server is stopping; come again", retry_after=1)
        mine = sum(1 for one in self._waiting if one.owner == owner)
        named = "any event of a partition" if owner is None else owner
        for found, most, whose in ((len(self._waiting), MOST, ""), (mine, MOST_OF_OWNER, f" for {named}")):
            if found >= most:
                raise TooManyRequests(
                    f"{found} requests wait{whose}; at most {most} may: ask without a wait, or come again",
                    retry_after=5,
                    limit=most,
                )
        one = _Waiting(partition, owner, head, asyncio.get_running_loop().create_future())
        self._waiting.append(one)
        try:
            yield one
        finally:
            self._waiting.remove(one)
            if all(other.partition != partition for other in self._waiting):
                self._heads.pop(partition, None)

    async def _watching(self) -> None:
        """Look for as long as anybody waits."""
        self._limiter = self._limiter or CapacityLimiter(1)
        while self._waiting:
            heads = dict(self._heads)
            try:
                grown: dict[int, list[Any]] = await run_sync(self._look, heads, limiter=self._limiter)
            except StoreError:
                await asyncio.sleep(PAUSE)  # who waits looks again when his time is over
                continue
            for partition, entries in grown.items():
                self._tell(partition, entries, heads[partition])
            if grown:
                await asyncio.sleep(PAUSE)

    def _look(self, heads: dict[int, int]) -> dict[int, list[Any]]:
        return {one: self._log.read(one, heads[one]) for one in self._log.wait_beyond(heads, BLOCK_SECONDS)}

    def _tell(self, partition: int, entries: list[Any], beyond_head: int) -> None:
        """Tell who waits what came behind a head. Where one came meanwhile who has looked less far, the next look begins there."""
        from engramlog_server.api.services.events import beyond

        for one in self._waiting:
            if one.partition == partition and not one.came.done():
                news = [entry for entry in entries if entry.seq > one.head]
                if beyond(news, one.owner, one.head) is None:
                    one.came.set_result(None)
        if entries and self._heads.get(partition, -1) >= beyond_head:
            self._heads[partition] = entries[-1].seq

    def close(self) -> None:
        """End every wait; new ones are refused. For the event loop."""
        self._closing = True
        for one in self._waiting:
            if not one.came.done():
                one.came.set_exception(StoreUnavailable("the server is stopping; come again", retry_after=1))
