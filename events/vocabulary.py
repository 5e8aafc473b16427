"""The words and bounds that events are made of: ids, texts, closed word lists; and the structs that hold them.

Each is an `Annotated` type: pydantic reads the bounds in validation, msgspec ignores them behind it. One definition of a struct
serves both: the dataclass that pydantic checks with is made from the struct's own annotations. (Frozen dataclasses behind
validation cost three times the decoding, and are walked by the garbage collector.)
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import field, make_dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from math import isfinite
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin, get_type_hints

import msgspec
import orjson
from pydantic import AfterValidator, ConfigDict, Field, GetCoreSchemaHandler, GetJsonSchemaHandler, WithJsonSchema
from pydantic.config import JsonDict
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from engramlog_server.events import trust
from engramlog_server.events.text import VISIBLE

STRICT = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


class Shape(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False, forbid_unknown_fields=True):
    """Base of events and of what they hold. Immutable and without cycles, so the garbage collector may pass it by.

    A field that it does not have is refused, stored or new: of an event that a newer release wrote nothing is passed over.
    """

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return handler.generate_schema(checked(source))


def default_of(one: msgspec.structs.FieldInfo) -> Any:
    """What a field that need not be given holds where it is not."""
    return one.default if one.default_factory is msgspec.NODEFAULT else one.default_factory()


@cache
def checked(source: Any) -> type:
    """The dataclass, of the same name, fields and defaults, by which pydantic checks a shape or `Shape[argument]`."""
    shape = get_origin(source) or source
    hints = get_type_hints(shape, include_extras=True)
    bound = dict(zip(getattr(shape, "__parameters__", ()), get_args(source), strict=True))
    fields: list[Any] = []
    for one in msgspec.structs.fields(shape):
        kind = hints[one.name]
        kind = bound.get(kind, kind) if bound else kind
        fields.append((one.name, kind) if one.required else (one.name, kind, field(default=default_of(one))))
    namespace = {"__pydantic_config__": STRICT, "__doc__": shape.__doc__, "__module__": shape.__module__}
    return make_dataclass(shape.__name__, fields, namespace=namespace, frozen=True, slots=True, kw_only=True)


MAX_TEXT_BYTES = 64 * 1024
"""Longest content, turn or summary, in bytes of UTF-8."""
MAX_REQUEST_EVENTS = 1_000
"""Most events in one append request."""
MAX_SOURCES = 100
"""Most memories one event may merge, summarise or cite."""
MOST_SHOWN = 100
"""Most memories that one access names: as many as a search may show."""
MAX_GROUNDS = 16
"""Most sources that one memory rests on."""
MAX_METADATA_NAMES = 32
MAX_METADATA_BYTES = 4 * 1024
"""Of metadata as canonical JSON in UTF-8."""
MOST_WHOLE = (1 << 53) - 1
"""Largest whole number in metadata: what every reader of JSON reads exactly."""
EARLIEST = datetime(1900, 1, 1, tzinfo=UTC)
LATEST = datetime(9999, 12, 31, tzinfo=UTC)
"""Last instant an event may name: one that every time zone can still spell."""
MOST_STATEMENTS = 32
"""Most statements of one event: its digests take 513 bytes at most."""
FUTURE_TOLERANCE = timedelta(minutes=5)
"""How far ahead of the store's clock an `occurred_at` may lie."""

Category = Literal["identity", "stable_preference", "short_term_preference", "fact", "skill", "temporary"]
Tier = Literal["system", "core", "fact", "episode"]
Source = Literal["user", "assistant", "judge", "system", "import"]
Modality = Literal["text", "image", "audio", "video"]
Actor = Literal["user", "assistant", "judge", "system", "operator"]
Trust = trust.Trust
Role = Literal["user", "assistant", "tool", "system", "other"]
Resolution = Literal["latest_wins", "version_keep", "weight_balance"]
Level = Literal["full", "summary", "tag", "trace", "archive"]
Via = Literal["recall", "association", "detail", "injection", "inspection", "reveal"]
Reading = Literal["normal", "review", "debug"]
Outcome = Literal["task_success", "task_failure", "manual_review", "used"]
Revealing = Literal["get", "export"]
Face = Literal["command", "http"]
DeletionPolicy = Literal["user_delete", "auto_cleanup", "merge_cleanup"]

