"""The ground of a simulation: servers that are up or not, partitions, their leases, and the workers that live."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from consumers.fold.presence import fair_share
from events.partitions import SLOTS, WORKERS_KEY, crc16
from ops.planning.simulation.asked import SimulationAsked
from ops.planning.simulation.leases import HeldLease, Tries
from ops.planning.simulation.load import nodes_of

if TYPE_CHECKING:
    import simpy

    from ops.planning.simulation.workers import SimulatedWorker

NOBODY = -1


class SimulatedGround:
    """Everything that workers, servers and faults share. Virtual seconds are `env.now`."""

    def __init__(self, asked: SimulationAsked, env: simpy.Environment, rng: np.random.Generator) -> None:
        self.asked, self.env, self.rng = asked, env, rng
        self.nodes: NDArray[np.int64] = nodes_of(asked.partitions, asked.primaries)
        """The primary that each partition lies on."""
        self.up = [True] * asked.primaries
        self.down_since = [0.0] * asked.primaries
        self.speed = [1.0] * asked.primaries
        """Share of its usual speed that a primary has."""
        self.leases = [HeldLease() for _ in range(asked.partitions)]
        self.folded_by: NDArray[np.int64] = np.full(asked.partitions, NOBODY, dtype=np.int64)
        """The number of the worker that folds each partition."""
        self.beats: dict[str, float] = {}
        self.beats_node = crc16(WORKERS_KEY) % SLOTS * asked.primaries // SLOTS
        """The primary that the list of workers lies on."""
        self.workers: dict[int, SimulatedWorker] = {}
        """By number, those that live."""
        self.tries = Tries()
        self.stream_bytes: NDArray[np.float64] = np.zeros(asked.partitions)
        self._stirred = env.event()

    @property
    def lease_seconds(self) -> float:
        """How long a lease lasts."""
        return self.asked.lease_ms / 1_000.0

    @property
    def many(self) -> bool:
        """Whether partitions lie on several servers."""
        return self.asked.primaries > 1

    @property
    def unheld(self) -> int:
        """Partitions that nobody folds."""
        return int((self.folded_by == NOBODY).sum())

    def living(self, now: float) -> list[str]:
        """Who gave a sign of life within the last lease."""
        return [name for name, beat in self.beats.items() if now - beat <= self.lease_seconds]

    def calm(self) -> bool:
        """Whether nothing changes if nothing happens: every partition is held, as evenly as can be, and every server is up."""
        if not all(self.up) or self.unheld:
            return False
        if self.workers and all(worker.sleeps for worker in self.workers.values()):
            return True
        names = sorted(worker.name for worker in self.workers.values())
        if sorted(self.living(self.env.now)) != names:
            return False
        return all(len(one.held) == fair_share(names, one.name, self.asked.partitions) for one in self.workers.values())

    def until_stirred(self) -> simpy.Event:
        """What a worker waits for while all is calm: its renewals and signs of life are reckoned, not stepped through."""
        return self._stirred

    def stir(self) -> None:
        """Something happens: who slept has renewed and told of itself up to now, each in its own beat."""
        for worker in self.workers.values():
            worker.catch_up()
        self._stirred.succeed()
        self._stirred = self.env.event()
