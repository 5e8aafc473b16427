"""How large a store has to be: a pure function of what is asked for and of what was measured. It opens nothing."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, log2

import msgspec

from events.admission import APPEND_FULL
from events.partitions import DEFAULT_PARTITIONS, MAX_PARTITIONS
from ops.planning import measured as m
from ops.planning.asked import Demand, PresentStore
from ops.planning.measured import CostFigure

DAY = 86_400.0
BUSY = 0.7
"""Share of a core that a process may take in the busiest second."""
JOBS_BUSY = 0.5
COPIED = (0.1, 0.3, 1.0)
"""Share of its memory that a server copies while its file is written anew and events come: reckoned, not measured; 1 is all."""
FILES = (2.0, 3.0, 3.0)
"""Disk by the file just written anew: Redis writes it anew once it has doubled, beside the old one."""
LARGEST_STREAM = 50e6
"""Bytes from which moving a partition's slot makes others wait for the best part of a second (docs/cluster.md)."""
LONG_RESTART = 300.0
LARGEST_OWNER = 0.04
"""Share of all events that the largest of 5,000 owners had in the benchmark."""
FAR = 10.0
"""Times beyond what was measured from which it is told."""
ON_A_CLUSTER = 1_024
NEAR = 0.1
"""How far a store's own bytes an event may move as it grows."""
GIB = 1_024**3


class AmountSpan(msgspec.Struct, frozen=True):
    """An amount: the least, the likely one, the most."""

    low: float
    likely: float
    high: float

    def __add__(self, other: AmountSpan) -> AmountSpan:
        return AmountSpan(self.low + other.low, self.likely + other.likely, self.high + other.high)

    def __mul__(self, factor: float) -> AmountSpan:
        return AmountSpan(self.low * factor, self.likely * factor, self.high * factor)

    def by(self, other: AmountSpan) -> AmountSpan:
        """Least by least, likely by likely, most by most."""
        return AmountSpan(self.low * other.low, self.likely * other.likely, self.high * other.high)

    def whole(self, least: int = 1) -> AmountSpan:
        """Rounded up to whole ones."""
        return AmountSpan(*(float(max(ceil(one - 1e-9), least)) for one in (self.low, self.likely, self.high)))


class PlanLine(msgspec.Struct, frozen=True):
    """One line: what, how much, and by which figures of `ops.planning.measured`."""

    name: str
    unit: str
    amount: AmountSpan
    by: tuple[str, ...]
    told: str


class PlanWarning(msgspec.Struct, frozen=True):
    """Something to look at: its name, and words."""

    code: str
    told: str


class SizePlan(msgspec.Struct, frozen=True):
    """The answer."""

    asked: Demand
    lines: Sequence[PlanLine]
    warnings: Sequence[PlanWarning]
    assumptions: Sequence[str]


def span_of(figure: CostFigure, more: float = 0.0) -> AmountSpan:
    """A figure, and so much more of it, or less, but for half of what was measured at most."""
    found = (one + max(more, -abs(one) / 2) for one in (figure.low, figure.value, figure.high))
    return AmountSpan(*found)


class _Load(msgspec.Struct, frozen=True):
    """What follows from what is asked for."""

    events: float
    """In the log at the end."""
    memories: float
    mean: float
    """Events a second."""
    peak: float
    stream: AmountSpan
    """Bytes of all streams."""
    data: AmountSpan
    """Bytes of all data in Redis."""
    file: AmountSpan
    """Bytes of all files, just written anew."""
    by: tuple[str, ...]
    """The figures that data comes from."""


