"""Schemas of tools as clients get them: one flat document each, without references and without unions with null.

Every client puts the schemas of all tools into each prompt, so their size counts. An argument that may be left out is not required.
A list of objects is described by the names of their fields.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from typing_extensions import is_typeddict

Schema = dict[str, Any]
"""A JSON Schema, as clients get it."""
LEFT_OUT = ("title", "$defs", "additionalProperties")
"""What a schema says that its names say already."""
NULL = {"type": "null"}
TYPES = {str: "string", int: "integer", float: "number", bool: "boolean", list: "array", dict: "object"}
UNSET = (None, "", False)
"""Defaults that an argument has as nobody would expect another."""


def of_arguments(schema: Mapping[str, Any]) -> Schema:
    """The schema of a tool's arguments."""
    return _flat(schema, schema.get("$defs", {}))


def of_answer(kind: Any) -> Schema:
    """The schema of a tool's answer, of the class that it returns; of an auditor's tool any object.

    A field that may be null is left out, unless words say what it is: then it has no type.
    """
    told = get_type_hints(kind, include_extras=True) if is_typeddict(kind) else {}
    fields = {name: _field(one) for name, one in told.items()}
    return {"type": "object", "properties": {name: field for name, field in fields.items() if field}}


def _field(kind: Any) -> Schema:
    words: str | None = ""
    if get_origin(kind) is Annotated:
        kind, words = get_args(kind)
    if words is None:
        return {}
    several = get_args(kind) if get_origin(kind) is list else ()
    if several and is_typeddict(several[0]):
        words = ", ".join(several[0].__annotations__)
    described = {"description": words} if words else {}
    if type(None) in get_args(kind):
        return described
    return {"type": TYPES[get_origin(kind) or kind], **described}


def _flat(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> Schema:
    """The schema with its references followed, without null as a kind."""
    if "$ref" in schema:
        own = {name: value for name, value in schema.items() if name != "$ref"}
        schema = {**definitions[schema["$ref"].rpartition("/")[2]], **own}
    if NULL in schema.get("anyOf", ()):
        (kind,) = (one for one in schema["anyOf"] if one != NULL)
        schema = {**kind, **{name: schema[name] for name in schema if name != "anyOf"}}
    flat = {name: value for name, value in schema.items() if name not in LEFT_OUT and value != ""}
    if flat.get("default", NULL) in UNSET:
        del flat["default"]
    if "enum" in flat:
        flat.pop("type", None)
    if "items" in flat:
        flat["items"] = _flat(flat["items"], definitions)
    if "properties" in flat:
        flat["properties"] = {name: _flat(one, definitions) for name, one in flat["properties"].items()}
    return flat
