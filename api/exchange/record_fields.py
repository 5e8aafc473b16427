"""What a line of an older record tells, and how its fields are read: values carried, lists, times with their zone."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

import orjson
from pydantic_core import PydanticCustomError

from events.envelope import utc_text
from events.errors import refused
from events.vocabulary import TIME_RULE, read_time

Data = dict[str, Any]


class RecordLine(NamedTuple):
    """What one line tells."""

    shape: str
    data: Data
    """Of the `MemoryCreated`, as JSON; not yet checked by validation."""
    created_at: str
    """RFC 3339 in UTC."""
    session: Any
    """A text, or None; not yet checked either."""
    names: Mapping[str, str]
    """Path in `data` -> the record's own name of it, where they differ: for refusals."""
    ignored: tuple[str, ...] = ()
    """Fields that the shape does not know."""
    edges_left_out: int = 0
    status: str | None = None
    """Why the memory no longer stands (`deleted`, `superseded` ...), where an export told it all the same."""


TIMES = frozenset({"imported.updated_at", "imported.last_accessed_at", "imported.last_reinforced_at"})
"""Paths in `data` that hold a time."""


def text_list(record: Data, name: str) -> tuple[str, list[str] | None]:
    """A list of texts, as a column of JSON (`name_json`) or as the list itself, and the name it stood under."""
    column = f"{name}_json"
    name = column if given(record, column) is not None else name
    value = told = given(record, name)
    if isinstance(told, str):
        try:
            value = orjson.loads(told)
        except orjson.JSONDecodeError:
            value = told
    if value is None:
        return name, None
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise refused(name, short(told), 'a JSON list of texts, such as ["one","two"]')
    return name, without_repeats(value)


def carried(record: Data, table: Mapping[str, str], assume_utc: bool) -> Data:
    """The fields that keep their value, at their place in a `MemoryCreated`; those of no value are left out."""
    data: Data = {"imported": {}}
    for name, path in table.items():
        value = record.get(name) if path in ("memory_id", "content") else given(record, name)
        if value is None:
            continue
        if path in TIMES:
            value = instant(value, name, assume_utc)
        into, _, last = path.rpartition(".")
        (data[into] if into else data)[last] = value
    return data


def given(record: Data, name: str) -> Any:
    """The value of an optional field; null and the empty text, which columns hold for none, are none."""
    value = record.get(name)
    return None if value == "" else value


def unknown(record: Data, known: Collection[str]) -> tuple[str, ...]:
    """Names of the fields that a shape does not know."""
    return tuple(name for name in record if name not in known)


def without_repeats(values: list[Any]) -> list[Any]:
    """Texts without repetitions; what holds anything else is left to validation."""
    return list(dict.fromkeys(values)) if all(isinstance(value, str) for value in values) else values


def beginning(record: Data, name: str, assume_utc: bool) -> str:
    """When the memory was made, RFC 3339 in UTC; a record without it is refused."""
    if record.get(name) is None:
        raise refused(name, "nothing", f"when the memory began: {TIME_RULE}")
    return instant(record[name], name, assume_utc)


def instant(value: object, field: str, assume_utc: bool) -> str:
    """RFC 3339 in UTC of a record's time. One without a zone is refused, or is in UTC where the caller says so."""
    try:
        return utc_text(read_time(value))
    except PydanticCustomError:
        pass
    try:
        moment = utc_text(read_time(f"{value}Z"))
    except PydanticCustomError:
        raise refused(field, short(value), TIME_RULE) from None
    if not assume_utc:
        raise refused(
            field, short(value), f"{TIME_RULE}; this one has no zone: import with --assume-utc if such times are in UTC"
        )
    return moment


def short(value: object) -> str:
    """What was got, of a length that a message can carry."""
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= 80 else text[:80] + "…"
