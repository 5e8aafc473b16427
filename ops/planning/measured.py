"""What a store costs, as it was measured: the figures that plans and simulations reckon with, each with how it was come by.

`engramlog bench scale` measures most of them anew. Texts are `talk`: 142 letters in the mean, 62 of 100 events have one.
"""

from __future__ import annotations

import msgspec


class CostFigure(msgspec.Struct, frozen=True):
    """One figure: what it is, in which unit, the run that it was measured in, and between what it lay, here or elsewhere."""

    value: float
    unit: str
    how: str
    least: float | None = None
    most: float | None = None

    @property
    def low(self) -> float:
        """The least that was seen."""
        return self.value if self.least is None else self.least

    @property
    def high(self) -> float:
        """The most that was seen."""
        return self.value if self.most is None else self.most


_SCALE = "bench scale, Redis 7.0.15, open contents"
_TEXTS = "bench scale, 5,000 events of 25 owners, texts `talk` and `answers`"
_SEALED = "bench scale, sealed"

MEASURED_EVENTS = 1_000_000
"""The most events that one server of the benchmark held."""
MEASURED_OWNERS = 5_000
MEASURED_PRIMARIES = 3
MEASURED_WORKERS = 3
MEASURED_TEXT = 142
"""Letters of a text in the mean."""

STREAM_BYTES = CostFigure(695, "bytes of Redis an event", _SCALE, 674, 720)
CHANGES_BYTES = CostFigure(155, "bytes of Redis an event", _SCALE, 150, 160)
RECORDS_BYTES = CostFigure(393, "bytes of Redis an event", _SCALE, 372, 412)
DEDUPE_BYTES = CostFigure(75, "bytes of Redis an event", _SCALE, 50, 90)
REST_BYTES = CostFigure(87, "bytes of Redis an event that no key tells", _SCALE, 0, 100)
OWNER_BYTES = CostFigure(268, "bytes of Redis an owner, beside its events", _SCALE, 260, 370)
MEMORY_BYTES = CostFigure(657, "bytes of Redis a memory, its record and its place among the changes", _SCALE, 626, 690)
MEMORIES_AN_EVENT = CostFigure(0.6, "memories an event", _SCALE, 0.58, 0.6)
SALTS_BYTES = CostFigure(35, "bytes of Redis an event more, where it is sealed: its salt", _SEALED, 32, 36)
SEALED_BYTES = CostFigure(41, "bytes of Redis an event more, where it is sealed: stream and record", _SEALED, 35, 60)
RESIDENT_SHARE = CostFigure(1.1, "resident memory to used memory of Redis", _SCALE, 1.03, 1.4)
STREAM_A_LETTER = CostFigure(0.79, "bytes of the stream an event for each byte more of a text", _TEXTS)
MEMORY_A_LETTER = CostFigure(1.13, "bytes of a memory for each byte more of its text", _TEXTS)
AOF_A_LETTER = CostFigure(1.5, "bytes of the file an event for each byte more of a text", _TEXTS)

AOF_BYTES = CostFigure(1410, "bytes of disk an event, before the file is written anew", _SCALE, 1300, 1470)
REWRITTEN_BYTES = CostFigure(900, "bytes of disk an event, once the file is written anew", _SCALE, 600, 1300)
LOADING_SECONDS = CostFigure(45, "seconds to ready for a million events", _SCALE)

DOOR_CPU = CostFigure(37, "us of a producer's or service's CPU an event, in process", _SCALE, 33, 140)
HTTP_CPU = CostFigure(
    185, "us of an API process's CPU an event, 100 in a request", "POST /v1/events, 20,000 events", 150, 1_500
)
REDIS_CPU = CostFigure(34, "us of Redis's main thread an event, appended and folded", _SCALE, 27, 180)
FOLD_CPU = CostFigure(56, "us of a fold worker's CPU an event", _SCALE, 41, 240)
REPLICA_CPU = CostFigure(20, "us of a replica's main thread an event", _SCALE, 15, 25)
REBUILD_CPU = CostFigure(45, "us of CPU an event that is folded anew, Redis's among it", _SCALE, 40, 60)
VERIFY_CPU = CostFigure(60, "us of CPU an event that is verified, Redis's among it", _SCALE, 50, 80)
VIEW_CPU = CostFigure(
    36, "us of a job worker's CPU a memory of an owner whose view is loaded", "bench search --memories 1000000"
)
BACKUP_BYTES = CostFigure(217, "bytes of a backup an event", "bench backup, 20,000 events, open")
BACKUP_SEALED_BYTES = CostFigure(564, "bytes of a backup an event, sealed", "bench backup, 20,000 events, sealed")
BACKUP_CPU = CostFigure(41, "us of CPU an event that is backed up", "bench backup, 20,000 events", 38, 56)
RESTORE_CPU = CostFigure(128, "us of CPU an event that is restored", "bench backup, 20,000 events", 128, 192)

WORKER_BYTES = CostFigure(75e6, "bytes of a fold worker that holds no owner", _SCALE, 51e6, 80e6)
WORKER_MEMORY_BYTES = CostFigure(1_900, "bytes of a fold worker for each memory that it holds", _SCALE, 1_700, 2_100)
CACHED_MEMORIES = 200_000
"""Memories of one partition that a fold worker keeps; it is `consumers.fold.folder`'s."""
API_BYTES = CostFigure(104e6, "bytes of an idle API process", "docs/benchmarks.md, memory of an idle service")
IDLE_COMMANDS = CostFigure(11, "commands a second of an idle worker for each partition", _SCALE, 8, 48)
HANDOVER_SECONDS = CostFigure(0.7, "seconds from SIGTERM of a worker until another folds", _SCALE)
REPLACED_SECONDS = CostFigure(3.3, "seconds from kill -9 of a worker until another folds", _SCALE)
FAILOVER_SECONDS = CostFigure(
    5.9, "seconds at most that appends waited for a failover", "make chaos-cluster, 3 + 3 nodes"
)
MOVING_SECONDS = CostFigure(
    0.0096, "seconds that a node answers nobody for each MB of a stream that is moved", "docs/cluster.md", 0.007, 0.016
)


def figures() -> dict[str, CostFigure]:
    """Every figure by its name, in their order."""
    return {name: one for name, one in globals().items() if isinstance(one, CostFigure)}