def plan(demand: Demand, present: PresentStore | None = None) -> SizePlan:
    """What `demand`, which was checked, takes at its end. `present`: the store's own bytes an event and events count, not ours."""
    load = _load(demand, present)
    room = demand.node_gib * GIB
    memory = _memory(load.data)
    redis = span_of(m.REDIS_CPU) * (load.peak / 1e6 / BUSY)
    needed = AmountSpan(*(max(one, other) for one, other in zip(_each(memory * (1 / room)), _each(redis), strict=True)))
    primaries = AmountSpan(*(float(_primaries(one)) for one in _each(needed)))
    if demand.primaries is not None:
        primaries = AmountSpan(*[float(demand.primaries)] * 3)
    count = min(int(primaries.likely), MAX_PARTITIONS)
    workers = (span_of(m.FOLD_CPU) * (load.peak / 1e6 / BUSY)).whole()
    wanted = _partitions(load, count, int(workers.likely))
    partitions = min(wanted, MAX_PARTITIONS)
    share = ceil(partitions / count) / partitions
    lines = [
        PlanLine("partitions", "", AmountSpan(*[float(partitions)] * 3), ("STREAM_BYTES", "FOLD_CPU"), PARTITIONS_TOLD),
        PlanLine("primaries", "", primaries, ("REDIS_CPU", *load.by), f"of {demand.node_gib:g} GiB each"),
        PlanLine("replicas", "", primaries * demand.replicas, (), f"{demand.replicas} of each primary"),
        PlanLine("data", "bytes", load.data, load.by, "in Redis, all primaries together"),
        PlanLine("memory of a node", "bytes", memory * share, (*load.by, "RESIDENT_SHARE"), MEMORY_TOLD),
        PlanLine("maxmemory of a node", "bytes", load.data * (share / APPEND_FULL), load.by, MAXMEMORY_TOLD),
        PlanLine("disk of a node", "bytes", load.file.by(AmountSpan(*FILES)) * share, ("REWRITTEN_BYTES",), DISK_TOLD),
        PlanLine("fold workers", "", workers + AmountSpan(1, 1, 1), ("FOLD_CPU",), f"at {load.peak:,.0f} events/s, one to spare"),
        PlanLine("memory of all fold workers", "bytes", _held(load, workers, partitions), _OF_WORKERS, HELD_TOLD),
        PlanLine("API processes", "", (span_of(m.HTTP_CPU) * (load.peak / 1e6 / BUSY)).whole(), ("HTTP_CPU",), API_TOLD),
        PlanLine("job workers", "", _jobs(demand, load).whole(), ("VIEW_CPU",), JOBS_TOLD),
        PlanLine("network of a node", "bytes/s", _network(demand, load) * share, ("AOF_BYTES", "STREAM_BYTES"), "at the peak"),
        PlanLine("restart of a node", "seconds", _loading(load.events * share), ("LOADING_SECONDS",), "from its own file"),
        PlanLine("fork of a node", "seconds", _fork(load.data.likely * share), ("FORK_SECONDS",), FORK_TOLD),
        PlanLine("days until full", "days", _until_full(demand, load, count, share), load.by, UNTIL_TOLD),
        *_backup_lines(demand, load),
        *_hot_lines(demand, load),
    ]  # fmt: skip
    amounts = {line.name: line.amount for line in lines}
    restart, full = amounts["restart of a node"].high, amounts["days until full"].likely
    warnings = _warnings(demand, load, _Grounds(primaries, workers, wanted, restart, full))
    return SizePlan(demand, lines, warnings, _assumptions(demand, load, present))


PARTITIONS_TOLD = "fixed when the store is made"
MEMORY_TOLD = "below 85 % of maxmemory, with gaps, and pages copied while its file is written anew"
MAXMEMORY_TOLD = "appends are refused from 85 % of it on"
DISK_TOLD = "its append-only file, doubled, and a new one beside it"
HELD_TOLD = "what they keep of memories, at most 200,000 of a partition and 600,000 each; the least is without any"
API_TOLD = "events over HTTP, 100 in a request; questions are not counted"
JOBS_TOLD = "each active owner's memories are loaded once a day; models and embedders are not counted"
FORK_TOLD = "nobody is answered that long, each time its file is written anew"
UNTIL_TOLD = "from an empty store until appends are refused, by the memory of these nodes"
_OF_WORKERS = ("WORKER_BYTES", "WORKER_MEMORY_BYTES")
_BYTES = ("STREAM_BYTES", "CHANGES_BYTES", "MEMORY_BYTES", "OWNER_BYTES", "REST_BYTES")


def _each(span: AmountSpan) -> tuple[float, float, float]:
    return span.low, span.likely, span.high


def _load(demand: Demand, present: PresentStore | None) -> _Load:
    more = float(demand.text - m.MEASURED_TEXT)
    told = demand.events_per_day * demand.days + (present.events if present else 0)
    made = told * m.MEMORIES_AN_EVENT.value
    memories = made if demand.memories_per_owner is None else demand.owners * demand.memories_per_owner
    events = max(told, memories / m.MEMORIES_AN_EVENT.value if memories > made else 0.0)
    stream = span_of(m.STREAM_BYTES, more * m.STREAM_A_LETTER.value) * events
    mean, dedupe = demand.events_per_day / DAY, _dedupe(events)
    if present is not None:
        data = AmountSpan(1 - NEAR, 1, 1 + NEAR) * (present.bytes_an_event * events)
    else:
        event = span_of(m.CHANGES_BYTES) + span_of(m.figures()[dedupe]) + span_of(m.REST_BYTES)
        if demand.sealed:
            event = event + span_of(m.SALTS_BYTES) + span_of(m.SEALED_BYTES)
        memory = span_of(m.MEMORY_BYTES, more * m.MEMORY_A_LETTER.value)
        data = stream + event * events + memory * memories + span_of(m.OWNER_BYTES) * demand.owners
    written = m.REWRITTEN_SEALED_BYTES if demand.sealed else m.REWRITTEN_BYTES
    file = span_of(written, more * m.AOF_A_LETTER.value) * events
    if present is not None and present.file_bytes_an_event:
        file = AmountSpan(0.5, 1, 1 + NEAR) * (present.file_bytes_an_event * events)
    return _Load(events, memories, mean, mean * demand.peak, stream, data, file, (*_BYTES, dedupe))


