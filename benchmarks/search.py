"""Searching the memories of one owner, in process, against its two unavoidable parts: text matches and all weights."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from benchmarks.events import NOW, SEED, memories
from benchmarks.measure import spread, timed
from benchmarks.output import Row
from benchmarks.server import BenchServer
from benchmarks.store import Services, fill, fold, services
from benchmarks.texts import questions
from engramlog_server.projections.views.view import OwnerView

OWNER = "asked"
SIZES = (1_000, 10_000)
QUESTIONS = 200
RESULTS = 10


def measure(server: BenchServer, sizes: Sequence[int] = SIZES, count: int = QUESTIONS) -> list[Row]:
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
