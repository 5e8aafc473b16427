"""What the store takes: memory, disk and the append-only file until they are full, what models took, and the job queue.

It tells what is there, how fast the log grows, and what follows from both. Reads only. `consumers` reads the queue, and `ops`
passes that in.

The servers that hold a store, and what of it can be reached: one Redis, or the primaries of a Cluster.

Each is asked once. A node that does not answer costs as long as one connection may take (`ENGRAMLOG_REDIS_TIMEOUT`), is told with
what is wrong with it, and keeps nothing of the others from being told.

Where every partition of a store stands, and its workers: what `status` reads, in a few round trips whatever their number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from datetime import timedelta
from math import isfinite
from typing import Any, Literal, NamedTuple

from engramlog_server.api.checks import check_limit
from engramlog_server.events.envelope import from_micros, utc_text
from engramlog_server.events.errors import StoreUnavailable
from engramlog_server.events.partitions import STORE_KEY, LogKeys
from engramlog_server.events.redis.cluster import ClusterWire
from engramlog_server.events.redis.durability import read_durability
from engramlog_server.events.redis.log import APPEND_FULL, Debt, Room, read_room, recorded_in, recorded_of
from engramlog_server.events.redis.server import redis_micros, release_of
from engramlog_server.events.redis.wire import Argument, ServerWire, Wire, WirePool, in_haste
from engramlog_server.projections.fold.changelog import REASONS, reason_told
from engramlog_server.projections.redis.builds import BuildKeys, is_build, next_build
from engramlog_server.projections.redis.store import read_stuck
from engramlog_server.projections.redis.usage import FoldDebt, UseCounted, last_days, read_uses, room_by_part
from engramlog_server.projections.shapes import (
    AofCapacity,
    Capacity,
    ChatSet,
    DiskCapacity,
    EmbedderSet,
    Growth,
    JobBoard,
    MemoryCapacity,
    MemoryPart,
    ModelsUsed,
    NodeReplica,
    NodeStanding,
    PartitionsAway,
    PartitionStatus,
    RebuildBeside,
    RoomLeft,
    TokensUsed,
)

OK = "ok"


class DiskRoom(NamedTuple):
    """The disk of a data folder, in bytes."""

    free: int
    total: int
    wanted: int
    """Free bytes with which the next rewrite of the append-only file has room."""
    reserve: int = 0
    """Free bytes under which no writes are taken."""


class AppendOnlyFile(NamedTuple):
    """The append-only file as Redis tells of it; of a Cluster those of all nodes together, where the worst counts."""

    enabled: bool
    bytes: int | None
    """None where it is off."""
    base_bytes: int | None
    """Bytes after the last rewrite."""
    write_ok: bool
    """Whether the last write and its fsync succeeded."""
    rewrite_ok: bool
    rewriting: bool
    rewrite_seconds: int | None
    """What the last rewrite took; None where there was none since Redis started."""
    delayed_fsyncs: int
    """Writes that waited for an fsync in the background since Redis started; with `appendfsync always` there are none."""


class Kept(NamedTuple):
    """What is read for one scrape."""

    server: str
    """Product and version, such as "Valkey 9.1.2"; of a Cluster whose nodes differ: each once."""
    aof: AppendOnlyFile
    disk: DiskRoom | None
    """None where the disk is not this machine's to look at, or could not be looked at."""
    trouble: str | None
    """Why the disk could not be looked at."""


class Supervision:
    """Asks Redis and the disk. Safe for threads: a connection of its own a call."""

    def __init__(self, wire: Callable[[], Wire], disk: Callable[[], DiskRoom] | None = None) -> None:
        self._wire = wire
        self._disk = disk

    def kept(self) -> Kept:
        """How it stands now. Raises StoreError where Redis does not answer."""
        with closing(self._wire()) as wire:
            told = [(info(one, "server"), read_aof(info(one, "persistence"))) for _, one in wire.servers()]
        disk, trouble = None, None
        try:
            disk = None if self._disk is None else self._disk()
        except OSError as error:
            trouble = str(error.strerror or error)
        servers = sorted({str(release_of(server)) for server, _ in told})
        return Kept(", ".join(servers), _together([aof for _, aof in told]), disk, trouble)


