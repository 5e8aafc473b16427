"""`/v1/owners/{owner}`: older records and chats in, and all memories out."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple
from urllib.parse import quote

import msgspec
import orjson
from fastapi import Depends, Request
from starlette.responses import Response

from engramlog_server.api.http.guard import LINES_TYPES, media_type
from engramlog_server.api.http.problem import Responses, Schema, problems
from engramlog_server.api.http.routes.operations import check_size, partly
from engramlog_server.api.http.routing import Json, Parts, Pieces, StreamCut, by_thread, new_router, register, shape_of
from engramlog_server.api.operations.definition import Given
from engramlog_server.api.operations.records import EXPORT, EXPORT_REVEALED, IMPORT_CHATS, IMPORT_RECORDS
from engramlog_server.events.errors import ConcurrencyError, EngramlogError, refused
from engramlog_server.events.vocabulary import MAX_REQUEST_EVENTS

if TYPE_CHECKING:
    from engramlog_server.api.exchange.export import ExportOptions
    from engramlog_server.api.exchange.records import Export


PIECE_BYTES = 64 * 1024
"""What is sent at a time, and a memory more."""

_OF_AN_EXPORT: Schema = {
    "engramlog": 1,
    "memory_id": "coffee",
    "created_at": "2026-11-22T09:30:00Z",
    "content": "I drink coffee every morning",
    "category": "stable_preference",
    "kind": "preference",
    "source": "user",
    "imported": {"access_count": 5, "mention_count": 2},
}
_ENTRY: Schema = {
    "id": "compiler",
    "content": "pin the version of the compiler",
    "category": "pitfall",
    "createdAt": "2026-11-22T09:30:00.000Z",
    "accessCount": 5,
}
_TEXT = """# Memories of alice

1 memory at 2026-11-22T09:30:00Z, weights by the weighted law; left out: 2 deleted

## coffee

> I drink coffee every morning

- weight: 1.3000, level full
"""
_EXPORTED: Responses = {
    200: {
        "description": "The memories, oldest first, or every part of the owner, one a line. If the export is cut short, the last"
        " line is a `cut` with the reason."
        " Headers: `engramlog-position`, `engramlog-memories` (how many), and `engramlog-left-out` with what is not"
        " in it by reason (`deleted=2, sensitive=1`). `engramlog-quarantined` names the position of a quarantined owner,"
        " and `engramlog-behind` counts newer events of the owner. `engramlog-as-of` and `engramlog-known` repeat the"
        " request.",
        "content": {
            "application/x-ndjson": {
                "schema": {"type": "string", "description": "One memory a line."},
                "example": msgspec.json.encode(_OF_AN_EXPORT).decode() + "\n",
            },
            "text/markdown": {"schema": {"type": "string"}, "example": _TEXT},
        },
    }
}


_KINDS = {"text": "text/markdown; charset=utf-8"}


def _export(parts: Parts, owner: str, asked: Any) -> Response:
    told = asked.model_dump(exclude={"reveal"})
    options = _options(parts, owner, told)
    return _answered(parts.application.records.export(owner, options, **told), {})


def _export_revealed(parts: Parts, owner: str, asked: Any = None) -> Response:
    told = (asked or shape_of(EXPORT_REVEALED)()).model_dump()
    options = _options(parts, owner, told, reveal=told.pop("reveal"))
    from engramlog_server.api.access import By

    by = By("http", told.pop("actor"), told.pop("reason"))
    found, revealed = parts.application.revealer.export(owner, options, by, **told)
    return _answered(found, {"engramlog-revealed": revealed} if revealed else {})


def _options(parts: Parts, owner: str, told: dict[str, Any], *, reveal: bool = False) -> ExportOptions:
    """What to export, taken out of what was told."""
    ids = [parts.application.named(owner, one) for one in told.pop("ids")]
    from engramlog_server.api.exchange.export import ExportOptions

    return ExportOptions(reveal=reveal, ids=ids, **{name: told.pop(name) for name in ("include", "everything")})


def _answered(found: Export, more: dict[str, str]) -> Pieces:
    headers = {
        "cache-control": "no-store",
        "engramlog-position": found.position,
        "engramlog-memories": str(found.chosen.number),
        "engramlog-left-out": ", ".join(f"{reason}={count}" for reason, count in sorted(found.left_out.items())),
    }
    headers |= {
        f"engramlog-{name.replace('_', '-')}": quote(str(told), ":+")
        for name, told in (found.lines or {}).items()
        if told
    }
    if found.warning["behind"]:
        headers["engramlog-behind"] = str(found.warning["behind"])
    if stuck := found.warning.get("quarantined"):
        headers["engramlog-quarantined"] = stuck["position"]
    return Pieces(_joined(found), _KINDS.get(found.format, "application/x-ndjson"), headers | more)


def _joined(found: Export) -> Iterator[bytes]:
    """Where it ends before its end, a last line says so, and the answer has none."""
    chunk, pieces = bytearray(), found.pieces()
    while True:
        try:
            piece = next(pieces, None)
        except EngramlogError as error:
            yield bytes(chunk) + found.cut(error)
            raise StreamCut from error
        if piece is None:
            break
        chunk += piece
        if len(chunk) >= PIECE_BYTES:
            yield bytes(chunk)
            chunk.clear()
    if chunk:
        yield bytes(chunk)


class Sent(NamedTuple):
    """The records of a request, each as its own JSON text; blank lines count as lines."""

    lines: list[bytes]
    as_written: bool
    """Whether they came as lines: those of a JSON list may be written otherwise than they were exported."""


async def records_of(request: Request) -> Sent:
    """The request's records: a JSON list, or a record a line. Raises RequestTooLarge beyond 1,000."""
    return await by_thread(request, _lines if media_type(request.headers) in LINES_TYPES else _listed)


