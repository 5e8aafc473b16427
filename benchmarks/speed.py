"""`make bench`: speed on a private Redis, as ratios against a limit measured in the same run.

Append and fold are compared with raw XADD of the same entries, rebuild with raw XRANGE of the same log: Redis as fast as Python can
drive it, with hiredis on a bare socket. Search is compared with its two unavoidable parts, text matches and all weights; the
context block with one search without reasons. `questions` is the CPU of the default search with the default model, warm.
"""

from __future__ import annotations

import os
import platform
import socket
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from random import Random
from statistics import median, quantiles
from tempfile import TemporaryDirectory
from time import process_time
from types import TracebackType
from typing import Any, Self

import hiredis
import numpy as np

from benchmarks.events import CLOCK, NOW, SEED, chinese, english, memories, prepared, questions, sample
from benchmarks.measure import Cost, Row, compared, cost_of, show, spread, timed
from benchmarks.server import BenchServer, Services, bench_server, fill, fold, services
from engramlog_server.consumers.fold.rebuild import rebuild_partition
from engramlog_server.events.envelope import Prepared, encode
from engramlog_server.events.errors import InputError
from engramlog_server.events.log import Appendable
from engramlog_server.events.partitions import LogKeys, partition_of
from engramlog_server.events.redis.log import RedisEventLog
from engramlog_server.events.text import USE
from engramlog_server.events.validation import read_events
from engramlog_server.ops.settings import Settings
from engramlog_server.ops.wiring import open_application
from engramlog_server.projections.decide.commands import NewTurn
from engramlog_server.projections.views.view import OwnerView

NAMES = ("append", "fold", "rebuild", "search", "context")
MOST_LOAD = 1.0
"""Above this load figures say more about other processes."""


def add_arguments(parser: ArgumentParser) -> None:
    """Options of `bench`."""
    parser.add_argument("names", nargs="*", help=f"some of {', '.join(NAMES)} [default: all]")
    parser.add_argument("--rounds", type=int, default=5, help="rounds of append, fold and rebuild [default: 5]")
    parser.add_argument("--events", type=int, default=10_000, help="events in a round [default: 10000]")
    parser.add_argument("--memories", default="1000,10000", help="sizes for search and context [default: 1000,10000]")
    parser.add_argument("--questions", type=int, default=200, help="questions to each owner [default: 200]")
    parser.add_argument("--fsync", choices=("everysec", "always"), default="everysec", help="[default: everysec]")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(options: Namespace) -> None:
    """Measure and print. Raises InputError for an unknown name."""
    names = options.names or NAMES
    for name in names:
        if name not in NAMES:
            raise InputError(f"bench: got {name!r}; allowed: {', '.join(NAMES)}")
    sizes = [int(size) for size in options.memories.split(",")]
    events, rounds, questions = options.events, options.rounds, options.questions
    measures: Mapping[str, Callable[[BenchServer], list[Row]]] = {
        "append": lambda server: measure_append(server, events, rounds),
        "fold": lambda server: measure_fold(server, events, rounds),
        "rebuild": lambda server: measure_rebuild(server, events, rounds),
        "search": lambda server: measure_search(server, sizes, questions),
        "context": lambda server: measure_context(server, sizes, questions),
    }
    with bench_server(options.fsync) as server:
        tables = {"machine": [machine(server)]} | {name: measures[name](server) for name in names}
    show(tables, as_json=options.json)


def add_peer_arguments(parser: ArgumentParser) -> None:
    """Options of `peers`."""
    parser.add_argument("--count", type=int, default=2_000, help="texts of one owner [default: 2000]")
    parser.add_argument("--questions", type=int, default=50, help="[default: 50]")
    parser.add_argument("--rounds", type=int, default=3, help="[default: 3]")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run_peers(options: Namespace) -> None:
    """Measure each library on English and on Chinese texts, and print."""
    from benchmarks.peers.measure import measure  # noqa: PLC0415
    from benchmarks.peers.peer import TEXTS  # noqa: PLC0415

    with bench_server() as server:
        tables = {"machine": [machine(server)]} | {
            texts: measure(server, texts, options.count, options.questions, options.rounds) for texts in TEXTS
        }
    show(tables, as_json=options.json)


def machine(server: BenchServer) -> Row:
    """Where it was measured. Warns on stderr if other processes are at work."""
    load = os.getloadavg()[0]
    if load > MOST_LOAD:
        print(f"The load is {load:.1f}: compare ratios, not microseconds.", file=sys.stderr)
    return {
        "python": platform.python_version(),
        "server": str(server.release),
        "fsync": server.fsync,
        "cores": os.cpu_count(),
        "load": round(load, 1),
    }


REQUEST_SIZES = (1, 100, 1_000)
"""Events in one request."""
MOST_REQUESTS = 1_000