_ID_PUNCTUATION = frozenset("-_.:@/+")
_ID_ASCII = re.compile(r"[A-Za-z0-9\-_.:@/+]{1,128}\Z")
_DIGEST = re.compile(r"(?:[a-z0-9][a-z0-9-]{0,31}:)?[A-Za-z0-9_-]{8,128}\Z")
_UNSEEN = frozenset({"Cc", "Cf", "Zl", "Zp"})
_UUID = re.compile(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}\Z")
_RFC3339 = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,6})?(?:[Zz]|[+-][0-9]{2}:[0-9]{2})\Z"
)
TEXT_RULE = "not blank, at most 64 KiB of UTF-8"
WORD_RULE = "1 to 64 letters or digits of any script and _ - . / : +"
TIME_RULE = (
    "an RFC 3339 date-time with a time zone, from 1900 on, at most six decimals of a second: 2026-11-22T09:30:00Z"
)
URI_RULE = "1 to 2,000 characters that can be seen, no control or invisible one"
DIGEST_RULE = (
    "8 to 128 letters, digits, _ or - (hexadecimal, base64url), perhaps after a name and a colon: sha256:9f86d081"
)
METADATA_RULE = (
    "an object of at most 32 names, each an id, with texts, finite numbers (whole ones up to 9,007,199,254,740,991) or"
    " booleans; nothing nested, at most 4 KiB as compact JSON"
)
ID_RULE = "1 to 128 letters or digits of any script (NFC) and - _ . : @ / +, no space, control or braces"


def check_id(value: str) -> str:
    """The id itself; raises a pydantic error that states the rule."""
    if _ID_ASCII.match(value):
        return value
    in_alphabet = all(c in _ID_PUNCTUATION or unicodedata.category(c)[0] in "LNM" for c in value)
    if not 1 <= len(value) <= 128 or not in_alphabet or not unicodedata.is_normalized("NFC", value):
        raise PydanticCustomError("not_an_id", "an id is {rule}", {"rule": ID_RULE})
    return value


def is_id(value: str) -> bool:
    """Whether `check_id` takes it."""
    try:
        check_id(value)
    except PydanticCustomError:
        return False
    return True


def check_text(value: str) -> str:
    """A text that says something and fits in 64 KiB of UTF-8."""
    if not VISIBLE.search(value):
        raise PydanticCustomError("blank", "a text that is not blank, at most 64 KiB of UTF-8")
    if len(value) * 4 > MAX_TEXT_BYTES and len(value.encode()) > MAX_TEXT_BYTES:
        raise PydanticCustomError("content_too_long", "a text of at most 64 KiB of UTF-8, not blank")
    return value


def canonical_uuid(value: str) -> str:
    """A UUID in lower case; raises a pydantic error for any spelling but 8-4-4-4-12."""
    if not _UUID.match(value):
        raise PydanticCustomError("not_a_uuid", "a UUID as 8-4-4-4-12 hexadecimal digits (version 7 for new events)")
    return value.lower()


def read_time(value: object) -> datetime:
    """The aware date-time that an RFC 3339 text spells; raises a pydantic error that states the rule."""
    try:
        moment = datetime.fromisoformat(value.upper()) if isinstance(value, str) and _RFC3339.match(value) else None
    except ValueError:
        moment = None
    if moment is None or not EARLIEST <= moment <= LATEST:
        raise PydanticCustomError("not_a_time", "{rule}", {"rule": TIME_RULE})
    return moment


def is_time(value: object) -> bool:
    """Whether `read_time` takes it."""
    try:
        read_time(value)
    except PydanticCustomError:
        return False
    return True


_T = TypeVar("_T")


