"""`/v1/events`: append, and read the log; a request that waits for more takes no thread. `/v1/owners/{owner}/feed`: its changes."""

from __future__ import annotations

import asyncio
import json
from codecs import BOM_UTF8
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import anyio
import msgspec
from anyio.to_thread import run_sync
from fastapi import Depends, Header, Query, Request
from pydantic import Field, TypeAdapter, ValidationError
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from engramlog_server.api.checks import check_owner, come_in_by, position_of
from engramlog_server.api.http.feed import Client, Feeds
from engramlog_server.api.http.guard import LINES_TYPES, media_type
from engramlog_server.api.http.problem import Schema, input_error, problems
from engramlog_server.api.http.routing import (
    AskedParts,
    Json,
    Owner,
    Parts,
    Question,
    admission_of,
    by_thread,
    documented,
    new_router,
    register,
    renewed,
)
from engramlog_server.api.operations.definition import Operation
from engramlog_server.api.operations.events import EVENTS, PARTITION_EVENTS
from engramlog_server.api.operations.needs import WITHHELD_FROM
from engramlog_server.api.work import Work, takes
from engramlog_server.events.errors import (
    ConcurrencyError,
    EngramlogError,
    EventIdTaken,
    InputError,
    StoreUnavailable,
    UnderReplicated,
    refused,
)
from engramlog_server.events.log import AppendReceipt, check_request_size
from engramlog_server.events.text import UNREADABLE, name_seen_twice

if TYPE_CHECKING:
    from engramlog_server.api.services.remembering import JudgedLine


FORMS = 'an event, a JSON array of events, {"events": [...], "expected_heads": {owner: seq}}, or JSON Lines as application/x-ndjson'
MOST_LENIENT = 8 * 1024 * 1024
"""Bytes of a body that is read once more to say what is wrong with it: for so long no other thread gets its turn."""
_HEADS = TypeAdapter(dict[str, Annotated[int, Field(ge=0, strict=True)]])


class Batch(NamedTuple):
    """The events of a request, each as its own JSON text, and the heads its producer expects."""

    events: list[bytes]
    expected_heads: dict[str, int]

    @property
    def first_owner(self) -> str:
        """The owner of the first event, where it can be read: in whose line the request waits."""
        return next(iter(_owners(self.events[:1])), "")


class _Whole(msgspec.Struct, forbid_unknown_fields=True):
    events: list[msgspec.Raw]
    expected_heads: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


class _Single(msgspec.Struct):
    """An envelope by itself: it names what happened to whom, and holds no `events`."""

    owner: msgspec.Raw
    data: msgspec.Raw
    events: msgspec.UnsetType = msgspec.UNSET


class _Named(msgspec.Struct):
    owner: str


def read_lines(body: bytes) -> Batch:
    """JSON Lines; blank lines are passed over and not counted."""
    return Batch([line for line in (one.strip() for one in body.removeprefix(BOM_UTF8).split(b"\n")) if line], {})


def read_batch(body: bytes) -> Batch:
    """A JSON array, an object with `events`, or one event. Raises InputError where it is none of them."""
    is_object = body.lstrip()[:1] == b"{"
    try:
        if is_object:
            return _of_object(body, msgspec.json.decode(body, type=_Whole))
        return Batch([bytes(raw) for raw in msgspec.json.decode(body, type=list[msgspec.Raw])], {})
    except msgspec.ValidationError as error:
        return _single(body, error)
    except UNREADABLE as error:
        return _lenient(body, error)


def _single(body: bytes, strict: Exception) -> Batch:
    """One envelope by itself. Raises InputError where it is none."""
    try:
        msgspec.json.decode(body, type=_Single)
    except msgspec.ValidationError:
        raise refused("body", _start(body), f"{FORMS} ({strict})") from None
    except UNREADABLE:
        return _lenient(body, strict)
    return Batch([body.strip()], {})