def info(wire: Wire, section: str) -> dict[str, str]:
    """A section of what one server tells of itself, by field. Raises StoreError."""
    answer: Any = wire.call("INFO", section)
    return dict(line.split(":", 1) for line in answer.decode("utf-8", "replace").splitlines() if ":" in line)


def replicas_online(replication: dict[str, str]) -> int:
    """How many replicas follow a server, by what it tells of replication."""
    return sum(1 for name, value in replication.items() if name.startswith("slave") and "state=online" in value)


def _together(files: Sequence[AppendOnlyFile]) -> AppendOnlyFile:
    """Those of a Cluster's nodes as one: sizes in sum, and what fails at one node fails."""
    if len(files) == 1:
        return files[0]
    took = [one.rewrite_seconds for one in files if one.rewrite_seconds is not None]
    return AppendOnlyFile(
        enabled=all(one.enabled for one in files),
        bytes=_sum(one.bytes for one in files),
        base_bytes=_sum(one.base_bytes for one in files),
        write_ok=all(one.write_ok for one in files),
        rewrite_ok=all(one.rewrite_ok for one in files),
        rewriting=any(one.rewriting for one in files),
        rewrite_seconds=max(took, default=None),
        delayed_fsyncs=sum(one.delayed_fsyncs for one in files),
    )


def _sum(sizes: Iterable[int | None]) -> int | None:
    """None where one is not known: a sum of fewer would look like less."""
    known = list(sizes)
    return None if None in known else sum(one for one in known if one is not None)


def read_aof(told: dict[str, str]) -> AppendOnlyFile:
    """The fields of all supported servers; one that is not told is None, or what harms nobody."""

    def number(name: str) -> int | None:
        return int(told[name]) if told.get(name, "").lstrip("-").isdecimal() else None

    took = number("aof_last_rewrite_time_sec")
    return AppendOnlyFile(
        enabled=told.get("aof_enabled") == "1",
        bytes=number("aof_current_size"),
        base_bytes=number("aof_base_size"),
        write_ok=told.get("aof_last_write_status", OK) == OK,
        rewrite_ok=told.get("aof_last_bgrewrite_status", OK) == OK,
        rewriting=told.get("aof_rewrite_in_progress") == "1",
        rewrite_seconds=None if took is None or took < 0 else took,
        delayed_fsyncs=number("aof_delayed_fsync") or 0,
    )


DAYS, MOST_DAYS = 7, 366
DAY = 86_400_000_000
"""Microseconds."""
LEAST = DAY // 24
"""A log that is younger tells no growth."""
MOST_TOLD = 36_525.0
"""Days; what lasts longer is told in words."""
OUTSIDE = "outside keys"
"""The server itself, its connections and scripts, and what its allocator rounds up."""
ELSEWHERE = REASONS["room_elsewhere"]
WARN_FULL = 0.70
"""Share of maxmemory, with what folding will still take, from which `status` warns."""


class Lasting(NamedTuple):
    """How long something lasts at a growth."""

    days: float | None
    at: str | None
    unknown: str | None


