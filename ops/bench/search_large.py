"""One large owner, loaded and asked by a process of its own: how long loading takes, how much memory, how quickly it answers.

`python -P -m ops.bench.search_large URL OWNER` is that process.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import orjson

from events.redis.wire import Wire, connect
from ops.bench.search import spread
from ops.bench.search_memories import NOW, memories, questions
from ops.bench.server import BenchServer
from ops.bench.store import filled
from projections.laws.modes import Mode
from projections.ranking.recall import search
from projections.redis.create import read_identity
from projections.redis.view import RedisViews
from projections.views.query import ViewQuery

OWNER = "asked"
RESULTS = 10
QUERIES = 200
_PLENTY = 1 << 40
_MIB = 1 << 20


def measure(server: BenchServer, sizes: tuple[int, ...], queries: int = QUERIES) -> list[dict[str, Any]]:
    """A row a size: talk of one owner, appended, folded, and asked in the modes normal and review."""
    rows = []
    for size in sizes:
        filled(server, memories(size, "talk", owner=OWNER))
        command = [sys.executable, "-P", "-m", "ops.bench.search_large", server.url, OWNER, str(queries)]
        rows.append(orjson.loads(subprocess.run(command, check=True, capture_output=True).stdout))
    return rows


def _asked(url: str, owner: str, queries: int) -> dict[str, Any]:
    client = connect(url)
    identity = read_identity(Wire(client))
    assert identity is not None, "there is no store"
    views, asked = RedisViews(client, identity.tags, most_bytes=_PLENTY, most_of_one=_PLENTY), questions(queries)
    start, used = perf_counter(), process_time()
    with views.view(owner) as (view, _):
        loaded, spent = perf_counter() - start, process_time() - used
        search(ViewQuery(view, NOW, "review"), asked[0], RESULTS)
        answered = perf_counter() - start
        held = view.bytes_of_memories()
    times: dict[Mode, list[float]] = {"review": [], "normal": []}
    for mode, taken in times.items():
        for query in (*asked[:10], *asked):  # the first are for warming up
            start = perf_counter()
            with views.view(owner) as (view, _):
                search(ViewQuery(view, NOW, mode), query, RESULTS)
            taken.append(perf_counter() - start)
    return {
        "memories": len(view),
        "load_s": round(loaded, 2),
        "load_cpu_s": round(spent, 2),
        "first_answer_s": round(answered, 2),
        "most_mib": _most() // _MIB,
        "view_mib": held // _MIB,
        **{f"{mode}_ms": spread(taken[10:]) for mode, taken in times.items()},
    }


def _most() -> int:
    """The most bytes this process had in memory; `getrusage` would tell those of the process that started it, were they more."""
    told = Path("/proc/self/status").read_text("ascii")
    return next(int(line.split()[1]) << 10 for line in told.splitlines() if line.startswith("VmHWM:"))


if __name__ == "__main__":
    print(orjson.dumps(_asked(sys.argv[1], sys.argv[2], int(sys.argv[3]))).decode())
