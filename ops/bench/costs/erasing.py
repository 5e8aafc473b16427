"""What erasing costs: beside a rebuild of the partition, which is most of it; and what it costs those who append and read after it.

By CPU of client and Redis together. The Redis keeps no files while an erasure is measured, so that none are written anew; what that
takes is told apart, by the clock too, for another process of Redis does it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import monotonic, sleep
from typing import Any, NamedTuple

from msgspec.structs import replace

from api.application import Application
from consumers.fold.rebuild import rebuild_partition
from consumers.fold.worker import FoldWorker
from consumers.sealing.leaving import rewrite_files
from consumers.verify.store_and_log import verify_partition
from events.envelope import AnyEvent
from events.errors import StoreUnavailable
from ops.bench.costs.erased import appends, figure, quiet_cost, readings, row
from ops.bench.costs.meter import Cost, cost_of
from ops.bench.fold import GIVE_UP_SECONDS
from ops.bench.sample import EVENTS_AN_OWNER, sample
from ops.bench.server import BenchServer
from ops.erasing.owner import ErasurePlan, carry_out
from ops.erasing.words import carry_out_words
from ops.erasing.words_told import WordsPlan, words_told_beforehand
from ops.sealing.key_file import make_key_file
from ops.settings import Settings
from ops.store import OpenStore, open_the_store
from ops.wiring import application_on

SMALLER = 4
"""The smaller partition has so many times fewer entries."""
LARGE = "large"
"""An owner of whom a quarter of the partition's entries are."""
BATCH = 500


def measure(server: BenchServer, texts: Sequence[str], events: int, rounds: int) -> dict[str, Any]:
    """Rows of erasing, of writing files anew, of appending where ids are fenced, and of a log that partly lost its words."""
    found: dict[str, list[dict[str, Any]]] = {"erasing": [], "files": [], "appending": [], "reading": []}
    for name in texts:
        for entries in (max(events // SMALLER, 1), events):
            rows, files = _erasing(server, name, entries, rounds)
            found["erasing"] += rows
            found["files"].append(files)
        told = sample(events, max(events // EVENTS_AN_OWNER, 1), texts=name)
        found["appending"] += appends(server, name, told, rounds)
        found["reading"] += readings(server, name, told, rounds)
    return found


class _Work(NamedTuple):
    """One kind of work that is done once a round."""

    name: str
    run: Callable[[], object]


def _erasing(server: BenchServer, texts: str, entries: int, rounds: int) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Erasures in one partition of so many entries, each of somebody else, beside a rebuild of it in the same round."""
    told = sample(entries - entries // 4, max(entries // EVENTS_AN_OWNER, 2 * rounds + 2), texts=texts)
    told += [replace(one, owner=LARGE) for one in sample(entries // 4, 1, seed=1, texts=texts)]
    with ExitStack() as stack:
        store, application, settings = stack.enter_context(_store(server))
        for at in range(0, len(told), BATCH):
            store.log.append(told[at : at + BATCH])
        worker = FoldWorker(store.client, store.identity.tags, "bench")
        assert worker.drain({0: store.log.head(0)}, GIVE_UP_SECONDS), "the fold did not finish"
        worker.hand_over()
        _keep_file(server, "no")
        (tag,), numbers = store.identity.tags, count()
        of = _memories(told)
        large, others = iter(of.pop(LARGE)), iter(of.items())

        def words(owner: str, memory: str) -> None:
            done = carry_out_words(application, store, settings, WordsPlan(owner, (memory,), "objection"))
            assert done.verified, done.differences

        def whole() -> None:
            assert carry_out(store, settings, ErasurePlan(next(others)[0], "objection")).verified

        def one() -> None:
            owner, memories = next(others)
            words(owner, memories[0])

        def telling() -> None:
            words_told_beforehand(application, store, WordsPlan(LARGE, (next(large),), "objection"))

        works = (
            _Work("erasing an owner", whole),
            _Work("erasing a memory", one),
            _Work("erasing a memory of a large owner", lambda: words(LARGE, next(large))),
            _Work("telling what would go, of a large owner", telling),
            _Work("verifying the partition", lambda: verify_partition(store.client, 0, tag)),
        )
        costs = [
            (
                quiet_cost(
                    server, lambda: rebuild_partition(store.client, tag, holder=f"bench-{next(numbers)}", anew=True)
                ),
                [quiet_cost(server, work.run) for work in works],
            )
            for _ in range(rounds)
        ]
        rebuilt = [first for first, _ in costs]
        more = {"texts": texts, "entries": len(told)}
        rows = [
            row({"what": work.name, "against": "rebuild", **more}, [rest[at] for _, rest in costs], rebuilt, "ms")
            for at, work in enumerate(works)
        ]
        return rows, _files(server, store, rebuilt, rounds) | more


def _memories(told: Sequence[AnyEvent]) -> dict[str, list[str]]:
    """Owner -> the memories that were told of it, oldest first."""
    found = dict[str, list[str]]()
    for one in told:
        if one.type == "MemoryCreated":
            found.setdefault(one.owner, []).append(one.data.memory_id)
    return found


def _files(server: BenchServer, store: OpenStore, rebuilt: Sequence[Cost], rounds: int) -> dict[str, Any]:
    """Having Redis write its append-only file anew, by the clock: it is another process of it that does."""
    _keep_file(server, "yes")
    wire = store.wire()
    try:
        costs = [cost_of(server, lambda: rewrite_files(wire)) for _ in range(rounds)]
    finally:
        wire.close()
    clock, rebuild = (median(one.wall for one in some) for some in (costs, rebuilt))
    return {
        "what": "writing files anew",
        "rounds": rounds,
        "clock_ms": round(clock * 1e3, 2),
        "rebuild_clock_ms": round(rebuild * 1e3, 2),
        "times": figure(clock / rebuild),
        "data_bytes": int(server.client.info("memory")["used_memory_dataset"]),
    }


def _keep_file(server: BenchServer, answer: str) -> None:
    """Have Redis keep an append-only file or none; returns once it does."""
    server.client.config_set("appendonly", answer)
    end = monotonic() + GIVE_UP_SECONDS
    while server.client.info("persistence")["aof_rewrite_in_progress"]:
        if monotonic() > end:
            raise StoreUnavailable("the benchmark's Redis does not end writing its append-only file")
        sleep(0.01)


@contextmanager
def _store(server: BenchServer) -> Iterator[tuple[OpenStore, Application, Settings]]:
    """An empty sealed store of one partition, with what a command has of it."""
    server.client.flushall()
    with TemporaryDirectory(prefix="engramlog-bench-", ignore_cleanup_errors=True) as folder:
        key = Path(folder) / "key"
        make_key_file(key)
        settings = Settings(
            redis_url=server.url, data=Path(folder) / "data", sealed_by=str(key), partitions=1, embedder="none"
        )
        with (
            open_the_store(settings) as store,
            application_on(store, settings, stays=False) as application,
        ):
            yield store, application, settings
    _keep_file(server, "yes")