def _all_different(values: tuple[_T, ...]) -> tuple[_T, ...]:
    if len(set(values)) != len(values):
        raise PydanticCustomError("repeated", "a list without repetitions")
    return values


_UNIQUE: JsonDict = {"uniqueItems": True}


def check_uri(value: str) -> str:
    """The uri itself; raises a pydantic error that states the rule."""
    hidden = not (value.isascii() and value.isprintable()) and any(unicodedata.category(c) in _UNSEEN for c in value)
    if not 1 <= len(value) <= 2_000 or hidden:
        raise PydanticCustomError("not_a_uri", "{rule}", {"rule": URI_RULE})
    return value


def check_digest(value: str) -> str:
    """The digest itself; raises a pydantic error that states the rule."""
    if not _DIGEST.match(value):
        raise PydanticCustomError("not_a_digest", "{rule}", {"rule": DIGEST_RULE})
    return value


def check_metadata(told: object) -> dict[str, Any]:
    """An object of names and plain values, nothing nested; raises a pydantic error that states the rule."""
    if not isinstance(told, dict) or len(told) > MAX_METADATA_NAMES or not all(map(_is_plain, told.values())):
        raise PydanticCustomError("not_plain", "{rule}", {"rule": METADATA_RULE})
    for name in told:
        check_id(name)
    if len(orjson.dumps(told)) > MAX_METADATA_BYTES:
        raise PydanticCustomError("too_large", "{rule}", {"rule": METADATA_RULE})
    return told


def _is_plain(value: object) -> bool:
    if isinstance(value, bool | str):
        return True
    if isinstance(value, float):
        return isfinite(value)
    return isinstance(value, int) and abs(value) <= MOST_WHOLE


