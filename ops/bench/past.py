"""Long histories: a moment of an owner's past, asked by a reader that holds nothing, and what happened to one memory.

By CPU of the client. The first question makes what the others begin at: times of events and kept moments. The owner is told in
order, and with all but the first fiftieth imported last, dated before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from random import Random
from time import process_time
from typing import Any

from msgspec.structs import replace

from api.services.reading import Reader
from events.envelope import AnyEvent, prepare, utc_text
from events.partitions import partition_of
from events.redis.log import RedisEventLog
from ops.bench.sample import SEED, sample
from ops.bench.search import OWNER
from ops.bench.server import BenchServer
from ops.bench.store import filled
from projections.fold.builds import FIRST_BUILD, BuildKeys
from projections.redis.view import RedisViews

AIM_MICROSECONDS = 50
AIM_COLD_MILLISECONDS = 300
LIVE_SHARE = 50
"""One in so many events came before the import."""
LIVE_BEGAN = datetime(2026, 1, 1, tzinfo=UTC)
LIVE_LASTED, TALKED = timedelta(days=200), timedelta(days=3_652)
ENDS = LIVE_BEGAN + LIVE_LASTED


class _Store:
    """A filled store, asked by readers that hold nothing."""

    def __init__(self, server: BenchServer, told: Sequence[AnyEvent]) -> None:
        self._server = server
        self.tags = filled(server, [prepare(event) for event in told])
        self.partition = partition_of(OWNER, len(self.tags))

    def asked(self, **times: Any) -> dict[str, float]:
        """CPU of one question, milliseconds: all of it, and of that loading the owner as it is today."""
        views, log = RedisViews(self._server.client, self.tags), RedisEventLog(self._server.client, self.tags)
        reader = Reader(log, views)
        start = process_time()
        reader.list(OWNER, limit=1)
        today = process_time()
        reader.search(OWNER, "coffee", mode="review", trace=False, **times)
        taken = process_time()
        views.close()
        log.close()
        return {"today": (today - start) * 1e3, "past": (taken - today) * 1e3}

    def history(self, memory_id: str) -> float:
        """CPU of what happened to one memory, milliseconds; the first that asks makes the index."""
        views, log = RedisViews(self._server.client, self.tags), RedisEventLog(self._server.client, self.tags)
        start = process_time()
        Reader(log, views).history(OWNER, memory_id, limit=100)
        taken = process_time() - start
        views.close()
        log.close()
        return round(taken * 1e3, 1)

    def kept(self) -> dict[str, int]:
        """What is kept of the past, and what the log and the records take beside it, bytes in Redis."""
        keys, usage = BuildKeys(self.tags[self.partition], FIRST_BUILD), self._server.client.memory_usage
        told = {
            "moments_bytes": usage(keys.moments(OWNER), samples=0),
            "index_bytes": usage(keys.index(OWNER), samples=0),
            "log_bytes": usage(keys.log.stream, samples=0),
            "records_bytes": usage(keys.records(OWNER), samples=0),
        }
        return {name: int(size or 0) for name, size in told.items()}


def measure(server: BenchServer, events: int, rounds: int) -> dict[str, Any]:
    """Figures of an owner told in order, and of one whose past was imported last: half of the instants since it was told live."""
    told = sample(events, 1)
    store = _Store(server, told)
    place = f"{store.partition}:{events}"
    first = store.asked(as_of=place)
    chance = Random(SEED)
    known = [store.asked(known=f"{store.partition}:{chance.randint(1, events)}") for _ in range(rounds)]
    days = [store.asked(as_of=utc_text(chance.choice(told).occurred_at)) for _ in range(rounds)]
    kept = store.kept()
    histories = [store.history(f"{OWNER}-m{number + 1}") for number in range(rounds + 1)]
    late = _Store(server, _imported_last(events))
    late_first = late.asked(as_of=utc_text(ENDS))
    back = [
        late.asked(as_of=utc_text(begins + chance.random() * (ENDS - begins)))
        for begins in (ENDS - TALKED, LIVE_BEGAN)
        for _ in range(rounds)
    ]
    return {
        "events": events,
        "rounds": rounds,
        "microseconds_an_event": round(first["past"] * 1e3 / events, 1),
        "aim": AIM_MICROSECONDS,
        "aim_cold_milliseconds": AIM_COLD_MILLISECONDS,
        "first_cpu_milliseconds": round(first["past"], 1),
        **_spread("known", known),
        **_spread("as_of", days),
        **kept,
        "imported_last_first_cpu_milliseconds": round(late_first["past"], 1),
        **_spread("imported_last", back),
        **{f"imported_last_{name}": size for name, size in late.kept().items()},
        "history_first_cpu_milliseconds": histories[0],
        "history_cpu_milliseconds": sorted(histories[1:])[rounds // 2],
    }


def _imported_last(events: int) -> list[AnyEvent]:
    """So many events of one owner: a fiftieth told in 2026, and behind them what was said in the ten years that end with those."""
    live = sample(events // LIVE_SHARE, 1, seed=SEED + 1, ids="n")
    old = sample(events - len(live), 1)
    step = LIVE_LASTED / len(live), TALKED / len(old)
    return [
        *(replace(one, occurred_at=LIVE_BEGAN + step[0] * number) for number, one in enumerate(live)),
        *(replace(one, occurred_at=ENDS - TALKED + step[1] * number) for number, one in enumerate(old)),
    ]


def _spread(name: str, asked: Sequence[dict[str, float]]) -> dict[str, float]:
    """Median and the most of random moments, beside loading the owner as it is today."""
    past, today = sorted(one["past"] for one in asked), sorted(one["today"] for one in asked)
    middle = len(past) // 2
    return {
        f"{name}_cpu_milliseconds": round(past[middle], 1),
        f"{name}_most_cpu_milliseconds": round(past[-1], 1),
        f"{name}_today_cpu_milliseconds": round(today[middle], 1),
    }
