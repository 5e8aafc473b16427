"""Validation: what comes in is checked here, whole, before anything is written.

Every refusal names the field, what was got and what is allowed (`InvalidEvent`), and in a request the index of the event.

New ids and names must look like what they are: two that look alike are one, or a trap. Refused where something is begun (a turn, a
memory, what a merge makes), and its owner and session with it: controls, characters that show nothing, what NFKC writes otherwise
(full width, ligatures, ⅷ), and `.` and `..`, which browsers and proxies take out of a path even percent-encoded. Letters that look
alike in different scripts are not: they are people's names. What is old folds, is read and is deleted as before.

An event that is plainly right is read in one go: msgspec decodes it, with the bounds of its values, and writes it again. The same
bytes mean that nothing in the JSON was passed over, no name stood twice, and no number or instant was spelled in another way. This
only takes in. Everything else goes the long way, which says what is wrong. The bounds are those that pydantic reads, from the same
annotations; a value for which msgspec has none goes the long way.

Refusals of our own (`PydanticCustomError`, `ValueError` in a validator) keep their text. Every kind of refusal that pydantic has
gets our own words: its sentences never reach a user.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache, lru_cache, partial
from math import isfinite
from operator import attrgetter
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

import msgspec
import orjson
from pydantic import AfterValidator, TypeAdapter, ValidationError, WithJsonSchema
from pydantic.fields import FieldInfo
from pydantic_core import PydanticCustomError
from pydantic_core.core_schema import ErrorType

from engramlog_server.events.catalogue import EVENT_TYPES, LATEST_VERSION, SEALED_ONLY
from engramlog_server.events.envelope import (
    AnyEvent,
    Event,
    Passes,
    Prepared,
    canonical,
    encode,
    event_class,
    every,
    fields_pass,
    from_micros,
    in_utc,
    micros,
    new_event_id,
    or_none,
    prepare,
    prepare_body,
    utc_text,
    write,
    writes_itself,
)
from engramlog_server.events.errors import ClockBehind, InputError, InvalidBatch, InvalidEvent, StoreError
from engramlog_server.events.log import check_request_size
from engramlog_server.events.parameters import problem_with
from engramlog_server.events.standing import (
    AT_THE_STORE,
    Objection,
    Path,
    Speaker,
    objection,
    problem_with_accesses,
    vouched,
)
from engramlog_server.events.text import UNREADABLE, VISIBLE, bytes_told, hidden_in, name_given_twice, named
from engramlog_server.events.vocabulary import (
    EARLIEST,
    FUTURE_TOLERANCE,
    LATEST,
    MAX_TEXT_BYTES,
    Instant,
    Shape,
    Trust,
    canonical_uuid,
    check_id,
    check_text,
    is_time,
)

_NEW: dict[str, tuple[str, ...]] = {
    "TurnRecorded": ("turn_id",),
    "MemoryCreated": ("memory_id",),
    "MemoryMerged": ("into",),
}
"""The events that begin something, and what they name."""
_NAMES: dict[str, tuple[str, ...]] = {
    "TurnRecorded": ("speaker",),
    "ToolResultRecorded": ("tool",),
    "MemoryCreated": ("speaker", "project", "task"),
}
DOTS = frozenset([".", ".."])
"""What no path of a URL holds as a part (RFC 3986, 5.2.4)."""
NO_PATH = "an id that a URL's path can hold: not only one dot or two"
_TOLD = _NEW.keys() | _NAMES.keys()
_JOBS = frozenset(["system", "judge"])
_CARRYING_ON: frozenset[Path] = frozenset(["job", "import", "terminal"])
"""Actors that carry on, by these paths, for owners and speakers that are there already, whatever they are called."""


def check_new_ids(event: Any, by: Speaker, where: dict[str, Any]) -> None:
    """Raises InvalidEvent where the event begins something under an id that hides something or no path holds, or such a name."""
    if event.type not in _TOLD:
        return
    carries_on = event.actor in _JOBS and by.path in _CARRYING_ON
    for field, value in _ids(event, carries_on=carries_on):
        if value in DOTS:
            raise InvalidEvent(field, value, NO_PATH, **where)
        if not value.isascii():
            _check(field, value, normal=True, where=where)
    for field in () if carries_on else _NAMES.get(event.type, ()):
        value = getattr(event.data, field)
        if value is not None and not (value.isascii() and value.isprintable()):
            _check(f"data.{field}", value, normal=False, where=where)


def _ids(event: Any, *, carries_on: bool) -> Iterator[tuple[str, str]]:
    """The ids that an event begins something under; ASCII ones were checked letter by letter already."""
    made = _NEW.get(event.type)
    if made is None:
        return
    yield from ((f"data.{name}", getattr(event.data, name)) for name in made)
    if not carries_on:
        yield "owner", event.owner
        if event.session_id is not None:
            yield "session_id", event.session_id


class IdTrouble(NamedTuple):
    """Why an id or a name may not be new: what is allowed instead, and which characters cannot be seen."""

    allowed: str
    hidden: frozenset[str]


def trouble_with(value: str, *, normal: bool = True) -> IdTrouble | None:
    """What is wrong with a new id or name; None where nothing is. `normal` asks for NFKC too."""
    hidden = list(hidden_in(value))
    if hidden:
        first = hidden[0]
        told = f"no character that shows nothing: {named(first[0])} is character {first.start() + 1}"
        return IdTrouble(told, frozenset(one[0] for one in hidden))
    plain = unicodedata.normalize("NFKC", value)
    if not normal or plain == value:
        return None
    odd = (at for at, one in enumerate(value) if unicodedata.normalize("NFKC", one) != one)
    at = next(odd, 0)
    return IdTrouble(
        f"a new id in its plain form (NFKC), {plain!r}: {named(value[at])} is character {at + 1}", frozenset()
    )


def _check(field: str, value: str, *, normal: bool, where: dict[str, Any]) -> None:
    if trouble := trouble_with(value, normal=normal):
        shown = "".join(f"\\u{ord(one):04x}" if one in trouble.hidden else one for one in value)
        raise InvalidEvent(field, shown, trouble.allowed, **where)


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
    look: Passes | None = None


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
    fields, looks = list[Any](), list[tuple[Callable[[Any], Any], Any, Passes]]()
    for one in msgspec.structs.fields(shape):
        twin = instead.get(one.name) or _twin_of(hints[one.name])
        default = {"default": one.default, "default_factory": one.default_factory}
        fields.append((one.name, twin.kind, msgspec.field(name=one.encode_name, **default)))
        if twin.look is not None:
            looks.append((attrgetter(one.name), one.default, twin.look))
    made = msgspec.defstruct(shape.__name__, fields, frozen=True, kw_only=True, omit_defaults=True, gc=False)
    return _Twin(made, partial(fields_pass, tuple(looks)) if looks else None)


def _twin_of(kind: Any) -> _Twin:
    """The twin of the type of a field."""
    origin, inner = get_origin(kind), get_args(kind)
    if kind in (str, int, float, bool, NoneType) or origin is Literal:
        return _Twin(kind)
    if origin is Annotated:
        return _bounded(inner[0], inner[1:])
    if origin in (Union, UnionType) and inner[1:] == (NoneType,):
        twin = _twin_of(inner[0])
        return _Twin(twin.kind | None, twin.look and partial(or_none, twin.look))
    if origin is tuple and inner[1:] == (...,):
        twin = _twin_of(inner[0])
        return _Twin(tuple[twin.kind, ...], twin.look and partial(every, twin.look))  # type: ignore[name-defined]
    return _twin(kind) if isinstance(kind, type) and issubclass(kind, Shape) else _UNREAD


def _bounded(kind: Any, told: tuple[Any, ...]) -> _Twin:
    """The twin of a type with annotations, or the one that nothing is plain in where one of them is not known here."""
    twin = _Twin(kind) if kind is datetime and any(isinstance(one, Instant) for one in told) else _twin_of(kind)
    if twin is _UNREAD:
        return twin
    bounds, looks = dict[str, Any](), [twin.look] if twin.look else list[Passes]()
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


def _all(looks: list[Passes]) -> Passes | None:
    return (lambda value: all(look(value) for look in looks)) if looks[1:] else next(iter(looks), None)


def _stays(check: Any, value: Any) -> bool:
    """Whether a check gives the value back as it is. Raises what the check does."""
    return bool(check(value) == value)


def _is_told_in_utc(moment: datetime) -> bool:
    return moment.tzinfo is UTC and EARLIEST <= moment <= LATEST


_UNREAD = _Twin(Any, lambda _value: False)
"""Of what is not known here: only where it was not given, nothing is left to look at."""


@cache
def _reader(event_type: str) -> tuple[Callable[[bytes | str], AnyEvent], Passes]:
    """What decodes the events of a type, and looks at what is left to be looked at."""
    version = Annotated[int, msgspec.Meta(ge=1, le=LATEST_VERSION[event_type])]
    twin = _twin(
        Event, type=_Twin(Literal[event_type]), schema_version=_Twin(version), data=_twin(EVENT_TYPES[event_type])
    )
    assert twin.look is not None  # at its time
    return msgspec.json.Decoder(twin.kind).decode, twin.look


_TAKEN = frozenset(EVENT_TYPES) - SEALED_ONLY


_SHOWN = 120
_MICROSECOND = timedelta(microseconds=1)


@cache
def adapter(event_type: str) -> TypeAdapter[AnyEvent]:
    """The pydantic adapter of one event type, built at first use."""
    return TypeAdapter(event_class(event_type))


Look = Callable[[AnyEvent], Objection | None]
"""What else is looked at before an event is taken in: what those above know of its words."""


def read_event(
    raw: bytes | str, *, now: int, by: Speaker = AT_THE_STORE, look: Look | None = None, **where: Any
) -> Prepared:
    """One event from JSON, checked and made ready to append.

    `now` is the store's clock in microseconds since 1970; `by`: how it comes in, which says for whom it may speak
    (`events.standing`). Raises InvalidEvent with `where` in its context.
    """
    event = read_at_once(raw)
    if event is not None:
        assert isinstance(raw, bytes)  # else it was no event at once
        document, body = None, raw
    else:
        event, document, body = _read_slowly(raw, where)
    _check_rest(event, now, by, where)
    problem = objection(event, by) or (None if look is None else look(event))
    if problem is not None:
        raise InvalidEvent(*problem, **where)
    if event.type == "MemoriesAccessed":
        problem = problem_with_accesses(event.data, event.schema_version, len(body))
        if problem is not None:
            raise InvalidEvent(*problem, **where)
    if document is not None and (twice := name_given_twice(raw, body, "schema_version" not in document)):
        raise InvalidEvent(_path(twice), "the same name twice in one object", "each name once", **where)
    return prepare_body(event.event_id, event.type, event.schema_version, event.owner, body, vouched(event, by))


def _read_slowly(raw: bytes | str, where: dict[str, Any]) -> tuple[AnyEvent, dict[str, Any], bytes]:
    """The event in a JSON text, what the text holds, and the event's body."""
    document = _parse(raw, where)
    event_type = _check_type(document, where)
    plain = read_plain(event_type, raw)
    if plain is not None and is_time(document["occurred_at"]):
        body = _body(document, plain)
        if body == write(plain):
            return plain, document, body
    try:
        event = adapter(event_type).validate_json(raw)
    except ValidationError as error:
        raise _explain(error, where) from None
    return event, document, _body(document, event)