def _of_object(body: bytes, whole: _Whole) -> Batch:
    """What an object holds. Of `events` twice one would be passed over: its quotation marks are missing in what was read."""
    events = [bytes(raw) for raw in whole.events]
    heads = b"" if isinstance(whole.expected_heads, msgspec.UnsetType) else bytes(whole.expected_heads)
    names = 2 if heads else 1
    if body.count(b'"') != 2 * names + sum(raw.count(b'"') for raw in events) + heads.count(b'"'):
        raise refused("body", "the same name twice in one object", "each name once")
    return _with_heads(events, heads or b"{}")


def _lenient(body: bytes, strict: Exception) -> Batch:
    """Python's reader lets lone surrogates and NaN pass, so that the door can name the event and the field that hold one."""
    try:
        document = json.loads(body.decode()) if len(body) <= MOST_LENIENT else None
        heads = "{}"
        if isinstance(document, dict) and document.keys() <= {"events", "expected_heads"}:
            heads = json.dumps(document.get("expected_heads", {}))
            document = document.get("events")
        elif isinstance(document, dict) and document.keys() >= {"owner", "data"} and "events" not in document:
            document = [document]
        if isinstance(document, list):
            check_request_size(len(document))
        events = [json.dumps(event).encode() for event in document] if isinstance(document, list) else None
    except (ValueError, RecursionError):
        events = None
    if events is None:
        raise refused("body", _start(body), f"{FORMS} ({strict})") from None
    return _with_heads(events, heads.encode())


def _with_heads(events: list[bytes], raw: bytes) -> Batch:
    """Heads must be whole numbers, and of owners that the request is about: a misspelt owner would guard nothing."""
    try:
        if twice := name_seen_twice(raw):
            raise refused("expected_heads", f"{twice[:60]} twice", "each owner once")
        heads = _HEADS.validate_json(raw)
    except ValidationError as error:
        raise _misfit(error) from None
    unheard = sorted(heads.keys() - _owners(events)) if heads else []
    if unheard:
        raise refused("expected_heads", ", ".join(unheard[:10]), "owners of events in the same request")
    return Batch(events, heads)


def _misfit(error: ValidationError) -> InputError:
    told: list[dict[str, Any]] = [
        {**one, "loc": ("body", "expected_heads", *one["loc"])} for one in error.errors(include_url=False)
    ]
    return input_error(told)


def _owners(events: list[bytes]) -> set[str]:
    """The owners named, where they can be read; the door tells of the others."""
    decoder = msgspec.json.Decoder(_Named)
    owners: set[str] = set()
    for raw in events:
        try:
            owners.add(decoder.decode(raw).owner)
        except UNREADABLE:
            continue
    return owners


def _start(body: bytes) -> str:
    return body[:60].decode("utf-8", "replace")


router = new_router("events")


async def batch_of(request: Request) -> Batch:
    """The request's events, in whichever of the forms they came."""
    return await by_thread(request, read_lines if media_type(request.headers) in LINES_TYPES else read_batch)


