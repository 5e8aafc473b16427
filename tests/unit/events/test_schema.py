"""JSON Schemas of the events, for producers in other languages."""

from __future__ import annotations

import json

import msgspec

from engramlog_server.events.catalogue import EVENT_TYPES, LATEST_VERSION
from engramlog_server.events.envelope import Event
from engramlog_server.events.parameters import NAMES
from engramlog_server.events.schema import DIALECT, data_fields, json_schema, json_schemas
from tests.rows import each_row


def test_there_is_a_schema_of_every_event_in_the_order_of_the_catalogue() -> None:
    assert list(json_schemas()) == list(EVENT_TYPES)
    assert json.loads(json.dumps(json_schemas())) == json_schemas()


@each_row("event_type", EVENT_TYPES)
def test_a_schema_holds_every_field_says_which_must_be_there_and_allows_no_other(event_type: str) -> None:
    schema = json_schema(event_type)
    for described, cls in ((schema, Event), (schema["$defs"][event_type], EVENT_TYPES[event_type])):
        fields = msgspec.structs.fields(cls)
        assert list(described["properties"]) == [field.encode_name for field in fields]
        assert described.get("required", []) == [field.encode_name for field in fields if field.required]
        assert described["additionalProperties"] is False


@each_row("event_type", EVENT_TYPES)
def test_a_schema_names_its_type_and_the_newest_version(event_type: str) -> None:
    schema = json_schema(event_type)
    assert (schema["$schema"], schema["title"]) == (DIALECT, event_type)
    assert schema["properties"]["type"]["const"] == event_type
    assert schema["properties"]["schema_version"]["maximum"] == LATEST_VERSION[event_type]
    assert schema["description"].startswith(schema["$defs"][event_type]["description"])


def test_a_schema_says_of_an_event_that_it_is_refused() -> None:
    refused = {name for name, schema in json_schemas().items() if "The door refuses" in schema["description"]}
    assert refused == {"MemoryErased"}


def test_parameters_are_described_one_by_one() -> None:
    parameters = json_schema("ParametersChanged")["$defs"]["ParametersChanged"]["properties"]["parameters"]
    assert list(parameters["properties"]) == list(NAMES)
    assert parameters["properties"]["alpha_base"]["maximum"] == 10
    assert (parameters["additionalProperties"], parameters["minProperties"]) == (False, 1)


def test_bounds_of_lists_and_numbers_are_in_the_schema() -> None:
    sources = json_schema("MemoryMerged")["$defs"]["MemoryMerged"]["properties"]["sources"]
    assert (sources["minItems"], sources["maxItems"], sources["uniqueItems"]) == (2, 100, True)
    assert json_schema("ReviewGraded")["$defs"]["ReviewGraded"]["properties"]["grade"] == {
        "type": "integer",
        "minimum": 0,
        "maximum": 5,
        "title": "Grade",
    }


def test_fields_of_nested_objects_follow_their_parent() -> None:
    rows = {row.path: row for row in data_fields("MemoriesAccessed")}
    assert list(rows)[:5] == ["hits", "hits[].memory_id", "hits[].count", "hits[].best_rank", "hits[].last_at"]
    assert (rows["hits"].allowed, rows["hits[].count"].allowed) == (
        "1 to 500, each: an object",
        "a whole number from 1 to 1,000,000",
    )
    assert (rows["via"].required, rows["query"].required) == (True, False)
