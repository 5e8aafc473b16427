"""What backups cost: made, checked and restored, beside a rebuild of the same store; and what they cost those who append meanwhile.

By CPU of client and Redis together, of a store that lies open and of a sealed one. Who appends meanwhile is told by the clock, for
the backup is another process: as many events one by one, beside it and without it, in turn.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

from consumers.fold.rebuild import rebuild_partition
from consumers.fold.worker import FoldWorker
from events.envelope import Prepared, prepare
from events.errors import StoreUnavailable
from ops.backup.checking import check_backup
from ops.backup.folder import open_backup
from ops.backup.making import make_backup
from ops.backup.restoring import restore_backup
from ops.bench.costs.erased import figure, quiet_cost, row
from ops.bench.costs.meter import Cost
from ops.bench.fold import GIVE_UP_SECONDS
from ops.bench.sample import EVENTS_AN_OWNER, sample
from ops.bench.server import BenchServer
from ops.sealing.key_file import make_key_file
from ops.sealing.place import NONE
from ops.sealing.seals_save import save_seals
from ops.settings import Settings
from ops.store import OpenStore, open_the_store

BATCH = 500
MADE = "making a backup"
WORKS = (MADE, "checking it", "restoring it")
BESIDE = "appending one by one, by the clock"
_MAKE = """
import sys
from pathlib import Path
from ops.backup.making import make_backup
from ops.settings import load_settings
from ops.store import open_the_store
with open_the_store(load_settings()) as store:
    print("begins", flush=True)
    make_backup(store, load_settings(), Path(sys.argv[1]))
"""


def measure(
    server: BenchServer, empty: BenchServer, texts: Sequence[str], events: int, rounds: int
) -> list[dict[str, Any]]:
    """Rows of each set of texts, of a store that lies open and a sealed one. `empty`: where is restored."""
    return [
        one
        for name in texts
        for sealed in (False, True)
        for one in _measured(server, empty, name, sealed, events, rounds)
    ]


def _measured(
    server: BenchServer, empty: BenchServer, texts: str, sealed: bool, events: int, rounds: int
) -> list[dict[str, Any]]:
    told, costs = sample(events, max(events // EVENTS_AN_OWNER, 1), texts=texts), dict[str, list[Cost]]()
    with ExitStack() as stack:
        store, settings, folder = stack.enter_context(_store(server, sealed))
        for at in range(0, len(told), BATCH):
            store.log.append(told[at : at + BATCH])
        tags, number, sizes = store.identity.tags, count(), list[int]()
        worker = FoldWorker(store.client, tags, "bench")
        heads = {partition: store.log.head(partition) for partition in range(len(tags))}
        assert worker.drain(heads, GIVE_UP_SECONDS), "the fold did not finish"
        worker.hand_over()
        seals, elsewhere = folder / "seals" if sealed else None, settings.model_copy(update={"redis_url": empty.url})
        if seals is not None:
            save_seals(store, settings, seals)

        def rebuilt() -> None:
            for tag in tags:
                rebuild_partition(store.client, tag, holder=f"bench-{next(number)}", anew=True)

        for one in range(rounds):
            made = folder / f"backup-{one}"
            empty.client.flushall()
            costs.setdefault("rebuild", []).append(quiet_cost(server, rebuilt))
            costs.setdefault(MADE, []).append(quiet_cost(server, lambda to=made: make_backup(store, settings, to)))  # type: ignore[misc]
            costs.setdefault(WORKS[1], []).append(quiet_cost(server, lambda to=made: check_backup(open_backup(to))))  # type: ignore[misc]
            costs.setdefault(WORKS[2], []).append(
                quiet_cost(empty, lambda to=made: restore_backup(elsewhere, open_backup(to), seals, alone=True))  # type: ignore[misc]
            )
            sizes.append(sum(file.bytes for file in open_backup(made).manifest.files))
        more = {"against": "rebuild", "texts": texts, "sealed": sealed, "entries": len(told)}
        rows = [row({"what": what, **more}, costs[what], costs["rebuild"], "ms") for what in WORKS]
        rows[0]["bytes_each"] = round(median(sizes) / len(told), 1)
        return [*rows, _appending(store, settings, folder, more, rounds)]


def _appending(store: OpenStore, settings: Settings, folder: Path, more: dict[str, Any], rounds: int) -> dict[str, Any]:
    """Appending while another process makes a backup, and the same without one."""
    ids, beside, without = count(), list[float](), list[float]()
    for number in range(rounds):
        with _backup(settings, folder / f"beside-{number}") as process:
            mine = list[float]()
            while process.poll() is None:
                mine.append(_one(store, next(ids)))
        if process.returncode:
            raise StoreUnavailable("the backup beside which was appended did not end")
        beside.append(median(mine or [_one(store, next(ids))]))
        without.append(median(_one(store, next(ids)) for _ in range(max(len(mine), 1))))
    times = [one / other for one, other in zip(beside, without, strict=True)]
    return {
        "what": BESIDE,
        **more,
        "against": "no backup",
        "rounds": rounds,
        "clock_us": round(median(beside) * 1e6, 1),
        "against_clock_us": round(median(without) * 1e6, 1),
        "times": figure(median(times)),
        "times_min": figure(min(times)),
        "times_max": figure(max(times)),
    }


@contextmanager
def _backup(settings: Settings, to: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process that makes a backup, once it began."""
    told = {
        "ENGRAMLOG_REDIS_URL": str(settings.redis_url),
        "ENGRAMLOG_DATA": str(settings.data),
        "ENGRAMLOG_SEALED_BY": str(settings.sealed_by),
    }
    process = subprocess.Popen(
        [sys.executable, "-P", "-c", _MAKE, str(to)], env={**os.environ, **told}, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    try:
        process.stdout.readline()
        yield process
    finally:
        process.kill() if process.poll() is None else None
        process.communicate()


def _one(store: OpenStore, number: int) -> float:
    """Seconds that appending an event took."""
    (event,) = _events(number)
    began = perf_counter()
    assert store.log.append([event])[0].written
    return perf_counter() - began


def _events(number: int) -> list[Prepared]:
    return [prepare(one) for one in sample(1, 1, seed=number, only_created=True, ids=f"beside-{number}-")]


@contextmanager
def _store(server: BenchServer, sealed: bool) -> Iterator[tuple[OpenStore, Settings, Path]]:
    """An empty store, and a folder beside it."""
    server.client.flushall()
    with TemporaryDirectory(prefix="engramlog-bench-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        if sealed:
            make_key_file(folder / "key")
        settings = Settings(
            redis_url=server.url,
            data=folder / "data",
            sealed_by=str(folder / "key") if sealed else NONE,
            embedder="none",
        )
        with open_the_store(settings) as store:
            yield store, settings, folder
