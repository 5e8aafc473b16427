"""The servers that hold a store, and what of it can be reached: one Redis, or the primaries of a Cluster.

Each is asked once. A node that does not answer costs as long as one connection may take (`ENGRAMLOG_REDIS_TIMEOUT`), is told with
what is wrong with it, and keeps nothing of the others from being told.

Where every partition of a store stands, and its workers: what `status` reads, in a few round trips whatever their number.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from engramlog_server.events.envelope import from_micros, utc_text
from engramlog_server.events.errors import StoreUnavailable
from engramlog_server.events.partitions import STORE_KEY, LogKeys
from engramlog_server.events.redis.admission import Debt, Room
from engramlog_server.events.redis.cluster.wire import ClusterWire
from engramlog_server.events.redis.durability import read_durability
from engramlog_server.events.redis.log import recorded_in
from engramlog_server.events.redis.wire import Argument, ServerWire, Wire, in_haste
from engramlog_server.projections.redis.builds import BuildKeys, is_build, next_build
from engramlog_server.projections.redis.store import read_stuck
from engramlog_server.projections.redis.usage import FoldDebt
from engramlog_server.projections.shapes import (
    NodeReplica,
    NodeStanding,
    PartitionsAway,
    PartitionStatus,
    RebuildBeside,
)

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
    _tell_waits(wire, tags, told, now_ms)
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


def _tell_waits(wire: Wire, tags: Sequence[str], told: Sequence[PartitionStatus], now_ms: int) -> None:
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


def workers_told(workers: Mapping[str, Mapping[str, Any]], now_ms: int) -> list[dict[str, object]]:
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
