"""The door: what comes in is checked here, whole, before anything is written.

Every refusal names the field, what was got and what is allowed (`InvalidEvent`), and in a request the index of the event.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from functools import cache
from typing import Any

import orjson
from pydantic import TypeAdapter, ValidationError

from events.catalogue import (
    EVENT_TYPES,
    LATEST_VERSION,
    SEALED_ONLY,
    MemoryMerged,
    ParametersChanged,
)
from events.envelope import (
    AnyEvent,
    Event,
    Prepared,
    canonical,
    encode,
    from_micros,
    new_event_id,
    prepare_body,
    utc_text,
)
from events.errors import InvalidBatch, InvalidEvent, RequestTooLarge
from events.parameters import problem_with
from events.vocabulary import EARLIEST, FUTURE_TOLERANCE, MAX_REQUEST_EVENTS

_SHOWN = 120


@cache
def adapter(event_type: str) -> TypeAdapter[AnyEvent]:
    """The pydantic adapter of one event type, built at first use."""
    return TypeAdapter(Event[EVENT_TYPES[event_type]])  # type: ignore[misc]


def read_event(raw: bytes | str, *, now: int, **where: Any) -> Prepared:
    """One event from JSON, checked and made ready to append.

    `now` is the store's clock in microseconds since 1970. Raises InvalidEvent with `where` in its context.
    """
    document = _parse(raw, where)
    event_type = _check_type(document, where)
    try:
        event = adapter(event_type).validate_json(raw)
    except ValidationError as error:
        raise _explain(error, where) from None
    if not isinstance(document["occurred_at"], str) or document["occurred_at"][4:5] != "-":
        raise InvalidEvent(
            "occurred_at", _show(document["occurred_at"]), "an RFC 3339 date-time with a time zone", **where
        )
    _check_rest(event, now, where)
    document["event_id"] = event.event_id
    document["occurred_at"] = utc_text(event.occurred_at)
    document.setdefault("schema_version", 1)
    return prepare_body(event.event_id, event_type, event.schema_version, event.owner, canonical(document))


def read_events(raws: Sequence[bytes | str], *, now: int) -> list[Prepared]:
    """A whole request, or InvalidBatch naming every bad event by index; RequestTooLarge above 1,000 events."""
    if len(raws) > MAX_REQUEST_EVENTS:
        raise RequestTooLarge(
            f"a request of {len(raws)} events; at most {MAX_REQUEST_EVENTS} are allowed: split it",
            got=len(raws),
            allowed=MAX_REQUEST_EVENTS,
        )
    return _collect(lambda pair: read_event(pair[1], now=now, index=pair[0]), enumerate(raws))


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
    )
    if occurred_at.tzinfo is None:
        raise InvalidEvent("occurred_at", str(occurred_at), "an aware date-time")
    try:
        body = encode(event)
    except (TypeError, ValueError) as error:
        raise InvalidEvent("data", _show(data), f"values that JSON can carry ({error})") from None
    read_event(body, now=now)
    return event


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
    except (ValueError, RecursionError, UnicodeDecodeError):
        return InvalidEvent("event", _show(raw), f"one JSON object in UTF-8 ({error})", **where)
    for path, value in _leaves(document, ""):
        if isinstance(value, str) and any("\ud800" <= c <= "\udfff" for c in value):
            return InvalidEvent(path, "a text with a lone surrogate", "Unicode text without lone surrogates", **where)
        if isinstance(value, float) and (value != value or abs(value) == float("inf")):
            return InvalidEvent(path, str(value), "a finite number", **where)
    return InvalidEvent("event", _show(raw), f"one JSON object in UTF-8 ({error})", **where)


def _leaves(value: Any, path: str) -> Iterable[tuple[str, Any]]:
    if isinstance(value, dict):
        for name, item in value.items():
            yield f"{path} (a field's name)", name
            yield from _leaves(item, f"{path}.{name}" if path else str(name))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _leaves(item, f"{path}[{index}]")
    else:
        yield path, value


def _check_type(document: dict[str, Any], where: dict[str, Any]) -> str:
    event_type = document.get("type")
    if not isinstance(event_type, str) or event_type not in EVENT_TYPES:
        raise InvalidEvent("type", _show(event_type), "one of " + ", ".join(EVENT_TYPES), **where)
    if event_type in SEALED_ONLY:
        raise InvalidEvent(
            "type",
            event_type,
            "any other type: contents are not sealed yet, so nothing can be erased for good; use MemoryDeleted",
            **where,
        )
    version = document.get("schema_version", 1)
    if isinstance(version, bool) or not isinstance(version, int) or not 1 <= version <= LATEST_VERSION[event_type]:
        raise InvalidEvent(
            "schema_version", _show(version), f"a whole number from 1 to {LATEST_VERSION[event_type]}", **where
        )
    return event_type


def _check_rest(event: AnyEvent, now: int, where: dict[str, Any]) -> None:
    latest = from_micros(now) + FUTURE_TOLERANCE
    if not EARLIEST <= event.occurred_at <= latest:
        raise InvalidEvent(
            "occurred_at",
            utc_text(event.occurred_at),
            f"from {utc_text(EARLIEST)} to {utc_text(latest)} (five minutes ahead of the store's clock)",
            **where,
        )
    data = event.data
    if isinstance(data, MemoryMerged) and data.into in data.sources:
        raise InvalidEvent("data.into", data.into, "a new id that is not one of the sources", **where)
    if isinstance(data, ParametersChanged):
        for name, value in data.parameters.items():
            if rule := problem_with(name, value):
                raise InvalidEvent(f"data.parameters.{name}", _show(value), rule, **where)


def _explain(error: ValidationError, where: dict[str, Any]) -> InvalidEvent:
    first = error.errors(include_url=False)[0]
    field = (
        "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in first["loc"]).lstrip(".") or "event"
    )
    if first["type"] == "missing":
        return InvalidEvent(field, "nothing", "a value: the field is required", **where)
    if first["type"] == "unexpected_keyword_argument":
        return InvalidEvent(field, _show(first["input"]), "no such field: unknown fields are refused", **where)
    allowed = first["msg"].removeprefix("Input should be ").removeprefix("Value error, ")
    return InvalidEvent(field, _show(first["input"]), allowed, **where)


def _show(value: object) -> str:
    """What was got, short enough for a line."""
    text = (
        value.decode("utf-8", "replace")
        if isinstance(value, bytes)
        else value
        if isinstance(value, str)
        else repr(value)
    )
    return (
        (json.dumps(text, ensure_ascii=False)[:_SHOWN] + "…")
        if len(text) > _SHOWN
        else (json.dumps(text, ensure_ascii=False) if isinstance(value, str) else text)
    )
