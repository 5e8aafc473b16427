"""Engramlog among its peers: appended, folded by a worker to the last event, and searched in process."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from benchmarks.events import STARTS
from benchmarks.peers.libraries import OWNER
from benchmarks.peers.peer import RESULTS, PeerQuestion, Row
from benchmarks.server import GIVE_UP_SECONDS, BenchServer
from engramlog_server.api.services.reading import Reader
from engramlog_server.consumers.fold.worker import FoldWorker
from engramlog_server.events.catalogue import MemoryCreated
from engramlog_server.events.envelope import Event, derived_id
from engramlog_server.events.partitions import parse_position
from engramlog_server.events.redis.log import RedisEventLog
from engramlog_server.projections.memory.kind import created
from engramlog_server.projections.redis.view import RedisViews


class Ours:
    """A store on the benchmark's own Redis."""

    name = "Engramlog"
    does = "appends events with the door's rules, folded to the last one each time; finds in review mode, ranked by the talk"
    kept = "memory of Redis"

    def __init__(self, server: BenchServer) -> None:
        self._server = server
        identity, self._log = server.new_log()
        self._worker = FoldWorker(server.client, identity.tags, "bench")
        self._views = RedisViews(server.client, identity.tags)
        self._reader = Reader(RedisEventLog(server.client, identity.tags), self._views)
        self._empty, self._count = self._used(), 0

    def add(self, rows: Sequence[Row]) -> None:
        """One request, and folded."""
        receipts = self._log.append([self._event(row) for row in rows])
        heads = dict[int, int]()
        for receipt in receipts:
            partition, seq = parse_position(receipt.position or "")
            heads[partition] = seq
        assert self._worker.drain(heads, GIVE_UP_SECONDS), "the fold did not follow"

    def _event(self, row: Row) -> Event[MemoryCreated]:
        self._count += 1
        return Event(
            event_id=derived_id("peers", row.key),
            type="MemoryCreated",
            owner=OWNER,
            occurred_at=STARTS + timedelta(seconds=17 * self._count),
            actor="user",
            data=created(row.key, row.text),
        )

    def find(self, question: PeerQuestion) -> Sequence[str]:
        """As the command `search` does."""
        return [
            one["id"]
            for one in self._reader.search(OWNER, question.words, mode="review", limit=RESULTS, reasons=False)[
                "results"
            ]
        ]

    def size(self) -> int:
        """Above an empty store."""
        return self._used() - self._empty

    def _used(self) -> int:
        return int(self._server.client.info("memory")["used_memory_dataset"])

    def close(self) -> None:
        """Let go of the partitions and connections."""
        self._worker.hand_over()
        self._views.close()
        self._log.close()
