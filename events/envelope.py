"""The envelope of an event, how it is stored, and how it is read back.

Stored bytes are canonical JSON (sorted keys) of the event as its producer sent it, without filled defaults; only
`event_id` (lower case) and `occurred_at` (UTC) are normalised. pydantic guards the door (`events.door`), msgspec decodes
behind it, both from the one dataclass in `events.catalogue`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from hashlib import blake2b
from math import isfinite
from operator import attrgetter
from types import NoneType
from typing import Annotated, Any, Generic, NamedTuple, TypeVar
from uuid import UUID, uuid5

import msgspec
import orjson
from pydantic import ConfigDict, Field
from uuid_utils import compat

from events.catalogue import EVENT_TYPES, LATEST_VERSION, SIDE_EVENTS, EventData
from events.errors import UndecodableEvent
from events.upcast import upcast
from events.vocabulary import Actor, EventId, Id, Time

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
NAMESPACE = UUID("6e7a6d1c-2f35-5c4e-9b1e-0d4c0f6a7e11")
"""Namespace of every derived (version 5) id."""

D = TypeVar("D")


@dataclass(frozen=True, slots=True, kw_only=True)
class Event(Generic[D]):
    """An immutable fact about one owner, named in the past tense."""

    __pydantic_config__ = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)
    event_id: EventId
    type: str
    schema_version: Annotated[int, Field(ge=1)] = 1
    owner: Id
    occurred_at: Time
    actor: Actor
    data: D
    session_id: Id | None = None
    causation_id: EventId | None = None
    correlation_id: Id | None = None


AnyEvent = Event[Any]


class Prepared(NamedTuple):
    """An event ready to append: validated, encoded, hashed."""

    event_id: str
    raw_id: bytes
    """16 bytes of the UUID: the idempotency key."""
    owner: str
    kind: str
    """`Type.version`, the stream field by which a decoder is chosen."""
    body: bytes
    fingerprint: bytes
    """8 bytes of blake2b over `body`: tells a redelivery from a reused id."""
    moves_head: bool
    is_access: bool


class Stored(NamedTuple):
    """One entry of a partition's stream."""

    seq: int
    kind: str
    raw_id: bytes
    owner: str
    """Told beside the body, so that an event that cannot be read still stops nobody but its owner."""
    body: bytes


def micros(moment: datetime) -> int:
    """Microseconds since 1970 UTC of an aware date-time."""
    return (moment - EPOCH) // _MICROSECOND


def from_micros(value: int) -> datetime:
    """The aware UTC date-time of microseconds since 1970, held within years 1 to 9999."""
    try:
        return EPOCH + timedelta(microseconds=value)
    except OverflowError:
        return datetime.max.replace(tzinfo=UTC) if value > 0 else datetime.min.replace(tzinfo=UTC)


def utc_text(moment: datetime) -> str:
    """RFC 3339 in UTC with `Z`, decimals only where there are any."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def new_event_id() -> str:
    """A fresh time-ordered UUID, version 7. Call at the edge: it reads the clock and chance."""
    return str(compat.uuid7())


def derived_id(*parts: str) -> str:
    """The same version 5 UUID for the same parts, always."""
    return str(uuid5(NAMESPACE, "\x1f".join(parts)))


_CANONICAL = orjson.OPT_SORT_KEYS | orjson.OPT_UTC_Z


def canonical(document: object) -> bytes:
    """JSON with sorted keys and no space: the same bytes for the same content."""
    return orjson.dumps(document, option=_CANONICAL)


def prepare_body(event_id: str, event_type: str, version: int, owner: str, body: bytes) -> Prepared:
    """A `Prepared` of canonical bytes that were validated."""
    return Prepared(
        event_id,
        bytes.fromhex(event_id.replace("-", "")),
        owner,
        f"{event_type}.{version}",
        body,
        blake2b(body, digest_size=8).digest(),
        event_type not in SIDE_EVENTS,
        event_type == "MemoriesAccessed",
    )


def encode(event: AnyEvent) -> bytes:
    """Canonical JSON of an event, fields that equal their defaults left out (but for `schema_version`)."""
    document = _sparse(event)
    document["schema_version"] = event.schema_version
    return canonical(document)


def prepare(event: AnyEvent) -> Prepared:
    """An event built by `events.door.make_event` (so validated) made ready to append."""
    return prepare_body(event.event_id, event.type, event.schema_version, event.owner, encode(event))


_SCALARS = frozenset({str, int, bool, NoneType})


@cache
def _plan(cls: type) -> tuple[Callable[[Any], tuple[Any, ...]], tuple[tuple[str, Any], ...]]:
    """How a class is written: what gets all its values at once, and each field's name in JSON with its default."""
    fields = dataclasses.fields(cls)
    get = attrgetter(*(field.name for field in fields))
    values = get if len(fields) > 1 else lambda value: (get(value),)
    return values, tuple(("from" if field.name == "from_" else field.name, field.default) for field in fields)


def _sparse(value: Any) -> dict[str, Any]:
    cls: type = type(value)
    values, named = _plan(cls)
    return {
        name: item if type(item) in _SCALARS else _plain(item)
        for (name, default), item in zip(named, values(value), strict=True)
        if item is not default and item != default
    }


def _plain(item: Any) -> Any:
    """What orjson writes canonically: instants in UTC (a naive one stays naive, and the door refuses it)."""
    kind = type(item)
    if kind in _SCALARS:
        return item
    if kind is float:
        if not isfinite(item):
            raise ValueError(f"{item} is no finite number")  # orjson would write null
        return item
    if kind is tuple:
        return [_plain(part) for part in item]
    if isinstance(item, datetime):
        return item if item.tzinfo is None or item.tzinfo is UTC else item.astimezone(UTC)
    if kind is dict:
        return {name: _plain(part) for name, part in item.items()}
    return _sparse(item) if dataclasses.is_dataclass(item) else item


def event_class(event_type: str) -> Any:
    """`Event` of one type of data: what pydantic and msgspec read."""
    generic: Any = Event
    return generic[EVENT_TYPES[event_type]]


@cache
def _decoder(event_type: str) -> msgspec.json.Decoder[AnyEvent]:
    return msgspec.json.Decoder(event_class(event_type))


_CURRENT = {f"{name}.{version}": name for name, version in LATEST_VERSION.items()}


def decode(kind: str, body: bytes) -> Event[EventData]:
    """The event in stored bytes, upcast to the latest version.

    Raises UndecodableEvent where the type or version is unknown or the bytes are damaged.
    """
    event_type = _CURRENT.get(kind)
    try:
        if event_type is None or event_type == "MemoryPromoted":
            return _decode_slowly(kind, body)
        return _decoder(event_type).decode(body)
    except (msgspec.MsgspecError, orjson.JSONDecodeError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise UndecodableEvent(f"stored event of kind {kind!r} cannot be read: {error}", kind=kind) from error


def _decode_slowly(kind: str, body: bytes) -> Event[EventData]:
    event_type, _, version = kind.rpartition(".")
    if event_type not in EVENT_TYPES or not version.isdigit() or not 1 <= int(version) <= LATEST_VERSION[event_type]:
        raise UndecodableEvent(
            f"stored event of kind {kind!r} is of no type or version that this release knows", kind=kind
        )
    document = upcast(event_type, int(version), orjson.loads(body))
    if "from" in document["data"]:
        document["data"]["from_"] = document["data"].pop("from")
    event: Event[EventData] = msgspec.convert(document, event_class(event_type))
    return event