_EVENT: Schema = {
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
_JUDGE = Query(description="Compare new memories with known ones; events of one owner only.", examples=[False])
_ANSWERS = documented("Appended", "Every event is in the log.", 409, 413, 507)
_ANSWERS[207] = _ANSWERS[200] | {
    "description": "The parts of some partitions were written, others not; see the receipts. Sending the whole request again is"
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


async def _events(operation: Operation, request: Request, parts: Parts, asked: Any, **subject: Any) -> Response:
    from engramlog_server.api.services.events import check_wait, pause_after

    given = asked.model_dump()
    wait, owner = given.pop("wait"), subject.get("owner")
    check_wait(wait, given["order"])
    end = monotonic() + wait
    while True:
        looked = monotonic()
        call = partial(come_in_by, "http", operation.ask, parts.application, subject | given)
        answer = await admission_of(request).run(Work.LIGHT, owner or "", call)
        left = end - monotonic()
        if answer["events"] or answer["next"] is not None or left <= 0:
            return Json(answer)
        given["cursor"] = answer["follow"]
        head = int(answer["head"].partition(":")[2])
        await parts.waits.wait(answer["partition"], owner, head, left)
        await asyncio.sleep(pause_after(looked))
        parts = await renewed(request)


for operation in (EVENTS, PARTITION_EVENTS):
    register(router, operation, partial(_events, operation))


STILL_SECONDS = 0.2
"""After so long it is looked at again, before anything is sent, whether whoever follows may."""
NO_MORE = "access ended"
EXAMPLE = """event: open
id: 3:128
retry: 1000
data: {"owner":"alice","position":"3:128"}

event: change
id: 3:131
data: {"owner":"alice","position":"3:131","changes":[{"position":"3:131","event":"MemoryMentioned","memory":"coffee", ...}]}

: still here
"""


class FeedAsked(Question):
    """Where a feed begins."""

    since: str | None = Field(
        default=None,
        description="Begin after this position of the owner (`p:0` for everything); from now on without it."
        " `Last-Event-ID` goes before it.",
        examples=["3:128"],
    )


async def always() -> bool:
    """Whoever follows may."""
    return True


class FeedResponse(StreamingResponse):
    """A stream that forgets its client however it ends, and cuts one that takes nothing.

    FastAPI's own machinery for server-sent events answers 200 before the feed could be refused, and waits for ever.
    """

    media_type = "text/event-stream"

    def __init__(self, feeds: Feeds, client: Client, still: Callable[[], Awaitable[bool]] = always) -> None:
        """`still` tells whether whoever follows may still follow."""
        headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
        super().__init__(feeds.stream(client), headers=headers)
        self._feeds = feeds
        self._client = client
        self._still = still

    async def stream_response(self, send: Send) -> None:
        """Each message within the time that a client has to take it."""
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        looked = monotonic()
        async for made in self.body_iterator:
            chunk, ends = made, False
            if monotonic() - looked > STILL_SECONDS:
                if ends := not await self._still():
                    chunk = self._feeds.ended(self._client, NO_MORE)
                looked = monotonic()
            with anyio.move_on_after(self._feeds.limits.send_seconds) as sending:
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
            if sending.cancelled_caught:
                return
            if ends:
                break
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Stream until the client goes or the feed ends."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._feeds.leave(self._client)


feed_router = new_router("feed")
_FEED_ANSWERS = problems(409) | {
    200: {
        "description": "Server-sent events, until either side ends it: `open`, then a `change` for each event that changed"
        " something, `end` with the last id where the server ends it.",
        "content": {"text/event-stream": {"schema": {"type": "string"}, "example": EXAMPLE}},
    }
}


@feed_router.get(
    "/v1/owners/{owner}/feed",
    summary="Follow changes",
    responses=_FEED_ANSWERS,
    response_class=FeedResponse,
    status_code=200,
)
async def feed(
    request: Request,
    parts: AskedParts,
    owner: Owner,
    asked: Annotated[FeedAsked, Query()],
    last_event_id: Annotated[
        str | None,
        Header(description="Resume after this id, as a browser's EventSource does by itself.", examples=["3:128"]),
    ] = None,
) -> Response:
    """The owner's committed change-log entries, one message an event, its position as the id. Contents are not told."""
    check_owner(owner)
    await run_sync(
        parts.check, "read", owner, "feed", WITHHELD_FROM
    )  # a refusal is recorded in the log, which may take its time
    text = last_event_id or asked.since
    after = None
    if text is not None:
        field = "Last-Event-ID" if last_event_id else "since"
        after = position_of(text, owner, parts.whole.log.partitions, field)

    async def still() -> bool:
        try:
            return (await renewed(request)).caller.may("read", owner, sensitivity=WITHHELD_FROM)
        except EngramlogError:  # no key that lives, or who may what cannot be known
            return False

    return FeedResponse(parts.feeds, await parts.feeds.join(owner, after), still)
