"""`/v1/owners/{owner}`: older records in, and all memories out."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Iterator
from typing import Annotated, Any, NamedTuple
from urllib.parse import quote

import msgspec
from fastapi import APIRouter, Body, Depends, Query, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from api.choices import ASKED_FOR
from api.exchange.exporting import ExportOptions
from api.exchange.importing_records import RecordOptions
from api.exchange.records import FORMATS, Export
from api.http.admitted import AdmittedRoute
from api.http.answer import Json, documented, problems
from api.http.asking import AS_OF, KNOWN, Asked, AsOfAsked, Owner, Question, Speaker, Unrevealed
from api.http.guard import LINES_TYPES, media_type
from api.http.parsing import by_thread
from api.http.routes.operations import check_size
from api.http.streamed import Pieces
from api.operations.answers import RecordsImported
from api.operations.answers.records import EXAMPLE_ENTRY, EXAMPLE_RECORD, EXAMPLE_TEXT
from api.requests.timelines import LineTerms
from api.revealing import By
from events.errors import ConcurrencyError, refused
from events.vocabulary import MAX_REQUEST_EVENTS

router = APIRouter(prefix="/v1/owners/{owner}", tags=["owners"], route_class=AdmittedRoute)
PIECE_BYTES = 64 * 1024
"""What is sent at a time, and a memory more."""


class ExportAsked(AsOfAsked):
    """What to export."""

    format: str = Field(
        default="jsonl",
        description="`jsonl`, which an import reads again, or `text`, Markdown for people.",
        examples=list(FORMATS),
    )
    include: list[str] = Field(
        default=[],
        description=f"What else than what stands: {', '.join(ASKED_FOR)}; repeatable.",
        examples=[["deleted"]],
    )
    reveal: Unrevealed = Field(
        default=False, description="Refused: POST shows secrets too, and records it.", examples=[False]
    )


_EXPORTED: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The memories, oldest first. Headers: `engramlog-position`, and `engramlog-left-out` with what is not"
        " in it by reason (`deleted=2, sensitive=1`); `engramlog-quarantined` with a position where the owner is,"
        " `engramlog-behind` with how far the owner's head lies beyond it; `engramlog-as-of` and `engramlog-known` where they"
        " were asked for.",
        "content": {
            "application/x-ndjson": {
                "schema": {"type": "string", "description": "One memory a line."},
                "example": msgspec.json.encode(EXAMPLE_RECORD).decode() + "\n",
            },
            "text/markdown": {"schema": {"type": "string"}, "example": EXAMPLE_TEXT},
        },
    }
}


class Exporting(BaseModel):
    """What to export, secrets too."""

    model_config = ConfigDict(extra="forbid")

    format: str = Field(default="jsonl", description="`jsonl` or `text`.", examples=list(FORMATS))
    include: list[str] = Field(
        default=[], description=f"What else than what stands: {', '.join(ASKED_FOR)}.", examples=[["deleted"]]
    )
    reveal: bool = Field(default=False, description="Also secret memories (sensitivity 3).", examples=[True])
    actor: Speaker = Field(default="user", description="Who asks: user, assistant or judge.", examples=["user"])
    reason: str = Field(default="", description="Why, in words.", examples=["they asked for their data"])
    as_of: str | None = AS_OF
    known: str | None = KNOWN
    after: str | None = Field(default=None, description="Wait until this position is folded.", examples=["3:128"])


@router.get(
    "/export",
    summary="Export",
    responses=_EXPORTED | problems(409, 504),
    response_class=Pieces,
    status_code=200,
)
def export(application: Asked, owner: Owner, asked: Annotated[ExportAsked, Query()]) -> Response:
    """All memories of an owner as lines to import again, or as a text; of secrets none. Leaves no trace."""
    options = ExportOptions(include=asked.include)
    return _answered(application.records.export(owner, options, asked.format, **_lines_of(asked)), {})


_SECRETS: dict[str, Any] = {"secrets": {"summary": "With secrets", "value": {"reveal": True, "reason": "asked for"}}}


@router.post(
    "/export",
    summary="Export with secrets",
    responses=_EXPORTED | problems(409, 504, 507),
    response_class=Pieces,
    status_code=200,
)
def export_revealed(
    application: Asked, owner: Owner, asked: Annotated[Exporting | None, Body(openapi_examples=_SECRETS)] = None
) -> Response:
    """The same, secrets too with `reveal`: which ones are shown is recorded first (`MemoriesRevealed`, `engramlog-revealed`)."""
    asked = asked or Exporting()
    options = ExportOptions(include=asked.include, reveal=asked.reveal)
    by = By("http", asked.actor, asked.reason)
    found, revealed = application.revealer.export(owner, options, by, asked.format, **_lines_of(asked))
    return _answered(found, {"engramlog-revealed": revealed} if revealed else {})


def _lines_of(asked: ExportAsked | Exporting) -> LineTerms:
    return LineTerms(as_of=asked.as_of, known=asked.known, after=asked.after)


def _answered(found: Export, more: dict[str, str]) -> Pieces:
    headers = {
        "cache-control": "no-store",
        "engramlog-position": found.position,
        "engramlog-left-out": ", ".join(f"{reason}={count}" for reason, count in sorted(found.left_out.items())),
    }
    headers |= {f"engramlog-{name.replace('_', '-')}": quote(told, ":+") for name, told in found.lines.items() if told}
    if found.warning["behind"]:
        headers["engramlog-behind"] = str(found.warning["behind"])
    if "quarantined" in found.warning:
        headers["engramlog-quarantined"] = found.warning["quarantined"]["position"]
    kind = "text/markdown; charset=utf-8" if found.format == "text" else "application/x-ndjson"
    return Pieces(_joined(found.pieces()), kind, headers | more)


def _joined(pieces: Iterator[bytes]) -> Iterator[bytes]:
    chunk = bytearray()
    for piece in pieces:
        chunk += piece
        if len(chunk) >= PIECE_BYTES:
            yield bytes(chunk)
            chunk.clear()
    if chunk:
        yield bytes(chunk)


class Sent(NamedTuple):
    """The records of a request, each as its own JSON text; blank lines count as lines."""

    lines: list[bytes]


async def records_of(request: Request) -> Sent:
    """The request's records: a JSON list, or a record a line. Raises RequestTooLarge beyond 1,000."""
    return await by_thread(request, _lines if media_type(request.headers) in LINES_TYPES else _listed)


