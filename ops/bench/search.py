"""Search in one owner's memories beside the sum of the parts that it cannot do without: text top-k, all weights, one round trip."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from statistics import median, quantiles
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from events.partitions import partition_of
from ops.bench.search_around import cold, fresh, over_http
from ops.bench.search_beside import RATE, WRITTEN_TO, fold_worker, producer
from ops.bench.search_memories import NOW, Texts, memories, questions
from ops.bench.server import BenchServer
from ops.bench.store import filled
from projections.ranking.recall import search
from projections.redis.view import RedisViews
from projections.views.query import ViewQuery
from projections.views.view import OwnerView

OWNER = WRITTEN_TO
SIZES = (1_000, 10_000, 100_000)
QUERIES = 200
RESULTS = 10
AROUND = 10_000
"""Memories of the owner that loading, HTTP and freshness are measured on, where the sizes reach so far."""
WRITING_SECONDS = 20.0
"""The most that one size is asked while it is written to."""


class SearchLimits(NamedTuple):
    """How often the sum of its parts a search may take."""

    p50: float
    p95: float


LIMITS, LARGE = SearchLimits(2.0, 5.0), SearchLimits(2.0, 4.0)
"""Up to 10,000 memories, and above."""


class _Measured(NamedTuple):
    """Seconds of each question, and how many events a second were folded meanwhile."""

    times: dict[str, list[float]]
    rate: float


def measure(server: BenchServer, sizes: tuple[int, ...] = SIZES, queries: int = QUERIES) -> dict[str, Any]:
    """`rows`: whole and parts by size, texts and writing; then what is around a search, and every limit with what was found."""
    around = max((size for size in sizes if size <= AROUND), default=sizes[0])
    rows, rest = list[dict[str, Any]](), dict[str, Any]()
    for size in sizes:
        for texts in ("talk", "notes", "pages") if size == around else ("talk",):
            tags = filled(server, memories(size, texts, owner=OWNER))
            if size == around and texts == "talk":
                rest |= _around(server, tags, queries)  # before anything more is written
            elif size > AROUND:
                rest["cold_large"] = cold(server, tags, OWNER, rounds=3)
            rows += _rows(server, tags, size, texts, queries)
    return {"rows": rows, **rest, "goals": _goals(rows, rest)}


def _around(server: BenchServer, tags: Sequence[str], queries: int) -> dict[str, Any]:
    asked = questions(queries)
    return {
        "cold": cold(server, tags, OWNER, rounds=3 if queries < QUERIES else 7),
        "http": over_http(server, OWNER, asked),
        "fresh": fresh(server, tags, OWNER, queries),
    }


def _rows(server: BenchServer, tags: Sequence[str], size: int, texts: Texts, queries: int) -> list[dict[str, Any]]:
    found = []
    for writing in (False, True) if texts == "talk" else (False,):
        measured = _asked(server, tags, size, questions(queries), writing=writing)
        found.append(_row(measured, size, texts, writing=writing))
    return found


def _asked(server: BenchServer, tags: Sequence[str], size: int, asked: Sequence[str], *, writing: bool) -> _Measured:
    """Every question twice: the first time, unless it is written meanwhile, what it is asked about was never asked."""
    views = RedisViews(server.client, tags)
    with views.view(OWNER) as (view, standing):
        assert len(view) >= size
    partition = partition_of(OWNER, len(tags))
    times: dict[str, list[float]] = {name: [] for name in ("first", "whole", "text", "weights", "round_trip")}
    with ExitStack() as stack:
        if writing:
            stack.enter_context(fold_worker(server.url))
            stack.enter_context(producer(server.url, WRITING_SECONDS))
        before, start = standing.checkpoint, perf_counter()
        for name in ("first", "whole"):
            for query in asked:
                # On the view as it stands: taking in what was folded since is the whole's own work.
                text = _timed(lambda q=query: _text(view, q))  # type: ignore[misc]
                weights = _timed(lambda: view.law.weights(view.columns, NOW, view.parameters))
                trip = _timed(lambda: server.client.hget(f"{{{tags[partition]}}}:meta", "head"))
                times[name].append(_timed(lambda q=query: _whole(views, q)))  # type: ignore[misc]
                if name == "whole":
                    for part, taken in (("text", text), ("weights", weights), ("round_trip", trip)):
                        times[part].append(taken)
        ended = perf_counter()
        with views.view(OWNER) as (_, standing):
            rate = (standing.checkpoint - before) / (ended - start)
    views.close()
    return _Measured(times, rate)


def _row(measured: _Measured, size: int, texts: Texts, *, writing: bool) -> dict[str, Any]:
    times = measured.times
    parts = [sum(row) for row in zip(times["text"], times["weights"], times["round_trip"], strict=True)]
    limits = LIMITS if size <= AROUND else LARGE
    whole, sums = spread(times["whole"]), spread(parts)
    return {
        "memories": size,
        "texts": texts,
        "events_a_second": round(measured.rate) if writing else 0,
        "queries": len(parts),
        **{f"{name}_ms": spread(found) for name, found in times.items()},
        "parts_ms": sums,
        "p50_to_parts": round(whole["p50"] / sums["p50"], 2),
        "p95_to_parts": round(whole["p95"] / sums["p50"], 2),
        "p95_to_parts_p95": round(whole["p95"] / sums["p95"], 2),
        "at_most": limits._asdict(),
    }


def _goals(rows: list[dict[str, Any]], rest: dict[str, Any]) -> list[dict[str, Any]]:
    """Every limit: what was found, and whether it holds. Of pages and notes none is asked."""
    found = []
    for row in rows:
        if row["texts"] == "talk":
            beside = f", {RATE:,} events/s" if row["events_a_second"] else ""
            for name in ("p50", "p95"):
                what = f"search {name} over parts p50, {row['memories']:,} memories{beside}"
                found.append((what, row[f"{name}_to_parts"], row["at_most"][name]))
    found.append(("cold owner, load and first answer, ms p50", rest["cold"]["answer_ms"]["p50"], 150.0))
    found.append(("HTTP added, over an empty GET", rest["http"]["added_to_empty"], 2.0))
    found.append(("append to found by after=, ms p99", rest["fresh"]["found_ms"]["p99"], 50.0))
    return [{"what": what, "found": value, "at_most": most, "holds": value <= most} for what, value, most in found]


def _whole(views: RedisViews, query: str) -> None:
    with views.view(OWNER) as (view, _):
        search(ViewQuery(view, NOW, "review"), query, RESULTS)


def _text(view: OwnerView, query: str) -> None:
    found = view.matches(query)
    if found.rows.size > RESULTS:
        np.argpartition(-found.scores, RESULTS)[:RESULTS]


def _timed(work: Callable[[], object]) -> float:
    start = perf_counter()
    work()
    return perf_counter() - start


def spread(found: Sequence[float]) -> dict[str, float]:
    """Median and 95th percentile in milliseconds, of seconds."""
    return {"p50": round(median(found) * 1e3, 3), "p95": round(quantiles(found, n=20)[-1] * 1e3, 3)}
