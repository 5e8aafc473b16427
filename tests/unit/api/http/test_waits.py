"""Who waits for events: nobody misses what came between his look and his wait, whoever waits beside him."""

from __future__ import annotations

import asyncio
from threading import Event
from typing import Any, NamedTuple, cast

from engramlog_server.api.http.feed import Waits
from engramlog_server.events.errors import TooManyRequests
from engramlog_server.events.log import EventLog
from tests.patience import PATIENCE


class _Entry(NamedTuple):
    seq: int
    owner: str


class _Log:
    """A partition that answers a look when it is let, as a store does that blocks for what comes."""

    def __init__(self, *owners: str) -> None:
        self.entries = [_Entry(seq, owner) for seq, owner in enumerate(owners, 1)]
        self.looking, self.let = Event(), Event()

    def wait_beyond(self, heads: dict[int, int], _seconds: float) -> list[int]:
        self.looking.set()
        self.let.wait(PATIENCE)
        return [one for one, head in heads.items() if len(self.entries) > head]

    def read(self, _partition: int, after: int) -> list[_Entry]:
        return self.entries[after:]


def test_who_looked_less_far_than_the_look_that_runs_hears_of_what_lies_between() -> None:
    async def run() -> None:
        log = _Log("ada", "ada", "ada", "bob", "ada")
        waits = Waits(cast("EventLog", log))
        ada = asyncio.create_task(waits.wait(0, "ada", 5, PATIENCE))
        await asyncio.to_thread(log.looking.wait, PATIENCE)
        bob = asyncio.create_task(waits.wait(0, "bob", 3, PATIENCE))  # he looked before 4 came, which is his
        await asyncio.sleep(0)
        log.entries.append(_Entry(6, "eve"))
        log.let.set()
        done, _ = await asyncio.wait([ada, bob], timeout=PATIENCE / 4, return_when=asyncio.FIRST_COMPLETED)
        assert done == {bob}, "his own event came, and nothing of ada's"
        log.entries.append(_Entry(7, "ada"))
        await ada

    asyncio.run(run())


def test_who_waits_for_a_partition_is_refused_in_words_that_name_it(monkeypatch: Any) -> None:
    monkeypatch.setattr("engramlog_server.api.http.feed.MOST_OF_OWNER", 0)

    async def run() -> str:
        try:
            await Waits(cast("EventLog", _Log())).wait(0, None, 0, 1)
        except TooManyRequests as refusal:
            return refusal.message
        return ""

    assert "any event of a partition" in asyncio.run(run())
