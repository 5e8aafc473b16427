"""Costs of a piece of work, rounds in which ours and its limit take turns, and the tables that show them.

CPU says more than seconds on a shared machine.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Mapping, Sequence
from statistics import median, quantiles
from time import perf_counter, process_time
from typing import Any, NamedTuple

import orjson
from rich.console import Console
from rich.table import Table

from benchmarks.server import BenchServer


class Cost(NamedTuple):
    """What one round took."""

    seconds: float
    client: float
    """Seconds of CPU of this process."""
    server: float
    """Seconds of CPU of Redis's main thread."""

    @property
    def cpu(self) -> float:
        """Both together."""
        return self.client + self.server


def cost_of(server: BenchServer, work: Callable[[], object]) -> Cost:
    """The cost of a call; the benchmark's own data is kept from the garbage collector meanwhile."""
    gc.collect()
    gc.freeze()
    try:
        redis_before, cpu_before, start = _redis_cpu(server), process_time(), perf_counter()
        work()
        seconds, cpu = perf_counter() - start, process_time() - cpu_before
        return Cost(seconds, cpu, _redis_cpu(server) - redis_before)
    finally:
        gc.unfreeze()


def _redis_cpu(server: BenchServer) -> float:
    info: Any = server.client.info("cpu")
    return float(info["used_cpu_user_main_thread"]) + float(info["used_cpu_sys_main_thread"])


def compared(what: str, count: int, ours: Sequence[Cost], limit_name: str, limit: Sequence[Cost]) -> Row:
    """A row of medians: microseconds of CPU per event; `ratio` is the limit's CPU divided by ours, with least and most."""
    ratios = [other.cpu / mine.cpu for mine, other in zip(ours, limit, strict=True)]
    return {
        "what": what,
        "client us": _each(count, [one.client for one in ours]),
        "redis us": _each(count, [one.server for one in ours]),
        "events/s": round(count / median(one.seconds for one in ours)),
        "limit": limit_name,
        "limit us": _each(count, [one.cpu for one in limit]),
        "ratio": round(median(ratios), 3),
        "from": round(min(ratios), 3),
        "to": round(max(ratios), 3),
    }


def _each(count: int, seconds: Sequence[float]) -> float:
    return round(median(seconds) / count * 1e6, 1)


def timed(work: Callable[[], object]) -> tuple[float, float]:
    """Milliseconds by the clock and of CPU that a call takes."""
    start, cpu = perf_counter(), process_time()
    work()
    return (perf_counter() - start) * 1e3, (process_time() - cpu) * 1e3


def spread(found: Sequence[tuple[float, float]]) -> Row:
    """p50 and p95 by the clock, p50 of CPU, in milliseconds."""
    clock, cpu = zip(*found, strict=True)
    p95 = quantiles(clock, n=20, method="inclusive")[-1]
    return {"p50 ms": round(median(clock), 2), "p95 ms": round(p95, 2), "cpu p50 ms": round(median(cpu), 2)}


Row = dict[str, Any]


def show(tables: Mapping[str, Sequence[Row]], *, as_json: bool) -> None:
    """Print tables by their titles."""
    if as_json:
        sys.stdout.write(orjson.dumps(tables, option=orjson.OPT_INDENT_2).decode() + "\n")
        return
    console = Console(width=None if sys.stdout.isatty() else 200)
    for title, rows in tables.items():
        columns = list(dict.fromkeys(name for row in rows for name in row))
        table = Table(title=title, title_justify="left", box=None, pad_edge=False)
        for name in columns:
            table.add_column(name, justify="right" if _is_number(rows[0].get(name)) else "left")
        for row in rows:
            table.add_row(*(_cell(row.get(name)) for name in columns))
        console.print(table)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float))


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.3f}" if abs(value) <= 1 else f"{value:,.1f}"
    return "" if value is None else f"{value:,}" if isinstance(value, int) else str(value)
