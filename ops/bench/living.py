"""A large owner's life: sweep, review, due list, assess and spreading, beside one reading of all weights, and how they grow."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from random import Random
from statistics import median
from time import perf_counter
from typing import Any

from events.envelope import Stored, micros, prepare
from ops.bench.sample import SEED, STARTS, sample
from ops.bench.texts.sentences import english
from projections.fold.owner import OwnerHistory, OwnerState, fold_owner
from projections.index.associations import AssociationIndex
from projections.laws import LAWS
from projections.lifecycle import plan
from projections.memory.record import DAY, Memory, with_changes
from projections.ranking.recall import search
from projections.ranking.search_request import SearchRequest
from projections.reports.assess import assess
from projections.reports.review_due import reviews_due
from projections.views.query import ViewQuery
from projections.views.view import OwnerView

SIZES = (1_000, 10_000, 100_000)
NOW = micros(STARTS) + 300 * DAY
LIMIT_SECONDS = 1.0
LOOKUPS = 200
KEYWORDS = 3


def measure(sizes: tuple[int, ...] = SIZES, rounds: int = 5) -> list[dict[str, Any]]:
    """One row a size; milliseconds, medians of the rounds. `within` says whether each is under a second."""
    return [_one(size, rounds) for size in sizes]


def _one(size: int, rounds: int) -> dict[str, Any]:
    memories = _memories(size)
    views = {name: OwnerView("owner", OwnerState(profile=name), memories) for name in LAWS}
    weighted, tiered = views["weighted"], views["tiered"]
    chance = Random(SEED)
    topics = [" ".join(english(chance).split()[3:6]) for _ in range(rounds)]
    weighted.associations  # noqa: B018 - made at first use; its own making is measured below
    asked: dict[str, Callable[[int], object]] = {
        "all_weights": lambda _: weighted.law.weights(weighted.columns, NOW, weighted.parameters),
        **{f"sweep_{name}": partial(_sweep, view) for name, view in views.items()},
        "review": lambda _: plan(tiered, NOW, ["review"]),
        "due_list": lambda _: reviews_due(weighted, NOW),
        "assess": lambda n: assess(weighted, topics[n], NOW),
        "spreading": lambda n: search(
            ViewQuery(weighted, NOW, "review"), topics[n], 10, SearchRequest(associations=True)
        ),
    }
    times: dict[str, list[float]] = {name: [] for name in asked}
    for number in range(rounds):
        for name, work in asked.items():
            start = perf_counter()
            work(number)
            times[name].append((perf_counter() - start) * 1e3)
    told = {f"{name}_ms": round(median(found), 2) for name, found in times.items()}
    return {"memories": size, **told, **_edges(memories), "within": max(told.values()) < LIMIT_SECONDS * 1e3}


def _sweep(view: OwnerView, _round: int) -> object:
    return plan(view, NOW, ["sweep"])


def _edges(memories: list[Memory]) -> dict[str, float]:
    """What it costs to take a memory into the associations, and to find one memory's edges: neither compares every pair."""
    index, start = AssociationIndex(), perf_counter()
    for row, memory in enumerate(memories):
        index.put(row, memory)
    taken_in = perf_counter() - start
    chance, parameters = Random(SEED), OwnerView("owner", OwnerState()).parameters
    rows = [int(chance.random() * len(memories)) for _ in range(LOOKUPS)]
    found = []
    for row in rows:
        start = perf_counter()
        index.neighbours(row, parameters)
        found.append(perf_counter() - start)
    return {"edges_put_us": round(taken_in / len(memories) * 1e6, 2), "edges_found_us": round(median(found) * 1e6, 1)}


_BESIDE = (b"0", b"local", b"0:0", b"", bytes(32))


def _memories(size: int) -> list[Memory]:
    """Memories of one owner, with words of their texts as keywords; every tenth was accessed."""
    stored = [prepare(event) for event in sample(size, 1, only_created=True)]
    history: OwnerHistory = fold_owner(
        Stored(seq, one.kind, one.raw_id, "owner", one.body, _BESIDE) for seq, one in enumerate(stored, 1)
    )
    found = []
    for number, memory in enumerate(history.memories.values()):
        words = sorted({word.strip(".,:;?!").casefold() for word in memory.content.split() if len(word) > 5})
        changed = with_changes(memory, keywords=tuple(words[:KEYWORDS]), importance=2.6 if number % 50 == 0 else 1.0)
        found.append(with_changes(changed, access_count=number % 7) if number % 10 == 0 else changed)
    return found
