"""What a store costs, as it was measured: the figures that plans and simulations reckon with, each with how it was come by.

`engramlog bench scale` measures most of them anew. Texts are `talk`: 142 letters in the mean, 62 of 100 events have one.
"""

from __future__ import annotations

import msgspec

from events.partitions import DEDUPE_BUCKETS


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


_SCALE = "bench scale, 1,000,000 events of 5,000 owners, one Redis 7.0.15, open"
_BIG = "bench scale by hand, 4,200,000 events in 16 partitions, one Redis 7.0.15, open; the most of release 0.2.0"
_TENTH = "bench scale, 100,000 events of 500 owners, three primaries with replicas"
_HUNDREDTH = "bench scale, 10,000 events of 50 owners"
_TEXTS = "bench scale, 5,000 events of 25 owners, texts `talk` and `answers`"
_CPU = "bench scale, 1,000,000 events of 5,000 owners, two runs, load 1.3 to 1.9; the least 100,000 of 500, the most one by one"
_IDLE = "bench scale, 16 and 256 partitions; the most 16 on three primaries"
_TWO = "bench scale, two workers of 16 partitions, six times, load 1 and 28; the most of release 0.2.0"
_SEALED = "bench scale, 10,000 and 100,000 events, sealed"

MEASURED_EVENTS = 1_000_000
"""The most events that one server of the benchmark held."""
MEASURED_OWNERS = 5_000
MEASURED_PRIMARIES = 3
MEASURED_WORKERS = 3
MEASURED_TEXT = 142
"""Letters of a text in the mean."""

STREAM_BYTES = CostFigure(695, "bytes of Redis an event", _SCALE, 674, 720)
CHANGES_BYTES = CostFigure(163, "bytes of Redis an event", _SCALE, 154, 166)
RECORDS_BYTES = CostFigure(401, "bytes of Redis an event", _SCALE, 372, 414)
DEDUPE_BYTES = CostFigure(37, "bytes of Redis an event; more in small stores", _SCALE, 36, 75)
DEDUPE_TABLE_BYTES = CostFigure(86, "the same, from 262,144 events of a partition on", _BIG, 82, 91)
REST_BYTES = CostFigure(
    -60, "bytes of Redis an event that no key tells; MEMORY USAGE tells more than keys take", _SCALE, -62, 90
)
OWNER_BYTES = CostFigure(204, "bytes of Redis an owner, beside its events", _SCALE, 200, 368)
MEMORY_BYTES = CostFigure(673, "bytes of Redis a memory, its record and its place among the changes", _SCALE, 626, 690)
MEMORIES_AN_EVENT = CostFigure(0.6, "memories an event", _SCALE, 0.58, 0.6)
SALTS_BYTES = CostFigure(29, "bytes of Redis an event more, where it is sealed: its salt", _SEALED, 23, 35)
SEALED_BYTES = CostFigure(43, "bytes of Redis an event more, where it is sealed: stream and record", _SEALED, 35, 50)
RESIDENT_SHARE = CostFigure(1.04, "resident memory to used memory of Redis", _SCALE)
STREAM_A_LETTER = CostFigure(0.79, "bytes of the stream an event for each byte more of a text", _TEXTS)
MEMORY_A_LETTER = CostFigure(1.13, "bytes of a memory for each byte more of its text", _TEXTS)
AOF_A_LETTER = CostFigure(1.5, "bytes of the file an event for each byte more of a text", _TEXTS)

