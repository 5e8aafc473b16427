"""Who looks on while things break: an operator who frees quarantined owners, and a stopwatch for each fault."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from statistics import median
from threading import Event as Flag
from threading import Lock, Thread
from time import monotonic

import redis

from engramlog_server.events.errors import StoreError
from engramlog_server.events.log import EventLog
from engramlog_server.events.partitions import LogKeys
from engramlog_server.events.redis.wire import Wire, open_wire
from engramlog_server.projections.fold.partition import Quarantine
from engramlog_server.projections.redis.builds import BuildKeys
from engramlog_server.projections.redis.store import decode_quarantine, read_checkpoint
from tests.chaos.ledger import Ledger, Line
from tests.chaos.story import POISON_KIND, discard


def live_keys(wire: Wire, tag: str) -> BuildKeys:
    """The keys of a partition's live build."""
    return BuildKeys(tag, (wire.call("HGET", LogKeys(tag).meta, "live") or b"").decode())


def quarantined(wire: Wire, tag: str) -> dict[str, Quarantine]:
    """Owner -> why it stands still, in the live build."""
    flat = wire.call("HGETALL", live_keys(wire, tag).quarantine)
    return {name.decode(): decode_quarantine(raw) for name, raw in zip(flat[::2], flat[1::2], strict=True)}


class Attendant(Thread, ABC):
    """Does its round every `pause` seconds; a Redis that does not answer ends the round, not the thread."""

    pause = 0.25

    def __init__(self, client: redis.Redis, tags: Sequence[str]) -> None:
        super().__init__(daemon=True, name=type(self).__name__)
        self.wire = open_wire(client)
        self.tags = list(tags)
        self._stop_asked = Flag()
        self.failure: BaseException | None = None

    def run(self) -> None:
        """Until asked to end."""
        try:
            while not self._stop_asked.wait(self.pause):
                try:
                    self.round()
                except StoreError:
                    self.wire.close()
        except BaseException as error:
            self.failure = error
            raise
        finally:
            self.wire.close()

    @abstractmethod
    def round(self) -> None:
        """What it does."""

    def end(self) -> None:
        """Stop it, and raise what went wrong in it."""
        self._stop_asked.set()
        self.join(20.0)
        assert not self.is_alive(), f"{self.name} did not end"
        if self.failure is not None:
            raise self.failure


class Operator(Attendant):
    """Discards what no release can read (but for owners in `left`) and asks for retries, by the documented ways."""

    def __init__(
        self, client: redis.Redis, tags: Sequence[str], log: EventLog, ledger: Ledger, left: Sequence[str], rng: Random
    ) -> None:
        super().__init__(client, tags)
        self._log = log
        self._ledger = ledger
        self._left = frozenset(left)
        self._rng = rng
        self._decided: dict[tuple[str, int], Line] = {}
        self.finishing = False
        """Once set, no retry is asked for that cannot help, so that a moment without requests comes."""

    def round(self) -> None:
        """Look at every quarantined owner once."""
        for partition, tag in enumerate(self.tags):
            for owner, why in quarantined(self.wire, tag).items():
                hopeless = why.kind == POISON_KIND
                if hopeless and owner not in self._left and (self.finishing or self._rng.random() < 0.5):
                    self._discard(partition, owner, why.seq)
                elif not (hopeless and self.finishing):
                    self.wire.call("HSET", LogKeys(tag).control, f"retry:{owner}", owner)

    def _discard(self, partition: int, owner: str, seq: int) -> None:
        line = self._decided.get((owner, seq))
        if line is None:
            line = self._decided[owner, seq] = self._ledger.enter("operator", discard(owner, partition, seq))
        self._ledger.deliver(self._log, [line])


@dataclass(slots=True)
class Fault:
    """One fault: when it struck, and up to where each partition must be folded to count as recovered from it."""

    kind: str
    at: float
    needed: Mapping[int, int]
    seconds: float | None = None


class Stopwatch(Attendant):
    """Time to recover: from a fault until everything acknowledged before it is folded in the live build."""

    pause = 0.02

    def __init__(self, client: redis.Redis, tags: Sequence[str], ledger: Ledger) -> None:
        super().__init__(client, tags)
        self._ledger = ledger
        self._lock = Lock()
        self.faults: list[Fault] = []

    def struck(self, kind: str) -> None:
        """A fault strikes now."""
        with self._lock:
            self.faults.append(Fault(kind, monotonic(), self._ledger.highest()))

    def round(self) -> None:
        """See which faults are recovered from."""
        with self._lock:
            waiting = [fault for fault in self.faults if fault.seconds is None]
        if not waiting:
            return
        reached = {p: read_checkpoint(self.wire, live_keys(self.wire, tag)).seq for p, tag in enumerate(self.tags)}
        for fault in waiting:
            if all(reached[partition] >= seq for partition, seq in fault.needed.items()):
                fault.seconds = monotonic() - fault.at

    def end(self) -> None:
        """Stop it, after one last look: what recovered between its last round and the end has recovered."""
        super().end()
        self.round()
        self.wire.close()

    def figures(self) -> dict[str, float | int]:
        """Seconds to recover, median and worst, and how many faults were never recovered from."""
        times = [fault.seconds for fault in self.faults if fault.seconds is not None]
        return {
            "faults": len(self.faults),
            "never": sum(fault.seconds is None for fault in self.faults),
            "p50_seconds": round(median(times), 3) if times else 0.0,
            "max_seconds": round(max(times), 3) if times else 0.0,
        }
