"""Steps of several benchmarks: append, fold, open a store for questions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from benchmarks.server import PARTITIONS, BenchServer
from engramlog_server.api.services.accesses import AccessRecorder
from engramlog_server.api.services.context import Contexts
from engramlog_server.api.services.reading import Reader
from engramlog_server.consumers.fold.worker import FoldWorker
from engramlog_server.events.envelope import Prepared
from engramlog_server.events.redis.log import RedisEventLog
from engramlog_server.projections.redis.view import RedisViews

BATCH = 1_000
GIVE_UP_SECONDS = 600.0


def append_all(log: RedisEventLog, events: Sequence[Prepared], batch: int = BATCH) -> None:
    """Append in batches; every event must be new."""
    for start in range(0, len(events), batch):
        for receipt in log.append(events[start : start + batch]):
            assert receipt.status == "appended", receipt


def fill(server: BenchServer, events: Sequence[Prepared]) -> tuple[tuple[str, ...], dict[int, int]]:
    """A new store with these events, not folded; its tags, and the head of each partition that has events."""
    identity, log = server.new_log()
    append_all(log, events)
    heads = {partition: seq for partition in range(PARTITIONS) if (seq := log.head(partition))}
    log.close()
    return identity.tags, heads


def fold(server: BenchServer, tags: Sequence[str], heads: dict[int, int]) -> int:
    """Fold up to the heads by one worker in this process; gives the number of events."""
    worker = FoldWorker(server.client, tags, "bench")
    assert worker.drain(heads, GIVE_UP_SECONDS), "the fold did not finish"
    worker.hand_over()
    return worker.folded


class Services(NamedTuple):
    """What answers questions about a store."""

    reader: Reader
    contexts: Contexts
    views: RedisViews


@contextmanager
def services(server: BenchServer, tags: Sequence[str]) -> Iterator[Services]:
    """Services of a store that have loaded no owner yet."""
    log, views = RedisEventLog(server.client, tags), RedisViews(server.client, tags)
    reader = Reader(log, views)
    yield Services(reader, Contexts(log, views, reader, AccessRecorder(log)), views)
    views.close()
    log.close()