def measure_append(server: BenchServer, events: int, rounds: int) -> list[Row]:
    """A row for each size of request, from prepared events, and one from raw JSON with its validation."""
    models = sample(events)
    ready, raws = prepared(models), [encode(event) for event in models]
    ways: list[tuple[str, int, Callable[[int, int], Sequence[Appendable]]]] = [
        (f"append, {size} in a request", size, lambda at, size: ready[at : at + size]) for size in REQUEST_SIZES
    ]
    ways.append(
        ("append, JSON, 1,000 in a request", 1_000, lambda at, size: read_events(raws[at : at + size], now=CLOCK))
    )
    rows = []
    for name, size, make in ways:
        count, ours, limit = min(events, size * MOST_REQUESTS), [], []
        for _ in range(rounds):
            _, log = server.new_log()
            ours.append(cost_of(server, lambda: _append(log, make, count, size)))  # noqa: B023 - called at once
            log.close()
            tags = server.new_store().tags
            limit.append(cost_of(server, lambda: xadd_raw(server.socket, ready[:count], tags)))  # noqa: B023
        rows.append(compared(name, count, ours, "raw XADD", limit))
    return rows


def _append(log: RedisEventLog, make: Callable[[int, int], Sequence[Appendable]], count: int, size: int) -> None:
    for at in range(0, count, size):
        for receipt in log.append(make(at, size)):
            assert receipt.status == "appended", receipt


def measure_fold(server: BenchServer, events: int, rounds: int) -> list[Row]:
    """A row for many owners and one for a single owner; bytes of Redis per event in the log, and with everything folded."""
    rows = []
    for name, owners in (("fold, many owners", None), ("fold, one owner", 1)):
        ready, ours, limit, logged, folded = prepared(sample(events, owners)), [], [], 0, 0
        for _ in range(rounds):
            server.new_store()
            empty = _bytes(server)
            tags, heads = fill(server, ready)
            logged = _bytes(server) - empty
            done = list[int]()
            ours.append(cost_of(server, lambda: done.append(fold(server, tags, heads))))  # noqa: B023 - called at once
            assert done == [len(ready)], f"{done} of {len(ready)} events were folded"
            folded = _bytes(server) - empty
            tags = server.new_store().tags
            limit.append(cost_of(server, lambda: xadd_raw(server.socket, ready, tags)))  # noqa: B023
        row = compared(name, events, ours, "raw XADD", limit)
        rows.append(row | {"bytes in the log": round(logged / events), "bytes folded": round(folded / events)})
    return rows


def _bytes(server: BenchServer) -> int:
    info: Any = server.client.info("memory")
    return int(info["used_memory"])


def measure_rebuild(server: BenchServer, events: int, rounds: int) -> list[Row]:
    """One row: all partitions one after another, from nothing to the switch."""
    ready, ours, limit = prepared(sample(events)), list[Cost](), list[Cost]()
    for _ in range(rounds):
        tags, heads = fill(server, ready)
        fold(server, tags, heads)
        found = list[int]()
        limit.append(cost_of(server, lambda: found.append(xrange_raw(server.socket, tags))))  # noqa: B023 - called at once
        assert found == [len(ready)]
        ours.append(
            cost_of(server, lambda: [rebuild_partition(server.client, tag, holder="bench") for tag in tags])  # noqa: B023
        )
    return [compared("rebuild", events, ours, "raw XRANGE", limit)]


OWNER = "asked"
SIZES = (1_000, 10_000)
QUESTIONS = 200
RESULTS = 10


def measure_search(server: BenchServer, sizes: Sequence[int] = SIZES, count: int = QUESTIONS) -> list[Row]:
    """Rows for each size: loading the owner, ten results with and without their reasons, and the parts."""
    rows = []
    for size in sizes:
        tags, heads = fill(server, memories(OWNER, size))
        fold(server, tags, heads)
        with services(server, tags) as store:
            rows += _rows(store, size, questions(count, SEED))
    return rows


def _rows(store: Services, size: int, asked: Sequence[str]) -> list[Row]:
    def ask(question: str, *, reasons: bool) -> None:
        store.reader.search(OWNER, question, mode="review", limit=RESULTS, reasons=reasons, trace=False)

    first = timed(partial(ask, asked[0], reasons=True))
    load: Row = {
        "memories": size,
        "what": "load the owner and answer",
        "p50 ms": round(first[0], 2),
        "cpu p50 ms": round(first[1], 2),
    }
    ours = [timed(partial(ask, question, reasons=True)) for question in asked]
    short = [timed(partial(ask, question, reasons=False)) for question in asked]
    with store.views.view(OWNER) as (view, _):
        parts = [timed(partial(_parts, view, question)) for question in asked]
    return [load] + [
        {"memories": size, "what": name, **spread(found)}
        for name, found in (("search", ours), ("search without reasons", short), ("text matches and weights", parts))
    ]


def _parts(view: OwnerView, question: str) -> None:
    found = view.matches(question)
    if found.rows.size > RESULTS:
        np.argpartition(-found.scores, RESULTS)[:RESULTS]
    view.law.weights(view.columns, NOW, view.parameters)


