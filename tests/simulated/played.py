"""A scene played for real: servers, workers as processes, events at a rate, and what is seen of them ten times a second."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from threading import Event as Flag
from threading import Thread
from time import monotonic
from typing import Any, NamedTuple

import redis

from consumers.fold.presence import parse_workers
from events.errors import StoreError
from events.partitions import WORKERS_KEY, parse_position
from events.redis.log import RedisEventLog
from events.redis.wire import Wire
from ops.bench.sample import sample
from projections.fold.builds import FIRST_BUILD, BuildKeys
from projections.language.marks import MARKER
from projections.redis.create import open_store
from projections.redis.debt import FoldDebt
from tests.chaos.cast import Actor, wait_until
from tests.simulated.looking import Look, look

STORE_ID = "00000000-0000-0000-0000-000000000007"
OWNERS_A_PARTITION = 40
SEEN_SECONDS, BATCH_SECONDS = 0.1, 0.05
OF_LEASE = ("holder", "seq", "epoch")


class Seen(NamedTuple):
    """One look at all partitions."""

    at: float
    lag_half: float
    lag_worst: float
    """Seconds since the oldest event that was answered and is not folded was answered."""
    holders: tuple[str | None, ...]
    """Who holds each partition, by its lease."""
    epochs: tuple[int, ...]
    """How often each was taken."""
    waiting: int
    """Events that were answered and are not folded."""


@dataclass(eq=False)
class Producer(Thread):
    """Appends at a rate until it is told to stop; of each partition it keeps when which seq was answered."""

    log: RedisEventLog
    rate: float
    partitions: int
    seconds: float

    def __post_init__(self) -> None:
        super().__init__(name="producer", daemon=True)
        self.events = sample(int(self.rate * self.seconds) + 1, OWNERS_A_PARTITION * self.partitions)
        self.seqs: list[list[int]] = [[] for _ in range(self.partitions)]
        self.times: list[list[float]] = [[] for _ in range(self.partitions)]
        self.appended = 0
        self.longest = 0.0
        """Seconds that one append took at most, tries and all."""
        self.stop = Flag()

    def run(self) -> None:
        """Batch by batch, as the clock says; what is late is sent at once."""
        began, at = monotonic(), 0
        while not self.stop.is_set() and at < len(self.events):
            due = min(int((monotonic() - began) * self.rate), len(self.events), at + 1_000)
            if due > at:
                sent = monotonic()
                self._append(self.events[at:due])
                self.longest = max(self.longest, monotonic() - sent)
                at = due
            self.stop.wait(BATCH_SECONDS)

    def _append(self, batch: Sequence[Any]) -> None:
        left = list(batch)
        while left and not self.stop.is_set():
            failed = []
            try:
                for event, receipt in zip(left, self.log.append(left), strict=True):
                    if receipt.status in {"appended", "already_appended"} and receipt.position is not None:
                        partition, seq = parse_position(receipt.position)
                        self.times[partition].append(monotonic())  # before its seq, by which others find it
                        self.seqs[partition].append(seq)
                        self.appended += 1
                    else:
                        failed.append(event)
            except StoreError:
                failed = left
            left = failed
            if left:
                self.stop.wait(BATCH_SECONDS)

    def end(self) -> None:
        """Append no more."""
        self.stop.set()
        self.join()

    def beyond(self, partition: int, folded: int) -> int:
        """How many events beyond `folded` were answered."""
        seqs = self.seqs[partition]
        return len(seqs) - bisect_right(seqs, folded)

    def since(self, partition: int, folded: int, now: float) -> float:
        """Seconds since the oldest event beyond `folded` was answered; 0 where there is none."""
        seqs = self.seqs[partition]
        place = bisect_right(seqs, folded)
        return now - self.times[partition][place] if place < len(seqs) else 0.0


@dataclass(eq=False)
class Scene:
    """A store on servers that are there, and workers of it. `servers`: a client of each; `client` leads to the store."""

    client: redis.Redis
    environment: dict[str, str]
    folder: Path
    partitions: int
    workers: list[Actor] = field(default_factory=list)
    seen: list[Seen] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.wire = Wire(self.client)
        self.tags = open_store(self.wire, store_id=STORE_ID, partitions=self.partitions).tags
        self._numbers = count()

    def log(self) -> RedisEventLog:
        """A producer's log."""
        return RedisEventLog(self.client, self.tags, read_debt=FoldDebt(self.tags), marker=MARKER)

    def worker(self) -> Actor:
        """One more worker."""
        log = self.folder / f"worker{next(self._numbers)}.log"
        self.workers.append(Actor("ops.worker", log=log, environment=self.environment))
        return self.workers[-1]

    def held(self) -> dict[int, int]:
        """How many partitions each worker says it holds, by its process."""
        known = parse_workers(self.wire.call("HGETALL", WORKERS_KEY))
        return {int(facts["pid"]): len(facts["partitions"]) for facts in known.values()}

    def await_shared(self, seconds: float = 120.0) -> float:
        """Wait until the living workers hold as many each as they can; how long that took."""
        began = monotonic()
        living = [worker for worker in self.workers if worker.code is None]
        share, rest = divmod(self.partitions, len(living))
        wanted = sorted(share + (number < rest) for number in range(len(living)))

        def shared() -> bool:
            held = self.held()
            return sorted(held.get(worker.pid, 0) for worker in living) == wanted

        wait_until(shared, lambda: f"workers hold {wanted}; they hold {self.held()}", seconds)
        return monotonic() - began

    def watch(
        self, producer: Producer, seconds: float, happens: Callable[[], None] | None = None, at: float = 0.0
    ) -> float:
        """Look at every partition for so long; what happens does at its time. Gives when it happened."""
        began, happened = monotonic(), 0.0
        pause = Flag()
        while (now := monotonic()) - began < seconds:
            if happens is not None and not happened and now - began >= at:
                happened = now
                happens()
            self._see(producer)
            pause.wait(max(SEEN_SECONDS - (monotonic() - now), 0.0))
        return happened

    def _see(self, producer: Producer) -> None:
        keys = [BuildKeys(tag, FIRST_BUILD).checkpoint for tag in self.tags]
        try:
            answers = self.wire.answers([["HMGET", key, *OF_LEASE] for key in keys])
        except StoreError:
            return
        now = monotonic()
        lags = sorted(producer.since(p, int(seq or 0), now) for p, (_, seq, _) in enumerate(answers))
        holders = tuple(None if holder is None else holder.decode() for holder, _, _ in answers)
        epochs = tuple(int(epoch or 0) for _, _, epoch in answers)
        waiting = sum(producer.beyond(p, int(seq or 0)) for p, (_, seq, _) in enumerate(answers))
        self.seen.append(Seen(now, lags[len(lags) // 2], lags[-1], holders, epochs, waiting))

    def looked(self, servers: Sequence[redis.Redis], more: Sequence[int] = ()) -> Look:
        """What all took so far: servers' commands, CPU of workers that live and of the processes named beside."""
        return look(servers, [*(worker.pid for worker in self.workers if worker.code is None), *more])

    def names(self) -> list[str]:
        """The ids of the workers that were heard of."""
        return list(parse_workers(self.wire.call("HGETALL", WORKERS_KEY)))

    def rest(self, seconds: float) -> None:
        """Let them be for so long."""
        Flag().wait(seconds)

    def end(self) -> None:
        """End every worker."""
        for worker in self.workers:
            worker.kill()