def _lines(body: bytes) -> Sent:
    return _sent(body.removeprefix(BOM_UTF8).split(b"\n"))


def _listed(body: bytes) -> Sent:
    try:
        return _sent([bytes(raw) for raw in msgspec.json.decode(body, type=list[msgspec.Raw])])
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        allowed = f"a JSON list of records, or one a line as application/x-ndjson ({error})"
        raise refused("body", body[:60].decode("utf-8", "replace"), allowed) from None


def _sent(lines: list[bytes]) -> Sent:
    check_size(sum(1 for line in lines if line.strip()), "records")
    return Sent(lines)


class ImportAsked(Question):
    """How to read the records."""

    shape: str = Field(
        default="auto",
        description="`engramlog` (what an export holds), `ebbinghaus`, `consolidating`, or `auto`: as each one's fields show.",
        examples=["auto", "engramlog", "ebbinghaus", "consolidating"],
    )
    assume_utc: bool = Field(
        default=False, description="Times without a zone are in UTC; else they are refused.", examples=[False]
    )


_RECORD = {"type": "object", "description": "One record in any of the shapes."}
_RECORDS = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {
                "schema": {"type": "array", "items": _RECORD, "maxItems": MAX_REQUEST_EVENTS},
                "examples": {
                    "exported": {"summary": "Lines of an export", "value": [EXAMPLE_RECORD]},
                    "older": {"summary": "Entries of an older store", "value": [EXAMPLE_ENTRY]},
                },
            },
            "application/x-ndjson": {
                "schema": {"type": "string", "description": "One record a line."},
                "example": msgspec.json.encode(EXAMPLE_ENTRY).decode() + "\n",
            },
        },
    }
}
_IMPORTED = documented(RecordsImported, "Every record is in the log and folded.", 409, 413, 504, 507)
_IMPORTED[207] = _IMPORTED[200] | {
    "description": "Some records stayed out: changed since they were imported, two of one id, or an id that was taken."
}


@router.post("/import/records", summary="Import records", responses=_IMPORTED, openapi_extra=_RECORDS)
def import_(
    application: Asked,
    owner: Owner,
    sent: Annotated[Sent, Depends(records_of)],
    asked: Annotated[ImportAsked, Query()],
) -> Response:
    """Up to 1,000 older records become memories with their counters: checked whole first, so that a bad one writes nothing.

    Importing again is safe: what is there is counted and changes nothing.
    """
    options = RecordOptions(owner=owner, shape=asked.shape, assume_utc=asked.assume_utc)
    answer = application.records.take_in_whole(sent.lines, options)
    done = answer.imported.done
    if done.error is not None:
        raise done.error
    if done.conflicts and not done.appended + done.already_appended:
        raise ConcurrencyError(
            "nothing was written: every record was imported before with other content", **answer.as_dict()
        )
    return Json(answer.as_dict(), 207 if answer.exit_code else 200)