def _body(document: dict[str, Any], event: AnyEvent) -> bytes:
    """What the producer sent, but for what is normalised."""
    normal = {"schema_version": 1, **document, "event_id": event.event_id, "occurred_at": in_utc(event.occurred_at)}
    if event.causation_id is not None:
        normal["causation_id"] = event.causation_id
    return canonical(normal)


def read_events(
    raws: Sequence[bytes | str], *, now: int, by: Speaker = AT_THE_STORE, look: Look | None = None
) -> list[Prepared]:
    """A whole request, or InvalidBatch naming every bad event by index; RequestTooLarge above 1,000 events."""
    check_request_size(len(raws))
    return _collect(lambda pair: read_event(pair[1], now=now, by=by, look=look, index=pair[0]), enumerate(raws))


def judged(refused: InvalidEvent | InvalidBatch, behind: int) -> InputError | StoreError:
    """A refusal in the light of the store's clock, which is `behind` this machine's by so many microseconds (`EventLog.behind`).

    Events that are only ahead of a clock that is behind are not wrong: one ClockBehind for all of them. Others stay as they are.
    """
    problems = refused.problems if isinstance(refused, InvalidBatch) else [refused]
    most = behind + FUTURE_TOLERANCE // _MICROSECOND if behind else 0
    left = [one for one in problems if not 0 < one.ahead <= most]
    if left:
        return refused if len(left) == len(problems) else InvalidBatch(left)
    return ClockBehind(
        f"the store's clock is {behind / 60_000_000:.0f} minutes behind this machine's: {len(problems)} event(s) of now look as if"
        " they came from the future. Set the clock that is wrong; nothing was written, the same request can be sent again",
        retry_after=30,
    )


