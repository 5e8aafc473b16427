"""An event that is plainly right, read in one go: msgspec decodes it, with the bounds of its values, and writes it again.

This only takes in; it refuses nothing. What it does not take goes the long way of `events.validation`, which takes in all that
it should, and says of the rest what is wrong. Written again and the same bytes: so nothing in the JSON was passed over, no
name stood twice, and no number or instant was spelled in another way.
The bounds are those that pydantic reads, from the same annotations; a value for which msgspec has none goes the long way.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache, partial
from operator import attrgetter
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

import msgspec
from pydantic import AfterValidator, WithJsonSchema
from pydantic.fields import FieldInfo
from pydantic_core import PydanticCustomError

from engramlog_server.events.catalogue import EVENT_TYPES, LATEST_VERSION, SEALED_ONLY
from engramlog_server.events.envelope import AnyEvent, Event, write, writes_itself
from engramlog_server.events.shape import Shape
from engramlog_server.events.text.invisible import VISIBLE
from engramlog_server.events.text.unreadable import UNREADABLE
from engramlog_server.events.vocabulary import (
    EARLIEST,
    LATEST,
    MAX_TEXT_BYTES,
    Instant,
    canonical_uuid,
    check_id,
    check_text,
)

Look = Callable[[Any], bool]
"""Whether a value is plainly allowed."""
_CHECKS: dict[Any, dict[str, Any]] = {
    check_id: {"pattern": r"\A[A-Za-z0-9\-_.:@/+]{1,128}\Z"},
    check_text: {"pattern": VISIBLE.pattern, "max_length": MAX_TEXT_BYTES // 4},
    canonical_uuid: {"pattern": r"\A[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z"},
}
"""What msgspec looks for in place of a check; it takes less than the check does, never more."""
_BOUNDS = ("ge", "gt", "le", "lt", "min_length", "max_length")


class _Twin(NamedTuple):
    """A type as msgspec reads it here, and what is still to be looked at in its values."""

    kind: Any
    look: Look | None = None


def read_at_once(raw: bytes | str) -> AnyEvent | None:
    """The event in canonical bytes; None where they are not, or where anything in them is not plainly right."""
    if not isinstance(raw, bytes):
        return None
    named = raw[raw.rfind(b'"', 0, -2) + 1 : -2]  # the last of its names is `type`
    event = read_plain(named.decode("ascii", "replace"), raw)
    return event if event is not None and write(event) == raw and writes_itself(event.data) else None


def read_plain(event_type: str, raw: bytes | str) -> AnyEvent | None:
    """The event of this type in a JSON text, told in UTC; None where any of its values is not plainly right.

    What the text holds beside it is not looked at: whoever calls compares with `write` of the event.
    """
    if event_type not in _TAKEN:
        return None
    decode, look = _reader(event_type)
    try:
        event = decode(raw)
        return event if look(event) else None
    except (*UNREADABLE, PydanticCustomError):
        return None


def _twin(shape: type, **instead: _Twin) -> _Twin:
    """The struct by which msgspec checks a shape: of the same name, fields and defaults, with bounds. `instead`: of some fields."""
    hints = get_type_hints(shape, include_extras=True)
    fields, looks = list[Any](), list[tuple[Callable[[Any], Any], Any, Look]]()
    for one in msgspec.structs.fields(shape):
        twin = instead.get(one.name) or _twin_of(hints[one.name])
        default = {"default": one.default, "default_factory": one.default_factory}
        fields.append((one.name, twin.kind, msgspec.field(name=one.encode_name, **default)))
        if twin.look is not None:
            looks.append((attrgetter(one.name), one.default, twin.look))
    made = msgspec.defstruct(shape.__name__, fields, frozen=True, kw_only=True, omit_defaults=True, gc=False)
    return _Twin(made, partial(_is_right, tuple(looks)) if looks else None)


def _is_right(looks: tuple[tuple[Callable[[Any], Any], Any, Look], ...], shape: Any) -> bool:
    for value_of, default, look in looks:
        value = value_of(shape)
        if value is not default and not look(value):
            return False
    return True


def _twin_of(kind: Any) -> _Twin:
    """The twin of the type of a field."""
    origin, inner = get_origin(kind), get_args(kind)
    if kind in (str, int, float, bool, NoneType) or origin is Literal:
        return _Twin(kind)
    if origin is Annotated:
        return _bounded(inner[0], inner[1:])
    if origin in (Union, UnionType) and inner[1:] == (NoneType,):
        twin = _twin_of(inner[0])
        return _Twin(twin.kind | None, twin.look and partial(_or_none, twin.look))
    if origin is tuple and inner[1:] == (...,):
        twin = _twin_of(inner[0])
        return _Twin(tuple[twin.kind, ...], twin.look and partial(_every, twin.look))  # type: ignore[name-defined]
    return _twin(kind) if isinstance(kind, type) and issubclass(kind, Shape) else _UNREAD


def _bounded(kind: Any, told: tuple[Any, ...]) -> _Twin:
    """The twin of a type with annotations, or the one that nothing is plain in where one of them is not known here."""
    twin = _Twin(kind) if kind is datetime and any(isinstance(one, Instant) for one in told) else _twin_of(kind)
    if twin is _UNREAD:
        return twin
    bounds, looks = dict[str, Any](), [twin.look] if twin.look else list[Look]()
    for one in (part for rule in told for part in (rule.metadata if isinstance(rule, FieldInfo) else (rule,))):
        found = {name: getattr(one, name) for name in _BOUNDS if hasattr(one, name)}
        if found:
            bounds |= found
        elif isinstance(one, AfterValidator) and one.func in _CHECKS:
            bounds |= _CHECKS[one.func]
        elif isinstance(one, AfterValidator):
            looks.append(partial(_stays, one.func))
        elif isinstance(one, Instant):
            looks.append(_is_told_in_utc)
        elif hasattr(one, "pattern"):
            bounds["pattern"] = _plain(one.pattern)
        elif not isinstance(one, WithJsonSchema):
            return _UNREAD
    return _Twin(Annotated[twin.kind, msgspec.Meta(**bounds)] if bounds else twin.kind, _all(looks))


def _plain(pattern: str) -> str:
    """A pattern of pydantic's, which are Rust's, for Python: of letters and digits of any script those of ASCII are plain."""
    return rf"\A(?:{pattern.removeprefix('^').removesuffix('$')})\Z".replace(r"\p{L}\p{N}", "A-Za-z0-9")


def _all(looks: list[Look]) -> Look | None:
    return (lambda value: all(look(value) for look in looks)) if looks[1:] else next(iter(looks), None)


def _stays(check: Any, value: Any) -> bool:
    """Whether a check gives the value back as it is. Raises what the check does."""
    return bool(check(value) == value)


def _is_told_in_utc(moment: datetime) -> bool:
    return moment.tzinfo is UTC and EARLIEST <= moment <= LATEST


def _every(look: Look, values: tuple[Any, ...]) -> bool:
    return all(map(look, values))


def _or_none(look: Look, value: Any) -> bool:
    return value is None or look(value)


_UNREAD = _Twin(Any, lambda _value: False)
"""Of what is not known here: only where it was not given, nothing is left to look at."""


@cache
def _reader(event_type: str) -> tuple[Callable[[bytes | str], AnyEvent], Look]:
    """What decodes the events of a type, and looks at what is left to be looked at."""
    version = Annotated[int, msgspec.Meta(ge=1, le=LATEST_VERSION[event_type])]
    twin = _twin(
        Event, type=_Twin(Literal[event_type]), schema_version=_Twin(version), data=_twin(EVENT_TYPES[event_type])
    )
    assert twin.look is not None  # at its time
    return msgspec.json.Decoder(twin.kind).decode, twin.look


_TAKEN = frozenset(EVENT_TYPES) - SEALED_ONLY