class Capacities:
    """Measures one store. Safe for threads. `kept` tells of disk and file."""

    def __init__(self, wires: WirePool, tags: Sequence[str], kept: Callable[[], Kept]) -> None:
        self._wires = wires
        self._tags = tags
        self._kept = kept

    def capacity(self, *, days: int = DAYS) -> Capacity:
        """Memory, disk and the append-only file, and until when they last at the growth of the last `days` (1 to 366).

        Raises InputError, StoreError.
        """
        check_limit(days, MOST_DAYS, "days")
        with self._wires.wire() as wire:
            now = redis_micros(wire)
            heads = wire.answers([["HGET", LogKeys(tag).meta, "head"] for tag in self._tags])
            read = _Recorded(wire, self._tags, [int(head or 0) for head in heads])
            growth = _growth(read, now, days)
            memory, nodes = self._memories(wire, read, growth, now)
            parts = _parts(room_by_part(wire, self._tags), None if nodes else memory["used_bytes"], read.events)
        kept = self._kept()
        return {
            "at": utc_text(from_micros(now)),
            "events": read.events,
            "growth": growth,
            "memory": memory,
            "nodes": nodes,
            "parts": parts,
            "disk": _disk(kept, read.events, growth, now),
            "aof": _aof(kept.aof),
        }

    def _memories(
        self, wire: Wire, read: _Recorded, growth: Growth, now: int
    ) -> tuple[MemoryCapacity, list[MemoryCapacity] | None]:
        """The server's memory; of a Cluster that of the node that decides, and every node's. Raises StoreUnavailable where one
        cannot be reached: what it lacks nobody could tell."""
        if not wire.many:
            return _memory(read_room(wire, FoldDebt(self._tags)), read.events, growth, now), None
        found = read_nodes(wire, self._tags)
        for one in found.nodes:
            if one["problem"] is not None:
                raise StoreUnavailable(one["problem"], retry_after=1, node=one["name"])
        nodes, decides = list[MemoryCapacity](), found.fullest()
        memory = _memory(Room(), 0, growth, now)
        for one in found.nodes:
            events = sum(read.heads[number] for number in one["partitions"])
            room = room_of(wire, one, [self._tags[number] for number in one["partitions"]])
            a_day = growth["events_a_day"]
            mine: Growth = {**growth, "events_a_day": a_day and round(a_day * events / read.events, 1)}
            told: MemoryCapacity = {**_memory(room, events, mine, now), "node": one["name"]}
            nodes.append(told)
            if one is decides:
                of_all = outlook(room, events, beside=read.events - events).get("events_until_full")
                memory = {**told, "events_until_full": of_all}
        return memory, nodes


