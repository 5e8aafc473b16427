"""Where the fold's time goes: shares by part of the code, from one profiled fold."""

from __future__ import annotations

import cProfile
import pstats
from pathlib import Path
from typing import Any

from consumers.fold.worker import FoldWorker
from events.envelope import prepare
from ops.bench.fold import GIVE_UP_SECONDS, fill
from ops.bench.sample import EVENTS_AN_OWNER, sample
from ops.bench.server import BenchServer

PARTS = {
    "decode": ("events/envelope.py", "events/redis/log.py", "json.Decoder"),
    "sensitivity": ("projections/sensitivity",),
    "reinforcement and links": (
        "projections/fold/use.py",
        "projections/fold/link.py",
        "projections/laws/spaced.py",
        "laws/tiered.py",
    ),
    "evolve": (
        "projections/evolve",
        "projections/fold/working_set.py",
        "projections/memory/record.py",
        "projections/fold/owner.py",
        "projections/fold/partition.py",
    ),
    "weights": ("projections/laws",),
    "change log and hashes": ("projections/fold/changelog.py", "openssl", "HASH", "blake2b", "sha256"),
    "encode and commit": (
        "projections/redis/store.py",
        "msgpack",
        "hiredis",
        "redis/",
        "socket",
        "consumers/",
        "events/redis/wire.py",
    ),
}
"""A function belongs to the first part of whose names one is in its file or name; the rest is `other`."""


def measure(server: BenchServer, events: int) -> dict[str, Any]:
    """Shares of own time, and the twenty functions with most of it. The profiler itself slows calls: read shares, not times."""
    ready = [prepare(event) for event in sample(events, max(events // EVENTS_AN_OWNER, 1))]
    tags, heads = fill(server, ready)
    worker = FoldWorker(server.client, tags, "bench")
    profile = cProfile.Profile()
    profile.enable()
    worker.drain(heads, GIVE_UP_SECONDS)
    profile.disable()
    worker.hand_over()
    own: dict[tuple[str, int, str], float] = {
        where: found[2]
        for where, found in pstats.Stats(profile).stats.items()  # type: ignore[attr-defined]
    }
    total = sum(own.values())
    shares: dict[str, float] = dict.fromkeys((*PARTS, "other"), 0.0)
    for where, taken in own.items():
        shares[_part(where)] += taken
    most = sorted(own.items(), key=lambda one: -one[1])[:20]
    return {
        "events": events,
        "shares": {name: round(taken / total, 3) for name, taken in shares.items()},
        "functions": [
            {"function": f"{Path(f).name}:{line} {name}", "share": round(t / total, 3)} for (f, line, name), t in most
        ],
    }


def _part(where: tuple[str, int, str]) -> str:
    told = f"{where[0]} {where[2]}"
    return next((part for part, names in PARTS.items() if any(name in told for name in names)), "other")