def _dedupe(events: float) -> str:
    """By which figure: a plan wants so many partitions that it lies in lists, as long as there may be more of them."""
    return "DEDUPE_TABLE_BYTES" if events > m.LISTED_EVENTS * MAX_PARTITIONS else "DEDUPE_BYTES"


def _memory(data: AmountSpan) -> AmountSpan:
    """Bytes of all nodes that so much data takes, by all that has to be free beside it."""
    return (data * (1 / APPEND_FULL)).by(span_of(m.RESIDENT_SHARE)).by(AmountSpan(*(1 + one for one in COPIED)))


def _primaries(needed: float) -> int:
    """One, or at least three: a Redis Cluster has no fewer."""
    found = ceil(needed - 1e-9)
    return max(found, 3) if found > 1 else 1


def _partitions(load: _Load, primaries: int, workers: int) -> int:
    """A power of two: enough for workers and nodes to share out, and so many that no stream grows too large to move."""
    least = max(
        DEFAULT_PARTITIONS, 4 * workers, ON_A_CLUSTER if primaries > 1 else 1, load.stream.likely / LARGEST_STREAM
    )
    return int(2 ** ceil(log2(least)))


def _held(load: _Load, workers: AmountSpan, partitions: int) -> AmountSpan:
    """Bytes of all fold workers: of all memories or as many as they keep; at first, and while owners are quiet, of none."""
    most = min(load.memories, float(m.CACHED_MEMORIES * partitions))
    memories = (min(most, one * m.CACHED_BY_A_WORKER) for one in (workers.low, workers.likely, workers.high))
    kept = span_of(m.WORKER_MEMORY_BYTES).by(AmountSpan(*memories))
    processes = span_of(m.WORKER_BYTES).by(workers + AmountSpan(1, 1, 1))
    return processes + AmountSpan(0, kept.likely, kept.high)


def _jobs(demand: Demand, load: _Load) -> AmountSpan:
    a_day = demand.active * load.memories * span_of(m.VIEW_CPU).likely / 1e6 / DAY / JOBS_BUSY
    return AmountSpan(0.3, 1, 3) * a_day


def _network(demand: Demand, load: _Load) -> AmountSpan:
    """Bytes a second of all primaries: what is written, once more for each replica, and what workers read."""
    return (span_of(m.AOF_BYTES) * (1 + demand.replicas) + span_of(m.STREAM_BYTES)) * load.peak


def _loading(events: float) -> AmountSpan:
    return span_of(m.LOADING_SECONDS) * (events / 1e6)


def _fork(data: float) -> AmountSpan:
    return span_of(m.FORK_SECONDS) * (data / 1e9)


def _until_full(demand: Demand, load: _Load, primaries: int, share: float) -> AmountSpan:
    each = _memory(load.data) * (share * primaries / load.events)
    held = demand.node_gib * GIB * primaries
    found = [held / one / demand.events_per_day for one in _each(each)]
    return AmountSpan(found[2], found[1], found[0])


def _backup_lines(demand: Demand, load: _Load) -> list[PlanLine]:
    size = m.BACKUP_SEALED_BYTES if demand.sealed else m.BACKUP_BYTES
    name = "BACKUP_SEALED_BYTES" if demand.sealed else "BACKUP_BYTES"
    hour = load.events / 1e6 / 3_600
    more = max(demand.text - m.MEASURED_TEXT, 0) * m.STREAM_A_LETTER.value
    return [
        PlanLine("backup", "bytes", AmountSpan(0.7, 1, 1.5).by(span_of(size, more)) * load.events, (name,), "of all there is"),
        PlanLine("backup, CPU", "hours", span_of(m.BACKUP_CPU) * hour, ("BACKUP_CPU",), "one process"),
        PlanLine("restore, CPU", "hours", span_of(m.RESTORE_CPU) * hour, ("RESTORE_CPU",), "one process"),
        PlanLine("rebuild, CPU", "hours", span_of(m.REBUILD_CPU) * hour, ("REBUILD_CPU",), "all partitions"),
        PlanLine("verify, CPU", "hours", span_of(m.VERIFY_CPU) * hour, ("VERIFY_CPU",), "all partitions"),
    ]  # fmt: skip


