"""What workers ask of primaries besides events: leases renewed, logs looked at, signs of life, requests, reads of streams."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from consumers.fold.sharing import renewal_seconds
from consumers.fold.worker import RETIRE_SECONDS, TICK_SECONDS
from ops.planning.simulation.figures import COMMAND_REDIS, LEASE_REDIS
from ops.planning.simulation.ground import SimulatedGround
from ops.planning.simulation.load import Numbers
from ops.planning.simulation.rounds import MICRO, Rounds

RENEWED_BY = 2
"""Scripts by which a lease is renewed: the renewal, and the look at the log."""
LOOKED_OVER_BY = 4
"""Commands a partition in `RETIRE_SECONDS`: its builds, a rebuild that was left, two alarms."""


class Control(NamedTuple):
    """By primary, a second."""

    leases: Numbers
    """Scripts that renew leases and look at logs."""
    requests: Numbers
    """Looks for operators' requests, signs of life, and what is looked over seldom."""
    reads: Numbers
    commits: Numbers
    cpu: Numbers
    """Share of a core, of leases and requests."""

    @property
    def commands(self) -> Numbers:
        """All of them."""
        return self.leases + self.requests + self.reads + self.commits


def tick_seconds(cycle: float, lease_ms: int) -> tuple[float, float]:
    """From one tick to the next, and from one renewal to the next: whole rounds, a renewal whole ticks."""
    tick = max(np.ceil(TICK_SECONDS / cycle - 1e-9), 1.0) * cycle
    return float(tick), float(max(np.ceil(renewal_seconds(lease_ms) / tick - 1e-9), 1.0) * tick)


def control_commands(ground: SimulatedGround, numbers: list[int], rounds: Rounds) -> Control:
    """By what each worker holds on each primary."""
    primaries = ground.asked.primaries
    leases, requests, reads, commits = (np.zeros(primaries) for _ in range(4))
    for place, number in enumerate(numbers):
        held = np.array(sorted(ground.workers[number].held), dtype=np.int64)
        by_node = np.bincount(ground.nodes[held], minlength=primaries) if len(held) else np.zeros(primaries)
        tick, renewal = tick_seconds(float(rounds.seconds[place]), ground.asked.lease_ms)
        leases += RENEWED_BY * by_node / renewal
        requests += by_node / tick + LOOKED_OVER_BY * by_node / RETIRE_SECONDS + (by_node > 0) / tick
        requests[ground.beats_node] += 2 / tick
        share = by_node / max(len(held), 1)
        # one server is asked for all streams by one command, several for each stream by one
        reads += by_node * rounds.reads[place] if ground.many else (by_node > 0) * rounds.reads[place]
        commits += share * rounds.commits[place]
    cpu = (leases * LEASE_REDIS.value + requests * COMMAND_REDIS.value) * MICRO
    return Control(leases, requests, reads, commits, cpu)
