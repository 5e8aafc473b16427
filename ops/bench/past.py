"""Long histories: an as-of answer, folded from the owner's own events, what its view costs anew and out of the present, and what
happened to one memory, asked by a new reader."""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from time import perf_counter, process_time
from typing import Any

from api.services.reading import Reader
from events.envelope import prepare
from events.partitions import partition_of
from events.redis.log import RedisEventLog
from ops.bench.sample import sample
from ops.bench.search import OWNER
from ops.bench.search_memories import NOW
from ops.bench.server import BenchServer
from ops.bench.store import filled
from projections.fold.owner import OwnerHistory, fold_owner
from projections.ranking.recall import search
from projections.redis.view import RedisViews
from projections.views.kept_view import kept_view, packed_view
from projections.views.packed import packed, unpacked
from projections.views.query import ViewQuery
from projections.views.view import OwnerView

AIM_MICROSECONDS = 50
_PIECE = 500
_ROUNDS = 5


def measure(server: BenchServer, events: int, rounds: int) -> dict[str, Any]:
    """Median over positions near the head, so that no round finds the last one's answer kept."""
    tags = filled(server, [prepare(event) for event in sample(events, 1)])
    views, log = RedisViews(server.client, tags), RedisEventLog(server.client, tags)
    reader = Reader(log, views)
    partition = partition_of(OWNER, len(tags))
    reader.list(OWNER)
    taken = []
    for number in range(rounds):
        start = perf_counter()
        reader.search(OWNER, "coffee", mode="review", as_of=f"{partition}:{events - number}")
        taken.append(perf_counter() - start)
    beside = _views(views, log)
    views.close()
    log.close()
    histories = [_history(server, tags, f"{OWNER}-m{number + 1}") for number in range(rounds + 1)]
    middle = sorted(taken)[len(taken) // 2]
    return {
        "events": events,
        "rounds": rounds,
        "milliseconds": round(middle * 1e3, 1),
        "microseconds_an_event": round(middle / events * 1e6, 1),
        "aim": AIM_MICROSECONDS,
        **beside,
        "history_first_cpu_milliseconds": histories[0],
        "history_cpu_milliseconds": sorted(histories[1:])[rounds // 2],
    }


def _history(server: BenchServer, tags: tuple[str, ...], memory_id: str) -> float:
    """CPU of what happened to one memory, milliseconds: a reader that holds nothing; the first that asks makes the index."""
    views, log = RedisViews(server.client, tags), RedisEventLog(server.client, tags)
    start = process_time()
    Reader(log, views).history(OWNER, memory_id, limit=100)
    taken = process_time() - start
    views.close()
    log.close()
    return round(taken * 1e3, 1)


def _views(views: RedisViews, log: RedisEventLog) -> dict[str, Any]:
    """Medians in milliseconds: the present from its bytes, and a moment half of the events ago, made and searched in both ways."""
    with views.view(OWNER) as (view, _):
        block = b"".join(packed(packed_view(view.taken())))
        kept = kept_view(unpacked(memoryview(bytearray(block))))
        hidden = [view.as_folded(view.columns.memories[row]) for row in kept.hidden]
        state, history = view.state, _halfway(views, log)
    told: dict[str, list[float]] = {"present_from_kept": [], "past_anew": [], "past_from_present": []}
    for _ in range(_ROUNDS):
        present = _timed(told, "present_from_kept", lambda: _present(state, block, hidden))
        for name, of in (("past_anew", None), ("past_from_present", present)):
            _timed(told, name, lambda of=of: _asked(history, of))  # type: ignore[misc]
    return {f"{name}_cpu_milliseconds": round(median(taken) * 1e3, 1) for name, taken in told.items()}


def _present(state: Any, block: bytes, hidden: list[Any]) -> OwnerView:
    return OwnerView.of_kept(OWNER, state, kept_view(unpacked(memoryview(bytearray(block)))), hidden)


def _asked(history: OwnerHistory, present: OwnerView | None) -> None:
    past = OwnerView.of_history(OWNER, history, present=present)
    search(ViewQuery(past, NOW, "review"), "coffee", 10)


def _halfway(views: RedisViews, log: RedisEventLog) -> OwnerHistory:
    seqs = views.changelogs.seqs(OWNER)
    half = seqs[: len(seqs) // 2]
    stored = (one for at in range(0, len(half), _PIECE) for one in views.stored(OWNER, half[at : at + _PIECE]))
    return fold_owner(stored, secret=log.secrets_of([OWNER]).get(OWNER, b""))


def _timed(told: dict[str, list[float]], name: str, run: Callable[[], Any]) -> Any:
    start = process_time()
    found = run()
    told[name].append(process_time() - start)
    return found
