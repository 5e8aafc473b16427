"""The load of a day: events a second by time, and the share of them that each partition gets of owners who are not alike."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from events.partitions import SLOTS, crc16, partition_of, spread_tags
from ops.planning.simulation.asked import DAY, SimulationAsked

Numbers = NDArray[np.float64]
SAMPLED_OWNERS = 200_000
"""The busiest owners, of which each is put where it lies; the others are taken as spread evenly."""
NIGHT = 0.25
"""Share of the mean that comes at any hour."""
BUSIEST_HOUR = 20.0
BURST_SECONDS, BURST_TIMES = 60.0, 3.0


class DailyCurve:
    """Events a second at a time of day: a floor, and a hill about the busiest hour; its mean and its peak are what is asked for."""

    def __init__(self, asked: SimulationAsked) -> None:
        self.mean = asked.events_per_day / DAY
        self._from = asked.starts * 3_600.0
        wanted = (asked.peak / self.mean - NIGHT) / (1.0 - NIGHT)
        self._steep = _steepness(wanted) if asked.peak > self.mean else 0.0
        self._top = float(np.exp(self._steep) / np.i0(self._steep))
        self._bursts = [one.at for one in asked.happenings if one.kind == "burst"]

    def at(self, second: float) -> float:
        """Events a second so long after the beginning, without chance."""
        angle = 2.0 * np.pi * ((self._from + second) / DAY - BUSIEST_HOUR / 24.0)
        hill = self._top * np.exp(self._steep * (np.cos(angle) - 1.0))
        times = BURST_TIMES if any(at <= second < at + BURST_SECONDS for at in self._bursts) else 1.0
        return float(self.mean * (NIGHT + (1.0 - NIGHT) * hill) * times)


def _steepness(wanted: float) -> float:
    """k where exp(k) / I0(k), the peak of a hill over its mean, is as wanted."""
    low, high = 0.0, 600.0
    for _ in range(80):
        middle = (low + high) / 2.0
        if np.exp(middle) / np.i0(middle) < wanted:
            low = middle
        else:
            high = middle
    return (low + high) / 2.0


def shares(asked: SimulationAsked) -> Numbers:
    """The share of all events that each partition gets, by the store's own hash of owners; sums to 1."""
    sampled = int(min(asked.owners, SAMPLED_OWNERS))
    weights = np.arange(1, sampled + 1, dtype=np.float64) ** -asked.zipf
    where = np.fromiter((partition_of(f"owner-{n}", asked.partitions) for n in range(sampled)), np.int64, sampled)
    head = np.bincount(where, weights=weights, minlength=asked.partitions)
    rest = _tail(sampled, asked.owners, asked.zipf) / asked.partitions
    return (head + rest) / (head.sum() + rest * asked.partitions)  # type: ignore[no-any-return]


def _tail(first: float, last: float, zipf: float) -> float:
    """The sum of n^-zipf from the one after `first` to `last`, by its integral."""
    low, high = first + 0.5, last + 0.5
    if high <= low:
        return 0.0
    if abs(zipf - 1.0) < 1e-9:
        return float(np.log(high / low))
    return float((high ** (1.0 - zipf) - low ** (1.0 - zipf)) / (1.0 - zipf))


def largest_share(asked: SimulationAsked) -> float:
    """The share of all events that the busiest owner has."""
    sampled = min(asked.owners, SAMPLED_OWNERS)
    head = float((np.arange(1, int(sampled) + 1, dtype=np.float64) ** -asked.zipf).sum())
    return 1.0 / (head + _tail(sampled, asked.owners, asked.zipf))


def nodes_of(partitions: int, primaries: int) -> NDArray[np.int64]:
    """The primary of each partition, as slots are shared out when a cluster is made: by the store's own tags."""
    slots = np.array([crc16(tag) % SLOTS for tag in spread_tags(partitions)], dtype=np.int64)
    return slots * primaries // SLOTS