def _collect(read: Callable[[tuple[int, Any]], Prepared], items: Iterable[tuple[int, Any]]) -> list[Prepared]:
    prepared, problems = [], []
    for item in items:
        try:
            prepared.append(read(item))
        except InvalidEvent as problem:
            problems.append(problem)
    if problems:
        raise InvalidBatch(problems)
    return prepared


def make_event(
    data: Any,
    *,
    owner: str,
    occurred_at: datetime,
    actor: str,
    now: int,
    event_id: str | None = None,
    session_id: str | None = None,
    causation_id: str | None = None,
    correlation_id: str | None = None,
    trust: Trust | None = None,
    by: Speaker = AT_THE_STORE,
    look: Look | None = None,
) -> AnyEvent:
    """An event from Python values, checked as if it had come as JSON. A fresh version 7 id where none is given."""
    event: AnyEvent = Event(
        event_id=event_id or new_event_id(),
        type=type(data).__name__,
        schema_version=LATEST_VERSION[type(data).__name__],
        owner=owner,
        occurred_at=occurred_at,
        actor=actor,  # type: ignore[arg-type]
        data=data,
        session_id=session_id,
        causation_id=causation_id,
        correlation_id=correlation_id,
        trust=trust,
    )
    try:
        body = encode(event)
    except (TypeError, ValueError, OverflowError) as error:
        raise _explain_json(json.dumps(event, default=_fields), error, {}) from None
    read_event(body, now=now, by=by, look=look)
    return msgspec.structs.replace(
        event, event_id=event.event_id.lower(), causation_id=causation_id and causation_id.lower()
    )