BUDGETS = (500, 1_500)


def measure_context(server: BenchServer, sizes: Sequence[int] = SIZES, count: int = QUESTIONS) -> list[Row]:
    """Rows for each size and budget of tokens."""
    rows: list[Row] = []
    asked = questions(count, SEED)
    for size in sizes:
        tags, heads = fill(server, memories(OWNER, size))
        fold(server, tags, heads)
        with services(server, tags) as store:
            block = partial(store.contexts.context, OWNER, trace=False)
            block(text=asked[0])  # loads the owner
            for budget in BUDGETS:
                found = [timed(partial(block, text=question, budget=budget)) for question in asked]
                rows.append({"memories": size, "what": f"context, {budget:,} tokens", **spread(found)})
            search = partial(store.reader.search, OWNER, limit=RESULTS, reasons=False, trace=False)
            limit = [timed(partial(search, query=question)) for question in asked]
            rows.append({"memories": size, "what": "one search without reasons", **spread(limit)})
    return rows


BATCH = 1_000
PAGE = 500


class RawConnection:
    """A unix socket, hiredis's packer and its parser, and nothing else."""

    def __init__(self, path: Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.connect(str(path))
        self._reader = hiredis.Reader()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._socket.close()

    def pipeline(self, commands: Iterable[tuple[Any, ...]]) -> list[Any]:
        """Send commands in one write and take their answers."""
        packed = [hiredis.pack_command(command) for command in commands]
        self._socket.sendall(b"".join(packed))
        return [self._answer() for _ in packed]

    def _answer(self) -> Any:
        answer = self._reader.gets()
        while answer is False:
            self._reader.feed(self._socket.recv(1 << 16))
            answer = self._reader.gets()
        return answer


def xadd_raw(path: Path, events: Sequence[Prepared], tags: Sequence[str]) -> None:
    """The same entries as the log writes, in pipelines of 1,000 XADDs; checks and keeps nothing."""
    streams = [f"raw:{LogKeys(tag).stream}" for tag in tags]
    with RawConnection(path) as connection:
        for start in range(0, len(events), BATCH):
            connection.pipeline(
                (
                    "XADD",
                    streams[partition_of(event.owner, len(streams))],
                    "*",
                    "t",
                    event.kind,
                    "i",
                    event.raw_id,
                    "o",
                    event.owner,
                    "e",
                    event.body,
                )
                for event in events[start : start + BATCH]
            )


def xrange_raw(path: Path, tags: Sequence[str]) -> int:
    """Every entry of every partition's stream, in pages of 500; gives how many there were."""
    count = 0
    with RawConnection(path) as connection:
        for tag in tags:
            after = b"0-1"
            while True:
                (page,) = connection.pipeline([("XRANGE", LogKeys(tag).stream, b"(" + after, "+", "COUNT", str(PAGE))])
                count += len(page)
                if len(page) < PAGE:
                    break
                after = page[-1][0]
    return count


WARM, AT_ONCE = 20, 100
LANGUAGES = {"en": english, "zh": chinese}


def measure_questions(sizes: tuple[int, ...] = SIZES) -> list[Row]:
    """A row for each language and number of memories: milliseconds of CPU of this process, Redis apart."""
    with TemporaryDirectory(prefix="engramlog-questions-") as folder:
        settings = Settings(data=Path(folder) / "data", embedder=USE, extraction="off")
        with open_application(settings) as application:
            return [_question_row(application, language, size) for language in LANGUAGES for size in sizes]


def _question_row(application: Any, language: str, size: int) -> Row:
    owner, chance = f"{language}-{size}", Random(size)
    texts = [LANGUAGES[language](chance) for _ in range(size)]
    for start in range(0, size, AT_ONCE):
        turns = [NewTurn("user", text) for text in texts[start : start + AT_ONCE]]
        application.rememberer.add_turns(owner, turns, session=f"s{start // AT_ONCE}")
    application.embeddings.embed(owner)
    asked = different_questions(language, QUESTIONS + WARM)
    for question in asked[:WARM]:
        meaning = application.reader.search(owner, question, limit=10)["meaning"]
        assert meaning["embedded"] == meaning["of"] == size, meaning
    found = [_milliseconds(application, owner, question) for question in asked[WARM:]]
    p90 = quantiles(found, n=10, method="inclusive")[-1]
    return {
        "language": language,
        "memories": size,
        "questions": len(found),
        "cpu p50 ms": round(median(found), 2),
        "cpu p90 ms": round(p90, 2),
    }


def _milliseconds(application: Any, owner: str, question: str) -> float:
    start = process_time()
    application.reader.search(owner, question, limit=10)
    return (process_time() - start) * 1e3


def different_questions(language: str, count: int) -> list[str]:
    """Different questions of about six words, in one language."""
    chance, found = Random(7), dict[str, None]()
    while len(found) < count:
        text = LANGUAGES[language](chance)
        found[text[:14] if language == "zh" else " ".join(text.split()[:7])] = None
    return list(found)