class _Recorded:
    """When the events of every partition were recorded, looked up by one round trip a step for all partitions together."""

    def __init__(self, wire: Wire, tags: Sequence[str], heads: Sequence[int]) -> None:
        self._wire = wire
        self._keys = [LogKeys(tag).stream for tag in tags]
        self.heads = heads
        self.events = sum(heads)

    def at(self, seqs: Sequence[int]) -> list[int | None]:
        """Of one entry a partition; None where there is none, or none that tells."""
        return recorded_of(self._wire, list(zip(self._keys, seqs, strict=True)))

    def first(self) -> int | None:
        """The oldest first entry that tells when it was recorded, None where one does not."""
        found = self.at([1] * len(self._keys))
        there = [one for one, head in zip(found, self.heads, strict=True) if head]
        known = [one for one in there if one is not None]
        return min(known) if known and len(known) == len(there) else None

    def since(self, instant: int) -> int:
        """How many events were recorded at an instant or later: no partition's clock goes back, so halves tell."""
        low, high = [1] * len(self.heads), [head + 1 for head in self.heads]
        while any(one < other for one, other in zip(low, high, strict=True)):
            middle = [(one + other) // 2 for one, other in zip(low, high, strict=True)]
            for number, recorded in enumerate(self.at(middle)):
                if low[number] < high[number]:
                    if (recorded or 0) >= instant:
                        high[number] = middle[number]
                    else:
                        low[number] = middle[number] + 1
        return sum(max(head + 1 - one, 0) for head, one in zip(self.heads, low, strict=True))


def _growth(read: _Recorded, now: int, days: int) -> Growth:
    first = read.first()
    since = now - days * DAY if first is None else min(max(now - days * DAY, first), now)
    events = read.since(since) if read.events else 0
    span = now - since
    told = f"{span / DAY:.1f} days" if span >= 2 * LEAST else f"{span / 60_000_000:.0f} minutes"
    basis = f"{events:,} event{' was' if events == 1 else 's were'} recorded in the last {told}"
    if not read.events:
        basis = "the log holds no event"
    elif first is not None and since == first:
        basis += ", which is as old as the log is"
    measured = span >= LEAST and read.events > 0
    return {
        "days": round(span / DAY, 3),
        "since": utc_text(from_micros(since)),
        "events": events,
        "events_a_day": round(events * DAY / span, 1) if measured else None,
        "basis": basis if measured or not read.events else f"{basis}: too short a time to tell a growth",
    }


def lasting(free: float, bytes_a_day: float | None, now: int, why: str | None = None) -> Lasting:
    """How long so many bytes last at so many a day; `why`: what stands in the way of knowing."""
    if why is not None:
        return Lasting(None, None, why)
    if free <= 0:
        return Lasting(0.0, utc_text(from_micros(now)), None)
    if bytes_a_day is None:
        return Lasting(None, None, REASONS["room_young_log"])
    if bytes_a_day <= 0:
        return Lasting(None, None, REASONS["room_nothing_recorded"])
    days = free / bytes_a_day
    if not isfinite(days) or days > MOST_TOLD:
        return Lasting(None, None, REASONS["room_long"])
    return Lasting(round(days, 1), utc_text(from_micros(now) + timedelta(days=days)), None)


def _by_events(size: int | None, events: int, growth: Growth) -> tuple[float | None, int | None]:
    """Bytes an event, and bytes a day at this growth."""
    if not size or not events:
        return None, None
    each, a_day = size / events, growth["events_a_day"]
    return round(each, 1), None if a_day is None else round(each * a_day)


def _memory(room: Room, events: int, growth: Growth, now: int) -> MemoryCapacity:
    each, a_day = _by_events(room.used, events, growth)
    left = room.left(APPEND_FULL)
    why = None
    if left is None:
        why = REASONS["room_no_maxmemory"] if room.used else REASONS["room_untold_memory"]
    lasts = lasting(left or 0, a_day, now, why)
    return {
        "used_bytes": room.used or None,
        "max_bytes": room.limit,
        "refused_from_bytes": None if room.limit is None else int(APPEND_FULL * room.limit),
        "unfolded_bytes": room.debt.bytes,
        "used_share": None if room.limit is None else round(room.used_share, 4),
        "bytes_an_event": each,
        "events_until_full": outlook(room, events).get("events_until_full"),
        "bytes_a_day": a_day,
        "days_until_full": lasts.days,
        "full_at": lasts.at,
        "basis": _basis(each, "memory used by all events of the log", growth, lasts),
        "unknown": lasts.unknown,
        "unknown_code": _code(lasts.unknown),
        "node": None,
    }


def _parts(found: Mapping[str, int], used: int | None, events: int) -> list[MemoryPart]:
    """Each part's bytes, the largest first; last what no key holds, if one server says what it uses."""
    sizes = sorted(found.items(), key=lambda item: -item[1])
    if used is not None:
        sizes.append((OUTSIDE, max(used - sum(found.values()), 0)))
    return [
        {"part": part, "bytes": size, "bytes_an_event": round(size / events, 1) if events else None}
        for part, size in sizes
        if size
    ]


def _code(unknown: str | None) -> str | None:
    return None if unknown is None else reason_told(unknown).code


def _basis(each: float | None, what: str, growth: Growth, *lasts: Lasting) -> str | None:
    """What the days are reckoned by; None where none are told."""
    if all(one.days is None for one in lasts):
        return None
    if each is None or growth["events_a_day"] is None:
        return "it is full now"
    return f"{each:,.0f} bytes an event ({what}), and {growth['events_a_day']:,} events a day: {growth['basis']}"


def _disk(kept: Kept, events: int, growth: Growth, now: int) -> DiskCapacity:
    disk, size = kept.disk, kept.aof.bytes
    each, a_day = _by_events(size, events, growth)
    why = ELSEWHERE if disk is None else None if size else REASONS["room_no_file"]
    if kept.trouble is not None:
        why = f"the data folder's disk cannot be looked at: {kept.trouble}"
    there = disk or DiskRoom(0, 0, 0)
    full = lasting(there.free - there.reserve, a_day, now, why)
    # A rewrite takes as much again as the file: room for it shrinks as the file grows, and with the free bytes.
    low = lasting(there.free - there.wanted, None if a_day is None else 2 * a_day, now, why)
    basis = _basis(each, "the append-only file by all events of the log", growth, full, low)
    return {
        "free_bytes": disk and disk.free,
        "total_bytes": disk and disk.total,
        "wanted_bytes": disk and disk.wanted,
        "reserve_bytes": disk and disk.reserve,
        "bytes_an_event": each,
        "bytes_a_day": a_day,
        "days_until_low": low.days,
        "low_at": low.at,
        "days_until_full": full.days,
        "full_at": full.at,
        "basis": f"{basis}; what others write to the disk is not counted" if basis and a_day is not None else basis,
        "unknown": full.unknown,
        "unknown_code": _code(full.unknown),
    }


def _aof(aof: AppendOnlyFile) -> AofCapacity:
    return {
        "enabled": aof.enabled,
        "bytes": aof.bytes,
        "base_bytes": aof.base_bytes,
        "write_ok": aof.write_ok,
        "rewrite_ok": aof.rewrite_ok,
        "rewriting": aof.rewriting,
    }


def outlook(room: Room, events: int, *, node: str | None = None, beside: int = 0) -> RoomLeft:
    """Bytes in use and allowed, what folding will still take, and how many events of the mean size are left.

    Of the fullest `node` of a Cluster with its `events`: those of the others (`beside`) grow with them.
    """
    told: RoomLeft = {
        "used_bytes": room.used or None,
        "max_bytes": room.limit,
        "unfolded_bytes": room.debt.bytes,
    }
    if node is not None:
        told["node"] = node
    if not room.used or not events:
        return told
    each = (room.used + room.debt.bytes) / events
    told["bytes_an_event"] = round(room.used / events, 1)
    left = room.left(APPEND_FULL)
    if left is not None:
        share = room.used_share + room.debt_share
        most = max(int(left / each * (events + beside) / events), 0)
        told["used_share"], told["events_until_full"] = round(room.used_share, 4), most
        if share >= WARN_FULL:
            waits = (
                f", folding what waits will take about {room.debt_share:.0%} more" if room.debt_share >= 0.01 else ""
            )
            who = "Redis" if node is None else f"Node {node} of the cluster"
            told["warning"] = (
                f"{who} uses {room.used_share:.0%} of its maxmemory{waits}; appends are refused from {APPEND_FULL:.0%} on"
            )
    return told


class JobQueue:
    """Tells the jobs of one store. Safe for threads if `board` is."""

    def __init__(self, board: Callable[[], JobBoard]) -> None:
        self._board = board

    def jobs(self) -> JobBoard:
        """Every kind of job with how it last went, and the jobs that run, wait or failed, at most 200. Reads only."""
        return self._board()


USE_DAYS, MOST_USE_DAYS = 30, 366


class ModelsNamed(NamedTuple):
    """The models of the settings."""

    chat: ChatSet | None = None
    embedder: EmbedderSet | None = None


class ModelUses:
    """Tells what models took. Safe for threads."""

    def __init__(self, wires: WirePool, named: Callable[[], ModelsNamed], lost: Callable[[], int]) -> None:
        """`named`: the models, and how the embedder was asked in this process; `lost`: questions that it could not count."""
        self._wires = wires
        self._named = named
        self._lost = lost

    def models(self, *, days: int = USE_DAYS) -> ModelsUsed:
        """Each model and use since counting began, and by day over the last `days` (1 to 366). Raises InputError, StoreError."""
        check_limit(days, MOST_USE_DAYS, "days")
        with self._wires.wire() as wire:
            now = from_micros(redis_micros(wire))
            in_all, by_day = read_uses(wire, last_days(now, days))
        named = self._named()
        return {
            "at": utc_text(now),
            "since": min((one.first for one in in_all if one.first), default=None),
            "chat": named.chat,
            "embedder": named.embedder,
            "used": [{**_told(one), "first": one.first, "last": one.last} for one in in_all],
            "days": [{**_told(one), "day": day} for day, found in by_day.items() for one in found],
            "lost": self._lost(),
        }


def _told(one: UseCounted) -> TokensUsed:
    counts = one.counts
    return {
        "model": one.model,
        "use": one.use,
        "asked": counts["asked"],
        "failed": counts["failed"],
        "requests": counts["requests"],
        "input_tokens": counts["input_tokens"],
        "output_tokens": counts["output_tokens"],
    }


_CHECKPOINT = (
    *("seq", "head", "digest", "memories", "waiting", "full", "refused"),
    *("epoch", "holder", "until"),
)
_BESIDE = ("epoch", "seq", "holder")


def read_partitions(
    wire: Wire, tags: Sequence[str], now_ms: int, only: Sequence[int] | None = None
) -> list[PartitionStatus]:
    """Every partition's head, checkpoint, lag, lease and quarantined owners, or those of some (`only`, by their numbers): two
    round trips, a third where some lag. `now_ms`: by the clock of the server that holds them. Raises StoreError."""
    numbers = range(len(tags)) if only is None else only
    metas = wire.answers([["HMGET", LogKeys(tags[number]).meta, "head", "live"] for number in numbers])
    keys = [BuildKeys(tags[n], (live or b"").decode()) for n, (_, live) in zip(numbers, metas, strict=True)]
    commands: list[list[Argument]] = []
    for one in keys:
        fresh = BuildKeys(one.tag, next_build(one.build)) if is_build(one.build) else one
        commands += [
            ["HMGET", one.checkpoint, *_CHECKPOINT],
            ["HKEYS", one.quarantine],
            ["HMGET", fresh.checkpoint, *_BESIDE],
        ]
    answers = iter(wire.answers(commands))
    parts = zip(numbers, keys, metas, answers, answers, answers, strict=True)
    told = [
        _partition(number, one, int(head or 0), checkpoint, stuck, beside, now_ms)
        for number, one, (head, _), checkpoint, stuck, beside in parts
    ]
    _measure_waits(wire, tags, told, now_ms)
    return told


def _partition(
    number: int,
    keys: BuildKeys,
    head: int,
    checkpoint: Sequence[bytes | None],
    stuck: Sequence[bytes],
    beside: Sequence[bytes | None],
    now_ms: int,
) -> PartitionStatus:
    found = dict(zip(_CHECKPOINT, checkpoint, strict=True))
    seq, until = int(found["seq"] or 0), int(found["until"] or 0)
    holder, chain, digest = found["holder"], found["head"], found["digest"]
    held = bool(holder) and until > now_ms
    return {
        "partition": number,
        "head": head,
        "checkpoint": seq,
        "lag": head - seq,
        "checkpoint_age": 0.0,
        "holder": holder.decode() if holder and held else None,
        "lease_until": utc_text(from_micros(until * 1_000)) if held else None,
        "lease_seconds": round((until - now_ms) / 1_000, 3) if held else None,
        "epoch": int(found["epoch"] or 0),
        "quarantined": sorted(name.decode() for name in stuck),
        "memories": int(found["memories"] or 0),
        "waiting": int(found["waiting"] or 0),
        "full_inboxes": int(found["full"] or 0),
        "refused": int(found["refused"] or 0),
        "build": keys.build,
        "chain": chain.hex() if chain else None,
        "digest": digest.decode() if digest else None,
        "rebuild": _left(keys, beside),
    }


def _left(keys: BuildKeys, beside: Sequence[bytes | None]) -> RebuildBeside | None:
    """What a rebuild has folded beside the live build, and whether it goes on."""
    epoch, seq, holder = beside
    if not is_build(keys.build) or epoch is None:
        return None
    return {"build": next_build(keys.build), "seq": int(seq or 0), "holder": holder.decode() if holder else None}


def _measure_waits(wire: Wire, tags: Sequence[str], told: Sequence[PartitionStatus], now_ms: int) -> None:
    """How long the first event behind each checkpoint has waited; None where the log does not tell that, or is not whole."""
    behind = [one for one in told if one["lag"] > 0]
    asked: list[list[Argument]] = [
        ["XRANGE", LogKeys(tags[one["partition"]]).stream, f"{one['checkpoint'] + 1}-0", "+", "COUNT", 1]
        for one in behind
    ]
    for one, answer in zip(behind, wire.answers(asked) if asked else (), strict=True):
        recorded = recorded_in(answer, tags[one["partition"]])
        waited = None if recorded is None else round(max(now_ms / 1_000 - recorded / 1_000_000, 0.0), 3)
        one["checkpoint_age"] = waited


def count_locked(wire: Wire, tags: Sequence[str], partitions: Sequence[PartitionStatus]) -> int:
    """How many owners of a sealed store stand still for want of their key."""
    stuck = [one for one in partitions if one["quarantined"]]
    return sum(len(read_stuck(wire, BuildKeys(tags[one["partition"]], one["build"]), locked=True)) for one in stuck)


def workers_answer(workers: Mapping[str, Mapping[str, Any]], now_ms: int) -> list[dict[str, object]]:
    """Workers by name, each with when it last gave a sign of life and how fast it folds, where it tells that."""
    return [
        {
            "worker": name,
            "rate": None,
            **facts,
            "seen": utc_text(from_micros(int(facts["beat_ms"]) * 1_000)),
            "seen_seconds": round(max(now_ms - int(facts["beat_ms"]), 0) / 1_000, 3),
        }
        for name, facts in sorted(workers.items())
    ]


HASTE_SECONDS = 0.5
"""How long a look at a store waits for a slot that is being moved: another look follows."""
SOCKET = "socket"
"""The name of a server that is reached by a socket of this machine."""


class NodesRead(NamedTuple):
    """What was found."""

    now_ms: int
    """By the clock of the server that holds the store's own key, or of another where that one is away: milliseconds since 1970."""
    nodes: list[NodeStanding]
    partitions: list[PartitionStatus]
    """Those that could be read, by number."""
    away: list[PartitionsAway]
    """The others, by why."""

    def is_away(self, wire: Wire, key: Argument) -> bool:
        """Whether a key lies where nothing could be read."""
        try:
            name = wire.node_of(key)
        except StoreUnavailable:
            return True
        return wire.many and any(one["name"] == name and not one["reachable"] for one in self.nodes)

    def fullest(self) -> NodeStanding | None:
        """Which node's memory decides for how long the store has room; without limits the one with most in use."""
        told = [one for one in self.nodes if one["used_bytes"] is not None]
        return max(told, key=lambda one: (one["used_share"] or 0.0, one["used_bytes"] or 0), default=None)


def read_nodes(wire: Wire, tags: Sequence[str]) -> NodesRead:
    """Every server and every partition that can be read. Raises StoreUnavailable where no server can be, or one server cannot."""
    with in_haste(wire, HASTE_SECONDS):
        held, nowhere = _held(wire, tags)
        slots, replicas = dict[str, int](), dict[str, list[str]]()
        if isinstance(wire, ClusterWire):
            slots, replicas = wire.cluster.slots_of(), wire.cluster.replicas_of()
        found = [_Looked.at(name, one, wire.many) for name, one in wire.servers()]
        if all(one.error is not None for one in found):
            raise next(one.error for one in found if one.error is not None)
        partitions, away = list[PartitionStatus](), list[PartitionsAway]()
        if nowhere:
            away.append({"node": None, "partitions": nowhere, "problem": "no node of the cluster holds its slots"})
        for one in found:
            numbers = held.get(one.name, [])
            if one.error is None:
                read, lost = _read(wire, tags, numbers, one.ms)
                partitions += read
            else:
                lost = {one.error.message: numbers} if numbers else {}
            away += [{"node": one.name, "partitions": some, "problem": why} for why, some in lost.items()]
        at = next((one for one in found if one.error is None and one.name == _name_of(wire, STORE_KEY)), None)
        at = at or next(one for one in found if one.error is None)
        nodes = [one.told(held.get(one.name, []), slots.get(one.name), replicas.get(one.name, ())) for one in found]
    return NodesRead(at.ms, nodes, sorted(partitions, key=lambda one: one["partition"]), away)


def room_of(wire: Wire, node: NodeStanding, tags: Sequence[str]) -> Room:
    """How a node of a Cluster stands, with what folding will take of the partitions that it holds (`tags`)."""
    used, limit = node["used_bytes"] or 0, node["max_bytes"]
    try:
        return Room(used, limit, FoldDebt(tags)(wire) if limit is not None and tags else Debt())
    except StoreUnavailable:
        return Room(used, limit)


def _name_of(wire: Wire, key: Argument) -> str | None:
    try:
        return wire.node_of(key)
    except StoreUnavailable:
        return None


def _held(wire: Wire, tags: Sequence[str]) -> tuple[dict[str, list[int]], list[int]]:
    """Partitions by the node that holds them; and those that none holds."""
    held, nowhere = dict[str, list[int]](), list[int]()
    for number, tag in enumerate(tags):
        name = _name_of(wire, LogKeys(tag).meta)
        if name is None:
            nowhere.append(number)
        else:
            held.setdefault(name, []).append(number)
    return held, nowhere


def _read(
    wire: Wire, tags: Sequence[str], numbers: Sequence[int], now_ms: int
) -> tuple[list[PartitionStatus], dict[str, list[int]]]:
    """The partitions of one node; and those of which nothing can be read, by why. Raises StoreUnavailable of one server."""
    if not numbers:
        return [], {}
    try:
        return read_partitions(wire, tags, now_ms, numbers), {}
    except StoreUnavailable as error:
        if not wire.many:
            raise
        if "node" in error.context or len(numbers) == 1:  # the node was lost; else one of these slots is being moved
            return [], {error.message: list(numbers)}
    read, lost = list[PartitionStatus](), dict[str, list[int]]()
    with in_haste(wire, 0.0):
        for number in numbers:
            some, away = _read(wire, tags, [number], now_ms)
            read += some
            for why, which in away.items():
                lost.setdefault(why, []).extend(which)
    return read, lost


class _Looked(NamedTuple):
    """What one server told, or why it did not."""

    name: str
    error: StoreUnavailable | None
    shown: str = ""
    ms: int = 0
    memory: Mapping[str, str] = {}
    replication: Mapping[str, str] = {}
    fsynced: bool | None = None

    @classmethod
    def at(cls, name: str, wire: ServerWire, many: bool) -> _Looked:
        """Ask it. Raises StoreUnavailable where there is no other server."""
        try:
            clock, memory, replication = wire.pipeline([["TIME"], ["INFO", "memory"], ["INFO", "replication"]])
            if isinstance(clock, Exception):
                clock = wire.call("TIME")  # which raises what that means
            fsynced = read_durability(wire)
        except StoreUnavailable as error:
            if not many:
                raise
            return cls(name, error, name)
        ms = int(clock[0]) * 1_000 + int(clock[1]) // 1_000
        shown = name if many else wire.peer or SOCKET
        return cls(name, None, shown, ms, _fields(memory), _fields(replication), fsynced)

    def told(self, partitions: list[int], slots: int | None, known: Sequence[str]) -> NodeStanding:
        """What an operator is told of it. `known`: replicas that the cluster tells of."""
        used, limit = (_number(self.memory, name) for name in ("used_memory", "maxmemory"))
        return {
            "name": self.shown,
            "role": _role(self.replication.get("role")),
            "reachable": self.error is None,
            "problem": None if self.error is None else self.error.message,
            "slots": slots,
            "partitions": partitions,
            "used_bytes": used,
            "max_bytes": limit or None,
            "used_share": round(used / limit, 4) if used is not None and limit else None,
            "replicas": _replicas(self.replication, known),
            "fsynced": self.fsynced,
        }


def _role(told: str | None) -> Literal["primary", "replica"] | None:
    """In our words; None where the server does not tell."""
    return None if told is None else "replica" if told == "slave" else "primary"


def _replicas(told: Mapping[str, str], known: Sequence[str]) -> list[NodeReplica]:
    """Those that are linked to a primary, and those that only the cluster tells of."""
    found: list[NodeReplica] = []
    head = _number(told, "master_repl_offset")
    for name, line in sorted(told.items()):
        if name.startswith("slave") and name[5:].isdecimal():
            one = dict(pair.partition("=")[::2] for pair in line.split(","))
            offset = _number(one, "offset")
            found.append(
                {
                    "name": f"{one.get('ip', '')}:{one.get('port', '')}",
                    "state": one.get("state", "unknown"),
                    "behind_bytes": None if head is None or offset is None else max(head - offset, 0),
                    "seen_seconds": _number(one, "lag"),
                }
            )
    linked = {one["name"] for one in found}
    if len(linked) >= len(known):  # by other names, where nodes are announced by theirs
        return found
    state = "not linked" if told else "unknown"
    found += [
        {"name": name, "state": state, "behind_bytes": None, "seen_seconds": None}
        for name in known
        if name not in linked
    ]
    return found


def _fields(answer: Any) -> dict[str, str]:
    """The lines of INFO; none where it is refused."""
    lines = answer.decode("utf-8", "replace").splitlines() if isinstance(answer, bytes) else []
    return dict(line.split(":", 1) for line in lines if ":" in line)


def _number(told: Mapping[str, str], name: str) -> int | None:
    value = told.get(name, "")
    return int(value) if value.isdecimal() else None