def ready(event: AnyEvent, by: Speaker = AT_THE_STORE) -> Prepared:
    """An event of `make_event` made ready to append, with how far its word goes by this path."""
    return prepare(event, vouched(event, by))


def _fields(item: object) -> object:
    return msgspec.structs.asdict(item) if isinstance(item, Shape) else str(item)


def _parse(raw: bytes | str, where: dict[str, Any]) -> dict[str, Any]:
    try:
        document = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise _explain_json(raw, error, where) from None
    if not isinstance(document, dict):
        raise InvalidEvent("event", _show(document), "a JSON object: the envelope of one event", **where)
    return document


def _explain_json(raw: bytes | str, error: Exception, where: dict[str, Any]) -> InvalidEvent:
    """orjson refuses lone surrogates, NaN and infinities too; tell which field holds one."""
    try:
        document = json.loads(raw)
    except (ValueError, RecursionError):
        document = None
    for path, value in _leaves(document):
        if isinstance(value, str) and any("\ud800" <= c <= "\udfff" for c in value):
            return InvalidEvent(
                path or "event", "a text with a lone surrogate", "Unicode text without lone surrogates", **where
            )
        if isinstance(value, float) and not isfinite(value):
            return InvalidEvent(path or "event", str(value), "a finite number", **where)
    if (told := bytes_told(raw)) is not None:
        return InvalidEvent("event", told, "one JSON object in UTF-8", **where)
    return InvalidEvent("event", _show(raw), f"one JSON object in UTF-8 ({error})", **where)


def _leaves(document: Any) -> Iterable[tuple[str, Any]]:
    """Every value and every field's name with the path to it. A queue, not recursion: documents may be deep."""
    waiting: deque[tuple[str, Any]] = deque([("event", document)])
    while waiting:
        path, value = waiting.popleft()
        if isinstance(value, dict):
            for name, item in value.items():
                yield path, name
                waiting.append((name if path == "event" else _path(f"{path}.{name}"), item))
        elif isinstance(value, list):
            waiting.extend((_path(f"{path}[{index}]"), item) for index, item in enumerate(value))
        else:
            yield path, value


def _check_type(document: dict[str, Any], where: dict[str, Any]) -> str:
    event_type = document.get("type")
    if event_type is None:
        for name, value in document.items():
            if isinstance(value, str) and value in EVENT_TYPES:
                raise InvalidEvent(_path(name), _show(value), "no such field; did you mean type?", **where)
    if not isinstance(event_type, str) or event_type not in EVENT_TYPES:
        got = _show(event_type) if "type" in document else "nothing"
        raise InvalidEvent("type", got, "one of " + ", ".join(EVENT_TYPES), **where)
    if event_type in SEALED_ONLY:
        raise InvalidEvent(
            "type",
            event_type,
            "any other type: `engramlog erase` alone erases for good; use MemoryDeleted",
            **where,
        )
    version = document.get("schema_version", 1)
    if isinstance(version, bool) or not isinstance(version, int) or not 1 <= version <= LATEST_VERSION[event_type]:
        raise InvalidEvent(
            "schema_version", _show(version), f"a whole number from 1 to {LATEST_VERSION[event_type]}", **where
        )
    return event_type


