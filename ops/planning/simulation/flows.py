"""Events as flows: by partition from producers to primaries to workers, in steps of virtual time; what they spend, how late."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from events.admission import APPEND_FULL
from events.redis.cluster.client import PATIENCE_SECONDS
from ops.planning.measured import (
    AOF_BYTES,
    CHANGES_BYTES,
    DEDUPE_BYTES,
    DEDUPE_TABLE_BYTES,
    LISTED_EVENTS,
    RECORDS_BYTES,
    STREAM_BYTES,
)
from ops.planning.simulation.control import control_commands
from ops.planning.simulation.figures import (
    APPEND_BYTES,
    APPEND_REDIS,
    CALL_REDIS,
    FOLD_BYTES,
    FOLD_REDIS,
    READ_REDIS,
    READ_REDIS_OF_MANY,
)
from ops.planning.simulation.ground import NOBODY, SimulatedGround
from ops.planning.simulation.load import DailyCurve, Numbers, shares
from ops.planning.simulation.rounds import MICRO, fastest, steady

FINE, COARSE = 0.1, 5.0
"""Seconds of a step: while anything is unsettled, and else."""
SETTLING = 30.0
"""For so long after something happened steps are fine."""
LEVEL = 0.5
"""Of a partition in which less than so many events wait none does."""
CAUGHT_UP = 1.0
"""A partition that is less than so many seconds behind is level."""
MEMORY_SECONDS = 10.0
"""Over which a partition's rate is smoothed, by which its backlog is told in seconds."""
LEAST_IDLE, ANSWERS_BY = 0.01, 0.2
"""A primary answers as a queue does, at most a hundred times later; how much of a step's load the next one feels."""
STATE_BYTES = CHANGES_BYTES.value + RECORDS_BYTES.value + DEDUPE_BYTES.value
TABLE_BYTES = DEDUPE_TABLE_BYTES.value - DEDUPE_BYTES.value
"""More, of every event of a partition whose dedupe lies in tables."""
GIGABYTE = 1e9


class Sample(NamedTuple):
    """One step, as it is told."""

    at: float
    rate: float
    appended: float
    folded: float
    lag_half: float
    lag_most: float
    """The 99th percentile of events, by the partition they are in."""
    lag_worst: float
    worst: int
    waiting: float
    """Events that producers hold, not yet appended."""
    unheld: int
    node_cpu: float
    """The busiest primary's, share of a core."""
    worker_cpu: float
    commands: float
    """Of all primaries, a second: reads, commits, leases, appends not counted."""
    lease_commands: float
    lease_cpu: float
    """Share of the busiest primary's core that leases, signs of life and requests take."""
    ram: float
    """Of the fullest primary, bytes."""
    step: float