AOF_BYTES = CostFigure(
    1_850, "bytes of disk an event, before the file is written anew, 1,000 at a time", _SCALE, 1_307, 1_864
)
REWRITTEN_BYTES = CostFigure(691, "bytes of disk an event, once the file is written anew", _SCALE, 650, 720)
REWRITTEN_SEALED_BYTES = CostFigure(
    1_095, "bytes of disk an event, once the file is written anew, sealed", _HUNDREDTH, 1_050, 1_150
)
LOADING_SECONDS = CostFigure(
    8,
    "seconds to ready for a million events, the file doubled since it was written anew; the least just after that",
    "bench scale, 1,000,000 events, by CPU: 3.3, and 6.9 a GB of commands; the most by the clock, release 0.2.0",
    3.3,
    45,
)
FORK_SECONDS = CostFigure(
    0.05,
    "seconds that a server answers nobody, a GB of its memory, as it begins to write its file anew",
    "bench scale, 1,000,000 events; load 20 is the most",
    0.048,
    0.76,
)

DOOR_CPU = CostFigure(34, "us of a producer's or service's CPU an event, in process", _CPU, 23, 140)
HTTP_CPU = CostFigure(
    185,
    "us of an API process's CPU an event, 100 in a request",
    "POST /v1/events, 10,000 events twice; the most: 300 one by one, a connection each",
    179,
    5_300,
)
REDIS_CPU = CostFigure(53, "us of Redis's main thread an event, appended and folded", _CPU, 25, 180)
FOLD_CPU = CostFigure(79, "us of a fold worker's CPU an event", _CPU, 42, 240)
REPLICA_CPU = CostFigure(20, "us of a replica's main thread an event", _TENTH, 14, 32)
REBUILD_CPU = CostFigure(53, "us of CPU an event that is folded anew, Redis's among it", _SCALE, 44, 70)
VERIFY_CPU = CostFigure(68, "us of CPU an event that is verified, Redis's among it", _SCALE, 60, 94)
VIEW_CPU = CostFigure(
    36, "us of a job worker's CPU a memory of an owner whose view is loaded", "bench search --memories 1000000"
)
BACKUP_BYTES = CostFigure(217, "bytes of a backup an event", "bench backup, 20,000 events, open")
BACKUP_SEALED_BYTES = CostFigure(564, "bytes of a backup an event, sealed", "bench backup, 20,000 events, sealed")
BACKUP_CPU = CostFigure(41, "us of CPU an event that is backed up", "bench backup, 20,000 events", 38, 56)
RESTORE_CPU = CostFigure(128, "us of CPU an event that is restored", "bench backup, 20,000 events", 128, 192)

WORKER_BYTES = CostFigure(75e6, "bytes of a fold worker that holds no owner", _SCALE, 51e6, 79e6)
WORKER_MEMORY_BYTES = CostFigure(1_780, "bytes of a fold worker for each memory that it holds", _SCALE, 1_450, 1_800)
LISTED_EVENTS = 512 * DEDUPE_BUCKETS
"""Events of a partition up to which dedupe lies in lists, by Redis's `hash-max-listpack-entries`; then in tables."""
CACHED_MEMORIES, CACHED_BY_A_WORKER = 200_000, 600_000
"""Memories that a fold worker keeps of one partition, and of all that it holds; they are `consumers.fold.folder`'s."""
API_BYTES = CostFigure(104e6, "bytes of an idle API process", "docs/benchmarks.md, memory of an idle service")
IDLE_COMMANDS = CostFigure(11, "commands a second of an idle worker for each partition", _IDLE, 9, 65)
HANDOVER_SECONDS = CostFigure(0.3, "seconds from SIGTERM of a worker until another folds", _TWO, 0.17, 0.7)
REPLACED_SECONDS = CostFigure(3.2, "seconds from kill -9 of a worker until another folds", _TWO, 3.1, 3.3)
FAILOVER_SECONDS = CostFigure(
    5.9, "seconds at most that appends waited for a failover", "make chaos-cluster, 3 + 3 nodes"
)
MOVING_SECONDS = CostFigure(
    0.0096, "seconds that a node answers nobody for each MB of a stream that is moved", "docs/cluster.md", 0.007, 0.016
)


def figures() -> dict[str, CostFigure]:
    """Every figure by its name, in their order."""
    return {name: one for name, one in globals().items() if isinstance(one, CostFigure)}