def _hot_lines(demand: Demand, load: _Load) -> list[PlanLine]:
    if demand.hot_hours is None:
        return []
    kept = min(demand.hot_hours / 24 * demand.events_per_day / load.events, 1.0)
    data = AmountSpan(
        *(one - stream * (1 - kept) for one, stream in zip(_each(load.data), _each(load.stream), strict=True))
    )
    told = f"if the log of {demand.hot_hours:g} hours alone lay in Redis: not so today, there is no archive"
    return [PlanLine("data, hot", "bytes", data, load.by, told)]


class _Grounds(msgspec.Struct, frozen=True):
    """What warnings go by."""

    primaries: AmountSpan
    workers: AmountSpan
    wanted: int
    """Partitions."""
    restart: float
    full: float


def _warnings(demand: Demand, load: _Load, grounds: _Grounds) -> list[PlanWarning]:
    found = (*_of_time(demand, grounds), *_of_parts(load, grounds), *_far(demand, load, grounds))
    return [PlanWarning(code, told) for holds, code, told in found if holds]


Looked = tuple[bool, str, str]
"""Whether a warning holds, its name, its words."""


def _of_time(demand: Demand, grounds: _Grounds) -> list[Looked]:
    full = f"these nodes are full after {grounds.full:,.0f} days, not {demand.days:,}: the whole log stays in Redis"
    away = f"a node that has to read its own file again is away for up to {grounds.restart / 60:,.0f} minutes"
    lost = "a node that is lost takes what it holds with it until it is back from its own disk"
    return [
        (grounds.full < demand.days, "full_before_the_end", full),
        (grounds.restart > LONG_RESTART, "long_restart", f"{away}; a replica takes its place in seconds"),
        (demand.replicas == 0, "no_replica", lost),
    ]


def _of_parts(load: _Load, grounds: _Grounds) -> list[Looked]:
    partitions = min(grounds.wanted, MAX_PARTITIONS)
    stream, fastest = load.stream.likely / partitions, 1e6 / m.FOLD_CPU.high
    away = stream / 1e6 * m.MOVING_SECONDS.value
    many = f"{grounds.wanted:,} partitions would be wanted, and there are {MAX_PARTITIONS:,} at most"
    nodes = f"{grounds.primaries.likely:,.0f} primaries would be wanted, and no more are of use than partitions"
    moved = f"a partition's stream grows to {stream / 1e6:,.0f} MB: its node answers nobody for {away:,.1f} s while it is moved"
    hot = (
        f"one worker folds an owner, {fastest:,.0f} events/s at worst: one with 4 % of all events is behind at the peak"
    )
    idle = "a worker beyond one for each partition has nothing to fold"
    return [
        (grounds.wanted > MAX_PARTITIONS, "too_many_partitions", many),
        (grounds.primaries.likely > partitions, "too_many_primaries", nodes),
        (stream > LARGEST_STREAM, "large_slot", moved),
        (load.peak * LARGEST_OWNER > fastest, "hot_owner", hot),
        (grounds.workers.likely + 1 > partitions, "more_workers_than_partitions", idle),
    ]


def _far(demand: Demand, load: _Load, grounds: _Grounds) -> list[Looked]:
    """What lies far beyond what was measured."""
    beyond = {
        "events of a node": (load.events / min(grounds.primaries.likely, MAX_PARTITIONS), m.MEASURED_EVENTS),
        "owners": (float(demand.owners), m.MEASURED_OWNERS),
        "primaries": (grounds.primaries.likely, m.MEASURED_PRIMARIES),
        "fold workers": (grounds.workers.likely, m.MEASURED_WORKERS),
    }
    return [
        (asked / had >= FAR, "extrapolated", f"{what}: extrapolated {asked / had:,.0f} times beyond what was measured ({had:,})")
        for what, (asked, had) in beyond.items()
    ]  # fmt: skip


def _assumptions(demand: Demand, load: _Load, present: PresentStore | None) -> list[str]:
    counted = f"{load.events:,.0f} events and {load.memories:,.0f} memories after {demand.days:,} days"
    found = [
        f"{counted}; {load.mean:,.1f} events/s in the mean, {load.peak:,.1f} at the peak",
        "the whole log stays in Redis: there is no archive yet, so memory grows for as long as events come",
        "owners' sizes are skewed as in the benchmark; figures are of CPU, and disks and networks must keep up",
    ]
    if present is not None:
        found.append(
            f"bytes by the store's own {present.bytes_an_event:,.0f} an event and the {present.events:,} events that it holds,"
            " in place of what was measured: text and sealed count no more there"
        )
    elif demand.memories_per_owner is not None and load.events > demand.events_per_day * demand.days * 1.001:
        found.append("so many memories take more events than come: the others are there already")
    return found
