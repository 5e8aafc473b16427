"""Producers over HTTP with an outside ledger: each asks the services by turns, and sends again what was not answered."""

from __future__ import annotations

import http.client
from collections.abc import Callable, Sequence
from contextlib import suppress
from random import Random
from threading import Event as Flag
from threading import Thread
from time import monotonic
from urllib.parse import urlsplit

import msgspec
import orjson

from engramlog_server.events.log import AppendReceipt
from tests.chaos.ledger import Ledger, Line
from tests.chaos.story import OwnerStory
from tests.patience import PATIENCE

TOKEN = "rolling-" + "t" * 40


class HttpProducer(Thread):
    """One producer of some owners, all of them its own: nothing newer of an owner is sent before the older is acknowledged."""

    def __init__(
        self, name: str, addresses: Callable[[], list[str]], ledger: Ledger, stories: Sequence[OwnerStory], seed: int
    ) -> None:
        super().__init__(name=name, daemon=True)
        self._addresses = addresses
        self._ledger = ledger
        self._stories = stories
        self._rng = Random(f"{seed}:{name}")
        self._finishing = Flag()
        self._open: dict[str, http.client.HTTPConnection] = {}
        self.failure: BaseException | None = None
        self.refused: list[tuple[int, bytes]] = []
        """Answers other than 200, and what they said."""
        self.broken = 0
        """Requests that were not answered."""
        self.again = 0
        """Events sent again although they were acknowledged: nothing may come of it."""
        self.longest = 0.0
        """Seconds from the first sending of a request to its acknowledgement, at most."""

    def run(self) -> None:
        """Produce until asked to end, and until all is answered."""
        try:
            while not self._finishing.is_set():
                chosen = self._rng.sample(self._stories, self._rng.randint(1, min(3, len(self._stories))))
                lines = [self._ledger.enter(self.name, story.next()) for story in chosen for _ in range(2)]
                begun = monotonic()
                while not self._deliver(lines):
                    assert monotonic() < begun + 4 * PATIENCE, f"not acknowledged: {self.refused[-3:]}"
                    Flag().wait(0.05)
                self.longest = max(self.longest, monotonic() - begun)
                if self._rng.random() < 0.2:
                    self.again += len(lines)
                    self._deliver(lines)
                self._finishing.wait(self._rng.uniform(0.0, 0.04))
        except BaseException as error:
            self.failure = error
            raise
        finally:
            for connection in self._open.values():
                connection.close()

    def _deliver(self, lines: Sequence[Line]) -> bool:
        """Ask one of the services once; whether every event is acknowledged now."""
        addresses = self._addresses()
        if not addresses:
            return False
        address = self._rng.choice(addresses)
        for line in lines:
            line.sent += 1
        body = orjson.dumps([orjson.loads(line.event.body) for line in lines])
        headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
        connection = self._open.get(address)
        if connection is None:
            told = urlsplit(address)
            connection = self._open[address] = http.client.HTTPConnection(
                told.hostname or "", told.port, timeout=PATIENCE
            )
        try:
            connection.request("POST", "/v1/events", body, headers)
            answer = connection.getresponse()
            status, told_back = answer.status, answer.read()
        except (OSError, http.client.HTTPException):
            self.broken += 1
            connection.close()
            return False
        if status != 200:
            self.refused.append((status, told_back))
            return False
        receipts = msgspec.json.decode(told_back)["receipts"]
        self._ledger.answered(lines, msgspec.convert(receipts, list[AppendReceipt]))
        return all(line.acknowledged for line in lines)

    def finish(self) -> None:
        """Ask for nothing new any more."""
        self._finishing.set()

    def taken(self) -> float:
        """The longest request since this was last asked, in seconds."""
        longest, self.longest = self.longest, 0.0
        return longest

    @property
    def is_done(self) -> bool:
        """Whether everything it sent was answered."""
        if self.failure is not None:
            raise self.failure
        with suppress(RuntimeError):
            return not self.is_alive()
        return False
