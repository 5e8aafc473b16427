"""What stands around a search: loading an owner that nobody asked about, HTTP, and finding what was just appended.

A cold answer is measured in a process of its own: `python -P -m ops.bench.search_around URL OWNER`.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from random import Random
from statistics import median, quantiles
from time import perf_counter, process_time, sleep
from typing import Any
from uuid import uuid4

import orjson

from events.envelope import Event, prepare
from events.partitions import parse_position
from events.redis.log import RedisEventLog
from events.redis.wire import Wire, connect
from ops.bench.costs.loopback import EMPTY, of_owner, over_loopback
from ops.bench.search_beside import fold_worker
from ops.bench.search_memories import NOW, memories, questions
from ops.bench.server import BenchServer
from ops.bench.texts.sentences import english
from projections.memory.creating import created
from projections.ranking.recall import search
from projections.redis.create import read_identity
from projections.redis.view import RedisViews
from projections.views.query import ViewQuery

RESULTS = 10
OTHER = "answered-before"
_TOLD = ("load_ms", "answer_ms", "cpu_ms")
_IDLE_SECONDS = 0.01
_FOLD_SECONDS = 300.0
"""So long a machine that does ten other things may take to fold an event; what it took is told."""
Timed = Callable[[], object]


def _milliseconds(found: Sequence[float]) -> dict[str, float]:
    cuts = quantiles(found, n=100, method="inclusive")
    return {"p50": round(median(found), 3), "p95": round(cuts[94], 3), "p99": round(cuts[98], 3)}


def cold(server: BenchServer, tags: Sequence[str], owner: str, rounds: int) -> dict[str, Any]:
    """Loading an owner and answering a first question about it, in a new process that answered about another owner before."""
    log = RedisEventLog(server.client, tags)
    log.append(memories(200, "talk", owner=OTHER))
    log.close()
    with fold_worker(server.url):
        answers = []
        for _ in range(rounds):
            command = [sys.executable, "-P", "-m", "ops.bench.search_around", server.url, owner]
            answers.append(orjson.loads(subprocess.run(command, check=True, capture_output=True).stdout))
    return {
        "memories": answers[0]["memories"],
        "rounds": rounds,
        **{name: _milliseconds([one[name] for one in answers]) for name in _TOLD},
    }


def _cold_once(url: str, owner: str) -> dict[str, Any]:
    client = connect(url)
    identity = read_identity(Wire(client))
    assert identity is not None, "there is no store"
    views, asked = RedisViews(client, identity.tags), questions(8)
    with views.view(OTHER, after=200, wait_seconds=_FOLD_SECONDS) as (view, _):
        for query in asked[1:]:
            search(ViewQuery(view, NOW, "review"), query, RESULTS)
    start, used = perf_counter(), process_time()
    with views.view(owner) as (view, _):
        loaded = perf_counter() - start
        answer = search(ViewQuery(view, NOW, "review"), asked[0], RESULTS)
    taken, spent = perf_counter() - start, process_time() - used
    assert answer["results"]
    return {"memories": len(view), "load_ms": loaded * 1e3, "answer_ms": taken * 1e3, "cpu_ms": spent * 1e3}


def over_http(server: BenchServer, owner: str, asked: Sequence[str]) -> dict[str, Any]:
    """What HTTP adds to a search in process, beside an empty GET of the same application; all three in turn."""
    path, rows = of_owner(owner, "search"), list[list[float]]()
    with over_loopback(server) as asking:
        for number, query in enumerate((*asked[:20], *asked)):  # the first are for warming up
            how = {"mode": "review", "trace": "false", "limit": RESULTS, "q": query}
            row = [
                _timed_ms(lambda: asking.get(EMPTY)),
                _timed_ms(lambda how=how: asking.get(path, **how)),  # type: ignore[misc]
                _timed_ms(
                    lambda q=query: asking.application.reader.search(  # type: ignore[misc]
                        owner, q, mode="review", limit=RESULTS, trace=False
                    )
                ),
            ]
            if number >= 20:
                rows.append(row)
    empty, whole, inside = zip(*rows, strict=True)
    added = [one - other for one, other in zip(whole, inside, strict=True)]
    return {
        "empty_ms": _milliseconds(empty),
        "http_ms": _milliseconds(whole),
        "in_process_ms": _milliseconds(inside),
        "added_ms": _milliseconds(added),
        "added_to_empty": round(median(added) / median(empty), 2),
    }


def fresh(server: BenchServer, tags: Sequence[str], owner: str, count: int) -> dict[str, Any]:
    """From the end of an append to the answer that holds the memory, asked with `after`; the store is idle but for a worker."""
    log, views, chance = RedisEventLog(server.client, tags), RedisViews(server.client, tags), Random(owner)
    found = []
    with fold_worker(server.url):
        for number in range(count + 5):
            word = f"fresh{number}word"
            data = created(f"f{number}", f"{english(chance)} {word}", kind="turn")
            event = Event(
                event_id=str(uuid4()),
                type="MemoryCreated",
                owner=owner,
                occurred_at=datetime.fromtimestamp(NOW / 1e6, UTC),
                actor="user",
                data=data,
            )
            [receipt] = log.append([prepare(event)])
            start = perf_counter()
            assert receipt.position is not None
            with views.view(owner, after=parse_position(receipt.position)[1], wait_seconds=_FOLD_SECONDS) as (view, _):
                answer = search(ViewQuery(view, NOW, "review"), word, RESULTS)
            taken = (perf_counter() - start) * 1e3
            assert answer["results"][0]["id"] == f"f{number}"
            if number >= 5:  # until then the worker was starting
                found.append(taken)
            sleep(_IDLE_SECONDS)
    log.close()
    views.close()
    return {"appends": count, "found_ms": _milliseconds(found)}


def _timed_ms(work: Timed) -> float:
    start = perf_counter()
    work()
    return (perf_counter() - start) * 1e3


if __name__ == "__main__":
    print(orjson.dumps(_cold_once(*sys.argv[1:])).decode())
