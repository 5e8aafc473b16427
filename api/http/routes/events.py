"""`POST /v1/events`: appending."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import Depends, Query, Request
from starlette.responses import Response

from api.http.admitted import by_thread
from api.http.answer import Json, documented
from api.http.asking import AskedParts
from api.http.batch import Batch, read_batch, read_lines
from api.http.guard import LINES_TYPES, media_type
from api.http.made import new_router
from api.work.patience import Work, takes
from events.errors import ConcurrencyError, EngramlogError, EventIdTaken, StoreUnavailable, UnderReplicated, refused
from events.log import AppendReceipt

if TYPE_CHECKING:
    from api.services.remembering import JudgedLine

router = new_router("events")


async def batch_of(request: Request) -> Batch:
    """The request's events, in whichever of the forms they came."""
    return await by_thread(request, read_lines if media_type(request.headers) in LINES_TYPES else read_batch)


_EVENT: dict[str, Any] = {
    "event_id": "018f3c1e-7b2a-7000-8000-000000000001",
    "type": "MemoryCreated",
    "owner": "alice",
    "occurred_at": "2026-11-22T09:30:00Z",
    "actor": "user",
    "data": {
        "memory_id": "coffee",
        "content": "I drink coffee every morning",
        "category": "stable_preference",
        "kind": "preference",
        "source": "user",
    },
}
_ENVELOPE = {"type": "object", "description": "One event; `GET /v1/schema` gives the JSON Schema of each type."}
_BODY = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {
                "schema": {
                    "oneOf": [
                        {"type": "array", "items": _ENVELOPE, "maxItems": 1_000},
                        _ENVELOPE | {"required": ["owner", "data"]},
                        {
                            "type": "object",
                            "required": ["events"],
                            "additionalProperties": False,
                            "properties": {
                                "events": {"type": "array", "items": _ENVELOPE, "maxItems": 1_000},
                                "expected_heads": {
                                    "type": "object",
                                    "additionalProperties": {"type": "integer", "minimum": 0},
                                    "description": "Owner -> seq of its last event that moves its head (0 for none): where"
                                    " another one came first, nothing of the partition is written.",
                                },
                            },
                        },
                    ]
                },
                "examples": {
                    "array": {"summary": "Events", "value": [_EVENT]},
                    "expecting": {
                        "summary": "Only if nobody else wrote meanwhile",
                        "value": {"events": [_EVENT], "expected_heads": {"alice": 128}},
                    },
                },
            },
            "application/x-ndjson": {
                "schema": {"type": "string", "description": "One envelope a line."},
                "example": '{"event_id":"018f3c1e-7b2a-7000-8000-000000000001","type":"MemoryMentioned", ...}\n',
            },
        },
    }
}
_JUDGE = Query(
    description="Whether what memories tell is judged beside what is known; events of one owner.", examples=[False]
)
_ANSWERS = documented("Appended", "Every event is in the log.", 409, 413, 507)
_ANSWERS[207] = _ANSWERS[200] | {
    "description": "Some partitions' parts were written, others not: each receipt tells. Sending the whole request again is"
    " always right."
}


@router.post("/v1/events", summary="Append events", responses=_ANSWERS, openapi_extra=_BODY)
@takes(Work.APPEND)
def append(
    parts: AskedParts, batch: Annotated[Batch, Depends(batch_of)], judge: Annotated[bool, _JUDGE] = False
) -> Response:
    """Append up to 1,000 events: validated whole, then written all or nothing per partition. One receipt per event.

    Redelivery is safe: the same event gives its first position again.

    With `judge` what memories tell is judged as by POST `/v1/owners/{owner}/memories`, in the order of the events, and each
    hundred is written by itself. A memory with a made-up id, `m-` and a UUID, is a mention where another says the same.
    """
    lines: Sequence[JudgedLine | None] = [None] * len(batch.events)
    if judge and batch.expected_heads:
        raise refused("expected_heads", "with judge", "one of them: what is judged names the owner's head by itself")
    try:
        if judge and batch.events:
            receipts, lines = parts.application.rememberer.append_judged(batch.events)
        else:
            receipts = parts.application.writer.append(batch.events, expected_heads=batch.expected_heads or None)
    except UnderReplicated as unproved:
        for told in unproved.context["receipts"]:
            parts.metrics.append_events.labels(told["status"]).inc()
        raise
    for receipt in receipts:
        parts.metrics.append_events.labels(receipt.status).inc()
    written = [receipt for receipt in receipts if receipt.written]
    if receipts and not written:
        raise _nothing_written(receipts)
    appended = sum(receipt.status == "appended" for receipt in written)
    answer: dict[str, Any] = {
        "appended": appended,
        "already_appended": len(written) - appended,
        "not_written": len(receipts) - len(written),
        "receipts": [receipt.as_dict() | (line or {}) for receipt, line in zip(receipts, lines, strict=True)],
    }
    return Json(answer, 200 if len(written) == len(receipts) else 207)


def _nothing_written(receipts: list[AppendReceipt]) -> EngramlogError:
    """409 where ids or heads stood in the way, 503 where no partition could be written."""
    told = [receipt.as_dict() for receipt in receipts]
    for receipt in receipts:
        if receipt.status == "conflict":
            return EventIdTaken(receipt.event_id, receipt.position, receipts=told)
        if receipt.status == "head_mismatch":
            why = f"event {receipt.event_id}: the owner's head is {receipt.position or 'before its first event'}"
            return ConcurrencyError(f"nothing was written: {why}", event_id=receipt.event_id, receipts=told)
    why = next((receipt.error for receipt in receipts if receipt.error), "no partition could be written")
    return StoreUnavailable(f"nothing was written: {why}", receipts=told, retry_after=1)
