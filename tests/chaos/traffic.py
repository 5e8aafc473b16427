"""Traffic on a store while something other than a process breaks: producers with a ledger, and facts to wait for."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from itertools import count
from typing import TypeVar

import redis

from engramlog_server.events.alarms import Alarm
from engramlog_server.events.errors import StoreError
from engramlog_server.events.partitions import LogKeys, partition_of
from engramlog_server.events.redis.alarms import RedisAlarms
from engramlog_server.events.redis.log import RedisEventLog
from engramlog_server.events.redis.wire import WirePool, open_wire
from engramlog_server.projections.language.orders import MARKER
from engramlog_server.projections.redis.create import read_identity
from engramlog_server.projections.redis.store import read_checkpoint
from engramlog_server.projections.redis.usage import FoldDebt
from tests.chaos.attendants import live_keys
from tests.chaos.cast import wait_until
from tests.chaos.ledger import Ledger, Line
from tests.chaos.producer import Producer
from tests.chaos.story import OwnerStory
from tests.chaos.verdict import Verdict, judge

T = TypeVar("T")
ENOUGH = 12
"""Events that a partition has at least when a fault strikes: some folded long ago, some just now."""


class Traffic:
    """Producers on a store that is there already; `busy` partitions are those where its owners are."""

    def __init__(self, client: redis.Redis, seed: int, *, busy: int = 4, rounds: int = 2, producers: int = 2) -> None:
        self.client = client
        self.wire = open_wire(client)
        identity = read_identity(self.wire)
        assert identity is not None, "the store is made before its traffic"
        self.tags = identity.tags
        self._alarms = RedisAlarms(WirePool(client), "scene", lambda _fact, **_context: None)
        self.log = RedisEventLog(client, self.tags, alarms=self._alarms, read_debt=FoldDebt(self.tags), marker=MARKER)
        self.ledger = Ledger()
        self.partitions = range(min(busy, len(self.tags)))
        owners = [self.owner_of(partition, number) for number in range(rounds) for partition in self.partitions]
        stories = [OwnerStory(seed, owner) for owner in owners]
        self._producers = [
            Producer(f"producer{n}", self.log, self.ledger, stories[n::producers], seed) for n in range(producers)
        ]

    def owner_of(self, partition: int, number: int = 0) -> str:
        """The n-th of all names whose events lie in a partition."""
        fitting = (name for n in count() if partition_of(name := f"owner{n}", len(self.tags)) == partition)
        return next(name for n, name in enumerate(fitting) if n == number)

    def flows(self) -> None:
        """Begin, and wait until every busy partition has had some and folded it."""
        for producer in self._producers:
            producer.start()
        wait_until(lambda: all(self.checkpoint(p) >= ENOUGH for p in self.partitions), "traffic is folded")

    def tells(self, owner: str, events: int, log: RedisEventLog | None = None) -> None:
        """Some events of an owner who is nobody else's, each acknowledged and folded; `log`: by another process."""
        story = OwnerStory(0, owner)
        for _ in range(events):
            self.delivered([self.ledger.enter("scene", story.next())], log)
        partition = partition_of(owner, len(self.tags))
        reached = self.ledger.highest()[partition]
        wait_until(lambda: self.checkpoint(partition) >= reached, f"{owner}'s events are folded")

    def delivered(self, lines: list[Line], log: RedisEventLog | None = None) -> None:
        """Send a request until it is acknowledged."""
        wait_until(lambda: self.ledger.deliver(log or self.log, lines), "a request is acknowledged")

    def refused(self, owner: str, why: str) -> list[Line]:
        """Send an event of an owner who is nobody else's; it is refused in these words. Gives it, to be sent again."""
        lines = [self.ledger.enter("scene", OwnerStory(0, owner).next())]
        (receipt,) = self.log.append([lines[0].event])
        assert (receipt.status, receipt.written) == ("failed", False)
        assert why in str(receipt.error), receipt
        return lines

    def checkpoint(self, partition: int) -> int:
        """How far the live build of a partition is folded; 0 while Redis is not reached."""
        return self._asked(lambda: read_checkpoint(self.wire, live_keys(self.wire, self.tags[partition])).seq, 0)

    def head(self, partition: int) -> int:
        """The newest seq of a partition; 0 while Redis is not reached."""
        return self._asked(lambda: int(self.wire.call("HGET", LogKeys(self.tags[partition]).meta, "head") or 0), 0)

    def goes_on(self, partitions: Iterable[int]) -> None:
        """Wait until what is acknowledged from now on, in each of these partitions, is folded too."""
        for partition in list(partitions):
            before = self.ledger.highest().get(partition, 0)
            wait_until(lambda: self._folded_beyond(partition, before), f"partition {partition} goes on")  # noqa: B023

    def _folded_beyond(self, partition: int, before: int) -> bool:
        return self.ledger.highest().get(partition, 0) > before and self.checkpoint(partition) > before

    def alarms(self) -> list[Alarm]:
        """What stands in the store; nothing while Redis is not reached."""
        return self._asked(self._alarms.standing, [])

    def alarmed(self, name: str, subject: str = "") -> Alarm:
        """Wait for an alarm."""
        found: list[Alarm] = []

        def stands() -> bool:
            found[:] = [one for one in self.alarms() if (one.name, one.subject) == (name, subject)]
            return bool(found)

        wait_until(stands, f"the alarm {name} of {subject or 'the store'} stands")
        return found[0]

    def end(self) -> None:
        """Producers deliver what they put off, and end."""
        for producer in self._producers:
            if producer.ident is not None:
                producer.end()

    def settled(self, parked: int = 0) -> Verdict:
        """No more traffic, everything folded, every alarm over; then the verdict, which must be clean.

        `parked`: how many events wait for an operator, from before the traffic.
        """
        self.end()
        wait_until(lambda: all(map(self._folded, range(len(self.tags)))), "everything is folded")
        wait_until(lambda: not self.alarms(), lambda: f"every alarm is over, but {self.alarms()}")
        verdict = judge(self.client, self.tags, self.ledger, MARKER)
        assert verdict.clean, verdict
        assert verdict.acknowledged > ENOUGH * len(self.partitions)
        assert verdict.parked == parked, verdict
        assert verdict.applied + parked == verdict.acknowledged + verdict.unknown_written, verdict
        return verdict

    def _folded(self, partition: int) -> bool:
        head = self._asked(lambda: self.wire.call("HGET", LogKeys(self.tags[partition]).meta, "head") or b"0", None)
        return head is not None and int(head) == self.checkpoint(partition)

    def _asked(self, ask: Callable[[], T], otherwise: T) -> T:
        """An answer; `otherwise` while Redis is not reached, and a new connection the next time."""
        try:
            return ask()
        except StoreError:
            self.wire.close()
            return otherwise

    def close(self) -> None:
        """End everything that is still there, however the scene went."""
        with suppress(AssertionError):
            self.end()
        self._alarms.close()
        self.log.close()
        self.wire.close()
