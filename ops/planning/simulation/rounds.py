"""A fold worker's rounds in steady flow: how long one takes, how much it finds, what it spends. Pure.

A worker reads all it holds, folds what came, commits it by partition while it reads on. The busier it is the more it finds at once,
so an event costs less: what it spends beyond the events themselves is by rounds, streams and commits.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from consumers.fold.prefetch import READ_BEHIND
from consumers.fold.worker import BLOCK_MS
from events.redis.cluster.routing import poll_seconds
from ops.planning.simulation.figures import COMMIT_CPU, EVENT_CPU, ROUND_CPU, STREAM_CPU, STREAM_CPU_OF_MANY

Numbers = NDArray[np.float64]
_TURNS = 16
LONGEST = 60.0
"""Seconds of a round at most: of a worker that more comes to than it folds, rounds would grow without end."""
MICRO = 1e-6


class Rounds(NamedTuple):
    """Of each worker."""

    seconds: Numbers
    """From one read to the next."""
    late: Numbers
    """Seconds that an event waits until it is folded and committed, on the average."""
    cpu: Numbers
    """Share of a core, 0 to 1."""
    reads: Numbers
    """Reads a second, of all its streams each."""
    commits: Numbers
    """Commits a second."""


def steady(
    rate: Numbers,
    held: Numbers,
    *,
    many: bool,
    answer_seconds: float,
    visits: Numbers | None = None,
    at_once: float = 1.0,
) -> Rounds:
    """Rounds at so many events a second, over so many partitions, where a commit is answered after so many seconds.

    `visits`: appends a second that bring some of these; without it each event is one. `at_once`: events of one, a partition.
    `many`: partitions lie on several servers, where streams are looked at instead of waited for.
    """
    base = (ROUND_CPU.value + held * (STREAM_CPU_OF_MANY if many else STREAM_CPU).value) * MICRO
    pause = np.array([poll_seconds(int(one)) for one in held]) if many else np.full(len(held), BLOCK_MS / 1_000.0)
    streams = np.maximum(held, 1.0)
    cycle = np.maximum(base, answer_seconds)
    visits = rate if visits is None else visits
    work = busy = nothing = waits = base
    for _ in range(_TURNS):
        found = rate * cycle
        commits = streams * -np.expm1(-found / at_once / streams)
        work = base + (COMMIT_CPU.value * commits + EVENT_CPU.value * found) * MICRO
        busy = np.maximum(work, np.where(found > 0, answer_seconds, 0.0))
        nothing = np.exp(-visits * busy)
        # one server wakes a reader at the next event; several are looked at again after a pause
        waits = pause if many else -np.expm1(-visits * pause) / np.maximum(visits, 1e-9)
        cycle = (cycle + np.minimum(busy + nothing * waits, LONGEST)) / 2.0
    found = rate * cycle
    commits = streams * -np.expm1(-found / at_once / streams)
    # who sleeps is woken by one server at once, and by several after half a pause; else half a round is waited for
    asleep = nothing * (pause / 2.0 if many else 0.0)
    late = busy + asleep + (1.0 - nothing) * busy / 2.0
    return Rounds(cycle, late, np.minimum(work / cycle, 1.0), 1.0 / cycle, commits / cycle)


def fastest(held: Numbers, *, many: bool) -> Numbers:
    """Events a second of each worker that is behind: it reads much of one partition at a time."""
    base = ROUND_CPU.value + held * (STREAM_CPU_OF_MANY if many else STREAM_CPU).value
    return 1.0 / (MICRO * (EVENT_CPU.value + (base + COMMIT_CPU.value) / READ_BEHIND))