class Flow:
    """Every event that is on its way. `run` is its process."""

    def __init__(self, ground: SimulatedGround) -> None:
        asked = ground.asked
        self.ground, self.curve, self.shares = ground, DailyCurve(asked), shares(asked)
        self.samples: list[Sample] = []
        many = asked.partitions
        self.waiting, self.backlog = np.zeros(many), np.zeros(many)
        self._smooth = self.shares * self.curve.at(0.0)
        self.unsettled_until = SETTLING
        self.appended = self.folded = self.refused = self.turned_away = 0.0
        self.stalled = 0.0
        """Seconds in which appends to some primary waited, for one that was lost or full or too busy."""
        self.full_at: float | None = None
        self._level_at = np.zeros(many)
        """When nothing waited last, by partition."""
        self._ram = np.zeros(asked.primaries)
        self._logged = np.zeros(many)
        """Events of each partition, whose ids stay known."""
        self._busy = 0.0
        """Share of its core that the busiest primary takes, smoothed: the busier, the later it answers, the fewer rounds."""
        self._by_minute: dict[int, Numbers] = {}
        """What was appended to each primary, by minute, where events leave for an archive."""
        self.network = 0.0
        self.aof = 0.0
        self.hot: int | None = 0 if asked.hot_owner else None
        """The partition of the one owner that is asked for; the first, so that it is known."""

    def run(self) -> Generator[Any, Any, None]:
        """Step by step until the end."""
        ground, end = self.ground, self.ground.asked.seconds
        while ground.env.now < end:
            now = ground.env.now
            fine = now < self.unsettled_until or not ground.calm() or float(self._lags().max()) > CAUGHT_UP
            following = next((one.at for one in ground.asked.happenings if one.at > now), end)
            before = max(following - FINE - now, FINE)  # a step that something happens in is a fine one
            seconds = min(FINE if fine else COARSE, before, end - now)
            yield ground.env.timeout(seconds)
            self._step(now, seconds)

    def unsettled(self) -> None:
        """Something happened: look closely for a while."""
        self.unsettled_until = self.ground.env.now + SETTLING

    def _step(self, now: float, seconds: float) -> None:
        ground, asked, nodes = self.ground, self.ground.asked, self.ground.nodes
        many = asked.primaries
        expected = self.shares * (self.curve.at(now) * seconds)
        if self.hot is not None:
            expected[self.hot] += asked.hot_owner * seconds
        came = ground.rng.poisson(expected).astype(np.float64)
        self._smooth += (expected / seconds - self._smooth) * min(seconds / MEMORY_SECONDS, 1.0)
        self.waiting += came
        up = np.array(ground.up, dtype=bool)
        full = self._ram >= asked.ram_gb * GIGABYTE * APPEND_FULL
        taking = (up & ~full)[nodes]
        folders = self._folders(seconds)
        can = self._fold_room(folders, seconds) * up[nodes]
        control = control_commands(ground, folders.numbers, folders.rounds)
        speed = np.array(ground.speed)
        commits = control.commits * CALL_REDIS.value
        busy = (control.cpu + (np.bincount(nodes, folders.reading, many) + commits) * MICRO) * seconds
        append = APPEND_REDIS.value + CALL_REDIS.value / asked.at_once
        wanted = np.bincount(nodes, self.waiting * taking, many) * append * MICRO
        folding = np.bincount(nodes, np.minimum(can, self.backlog), many) * FOLD_REDIS.value * MICRO
        room = np.clip((seconds * speed - busy) / np.maximum(wanted + folding, 1e-12), 0.0, 1.0)
        appends = self.waiting * taking * room[nodes]
        self.waiting -= appends
        self.backlog += appends
        folds = (
            np.minimum(can, self.backlog) * np.minimum(room[nodes] * up[nodes] + (room[nodes] >= 1.0), 1.0) * up[nodes]
        )
        self.backlog -= folds
        self._refuse(now, came, up, full)
        if bool(((self.waiting > 1.0) & ~taking).any() or (room < 1.0).any()):
            self.stalled += seconds
        self.appended += float(appends.sum())
        self.folded += float(folds.sum())
        self._keep(now, appends)
        spent = np.minimum((busy + (wanted + folding) * room) / (seconds * np.maximum(speed, 1e-9)), 1.0)
        self._busy += (float(spent[up].max(initial=0.0)) - self._busy) * ANSWERS_BY
        self.network += float(appends.sum()) * APPEND_BYTES.value + float(folds.sum()) * FOLD_BYTES.value
        self.aof += float(appends.sum()) * AOF_BYTES.value
        self._level_at[self.backlog + self.waiting < LEVEL] = now + seconds
        lags = self._lags() + folders.waits
        order = np.argsort(lags)
        weight = np.cumsum(self._smooth[order])
        half, most = (
            lags[order[min(int(np.searchsorted(weight, q * weight[-1])), len(order) - 1)]] for q in (0.5, 0.99)
        )
        worst = int(order[-1])
        self.samples.append(
            Sample(
                now + seconds, float(came.sum()) / seconds, float(appends.sum()) / seconds, float(folds.sum()) / seconds,
                float(half), float(most), float(lags[worst]), worst, float(self.waiting.sum()), ground.unheld,
                float(spent.max()), folders.cpu_of(folds, ground.folded_by, seconds), float(control.commands.sum()),
                float(control.leases.sum()), float(control.cpu.max()), float(self._ram.max()), seconds,
            )
        )  # fmt: skip

    def _lags(self) -> Numbers:
        """Seconds that each partition is behind: what waits over what comes, and no more than since it was level last."""
        behind = (self.backlog + self.waiting) / np.maximum(self._smooth, 0.05)
        return np.minimum(behind, self.ground.env.now - self._level_at)

    def _folders(self, seconds: float) -> Folders:
        ground = self.ground
        numbers = sorted(ground.workers)
        held = np.array([len(ground.workers[one].held) for one in numbers], dtype=np.float64)
        index = np.full(max(numbers, default=0) + 2, -1)
        index[numbers] = np.arange(len(numbers))
        of = np.where(ground.folded_by == NOBODY, -1, index[np.maximum(ground.folded_by, 0)])
        rate = np.bincount(of[of >= 0], self._smooth[of >= 0], max(len(numbers), 1))[: len(numbers)].astype(np.float64)
        spent = np.zeros(len(numbers))
        for number, worker in enumerate(ground.workers.values()):
            spent[number] = min(worker.spent, seconds)
            worker.spent = max(worker.spent - seconds, 0.0)
        answer = (ground.asked.rtt_ms + ground.asked.fsync_ms) / 1_000.0 / max(1.0 - self._busy, LEAST_IDLE)
        total, request = max(float(rate.sum()), 1e-9), ground.asked.request
        visits = total / request * -np.expm1(-request / ground.asked.at_once * rate / total)
        at_once = ground.asked.at_once
        rounds = steady(rate, held, many=ground.many, answer_seconds=answer, visits=visits, at_once=at_once)
        waits = np.where(of >= 0, np.append(rounds.late, 0.0)[of], 0.0)
        reading = self._reading(of, rounds.reads)
        return Folders(numbers, of, held, spent, rounds, waits, reading, fastest(held, many=ground.many))

    def _reading(self, of: NDArray[np.int64], reads: Numbers) -> Numbers:
        """Microseconds a second that each partition's primary spends on being read."""
        each = READ_REDIS_OF_MANY if self.ground.many else READ_REDIS
        return np.where(of >= 0, np.append(reads, 0.0)[of] * each.value, 0.0)

    def _fold_room(self, folders: Folders, seconds: float) -> Numbers:
        """How many events of each partition can be folded in a step: workers share out their speed, a little to each first."""
        can = np.zeros(len(self.backlog))
        wanted = self.backlog + self.waiting
        for number in range(len(folders.numbers)):
            mine = np.flatnonzero(folders.of == number)
            left = folders.speed[number] * max(seconds - folders.spent[number], 0.0)
            want = wanted[mine]
            if want.sum() > left:
                can[mine] = filled(want, left)
            else:
                can[mine] = want
        return can

    def _refuse(self, now: float, came: Numbers, up: NDArray[np.bool_], full: NDArray[np.bool_]) -> None:
        """Count what producers were refused: of a lost primary after their patience, of a full one at once."""
        nodes = self.ground.nodes
        for node in np.flatnonzero(~up):
            if now - self.ground.down_since[node] > PATIENCE_SECONDS:
                self.refused += float(came[nodes == node].sum())
        for node in np.flatnonzero(full & up):
            mine = nodes == node
            self.turned_away += float(came[mine].sum())
            self.waiting[mine] = 0.0  # a full store says so at once: nothing waits for it
            self.full_at = now if self.full_at is None else self.full_at

    def _keep(self, now: float, appends: Numbers) -> None:
        asked = self.ground.asked
        by_node = np.bincount(self.ground.nodes, appends, asked.primaries)
        before, self._logged = self._logged, self._logged + appends
        tabled = np.where(self._logged > LISTED_EVENTS, self._logged, 0.0) - np.where(
            before > LISTED_EVENTS, before, 0.0
        )
        self._ram += by_node * (STREAM_BYTES.value + STATE_BYTES)
        self._ram += np.bincount(self.ground.nodes, tabled * TABLE_BYTES, asked.primaries)
        self.ground.stream_bytes += appends * STREAM_BYTES.value
        if asked.hot_hours is None:
            return
        minute = int(now // 60.0)
        self._by_minute[minute] = self._by_minute.get(minute, np.zeros(asked.primaries)) + by_node
        gone = minute - int(asked.hot_hours * 60.0)
        if (left := self._by_minute.pop(gone, None)) is not None:
            self._ram -= left * STREAM_BYTES.value
            self.ground.stream_bytes *= 1.0 - 1.0 / (asked.hot_hours * 60.0)


class Folders(NamedTuple):
    """The workers that live, in a step."""

    numbers: list[int]
    of: NDArray[np.int64]
    """Of each partition the place of its worker in `numbers`; -1 where nobody folds it."""
    held: Numbers
    spent: Numbers
    rounds: Any
    waits: Numbers
    """By partition: how long an event waits for its worker's next round to end."""
    reading: Numbers
    speed: Numbers

    def cpu_of(self, folds: Numbers, _by: NDArray[np.int64], seconds: float) -> float:
        """The busiest worker's share of a core."""
        if not self.numbers:
            return 0.0
        folded = np.bincount(self.of[self.of >= 0], folds[self.of >= 0], len(self.numbers))
        behind = folded / np.maximum(self.speed * seconds, 1e-9)
        return float(np.minimum(np.maximum(self.rounds.cpu, behind), 1.0).max())


def filled(want: Numbers, left: float) -> Numbers:
    """`left` shared out so that none has more than it wants and none more than another that lacks."""
    order = np.sort(want)
    many = len(want)
    below = np.concatenate(([0.0], np.cumsum(order)[:-1]))
    level = (left - below) / (many - np.arange(many))
    fits = np.flatnonzero(level < order)
    return np.minimum(want, level[fits[0]]) if len(fits) else want