def _check_rest(event: AnyEvent, now: int, by: Speaker, where: dict[str, Any]) -> None:
    latest = _latest(now)
    if not EARLIEST <= event.occurred_at <= latest:
        got = utc_text(event.occurred_at)
        allowed = f"from {utc_text(EARLIEST)} to {utc_text(latest)} (five minutes ahead of the store's clock)"
        problem = InvalidEvent("occurred_at", got, allowed, **where)
        if event.occurred_at > latest:
            problem.ahead = micros(event.occurred_at) - now
        raise problem
    check_new_ids(event, by, where)
    data = event.data
    for name, moment in _told_of(event) if event.type in _OF_BEFORE else ():
        if moment is not None and moment > latest:
            told = f"no later than {utc_text(latest)} (five minutes ahead of the store's clock)"
            problem = InvalidEvent(f"data.{name}", utc_text(moment), told, **where)
            problem.ahead = micros(moment) - now
            raise problem
    if event.type == "MemoryMerged" and data.into in data.sources:
        raise InvalidEvent("data.into", data.into, "a new id that is not one of the sources", **where)
    if event.type == "ParametersChanged":
        for name, value in data.parameters.items():
            if rule := problem_with(name, value):
                raise InvalidEvent(_path(f"data.parameters.{name}"), _show(value), rule, **where)


_OF_BEFORE = frozenset({"MemoryCreated", "MemoriesAccessed"})


def _told_of(event: AnyEvent) -> Iterable[tuple[str, datetime | None]]:
    """Instants within an event that have been: what an import brings along, when something was shown."""
    data: Any = event.data
    if event.type == "MemoryCreated" and data.imported is not None:
        for name in ("last_accessed_at", "updated_at", "last_reinforced_at"):
            yield f"imported.{name}", getattr(data.imported, name)
    elif event.type == "MemoriesAccessed":
        for number, one in enumerate(data.accesses):
            yield f"accesses[{number}].at", one.at
        for number, hit in enumerate(data.hits):
            yield f"hits[{number}].last_at", hit.last_at
        yield "block.at", None if data.block is None else data.block.at


@lru_cache(maxsize=8)
def _latest(now: int) -> datetime:
    """Last instant that an event may name; one call of validation has one `now`."""
    return from_micros(now) + FUTURE_TOLERANCE


def _explain(error: ValidationError, where: dict[str, Any]) -> InvalidEvent:
    first = error.errors(include_url=False)[0]
    location = first["loc"]
    if location[:2] == ("data", "parameters") and len(location) > 2:
        name = str(location[2])
        rule = problem_with(name, first["input"]) or "a number, a text or a truth value"
        return InvalidEvent(_path(f"data.parameters.{name}"), _show(first["input"]), rule, **where)
    field = _path("".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in location)[1:]) or "event"
    if first["type"] == "missing":
        others = [_path(str(one["loc"][-1])) for one in error.errors(include_url=False)[1:] if one["type"] == "missing"]
        beside = f", and so {'is' if len(others) == 1 else 'are'} {', '.join(others)}" if others else ""
        return InvalidEvent(field, "nothing", f"a value: the field is required{beside}", **where)
    if first["type"] == "unexpected_keyword_argument":
        return InvalidEvent(field, _show(first["input"]), "no such field: unknown fields are refused", **where)
    return InvalidEvent(field, _show(first["input"]), allowed_words(first), **where)


def _show(value: object) -> str:
    """What was got, in one line that any encoding can carry."""
    if isinstance(value, bytes | str):
        text = value.decode("utf-8", "replace") if isinstance(value, bytes) else value
        shown = json.dumps(_encodable(text[: _SHOWN + 1]), ensure_ascii=False)
        shown = "".join(one if one.isprintable() else json.dumps(one)[1:-1] for one in shown)
    else:
        try:
            shown = _encodable(repr(value))
        except (RecursionError, ValueError):  # nested too deep, or an integer of too many digits to print
            shown = f"a value of type {type(value).__name__} too large to show"
    return shown if len(shown) <= _SHOWN else shown[:_SHOWN] + "…"


def _path(text: str) -> str:
    """A field's path, short, in one line."""
    return json.dumps(_encodable(text[:_SHOWN]), ensure_ascii=False)[1:-1]