class PlainObject:
    """Names with plain values: checked in one piece, so that a refusal states the whole rule."""

    def __get_pydantic_core_schema__(self, _source: Any, _handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        return core_schema.no_info_plain_validator_function(check_metadata)

    def __get_pydantic_json_schema__(
        self, _schema: core_schema.CoreSchema, _handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return {
            "type": "object",
            "maxProperties": MAX_METADATA_NAMES,
            "additionalProperties": {"type": ["string", "number", "boolean"]},
            "description": METADATA_RULE,
        }


class Instant:
    """An RFC 3339 date-time with a time zone, in the one spelling that msgspec reads too: what enters can be decoded."""

    def __get_pydantic_core_schema__(self, _source: Any, _handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        return core_schema.no_info_plain_validator_function(read_time)

    def __get_pydantic_json_schema__(
        self, _schema: core_schema.CoreSchema, _handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return {"type": "string", "format": "date-time", "description": TIME_RULE}


Id = Annotated[
    str,
    AfterValidator(check_id),
    WithJsonSchema({"type": "string", "minLength": 1, "maxLength": 128, "description": ID_RULE}),
]
EventId = Annotated[str, AfterValidator(canonical_uuid), WithJsonSchema({"type": "string", "format": "uuid"})]
Text = Annotated[
    str, AfterValidator(check_text), WithJsonSchema({"type": "string", "minLength": 1, "description": TEXT_RULE})
]
Tokens = Annotated[int, Field(ge=0, le=1_000_000_000_000)]
Reason = Annotated[str, Field(max_length=2_000)]
Word = Annotated[str, Field(min_length=1, max_length=64, pattern=r"^[\p{L}\p{N}_\-./:+]+$", description=WORD_RULE)]
Keyword = Annotated[str, Field(min_length=1, max_length=100)]
Name = Annotated[str, Field(min_length=1, max_length=200)]
Time = Annotated[datetime, Instant()]
Uri = Annotated[
    str,
    AfterValidator(check_uri),
    WithJsonSchema({"type": "string", "minLength": 1, "maxLength": 2_000, "description": URI_RULE}),
]
Digest = Annotated[
    str,
    AfterValidator(check_digest),
    WithJsonSchema(
        {"type": "string", "pattern": f"^{_DIGEST.pattern.removesuffix(chr(92) + 'Z')}$", "description": DIGEST_RULE}
    ),
]
Plain = str | int | float | bool
Metadata = Annotated[dict[str, Plain], PlainObject()]
Share = Annotated[float, Field(ge=0, le=1)]
Emotion = Annotated[float, Field(ge=-1, le=1)]
Importance = Annotated[float, Field(ge=0, le=10)]
Sensitivity = Annotated[int, Field(ge=0, le=3)]
Raised = Annotated[int, Field(ge=1, le=3)]
Rules = Annotated[int, Field(ge=1, le=1_000_000)]
Count = Annotated[int, Field(ge=0, le=1_000_000_000)]
VALUE_RULE = "32 hexadecimal digits, small letters"
Value = Annotated[str, Field(pattern=r"^[0-9a-f]{32}$", description=VALUE_RULE)]
"""The keyed digest of a statement, as hexadecimal digits: what tells a value again without holding its words."""
Values = Annotated[
    tuple[Value, ...],
    Field(min_length=1, max_length=MOST_STATEMENTS, json_schema_extra=_UNIQUE),
    AfterValidator(_all_different),
]
TurnMark = Annotated[str, Field(pattern=r"^[0-9a-f]{16}$", description="16 hexadecimal digits, small letters")]
"""What stands for a turn's id (`projections.memory.rejection.turn_hash`)."""
TurnMarks = Annotated[
    tuple[TurnMark, ...], Field(max_length=MOST_STATEMENTS, json_schema_extra=_UNIQUE), AfterValidator(_all_different)
]
StatementRules = Annotated[int, Field(ge=1, le=255)]
NamedEvent = Annotated[
    str,
    Field(
        pattern=r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$",
        description="the id of an event: a UUID, 8-4-4-4-12 hexadecimal digits, small letters",
    ),
]
Position = Annotated[str, Field(pattern=r"^[0-9]{1,4}:[1-9][0-9]{0,15}$", examples=["3:128"])]
MemoryIds = Annotated[
    tuple[Id, ...], Field(max_length=MAX_SOURCES, json_schema_extra=_UNIQUE), AfterValidator(_all_different)
]
Sources = Annotated[
    tuple[Id, ...],
    Field(min_length=2, max_length=MAX_SOURCES, json_schema_extra=_UNIQUE),
    AfterValidator(_all_different),
]
Evidence = Annotated[
    tuple[Id, ...],
    Field(min_length=1, max_length=MAX_SOURCES, json_schema_extra=_UNIQUE),
    AfterValidator(_all_different),
]
Shown = Annotated[
    tuple[Id, ...],
    Field(min_length=1, max_length=MAX_SOURCES, json_schema_extra=_UNIQUE),
    AfterValidator(_all_different),
]
InOrder = Annotated[
    tuple[Id, ...],
    Field(min_length=1, max_length=MOST_SHOWN, json_schema_extra=_UNIQUE),
    AfterValidator(_all_different),
]
Turns = Annotated[
    tuple[Id, ...], Field(max_length=MAX_SOURCES, json_schema_extra=_UNIQUE), AfterValidator(_all_different)
]
Keywords = Annotated[
    tuple[Keyword, ...], Field(max_length=50, json_schema_extra=_UNIQUE), AfterValidator(_all_different)
]
Tags = Annotated[tuple[Keyword, ...], Field(max_length=50, json_schema_extra=_UNIQUE), AfterValidator(_all_different)]

DEFAULT_RESOLUTION: Mapping[str, Resolution] = {
    "identity": "latest_wins",
    "fact": "latest_wins",
    "temporary": "latest_wins",
    "stable_preference": "version_keep",
    "short_term_preference": "version_keep",
    "skill": "version_keep",
}
"""How a memory of each category is negated where the event names no resolution (memory.md, section 4)."""


def is_text(text: str, most: int) -> bool:
    """Whether it says something, in at most so many characters, none of them a lone surrogate: those stand for bytes of a command
    line that were no UTF-8."""
    return bool(text.strip()) and len(text) <= most and not any("\ud800" <= letter <= "\udfff" for letter in text)
