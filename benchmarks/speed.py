"""`make bench`: speed on a private Redis, as ratios against a limit measured in the same run."""

from __future__ import annotations

import os
import platform
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Mapping

from benchmarks import append, context, fold, rebuild, search
from benchmarks.output import Row, show
from benchmarks.server import BenchServer, bench_server
from engramlog_server.events.errors import InputError

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
        "append": lambda server: append.measure(server, events, rounds),
        "fold": lambda server: fold.measure(server, events, rounds),
        "rebuild": lambda server: rebuild.measure(server, events, rounds),
        "search": lambda server: search.measure(server, sizes, questions),
        "context": lambda server: context.measure(server, sizes, questions),
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