def _encodable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


KINDS: Final = frozenset(get_args(ErrorType))
"""The library's own kinds of refusal; any other kind is ours, and its text stays."""
_INSTANT: Final = "an RFC 3339 date-time with a time zone, e.g. 2023-10-22T12:00:00Z"
_PREFIX: Final = re.compile(r"\A(?:Value error, |Assertion failed, )?(?:\w+ should (?:be|have) )?")
_PLAIN: Final[Mapping[str, str]] = {
    "json_type": "a text of JSON",
    "recursion_loop": "a value that does not hold itself",
    "recursion_depth_exceeded": "a value that is nested less deeply",
    "missing": "a value: it is required",
    "missing_argument": "a value: it is required",
    "missing_keyword_only_argument": "a value: it is required",
    "missing_positional_only_argument": "a value: it is required",
    "extra_forbidden": "no such field: unknown ones are refused",
    "unexpected_keyword_argument": "no such field: unknown ones are refused",
    "invalid_key": "names that are texts",
    "none_required": "null",
    "finite_number": "a finite number",
    "string_type": "a text",
    "string_unicode": "a text in UTF-8",
    "string_not_ascii": "a text of ASCII characters",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_parsing_size": "a whole number of fewer digits",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "decimal_type": "a number",
    "decimal_parsing": "a number",
    "bytes_type": "bytes",
    "date_type": "a day, e.g. 2023-10-22",
    "date_parsing": "a day, e.g. 2023-10-22",
    "date_from_datetime_parsing": "a day, e.g. 2023-10-22",
    "date_from_datetime_inexact": "a day, e.g. 2023-10-22",
    "datetime_type": _INSTANT,
    "datetime_parsing": _INSTANT,
    "datetime_object_invalid": _INSTANT,
    "datetime_from_date_parsing": _INSTANT,
    "timezone_naive": "a date-time without a time zone",
    "timezone_aware": _INSTANT,
    "uuid_type": "a UUID such as 01890000-0000-7000-8000-000000000001",
    "uuid_parsing": "a UUID such as 01890000-0000-7000-8000-000000000001",
}
_RULES: Final[Mapping[str, str]] = {
    "greater_than": "more than {gt}",
    "greater_than_equal": "{ge} or more",
    "less_than": "less than {lt}",
    "less_than_equal": "{le} or less",
    "multiple_of": "a multiple of {multiple_of}",
    "string_pattern_mismatch": "a text of the form {pattern}",
    "literal_error": "{expected}",
    "enum": "{expected}",
    "union_tag_invalid": "{expected_tags}",
    "json_invalid": "JSON ({error})",
}
_COUNTS: Final[Mapping[str, tuple[str, str, str]]] = {
    "string_too_short": ("at least", "min_length", "character"),
    "string_too_long": ("at most", "max_length", "character"),
    "bytes_too_short": ("at least", "min_length", "byte"),
    "bytes_too_long": ("at most", "max_length", "byte"),
    "too_short": ("at least", "min_length", "item"),
    "too_long": ("at most", "max_length", "item"),
}
_LISTS: Final = ("list_type", "tuple_type", "set_type", "frozen_set_type", "iterable_type", "deque_type")
_OBJECTS: Final = (
    "dict_type",
    "frozen_dict_type",
    "mapping_type",
    "model_type",
    "model_attributes_type",
    "dataclass_type",
)
_OURS: Final = ("value_error", "assertion_error")
OTHER: Final = "a value of another kind"
"""For a kind of refusal that no shape of ours can meet."""


def allowed_words(error: Mapping[str, Any]) -> str:
    """What would have been allowed, for one entry of `ValidationError.errors()`, with its context."""
    kind, rule = str(error["type"]), error.get("ctx") or {}
    if kind not in KINDS or kind in _OURS:
        return _PREFIX.sub("", str(error["msg"]), count=1)
    if kind in _PLAIN:
        return _PLAIN[kind]
    if kind in _LISTS:
        return "a list"
    if kind in _OBJECTS:
        return "an object"
    return _of_rule(kind, rule)


def _of_rule(kind: str, rule: Mapping[str, Any]) -> str:
    if kind in _COUNTS:
        bound, number, noun = _COUNTS[kind]
        return f"{bound} {_counted(rule[number], noun)}"
    return _RULES[kind].format(**{name: _said(value) for name, value in rule.items()}) if kind in _RULES else OTHER


def _said(value: object) -> object:
    """A bound as one says it: 1, not 1.0."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
