"""Questions with meaning beside the sum of what they cannot do without: embed the question, one product with all vectors, words.

Each built-in model on texts of the language that it is taken for; a model that is not installed, or fails, is told so.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from datetime import timedelta
from functools import partial
from random import Random
from statistics import median, quantiles
from time import perf_counter, process_time
from typing import Any, NamedTuple
from uuid import UUID

import numpy as np

from api.services.reading import Reader
from consumers.jobs.embedding import EmbeddingJob
from events.envelope import Event, Prepared, prepare
from events.errors import BadSetting, EmbedderFailed
from events.redis.log import RedisEventLog
from events.redis.wire import WirePool
from events.text.embedder_names import MINILM, USE
from ops.bench.costs.meaning_stages import STAGES, AskedStages
from ops.bench.rounds import quiet
from ops.bench.sample import SEED, STARTS
from ops.bench.search_memories import TURNS
from ops.bench.server import BenchServer
from ops.bench.store import filled
from ops.bench.texts.grammar import grammar
from ops.bench.texts.sets import SETS
from projections.embedding.choosing import EmbedderPlan, Embedders
from projections.embedding.embedder import CachingEmbedder
from projections.embedding.meaning import Embedder
from projections.embedding.minilm import MiniLM
from projections.embedding.use import UniversalEncoder
from projections.memory.creating import created
from projections.redis.meanings import Meanings
from projections.redis.vectors import RedisVectors
from projections.redis.view import RedisViews

OWNER = "asked"
SIZES, SMALL = (10_000, 100), (300, 10)
"""Memories, and questions of a round."""
AT_MOST_MS = 15.0
"""By the clock, half of the questions."""
RESULTS = 10
PARTS = ("words", "embed", "product")
Rows = list[dict[str, Any]]


class ModelBenched(NamedTuple):
    """A model, the set of texts that it is measured on, and what of their grammar is asked."""

    name: str
    make: Callable[[], Embedder]
    texts: str
    asked: str


MODELS = (ModelBenched(MINILM, MiniLM, "talk", "question"), ModelBenched(USE, UniversalEncoder, "chinese", "user"))


class BenchedStore(NamedTuple):
    """What reads the store that is measured."""

    log: RedisEventLog
    views: RedisViews
    vectors: RedisVectors


class _Spent(NamedTuple):
    """Seconds by the clock and of the process's CPU, BLAS's threads included."""

    clock: float
    cpu: float


def measure(server: BenchServer, size: int, questions: int, *, rounds: int) -> Rows:
    """A row a model: milliseconds of a question and of its parts, medians of the rounds; `ratio`: its CPU over theirs.

    `match` and `telling` are stages of the whole that words alone, or the sum, have not, or not by themselves.
    """
    found = []
    for one in MODELS:
        try:
            found.append(_of_model(server, one, one.make(), size, questions, rounds))
        except (BadSetting, EmbedderFailed) as error:
            found.append({"model": one.name, "texts": one.texts, "left_out": error.message})
    return found


def _of_model(
    server: BenchServer, one: ModelBenched, embedder: Embedder, size: int, questions: int, rounds: int
) -> dict[str, Any]:
    tags = filled(server, _memories(one.texts, size))
    log, views = RedisEventLog(server.client, tags), RedisViews(server.client, tags)
    vectors = RedisVectors(WirePool(server.client), tags)
    try:
        return _of_store(BenchedStore(log, views, vectors), one, embedder, size, questions, rounds)
    finally:
        for closing in (views, vectors, log):
            closing.close()


def _of_store(
    store: BenchedStore, one: ModelBenched, embedder: Embedder, size: int, questions: int, rounds: int
) -> dict[str, Any]:
    log, views, vectors = store
    embedders = Embedders(lambda _name: CachingEmbedder(embedder), EmbedderPlan(one.name))
    meanings = Meanings(embedders, vectors)
    EmbeddingJob(vectors, embedders).carry_out(OWNER)
    reader = Reader(log, views, None, meanings)
    with views.view(OWNER) as (view, _):
        known = meanings.known_vectors(view, OWNER)
    # Its own memory of questions: what is read ahead is not remembered where the whole is timed.
    stages = AskedStages(
        view, Meanings(Embedders(lambda _name: CachingEmbedder(embedder), EmbedderPlan(one.name)), vectors)
    )
    assert known is not None, "the model is there"
    wholes, asked = known.wholes.copy(), _questions(one, questions * (rounds + 1))
    product = np.zeros(wholes.shape[1], np.float32)

    def embed(query: str) -> None:
        product[:] = embedder.question(query).whole

    works: dict[str, Callable[[str], object]] = {
        "whole": partial(_search, reader, mode="hybrid"),
        "words": partial(_search, reader, mode="keyword"),
        "embed": embed,
        "product": lambda _query: wholes @ product,
    }
    timed = []
    for at in range(rounds + 1):  # the first loads what has to be loaded
        with quiet():
            timed.append(_round(works, asked[at * questions : (at + 1) * questions], stages))
    return _row(one, size, questions, timed[1:], wholes.shape[1])


def _round(
    works: dict[str, Callable[[str], object]], asked: Sequence[str], stages: AskedStages
) -> dict[str, list[_Spent]]:
    """Each question by each way in turn, every other one the other way round; no question is asked before in its way.

    Its stages come last: reading it up to where they begin would spare the ways a part.
    """
    spent: dict[str, list[_Spent]] = {name: [] for name in (*works, *STAGES)}
    for at, query in enumerate(asked):
        for name in works if at % 2 else reversed(works):
            spent[name].append(_timed(works[name], query))
        stages.read(OWNER, query)
        for name, work in stages.works().items():
            spent[name].append(_timed(work, query))
    return spent


def _timed(work: Callable[[str], object], query: str) -> _Spent:
    clock, cpu = perf_counter(), process_time()
    work(query)
    return _Spent(perf_counter() - clock, process_time() - cpu)


def _search(reader: Reader, query: str, *, mode: str) -> None:
    reader.search(OWNER, query, mode="review", search_mode=mode, limit=RESULTS, trace=False)


def _row(
    one: ModelBenched, size: int, questions: int, timed: Sequence[dict[str, list[_Spent]]], dimensions: int
) -> dict[str, Any]:
    cpu = [{name: median(each.cpu for each in spent) for name, spent in told.items()} for told in timed]
    ratios = [told["whole"] / sum(told[name] for name in PARTS) for told in cpu]
    clock = [[each.clock for each in told["whole"]] for told in timed]
    p50 = round(median(median(told) for told in clock) * 1e3, 2)
    return {
        "model": one.name,
        "texts": one.texts,
        "memories": size,
        "dimensions": dimensions,
        "questions": questions,
        "rounds": len(timed),
        "whole_ms": p50,
        "whole_p95_ms": round(median(quantiles(told, n=20)[-1] for told in clock) * 1e3, 2),
        **{f"{name}_cpu_ms": round(median(told[name] for told in cpu) * 1e3, 2) for name in ("whole", *PARTS, *STAGES)},
        "ratio": round(median(ratios), 2),
        "ratio_min": round(min(ratios), 2),
        "ratio_max": round(max(ratios), 2),
        "at_most_ms": AT_MOST_MS,
        "holds": p50 <= AT_MOST_MS,
        "blas_threads": os.environ.get("OPENBLAS_NUM_THREADS") or "as many as cores",
    }


def _memories(texts: str, size: int) -> list[Prepared]:
    """Turns of one owner, who and an assistant in turn, in sessions; ready to append."""
    chance, (speak, *_) = Random(f"{SEED} {texts} meaning"), SETS[texts].contents
    return [
        prepare(
            Event(
                event_id=str(UUID(int=chance.getrandbits(128), version=4)),
                type="MemoryCreated",
                owner=OWNER,
                occurred_at=STARTS + timedelta(seconds=17 * number),
                actor="user",
                data=created(
                    f"t{number}",
                    speak(chance),
                    kind="turn",
                    source="assistant" if number % 2 else "user",
                    source_turns=(f"turn-{number}",),
                ),
                session_id=f"s-{number // TURNS}",
            )
        )
        for number in range(size)
    ]


def _questions(one: ModelBenched, count: int) -> list[str]:
    """So many different questions: asked again, one whose vectors are remembered would cost nothing."""
    chance, words, found = Random(f"{SEED} {one.name}"), grammar(one.texts), dict[str, None]()
    for _ in range(50 * count):
        found.setdefault(words.say(one.asked, chance))
        if len(found) == count:
            break
    asked = list(found)
    return [asked[at] if at < len(asked) else f"{asked[at % len(asked)]} {at}" for at in range(count)]
