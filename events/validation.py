"""Validation: what comes in is checked here, whole, before anything is written.

Every refusal names the field, what was got and what is allowed (`InvalidEvent`), and in a request the index of the event.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from functools import cache, lru_cache
from math import isfinite
from typing import Any

import msgspec
import orjson
from pydantic import TypeAdapter, ValidationError

from engramlog_server.events.accesses import problem_with_accesses
from engramlog_server.events.catalogue import EVENT_TYPES, LATEST_VERSION, SEALED_ONLY
from engramlog_server.events.door.at_once import read_at_once, read_plain
from engramlog_server.events.envelope import (
    AnyEvent,
    Event,
    Prepared,
    canonical,
    encode,
    event_class,
    from_micros,
    in_utc,
    micros,
    new_event_id,
    prepare,
    prepare_body,
    utc_text,
    write,
)
from engramlog_server.events.errors import ClockBehind, InputError, InvalidBatch, InvalidEvent, StoreError
from engramlog_server.events.ids import check_new_ids
from engramlog_server.events.log import check_request_size
from engramlog_server.events.parameters import problem_with
from engramlog_server.events.shape import Shape
from engramlog_server.events.standing import AT_THE_STORE, Objection, Speaker, objection, vouched
from engramlog_server.events.text.names_once import name_given_twice
from engramlog_server.events.text.utf8 import bytes_told
from engramlog_server.events.vocabulary import EARLIEST, FUTURE_TOLERANCE, Trust, is_time
from engramlog_server.events.wording import allowed_words

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
        raise InvalidEvent("type", _show(event_type), "one of " + ", ".join(EVENT_TYPES), **where)
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
        return InvalidEvent(field, "nothing", "a value: the field is required", **where)
    if first["type"] == "unexpected_keyword_argument":
        return InvalidEvent(field, _show(first["input"]), "no such field: unknown fields are refused", **where)
    return InvalidEvent(field, _show(first["input"]), allowed_words(first), **where)


def _show(value: object) -> str:
    """What was got, in one line that any encoding can carry."""
    if isinstance(value, bytes | str):
        text = value.decode("utf-8", "replace") if isinstance(value, bytes) else value
        shown = json.dumps(_encodable(text[: _SHOWN + 1]), ensure_ascii=False)
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
