"""A fold worker in virtual time: what it holds, tries, renews and gives up, by the decisions of the product (`consumers.fold`)."""

from __future__ import annotations

from collections.abc import Generator
from math import ceil
from typing import Any

from consumers.fold.held import LOOKED_AT
from consumers.fold.presence import fair_share
from consumers.fold.sharing import MOST_ASIDE_SECONDS, is_free, next_aside, order_of_tries, renewal_seconds, surplus
from consumers.fold.worker import BLOCK_MS, TICK_SECONDS
from events.redis.many import AT_ONCE
from ops.planning.simulation.ground import NOBODY, SimulatedGround

LOOKED_OVER_IN = 2
"""Round trips in which `LOOKED_AT` partitions are asked whether they are free."""
TRIED_IN, TAKEN_IN = 4, 5
"""Round trips of a try of one that looked free: in vain, and not."""
START_SECONDS = 0.8
"""From the start of a worker's process to its first turn; measured on the machine of `ops.planning.simulation.figures`."""
Steps = Generator[Any, Any, None]


class SimulatedWorker:
    """One worker. `run` is its process; `kill` ends it without a word, `end` has it hand over."""

    def __init__(self, ground: SimulatedGround, number: int, name: str) -> None:
        self.ground, self.number, self.name = ground, number, name
        self.held: dict[int, int] = {}
        """Partition to the epoch of its lease."""
        self.spent = 0.0
        """Seconds that leases, signs of life and requests took, since the flow asked last."""
        self._alive = True
        self.sleeps = False
        """Whether it waits until something happens, all being calm."""
        self._not_before: dict[int, float] = {}
        self._aside: dict[int, tuple[float, float]] = {}
        """Until when a partition is left alone that could not be served, and for how long that was."""
        self._living: list[str] = []
        self._next_tick = self._next_renewal = self._renewed = self._beat = 0.0
        ground.workers[number] = self

    def lives(self) -> bool:
        """Whether it was not ended."""
        return self._alive

    def run(self) -> Steps:
        """Turn by turn, until it is ended."""
        env = self.ground.env
        while self.lives():
            if lost := self._lost():
                self._drop(lost)
            if env.now >= self._next_tick:
                yield from self._tick()
            if not self.lives():
                return
            if self.ground.calm():
                self.sleeps = True
                yield self.ground.until_stirred()
                self.sleeps = False
            else:
                yield env.timeout(self._turn_seconds())

    def kill(self) -> None:
        """Without a word: its leases end by themselves."""
        self._alive = False
        self._let_go(list(self.held))
        del self.ground.workers[self.number]

    def end(self) -> None:
        """Hand over: release every lease, leave the list."""
        for partition, epoch in self.held.items():
            if self.ground.up[self.ground.nodes[partition]]:
                self.ground.leases[partition].release(self.name, epoch)
        self.ground.beats.pop(self.name, None)
        self.kill()

    def catch_up(self) -> None:
        """What it did while all was calm: renewed and told of itself, the last time when it was due last."""
        if not self.sleeps:
            return
        now, every, tick = self.ground.env.now, renewal_seconds(self.ground.asked.lease_ms), self._tick_seconds()
        self._renewed += every * ((now - self._renewed) // every)
        self._beat += tick * ((now - self._beat) // tick)
        for partition in self.held:
            self.ground.leases[partition].until = self._renewed + self.ground.lease_seconds
        self.ground.beats[self.name] = self._beat
        self._next_renewal, self._next_tick = self._renewed + every, self._beat + tick

    def moved(self, partition: int) -> None:
        """A slot lies elsewhere: what is remembered of it may be of another history, so all is dropped and taken anew."""
        if partition in self.held:
            self._drop([])

    def _tick(self) -> Steps:
        ground, env = self.ground, self.ground.env
        self._next_tick = env.now + TICK_SECONDS
        if env.now >= self._next_renewal:
            self._next_renewal = env.now + renewal_seconds(ground.asked.lease_ms)
            yield self._takes(self._trips(2 * len(self.held)), writes=bool(self.held))
            self._renew()
        if ground.up[ground.beats_node]:
            yield self._takes(2, writes=True)
            if not self.lives():
                return
            self._beat = ground.beats[self.name] = env.now
            self._living = ground.living(env.now)
        yield from self._balance(fair_share(self._living, self.name, ground.asked.partitions))
        if self.lives():
            yield self._takes(self._trips(len(self.held)), writes=False)

    def _renew(self) -> None:
        ground, now = self.ground, self.ground.env.now
        self._renewed = now
        if self._lost() or not self.lives():
            return
        gone = [
            partition
            for partition, epoch in self.held.items()
            if not ground.leases[partition].renew(self.name, epoch, now, ground.lease_seconds)
        ]
        self._let_go(gone)

    def _balance(self, share: int) -> Steps:
        ground, env = self.ground, self.ground.env
        extra = surplus(self.held, share)
        if extra:
            yield self._takes(self._trips(len(extra)), writes=True)
            for partition in extra if self.lives() else ():
                if ground.up[ground.nodes[partition]]:
                    ground.leases[partition].release(self.name, self.held[partition])
            self._let_go(extra)
        for number, partition in enumerate(self._due()):
            if number % LOOKED_AT == 0:
                yield self._waits(LOOKED_OVER_IN, 0)
            if not self.lives() or len(self.held) >= share:
                return
            if env.now < self._not_before.get(partition, 0.0):
                continue
            if not ground.up[ground.nodes[partition]]:
                self._set_aside(int(ground.nodes[partition]))
            elif self._looks_free(partition):
                taken = self._try(partition)
                yield self._waits(TAKEN_IN if taken else TRIED_IN, int(taken))
            if env.now >= self._next_renewal:
                return

    def _due(self) -> list[int]:
        """What it would take, in the order in which it tries."""
        now, partitions = self.ground.env.now, self.ground.asked.partitions
        order = order_of_tries(self.name, partitions)
        return [one for one in order if one not in self.held and now >= self._not_before.get(one, 0.0)]

    def _looks_free(self, partition: int) -> bool:
        lease = self.ground.leases[partition]
        return is_free(lease.holder, lease.until, self.name, self.ground.env.now, self.ground.lease_seconds)

    def _try(self, partition: int) -> bool:
        ground, now = self.ground, self.ground.env.now
        epoch = ground.leases[partition].take(self.name, now, ground.lease_seconds)
        ground.tries.count(now, taken=epoch is not None)
        if epoch is None:
            return False
        self.held[partition] = epoch
        ground.folded_by[partition] = self.number
        return True

    def _lost(self) -> list[int]:
        """The servers that are down of which it holds something."""
        if all(self.ground.up):
            return []
        return sorted({int(self.ground.nodes[one]) for one in self.held if not self.ground.up[self.ground.nodes[one]]})

    def _drop(self, lost: list[int]) -> None:
        """Hold nothing, and leave alone for a while what lies on servers that are lost; the rest is taken anew at once."""
        self._let_go(list(self.held))
        for node in lost:
            self._set_aside(node)
        self._next_tick = 0.0

    def _set_aside(self, node: int) -> None:
        now = self.ground.env.now
        for partition in (self.ground.nodes == node).nonzero()[0].tolist():
            until, wait = self._aside.get(partition, (0.0, 0.0))
            next_wait = next_aside(None if until + MOST_ASIDE_SECONDS < now else wait)
            self._aside[partition] = (now + next_wait, next_wait)
            self._not_before[partition] = now + next_wait

    def _let_go(self, partitions: list[int]) -> None:
        for partition in partitions:
            del self.held[partition]
            if self.ground.folded_by[partition] == self.number:
                self.ground.folded_by[partition] = NOBODY

    @staticmethod
    def _trips(commands: int) -> int:
        return ceil(commands / AT_ONCE)

    def _takes(self, trips: int, *, writes: bool) -> Any:
        return self._waits(trips, int(writes))

    def _waits(self, trips: int, writes: int) -> Any:
        """So many round trips, one after another; so many of them wait for the disk."""
        asked = self.ground.asked
        seconds = (trips * asked.rtt_ms + writes * asked.fsync_ms) / 1_000.0
        self.spent += seconds
        return self.ground.env.timeout(seconds)

    def _turn_seconds(self) -> float:
        """How long one read waits at most."""
        return BLOCK_MS / 1_000.0

    def _tick_seconds(self) -> float:
        """From one tick to the next: whole turns."""
        return ceil(TICK_SECONDS / self._turn_seconds()) * self._turn_seconds()
