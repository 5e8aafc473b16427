"""Making the context block of one owner, in process, against one search without reasons."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from benchmarks.events import SEED, memories
from benchmarks.measure import spread, timed
from benchmarks.output import Row
from benchmarks.search import OWNER, RESULTS, SIZES
from benchmarks.server import BenchServer
from benchmarks.store import fill, fold, services
from benchmarks.texts import questions

BUDGETS = (500, 1_500)
COUNT = 100


def measure(server: BenchServer, sizes: Sequence[int] = SIZES, count: int = COUNT) -> list[Row]:
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