def _lines(body: bytes) -> Sent:
    return _sent(body.removeprefix(BOM_UTF8).split(b"\n"), as_written=True)


def _listed(body: bytes) -> Sent:
    try:
        return _sent([bytes(raw) for raw in msgspec.json.decode(body, type=list[msgspec.Raw])], as_written=False)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        allowed = f"a JSON list of records, or one a line as application/x-ndjson ({error})"
        raise refused("body", body[:60].decode("utf-8", "replace"), allowed) from None


def _sent(lines: list[bytes], *, as_written: bool) -> Sent:
    check_size(sum(1 for line in lines if line.strip()), "records")
    return Sent(lines, as_written)


_RECORD = {"type": "object", "description": "One record in any of the shapes."}
_RECORDS = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {
                "schema": {"type": "array", "items": _RECORD, "maxItems": MAX_REQUEST_EVENTS},
                "examples": {
                    "exported": {"summary": "Lines of an export", "value": [_OF_AN_EXPORT]},
                    "older": {"summary": "Entries of an older store", "value": [_ENTRY]},
                },
            },
            "application/x-ndjson": {
                "schema": {"type": "string", "description": "One record a line."},
                "example": msgspec.json.encode(_ENTRY).decode() + "\n",
            },
        },
    }
}


def _import(parts: Parts, owner: str, sent: Sent, asked: Any) -> Response:
    from engramlog_server.api.exchange.records import RecordOptions

    options = RecordOptions(owner=owner, summed=sent.as_written, **asked.model_dump())
    answer = parts.application.records.take_in_whole(sent.lines, options)
    done = answer.imported.done
    if done.error is not None:
        raise done.error
    if done.conflicts and not done.appended + done.already_appended:
        raise ConcurrencyError(
            "nothing was written: every record was imported before with other content", **answer.as_dict()
        )
    return Json(answer.as_dict(), 207 if answer.exit_code else 200)


router = new_router()
_STREAMED: Given = {"response_class": Pieces, "status_code": 200}
for definition, endpoint in ((EXPORT, _export), (EXPORT_REVEALED, _export_revealed)):
    register(router, definition, endpoint, _EXPORTED | problems(*(definition.statuses or ())), **_STREAMED)
register(
    router,
    IMPORT_RECORDS,
    _import,
    partly(
        IMPORT_RECORDS,
        "Some records stayed out: changed since they were imported, two of one id, or an id that was taken.",
    ),
    sent=Annotated[Sent, Depends(records_of)],
    openapi_extra=_RECORDS,
)


_ONE_CONVERSATION: Schema = {
    "id": "c1",
    "created_at": "2026-11-22T09:30:00Z",
    "messages": [
        {"role": "user", "content": "I drink coffee every morning"},
        {"role": "assistant", "content": "Noted: coffee in the morning."},
    ],
}
_TURN: Schema = {
    "turn_id": "D4:7",
    "occurred_at": "2026-11-22T09:30:00Z",
    "speaker": "user",
    "session": "s1",
    "text": "I drink coffee every morning",
}
_CONVERSATION = {"type": "object", "description": "A conversation in any of the shapes, or a turn for `lines`."}
_CHATS = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {
                "schema": {"oneOf": [{"type": "array", "items": _CONVERSATION}, _CONVERSATION]},
                "examples": {
                    "export": {"summary": "An export: a list of conversations", "value": [_ONE_CONVERSATION]},
                    "one": {"summary": "One conversation", "value": _ONE_CONVERSATION},
                },
            },
            "application/x-ndjson": {
                "schema": {"type": "string", "description": "One conversation, or one turn, a line."},
                "example": orjson.dumps(_TURN).decode() + "\n",
            },
        },
    }
}


async def body_of(request: Request) -> bytes:
    """The request's body; it is read into conversations by a thread, not here."""
    return await request.body()


def _import_chats(parts: Parts, owner: str, sent: bytes, asked: Any) -> Response:
    told = asked.model_dump()
    answer = parts.application.chats.take_in_whole(owner, sent, memories=not told.pop("turns_only"), **told)
    done = answer.imported.imported.done
    if (done.conflicts or done.failed) and not done.appended + done.already_appended:
        raise ConcurrencyError(
            "nothing was written: turns of these ids are in the log with other texts", **answer.as_dict()
        )
    return Json(answer.as_dict(), 200 if answer.whole else 207)


register(
    router,
    IMPORT_CHATS,
    _import_chats,
    partly(IMPORT_CHATS, "Some turns stayed out, or wait: `conflicts`, `failed` and `quarantined` tell."),
    sent=Annotated[bytes, Depends(body_of)],
    openapi_extra=_CHATS,
)
