"""Schemas of tools as clients get them: one flat document each, without references and without unions with null.

Every client puts the schemas of all tools into each prompt, so their size counts. An argument that may be left out is not required.
A list of objects is described by the names of their fields. Fields of answers that may be null are not in the schema.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Schema = dict[str, Any]
"""A JSON Schema, as clients get it."""
UNSAID = ("title", "$defs", "additionalProperties")
"""What a schema says that its names say already."""
NULL = {"type": "null"}
_CHANGED = {"id": "string", "message": "string", "changes": "array"}
_FOUND = {
    "total_found": "integer",
    "results": "array: id, summary, content_preview, memory_type, relevance_score, score, created_at, keywords, metadata",
    "withheld": "object",
    "hint": ": What to try next.",
}
ANSWERS: Mapping[str, Mapping[str, str]] = {
    "memory_context": {
        "block": "string",
        "stable_id": "string",
        "turn": "string",
        "parts": "object: What the parts of a block hold, in their order.",
        "injected": "array",
    },
    "search_memories": _FOUND,
    "memory_contextual_search": _FOUND,
    "get_memory_detail": {
        "id": "string",
        "content": "string",
        "memory_type": "string",
        "score": "number",
        "keywords": "array",
        "metadata": "object",
    },
    "add_memory": {
        "id": "string",
        "created": "boolean: False: known already.",
        "ended": "array",
        "waiting": "array: Waits for the user's answer.",
        "possible_conflicts": "array: Ask which holds.",
        "memory": "string",
    },
    "add_turns": {"turns": "array", "created": "boolean: False: known already."},
    "update_memory": _CHANGED,
    "reinforce_memory": _CHANGED,
    "delete_memory": _CHANGED
    | {"deleted": "boolean", "also": "array", "left_alone": "array", "still_said_in": "array"},
    "memory_assess_knowledge": {
        "confidence": "string",
        "score": "number",
        "message": "string",
        "suggestions": "array",
        "evidence": "array: id, score, snippet, confidence, updated_at",
    },
    "memory_knowledge_map": {
        "nodes": "array: id, label, memory_type, score, depth, cluster",
        "edges": "array: from, to, weight, link, keywords",
        "clusters": "array: cluster, label, members",
    },
    "memory_review_due": {
        "memories": "array: id, memory, memory_type, score, importance, due_at, days_overdue",
        "due": "integer",
    },
}
"""The fields of each answer that an agent acts on: the type, and after a colon words. docs/how-to/mcp.md describes the others."""
UNSET = (None, "", False)
"""Defaults that an argument has as nobody would expect another."""


def of_arguments(schema: Mapping[str, Any]) -> Schema:
    """The schema of a tool's arguments."""
    return _flat(schema, schema.get("$defs", {}))


def of_answer(tool: str) -> Schema:
    """The schema of a tool's answer: the fields that an agent acts on; of an auditor's tool any object."""
    return {"type": "object", "properties": {name: _field(told) for name, told in ANSWERS.get(tool, {}).items()}}


def _field(told: str) -> Schema:
    kind, _, words = told.partition(": ")
    return ({"type": kind} if kind else {}) | ({"description": words} if words else {})


def _flat(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> Schema:
    """The schema with its references followed, without null as a kind."""
    if "$ref" in schema:
        own = {name: value for name, value in schema.items() if name != "$ref"}
        schema = {**definitions[schema["$ref"].rpartition("/")[2]], **own}
    if NULL in schema.get("anyOf", ()):
        (kind,) = (one for one in schema["anyOf"] if one != NULL)
        schema = {**kind, **{name: schema[name] for name in schema if name != "anyOf"}}
    flat = {name: value for name, value in schema.items() if name not in UNSAID and value != ""}
    if flat.get("default", NULL) in UNSET:
        del flat["default"]
    if "enum" in flat:
        flat.pop("type", None)
    if "items" in flat:
        flat["items"] = _flat(flat["items"], definitions)
    if "properties" in flat:
        flat["properties"] = {name: _flat(one, definitions) for name, one in flat["properties"].items()}
    return flat
