"""Where every partition of a store stands, and its workers: what `status` reads, in a few round trips whatever their number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from api.shapes import PartitionStatus
from events.envelope import from_micros, utc_text
from events.partitions import LogKeys
from events.redis.recorded import recorded_in
from events.redis.wire import Argument, Wire
from projections.fold.builds import BuildKeys, is_build, next_build
from projections.redis.store import read_stuck

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


def _left(keys: BuildKeys, beside: Sequence[bytes | None]) -> dict[str, str | int | None] | None:
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
