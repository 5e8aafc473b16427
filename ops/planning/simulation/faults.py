"""What happens to a simulated store: servers and workers that are lost, come, move; each a process in virtual time."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

import numpy as np

from ops.planning.measured import HANDOVER_SECONDS
from ops.planning.simulation.asked import Happening
from ops.planning.simulation.figures import ELECTION_LEAST, ELECTION_MOST, MIGRATE_SECONDS
from ops.planning.simulation.flows import Flow
from ops.planning.simulation.ground import SimulatedGround
from ops.planning.simulation.workers import START_SECONDS, SimulatedWorker

BEGIN_ANEW = 5.0
"""Seconds after which a worker that was restarted is started again."""
ONE_AFTER_ANOTHER = 10.0
SLOW, SLOW_SECONDS = 0.1, 60.0
MOVED_PART = 16
Steps = Generator[Any, Any, None]


class Fates:
    """Starts workers, and carries out what is to happen."""

    def __init__(self, ground: SimulatedGround, flow: Flow) -> None:
        self.ground, self.flow = ground, flow
        self._number = 0
        self._kinds: dict[str, Callable[[], Steps]] = {
            "worker-killed": self._worker_killed,
            "worker-ended": self._worker_ended,
            "worker-joins": self._worker_joins,
            "workers-restarted": self._workers_restarted,
            "rolling-upgrade": self._rolling_upgrade,
            "primary-killed": self._primary_killed,
            "node-slow": self._node_slow,
            "slots-moved": self._slots_moved,
            "burst": self._burst,
        }

    def start_worker(self, after: float = START_SECONDS) -> None:
        """A worker of a new process: its id is of a host, a process and chance, as the product makes it."""
        rng, number = self.ground.rng, self._number
        self._number += 1
        name = f"worker-{int(rng.integers(1_000, 32_768))}-{int(rng.integers(0, 16**6)):06x}"
        self.ground.env.process(self._begins(number, name, after))

    def _begins(self, number: int, name: str, after: float) -> Steps:
        # processes do not begin in the same instant
        yield self.ground.env.timeout(after + float(self.ground.rng.uniform(0.0, 0.2)))
        self._stirred()
        yield from SimulatedWorker(self.ground, number, name).run()

    def happens(self, one: Happening) -> Steps:
        """At its time."""
        yield self.ground.env.timeout(one.at)
        self._stirred()
        yield from self._kinds[one.kind]()

    def _stirred(self) -> None:
        self.ground.stir()
        self.flow.unsettled()

    def _some_worker(self) -> SimulatedWorker | None:
        living = sorted(self.ground.workers)
        return self.ground.workers[int(self.ground.rng.choice(living))] if living else None

    def _worker_killed(self) -> Steps:
        if (worker := self._some_worker()) is not None:
            worker.kill()
        yield self.ground.env.timeout(0)

    def _worker_ended(self) -> Steps:
        if (worker := self._some_worker()) is not None:
            worker.end()
        yield self.ground.env.timeout(0)

    def _worker_joins(self) -> Steps:
        self.start_worker()
        yield self.ground.env.timeout(0)

    def _workers_restarted(self) -> Steps:
        living = list(self.ground.workers.values())
        for worker in living:
            worker.kill()
        for _ in living:
            self.start_worker(BEGIN_ANEW + START_SECONDS)
        yield self.ground.env.timeout(0)

    def _rolling_upgrade(self) -> Steps:
        for worker in list(self.ground.workers.values()):
            self._stirred()
            if worker.lives():
                worker.end()
                self.start_worker(HANDOVER_SECONDS.value + START_SECONDS)
            yield self.ground.env.timeout(ONE_AFTER_ANOTHER)

    def _primary_killed(self) -> Steps:
        ground = self.ground
        node = int(ground.rng.integers(ground.asked.primaries))
        ground.up[node], ground.down_since[node] = False, ground.env.now
        election = float(ground.rng.uniform(ELECTION_LEAST.value, ELECTION_MOST.value))
        yield ground.env.timeout(ground.asked.node_timeout + election)
        ground.up[node] = True
        self._stirred()

    def _node_slow(self) -> Steps:
        node = int(self.ground.rng.integers(self.ground.asked.primaries))
        self.ground.speed[node] = SLOW
        yield self.ground.env.timeout(SLOW_SECONDS)
        self.ground.speed[node] = 1.0
        self._stirred()

    def _slots_moved(self) -> Steps:
        ground = self.ground
        primaries = ground.asked.primaries
        if primaries == 1:
            return
        source = int(ground.rng.integers(primaries))
        mine = np.flatnonzero(ground.nodes == source)
        for partition in mine[: max(len(mine) // MOVED_PART, 1)].tolist():
            seconds = float(ground.stream_bytes[partition]) / 1e6 * MIGRATE_SECONDS.value
            ground.speed[source] = 0.0  # it answers nobody meanwhile
            yield ground.env.timeout(seconds)
            self._stirred()
            ground.speed[source] = 1.0
            ground.nodes[partition] = (source + 1) % primaries
            for worker in list(ground.workers.values()):
                worker.moved(partition)

    def _burst(self) -> Steps:
        yield self.ground.env.timeout(0)  # the curve knows of it
