"""Whatever is asked wrongly at whatever model of a question, the refusal has words of ours, with field, got and allowed."""

from __future__ import annotations

import importlib
import json
import pkgutil
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel, ValidationError

import engramlog_server.api.http
from engramlog_server.api.access import ALL, OF_FILES
from engramlog_server.api.http.problem import input_error
from engramlog_server.api.http.routing import shape_of
from engramlog_server.events.errors import InvalidEvent
from engramlog_server.events.schema import json_schemas
from engramlog_server.events.validation import read_event
from tests.rows import each_row
from tests.unit.events.test_wording import PHRASES

NOW = 1_800_000_000_000_000
"""Microseconds since 1970: what the door calls now."""
BAD: list[Any] = [
    None, True, -1, 10**30, 1.5, float("nan"), "", "\ud800", "x" * 5_000, [], [None], {}, {"a": [{}]}, [[]],
]  # fmt: skip


def models() -> Iterator[type[BaseModel]]:
    """Every model of the HTTP face, whose models MCP and the client's requests are checked by too."""
    for module in pkgutil.walk_packages(engramlog_server.api.http.__path__, "engramlog_server.api.http."):
        for value in vars(importlib.import_module(module.name)).values():
            if isinstance(value, type) and issubclass(value, BaseModel) and value.__module__ == module.name:
                yield value
    yield from {shape_of(operation) for operation in (*ALL, *OF_FILES) if operation.question}


MODELS = sorted(models(), key=lambda one: f"{one.__module__}.{one.__qualname__}")


def refusals(model: type[BaseModel]) -> Iterator[str]:
    fields = [field.alias or name for name, field in model.model_fields.items()]
    for value in [*BAD, *({name: bad} for name in [*fields, "no-such-field"] for bad in BAD)]:
        try:
            model.model_validate(value)
        except ValidationError as error:
            told = input_error([{**one, "loc": ("body", *one["loc"])} for one in error.errors(include_url=False)])
            yield from (problem["message"] for problem in told.context["problems"])


def test_there_are_models_to_ask() -> None:
    assert len(MODELS) > 50


@each_row("model", MODELS, ids=lambda one: one.__qualname__)
def test_a_bad_value_at_any_field_of_any_model_is_refused_in_our_words(model: type[BaseModel]) -> None:
    for message in refusals(model):
        assert ": got " in message
        assert "; allowed: " in message
        assert not any(phrase in message for phrase in PHRASES), message


def envelope(kind: str, data: Any) -> dict[str, Any]:
    whole = {"event_id": "01890000-0000-7000-8000-000000000001", "type": kind, "owner": "ada", "actor": "user"}
    return whole | {"occurred_at": "2024-01-01T00:00:00Z", "data": data}


def fields_of(schema: Mapping[str, Any]) -> list[str]:
    found = schema.get("$defs", {}).values()
    return sorted({name for one in found for name in one.get("properties", {})})


@each_row("kind", sorted(json_schemas()))
def test_a_bad_value_at_any_field_of_any_event_is_refused_in_our_words(kind: str) -> None:
    fields, refused = fields_of(json_schemas()[kind]), 0
    for data in [*BAD, *({name: bad} for name in [*fields, "no-such-field"] for bad in BAD)]:
        try:
            read_event(json.dumps(envelope(kind, data)), now=NOW)
        except InvalidEvent as error:
            refused += 1
            assert not any(phrase in error.message for phrase in PHRASES), error.message
    assert refused
