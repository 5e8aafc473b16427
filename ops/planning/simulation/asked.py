"""What a simulation is asked for: a load, servers, workers, and what breaks when."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from events.errors import InputError, refused
from events.partitions import MAX_PARTITIONS

DAY = 86_400.0
KINDS = {
    "worker-killed": "a worker gets SIGKILL and does not come back",
    "worker-ended": "a worker gets SIGTERM, hands over, and does not come back",
    "worker-joins": "one more worker begins",
    "workers-restarted": "every worker gets SIGKILL, and begins anew five seconds later",
    "rolling-upgrade": "each worker is ended and begins anew, ten seconds after the one before it",
    "primary-killed": "a primary is lost, and its replica takes its place",
    "node-slow": "a primary has a tenth of its speed for a minute",
    "slots-moved": "a sixteenth of a primary's partitions goes to the next one, each waits while its stream is moved",
    "burst": "three times the events for a minute",
}
"""What may happen, and what it is."""
_TIME = re.compile(r"(?:(\d+(?:\.\d+)?)h)?(?:(\d+(?:\.\d+)?)m)?(?:(\d+(?:\.\d+)?)s?)?")


class Happening(NamedTuple):
    """Something that happens so many seconds after the beginning."""

    kind: str
    at: float


class SimulationAsked(msgspec.Struct, frozen=True, kw_only=True):
    """A day, or part of one, of a store."""

    events_per_day: float = 1e9
    peak: float = 60_000.0
    """Events a second at the busiest time of the day; at or under the mean the load is the same all day."""
    owners: float = 1e8
    zipf: float = 0.7
    """Owner number n has a share as 1 / n^zipf."""
    hot_owner: float = 0.0
    """Events a second of one owner beside all others."""
    at_once: float = 10.0
    """Events of a partition that an append brings at once, on the average."""
    request: float = 10.0
    """Events that an append brings, to one partition or several."""
    partitions: int = 1_024
    primaries: int = 4
    workers: int = 8
    hours: float = 24.0
    starts: float = 0.0
    """Hour of the day at which it begins."""
    seed: int = 7
    happenings: tuple[Happening, ...] = ()
    ram_gb: float = 128.0
    """What a primary may take, by `maxmemory`."""
    hot_hours: float | None = None
    """Hours after which an event leaves RAM for an archive, its state aside; None: never."""
    lease_ms: int = 3_000
    rtt_ms: float = 0.3
    """Between a worker and a primary and back."""
    fsync_ms: float = 1.0
    """Of `appendfsync always`: what an answer to a write waits for the disk."""
    node_timeout: float = 15.0
    """`cluster-node-timeout`, in seconds."""

    def checked(self) -> SimulationAsked:
        """Itself. Raises InputError naming the field."""
        whole = (("partitions", self.partitions, MAX_PARTITIONS), ("workers", self.workers, 256))
        for name, told, most in (*whole, ("primaries", self.primaries, min(256, self.partitions))):
            if not 1 <= told <= most:
                raise refused(name, told, f"1 to {most:,}")
        spans = (
            ("events_per_day", self.events_per_day, 1.0, 1e12), ("owners", self.owners, 1.0, 1e12),
            ("zipf", self.zipf, 0.0, 3.0), ("peak", self.peak, 0.0, 1e8), ("hours", self.hours, 0.001, 168.0),
            ("starts", self.starts, 0.0, 24.0), ("hot_owner", self.hot_owner, 0.0, 1e8), ("ram_gb", self.ram_gb, 0.01, 1e6),
            ("at_once", self.at_once, 1.0, 1e4), ("request", self.request, 1.0, 1e6),
            ("hot_hours", self.hot_hours, 0.01, 1e4), ("lease_ms", self.lease_ms, 100, 600_000),
            ("rtt_ms", self.rtt_ms, 0.0, 1_000.0), ("fsync_ms", self.fsync_ms, 0.0, 1_000.0),
            ("node_timeout", self.node_timeout, 0.1, 600.0),
        )  # fmt: skip
        for field, number, low, high in spans:
            if number is not None and not low <= number <= high:
                raise refused(field, number, f"{low:g} to {high:g}")
        mean = self.events_per_day / DAY
        if self.peak > _MOST_PEAK * mean:
            raise refused(
                "peak", self.peak, f"at most {_MOST_PEAK * mean:,.0f}: {_MOST_PEAK} times the mean of the day"
            )
        for one in self.happenings:
            if one.at >= self.seconds:
                raise refused("fail", f"{one.kind}@{one.at:g}s", f"a time before the end, {self.seconds:g}s")
        return self

    @property
    def seconds(self) -> float:
        """How long it lasts."""
        return self.hours * 3_600.0


_MOST_PEAK = 12


def happenings_of(words: Sequence[str]) -> tuple[Happening, ...]:
    """`KIND@TIME`, such as `worker-killed@20h30m`, in the order of their times. Raises InputError."""
    return tuple(sorted((_happening(word) for word in words), key=lambda one: one.at))


def _happening(word: str) -> Happening:
    kind, mark, told = word.partition("@")
    time = _TIME.fullmatch(told)
    if kind not in KINDS or not mark or time is None or not any(time.groups()):
        raise _unknown(word)
    hours, minutes, seconds = (float(part or 0.0) for part in time.groups())
    return Happening(kind, hours * 3_600.0 + minutes * 60.0 + seconds)


def _unknown(word: str) -> InputError:
    return refused("fail", word, f"KIND@TIME, such as worker-killed@20h30m or burst@90s; kinds: {', '.join(KINDS)}")
