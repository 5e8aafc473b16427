"""Older records for tests: one of each shape, and what importing lines leaves in the log and in the memories."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import orjson

from engramlog_server.api.exchange.records import ImportedRecords, RecordOptions, import_records
from engramlog_server.events.envelope import decode
from engramlog_server.events.memory_log import InMemoryEventLog
from engramlog_server.events.partitions import partition_of
from engramlog_server.projections.fold.owner import AnyEvent, fold_owner
from engramlog_server.projections.memory.record import Memory
from tests.given.events import CLOCK

OURS: dict[str, Any] = {
    "engramlog": 1, "memory_id": "m", "created_at": "2024-01-01T08:00:00Z", "content": "I like coffee",
    "category": "stable_preference", "kind": "preference", "source": "user",
}  # fmt: skip
ENTRY: dict[str, Any] = {
    "id": "m",
    "content": "pin the version of the compiler",
    "category": "pitfall",
    "keywords": ["Compiler", "version", "version"],
    "source": {"type": "task", "taskId": "T-7"},
    "confidence": 0.8,
    "createdAt": "2024-01-01T08:00:00.000Z",
    "updatedAt": "2024-01-02T08:00:00.000Z",
    "accessCount": 5,
}
ROW: dict[str, Any] = {
    "id": "m",
    "type": "run",
    "key": "nightly-timeout",
    "content": "解决了夜间超时",
    "task_id": "T-9",
    "confidence_score": 0.7,
    "access_count": 9,
    "created_at": "2024-01-01T08:00:00+00:00",
    "updated_at": "2024-01-03T08:00:00+00:00",
    "last_accessed_at": "2024-01-04T16:00:00+08:00",
    "consolidation_score": 0.51,
    "context_tags_json": '["late_night", "debugging"]',
    "emotional_weight": 0.5,
    "related_ids_json": '["n", "m", "n"]',
}
SHAPES = {"engramlog": OURS, "ebbinghaus": ENTRY, "consolidating": ROW}


def lines(*records: dict[str, Any]) -> list[bytes]:
    return [orjson.dumps(one) for one in records]


def new_log() -> InMemoryEventLog:
    return InMemoryEventLog(lambda: CLOCK)


def imported(
    told: Iterable[bytes], log: InMemoryEventLog | None = None, *, owner: str = "ada", **options: Any
) -> tuple[ImportedRecords, list[AnyEvent], dict[str, Memory]]:
    """What the import answered, the events that are in the owner's partition then, and what they fold into."""
    log = log or new_log()
    answer = import_records(log, told, RecordOptions(owner=owner, **options))
    stored = log.read(partition_of(owner, log.partitions), 0, 10_000)
    return answer, [decode(one.kind, one.body) for one in stored], fold_owner(stored).memories


OF_ITS_LOG = ("recorded_at", "late_by", "principal")
"""What a line of an export tells of the log that it lies in, which is another log's own after an import."""


def carried(exported: str) -> list[dict[str, Any]]:
    """The lines of an export, without what is told of the log."""
    lines = [json.loads(line) for line in exported.splitlines()]
    return [{name: value for name, value in line.items() if name not in OF_ITS_LOG} for line in lines]
