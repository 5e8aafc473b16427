"""JSON Schema of every event, made from the one definition that validation checks with: what `GET /v1/schema` returns.

A schema cannot say all that validation refuses (an id's alphabet, a text's bytes, an `occurred_at` too far ahead); where it
cannot, the field's description does.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from engramlog_server.events.catalogue import EVENT_TYPES, LATEST_VERSION, SEALED_ONLY
from engramlog_server.events.parameters import DEFAULTS, NAMES, allowed, schema_of
from engramlog_server.events.validation import adapter
from engramlog_server.events.vocabulary import ID_RULE, TEXT_RULE, TIME_RULE, WORD_RULE

DIALECT = "https://json-schema.org/draft/2020-12/schema"
Schema = dict[str, Any]
_NAMED = {ID_RULE: "an id", TEXT_RULE: "a text", TIME_RULE: "a time", WORD_RULE: "a word"}
"""What docs/events.md explains once, under "Values"."""


def json_schemas() -> dict[str, Schema]:
    """The JSON Schema (2020-12) of each event's envelope with its data, by event type, in the catalogue's order."""
    return {event_type: json_schema(event_type) for event_type in EVENT_TYPES}


def json_schema(event_type: str) -> Schema:
    """The JSON Schema of one event type's envelope. Raises KeyError for an unknown type."""
    schema = adapter(event_type).json_schema()
    data = schema["$defs"][event_type]
    described = data["description"]
    if event_type in SEALED_ONLY:
        described += " The door refuses it of every producer: `engramlog erase` alone says it."
    schema["properties"]["type"] = {"const": event_type, "title": "Type"}
    schema["properties"]["schema_version"] |= {"maximum": LATEST_VERSION[event_type]}
    schema["properties"]["occurred_at"]["description"] += ", at most five minutes ahead of the store's clock"
    if event_type == "ParametersChanged":
        data["properties"]["parameters"] = {
            "type": "object",
            "title": "Parameters",
            "minProperties": 1,
            "additionalProperties": False,
            "properties": {name: schema_of(name) | {"description": _parameter(name)} for name in NAMES},
        }
    return {"$schema": DIALECT} | schema | {"title": event_type, "description": described}


def _parameter(name: str) -> str:
    return f"{allowed(name)}; by default {_literal(getattr(DEFAULTS, name))}"


class FieldRow(NamedTuple):
    """One field of an event's data: its path, whether it must be there, and what it may be, in words."""

    path: str
    required: bool
    allowed: str


def data_fields(event_type: str) -> list[FieldRow]:
    """The fields of an event's data, those of nested objects after their parent, as docs/events.md lists them."""
    schema = json_schema(event_type)
    return list(_rows(schema["$defs"][event_type], "", schema["$defs"]))


def envelope_fields() -> list[FieldRow]:
    """The fields of the envelope around `data`, the same for every event."""
    schema = json_schema("TurnRecorded")
    schema["properties"]["type"] = {"enum": list(EVENT_TYPES)}
    schema["properties"]["schema_version"]["maximum"] = max(LATEST_VERSION.values())
    schema["properties"]["data"] = {"type": "object"}
    return list(_rows(schema, "", {}))


def _rows(schema: Schema, prefix: str, definitions: Schema) -> Iterator[FieldRow]:
    for name, field in schema["properties"].items():
        required = name in schema.get("required", ())
        yield FieldRow(prefix + name, required, _words(field, definitions) + _default(field))
        nested, mark = _nested(field, definitions)
        if nested:
            yield from _rows(nested, f"{prefix}{name}{mark}.", definitions)


def _nested(field: Schema, definitions: Schema) -> tuple[Schema | None, str]:
    """The object inside a field and how a path into it goes on: `[]` for each of a list."""
    field = _present(field)
    if "$ref" in field:
        return definitions[field["$ref"].rpartition("/")[2]], ""
    if field.get("type") == "array":
        nested, mark = _nested(field["items"], definitions)
        return nested, "[]" + mark
    return (field, "") if "properties" in field else (None, "")


def _present(field: Schema) -> Schema:
    """A field's schema where it is not null."""
    return next((one for one in field.get("anyOf", ()) if one.get("type") != "null"), field)


def _default(field: Schema) -> str:
    default = field.get("default")
    if default in (None, [], ""):
        return ""
    told = ", ".join(map(_literal, default)) if isinstance(default, list) else _literal(default)
    return f"; {told} if absent"


def _literal(value: object) -> str:
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def _words(field: Schema, definitions: Schema) -> str:
    field = _present(field)
    if "description" in field:
        return str(_NAMED.get(field["description"], field["description"]))
    if "enum" in field:
        return ", ".join(map(_literal, field["enum"]))
    if "$ref" in field or "properties" in field or field.get("type") == "object":
        return "an object"
    if field["type"] == "array":
        low, high = field.get("minItems", 0), field["maxItems"]
        unique = " different" if field.get("uniqueItems") else ""
        return f"{low} to {high}{unique}, each: {_words(field['items'], definitions)}"
    if field["type"] == "boolean":
        return "`true` or `false`"
    return _numbers(field) if field["type"] in ("number", "integer") else _texts(field)


def _numbers(field: Schema) -> str:
    kind = "a whole number" if field["type"] == "integer" else "a number"
    if "exclusiveMinimum" in field:
        return f"{kind} above {field['exclusiveMinimum']:g}, at most {field['maximum']:,g}"
    return f"{kind} from {field['minimum']:g} to {field['maximum']:,.15g}"


def _texts(field: Schema) -> str:
    if field.get("format") == "uuid":
        return "a UUID, 8-4-4-4-12 hexadecimal digits"
    size = f"{field.get('minLength', 0)} to {field['maxLength']:,} characters" if "maxLength" in field else ""
    if "pattern" in field:
        examples = "".join(f", such as `{one}`" for one in field.get("examples", ()))
        return f"{size or 'a text'} matching `{field['pattern']}`{examples}"
    return size or "a text"
