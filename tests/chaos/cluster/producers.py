"""Producers on a cluster: each has a connection of its own to all nodes, and sends what was not answered until it is."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from threading import Event as Flag
from threading import Thread
from typing import Any

import msgspec

from engramlog_server.events.errors import EngramlogError, ReceiptLost, UnderReplicated
from engramlog_server.events.log import AppendReceipt
from engramlog_server.events.partitions import partition_of
from engramlog_server.events.redis.alarms import RedisAlarms
from engramlog_server.events.redis.durability import RECEIPT_LOST, Proof
from engramlog_server.events.redis.log import RedisEventLog
from engramlog_server.events.redis.server import connect
from engramlog_server.events.redis.wire import WirePool
from engramlog_server.projections.language.orders import MARKER
from engramlog_server.projections.redis.usage import FoldDebt
from tests.chaos.cluster.book import Book, Entry
from tests.chaos.story import OwnerStory

TIMEOUT = 5.0
"""Seconds for which a producer waits for a node that says nothing."""


class ClusterProducer(Thread):
    """One producer of some owners, all of them its own: as a process, for it shares nothing with others."""

    def __init__(
        self, name: str, url: str, tags: Sequence[str], stories: Sequence[OwnerStory], book: Book, *, replicas: int
    ) -> None:
        super().__init__(name=name, daemon=True)
        self._client = connect(url, timeout=TIMEOUT)
        self.facts: list[tuple[str, dict[str, Any]]] = []
        self._alarms = RedisAlarms(WirePool(self._client), name, lambda fact, **told: self.facts.append((fact, told)))
        self._replicas = replicas
        self._log = RedisEventLog(
            self._client,
            tags,
            alarms=self._alarms,
            read_debt=FoldDebt(tags),
            marker=MARKER,
            proof=Proof(replicas, timeout_ms=500),
        )
        self._book = book
        self._stories = {story.owner: story for story in stories}
        self._rng = Random(name)
        self._unanswered: dict[str, list[Entry]] = {}
        """By owner what is sent again before anything newer of him."""
        self._finishing = Flag()
        self.failure: BaseException | None = None

    def run(self) -> None:
        """Produce until asked to end, then until all is answered."""
        try:
            while not self._finishing.is_set():
                self._send(self._rng.sample(sorted(self._stories), self._rng.randint(1, min(4, len(self._stories)))))
                self._finishing.wait(self._rng.uniform(0.0, 0.02))
            while self._unanswered:
                self._send(list(self._unanswered))
                Flag().wait(0.02)
        except BaseException as error:
            self.failure = error
            raise
        finally:
            self._log.close()
            self._client.close()

    def _send(self, owners: Sequence[str]) -> None:
        """Send what these owners have to say: what was not answered, else something new."""
        entries = [entry for owner in owners for entry in self._unanswered.get(owner) or self._new(owner)]
        self._deliver(entries)
        for owner in owners:
            left = [entry for entry in entries if entry.event.owner == owner and not entry.told]
            if left:
                self._unanswered[owner] = left
            else:
                self._unanswered.pop(owner, None)

    def _new(self, owner: str) -> list[Entry]:
        partition = partition_of(owner, self._log.partitions)
        told = [self._stories[owner].next() for _ in range(self._rng.choice((1, 1, 2)))]
        return [self._book.enter(self.name, partition, event) for event in told]

    def _deliver(self, entries: Sequence[Entry]) -> None:
        try:
            receipts = self._log.append([entry.event for entry in entries])
        except UnderReplicated as error:
            told = msgspec.convert(error.context["receipts"], list[AppendReceipt])
            self._book.not_proved(entries, told, self._replicas)
        except ReceiptLost as error:
            self._book.refused[error.context["partition"]] = error.message
        except EngramlogError:
            """Not answered: it is sent again."""
        else:
            self._book.answered(entries, receipts, self._replicas)

    def lost(self) -> set[int]:
        """The partitions of which this producer told that a receipt no longer holds."""
        raised = [told for fact, told in list(self.facts) if fact == "alarm raised"]
        return {int(told["subject"]) for told in raised if told["name"] == RECEIPT_LOST}

    def finish(self) -> None:
        """Ask for nothing new any more."""
        self._finishing.set()

    @property
    def is_done(self) -> bool:
        """Whether everything it sent was answered."""
        if self.failure is not None:
            raise self.failure
        return not self.is_alive()
