"""The words and bounds that events are made of: ids, texts, closed word lists.

Each is an `Annotated` type: pydantic reads the bounds at the door, msgspec ignores them behind it.
"""

from __future__ import annotations

import re
import unicodedata
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal, TypeVar
from uuid import UUID

from pydantic import AfterValidator, Field, GetCoreSchemaHandler, WithJsonSchema
from pydantic_core import PydanticCustomError, core_schema

MAX_TEXT_BYTES = 64 * 1024
"""Longest content, turn or summary, in bytes of UTF-8."""
MAX_REQUEST_EVENTS = 1_000
"""Most events in one append request."""
MAX_SOURCES = 100
"""Most memories one event may merge, summarise or cite."""
EARLIEST = datetime(1900, 1, 1, tzinfo=UTC)
FUTURE_TOLERANCE = timedelta(minutes=5)
"""How far ahead of the store's clock an `occurred_at` may lie."""

Category = Literal["identity", "stable_preference", "short_term_preference", "fact", "skill", "temporary"]
Tier = Literal["system", "core", "fact", "episode"]
Source = Literal["user", "assistant", "judge", "system", "import"]
Modality = Literal["text", "image", "audio", "video"]
Actor = Literal["user", "assistant", "judge", "system", "operator"]
Role = Literal["user", "assistant", "tool", "system", "other"]
Resolution = Literal["latest_wins", "version_keep", "weight_balance"]
Level = Literal["full", "summary", "tag", "trace", "archive"]
Via = Literal["recall", "association", "detail", "injection"]
Outcome = Literal["task_success", "task_failure", "manual_review", "used"]
DeletionPolicy = Literal["user_delete", "auto_cleanup", "merge_cleanup"]

_ID_PUNCTUATION = frozenset("-_.:@/+")
_ID_ASCII = re.compile(r"[A-Za-z0-9\-_.:@/+]{1,128}\Z")
ID_RULE = "1 to 128 letters or digits of any script (NFC) and - _ . : @ / +, no space, control or braces"


def check_id(value: str) -> str:
    """The id itself; raises a pydantic error that states the rule."""
    if _ID_ASCII.match(value):
        return value
    in_alphabet = all(c in _ID_PUNCTUATION or unicodedata.category(c)[0] in "LNM" for c in value)
    if not 1 <= len(value) <= 128 or not in_alphabet or not unicodedata.is_normalized("NFC", value):
        raise PydanticCustomError("not_an_id", "an id is {rule}", {"rule": ID_RULE})
    return value


def check_text(value: str) -> str:
    """A text that says something and fits in 64 KiB of UTF-8."""
    if not value.strip():
        raise PydanticCustomError("blank", "a text that is not blank, at most 64 KiB of UTF-8")
    if len(value) * 4 > MAX_TEXT_BYTES and len(value.encode()) > MAX_TEXT_BYTES:
        raise PydanticCustomError("too_long", "a text of at most 64 KiB of UTF-8, not blank")
    return value


def canonical_uuid(value: str) -> str:
    """Any RFC 9562 spelling of a UUID, as lower-case 8-4-4-4-12."""
    try:
        return str(UUID(value)) if len(value) == 36 else _not_a_uuid()
    except ValueError:
        return _not_a_uuid()


def _not_a_uuid() -> str:
    raise PydanticCustomError("not_a_uuid", "a UUID as 8-4-4-4-12 hexadecimal digits (version 7 for new events)")


_T = TypeVar("_T")


def _all_different(values: tuple[_T, ...]) -> tuple[_T, ...]:
    if len(set(values)) != len(values):
        raise PydanticCustomError("repeated", "a list without repetitions")
    return values


class Instant:
    """An aware RFC 3339 date-time with at most six decimals of a second."""

    def __get_pydantic_core_schema__(self, _source: Any, _handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        return core_schema.datetime_schema(tz_constraint="aware", microseconds_precision="error")


Id = Annotated[
    str,
    AfterValidator(check_id),
    WithJsonSchema({"type": "string", "minLength": 1, "maxLength": 128, "description": ID_RULE}),
]
EventId = Annotated[str, AfterValidator(canonical_uuid), WithJsonSchema({"type": "string", "format": "uuid"})]
Text = Annotated[
    str,
    AfterValidator(check_text),
    WithJsonSchema({"type": "string", "minLength": 1, "description": "not blank, at most 64 KiB of UTF-8"}),
]
Reason = Annotated[str, Field(max_length=2_000)]
Word = Annotated[str, Field(min_length=1, max_length=64, pattern=r"^[\p{L}\p{N}_\-./:+]+$")]
Keyword = Annotated[str, Field(min_length=1, max_length=100)]
Name = Annotated[str, Field(min_length=1, max_length=200)]
Time = Annotated[datetime, Instant()]
Share = Annotated[float, Field(ge=0, le=1)]
Emotion = Annotated[float, Field(ge=-1, le=1)]
Importance = Annotated[float, Field(ge=0, le=10)]
Sensitivity = Annotated[int, Field(ge=0, le=3)]
Count = Annotated[int, Field(ge=0, le=1_000_000_000)]
Position = Annotated[str, Field(pattern=r"^[0-9]{1,4}:[1-9][0-9]{0,15}$", examples=["3:128"])]
MemoryIds = Annotated[tuple[Id, ...], Field(max_length=MAX_SOURCES), AfterValidator(_all_different)]
Turns = Annotated[tuple[Id, ...], Field(max_length=MAX_SOURCES), AfterValidator(_all_different)]
Keywords = Annotated[tuple[Keyword, ...], Field(max_length=50), AfterValidator(_all_different)]
Tags = Annotated[tuple[Keyword, ...], Field(max_length=50), AfterValidator(_all_different)]
