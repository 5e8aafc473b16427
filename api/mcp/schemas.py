"""Schemas of tools as clients get them: one flat document each, without references and without unions with null.

Every client puts the schemas of all tools into each prompt, so their size counts. An argument that may be left out is not required.
A list of objects is described by the names of their fields. Fields of answers that may be null are not in the schema.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

UNSAID = ("title", "$defs", "additionalProperties")
"""What a schema says that its names say already."""
NULL = {"type": "null"}
FOR_PROGRAMS = frozenset(
    [
        "recorded_text", "position", "sizes", "tokens", "budget", "session", "turn_id", "recorded", "dropped", "left_out", "stats",
        "search_strategy_used", "expanded_keywords", "context_tags", "emotional_filter", "tags", "updated_at", "source_turns",
        "strength_before", "strength_after", "next_review_at", "below_min_importance", "next_due_at", "truncated", "revised",
        "version", "hidden_with", "sensitivity", "behind", "created_at", "category", "status", "topic", "mentioned",
    ]
)  # fmt: skip
"""Fields of answers that no agent acts on: answers have them, and docs/mcp.md describes them."""
MOST_NAMED = 9
"""Fields of a listed object that are named; an entry of the change log has more, and explains itself."""
UNSET = (None, "", False)
"""Defaults that an argument has as nobody would expect another."""


def of_arguments(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of a tool's arguments."""
    return _flat(schema, schema.get("$defs", {}))


def of_answer(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of a tool's answer: the fields that an agent acts on."""
    fields = _flat(schema, schema.get("$defs", {}), null={}).get("properties", {})
    shown = {name: _outline(field) for name, field in fields.items() if field and name not in FOR_PROGRAMS}
    return {"type": "object", "properties": shown}


def _flat(
    schema: Mapping[str, Any], definitions: Mapping[str, Any], null: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The schema with its references followed. `null`: what stands for a kind that may be null; None for the kind itself."""
    if "$ref" in schema:
        own = {name: value for name, value in schema.items() if name != "$ref"}
        schema = {**definitions[schema["$ref"].rpartition("/")[2]], **own}
    if NULL in schema.get("anyOf", ()):
        (kind,) = (one for one in schema["anyOf"] if one != NULL)
        schema = {**(kind if null is None else null), **{name: schema[name] for name in schema if name != "anyOf"}}
    flat = {name: value for name, value in schema.items() if name not in UNSAID and value != ""}
    if flat.get("default", NULL) in UNSET:
        del flat["default"]
    if "enum" in flat:
        flat.pop("type", None)
    if "items" in flat:
        flat["items"] = _flat(flat["items"], definitions, null)
    if "properties" in flat:
        flat["properties"] = {name: _flat(one, definitions, null) for name, one in flat["properties"].items()}
    return flat


def _outline(field: Mapping[str, Any]) -> dict[str, Any]:
    """A field of an answer: its type, and either its description or the names of what is in it."""
    told = {name: field[name] for name in ("type", "description") if name in field}
    if 2 < len(fields := field.get("items", {}).get("properties", ())) <= MOST_NAMED:
        told["description"] = ", ".join(fields)
    return told
