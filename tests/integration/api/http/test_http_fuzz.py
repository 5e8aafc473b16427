"""Every route of the OpenAPI document, asked with what nobody should send: refused or answered, never a 500."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.given.http import HttpStore, app_of, client_of, created, http_store, mentioned

Operation = tuple[str, str, dict[str, Any]]
JSON = {"content-type": "application/json"}
STREAMS = "/v1/owners/{owner}/feed"
"""Answers for as long as somebody listens; its parameters have tests of their own."""
HOSTILE_TEXTS = [
    "",
    " ",
    ".",
    "..",
    "a/b",
    "%",
    "\x00",
    "\ud800".encode("utf-8", "surrogatepass").decode("latin-1"),
    "\u202etxt",
    "团队",
    "a\nb",
    "x" * 3_000,
    "null",
    "true",
    "0:0",
    "3:99999999999999999999999",
    "-1:5",
    "2026-13-01T00:00:00Z",
    "0001-01-01T00:00:00Z",
    "9999-12-31T23:59:59Z",
    "2026-01-01",
    "[]",
    "{}",
    "WyIzOjEyOCIsMTcwMCw1LCJhYiJd",
]
HOSTILE_NUMBERS = ["-1", "0", "1", "10", "1e3", "99999999999999999999999", str(2**31), str(2**63), "9" * 5_000]
HOSTILE_NUMBERS += ["nan", "inf", "-inf", "1e999", "-0.0", "0x10", "1_000", "٣", "½"]
HOSTILE_VALUES: list[Any] = [None, True, -1, 0, 2**63 - 1, -(2**63), 1.5, 1e308, -0.0, [], {}, [[]], [None], {"a": 1}]
PATHS = ["alice", "nobody", "coffee", "no-such", *HOSTILE_TEXTS]


@pytest.fixture(scope="module")
def http(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpStore]:
    """A store with an owner."""
    with http_store(tmp_path_factory.mktemp("fuzz")) as opened:
        opened.told("alice", created("coffee"), created("tea", "I drink tea"), mentioned("coffee"))
        yield opened


@pytest.fixture(scope="module")
def client(http: HttpStore) -> Iterator[TestClient]:
    """A client that is told of an error as others are."""
    with client_of(app_of(http.application), raise_server_exceptions=False) as opened:
        yield opened


@pytest.fixture(scope="module")
def operations(client: TestClient) -> list[Operation]:
    """All but the streams."""
    paths = client.get("/v1/openapi.json").json()["paths"]
    return [
        (method.upper(), path, one)
        for path, methods in paths.items()
        for method, one in methods.items()
        if path != STREAMS
    ]


def queries(parameter: dict[str, Any]) -> st.SearchStrategy[str]:
    """Values of a query parameter: its examples, and what is none."""
    schema = parameter["schema"]
    examples = [str(one) for one in schema.get("examples", parameter.get("examples", [])) if not isinstance(one, list)]
    return st.sampled_from(examples + HOSTILE_NUMBERS + HOSTILE_TEXTS) | st.text(max_size=20)


def bodies(operation: dict[str, Any]) -> st.SearchStrategy[bytes]:
    """An example as it is, with a value put in the place of another, or something else altogether."""
    content = operation["requestBody"]["content"]["application/json"]
    examples = [one["value"] for one in content.get("examples", {}).values()] or [content.get("example", {})]

    def changed(drawn: tuple[Any, Any, Any]) -> bytes:
        example, where, value = json.loads(json.dumps(drawn[0])), drawn[1], drawn[2]
        target = example[0] if isinstance(example, list) and example else example
        if isinstance(target, dict):
            names = [*target, "further", *operation.get("fields", [])]
            target[names[where % len(names)]] = value
        return json.dumps(example).encode()

    values = st.sampled_from(HOSTILE_VALUES + HOSTILE_TEXTS) | st.text(max_size=20)
    mutated = st.tuples(st.sampled_from(examples), st.integers(0, 50), values).map(changed)
    raw = st.sampled_from([b"", b"null", b"[]", b"{}", b"3", b'"x"', b"{", b"[{}]", b"\xff", b"[" * 200, b"1" * 200])
    return mutated | raw


@settings(max_examples=250, derandomize=True, suppress_health_check=list(HealthCheck), database=None)
@given(data=st.data())
def test_no_value_of_any_parameter_of_any_route_is_an_error_of_ours(
    client: TestClient, operations: list[Operation], data: st.DataObject
) -> None:
    method, path, operation = data.draw(st.sampled_from(operations))
    asked: dict[str, str] = {}
    for parameter in operation.get("parameters", []):
        name = parameter["name"]
        if parameter["in"] == "path":
            path = path.replace(f"{{{name}}}", quote(data.draw(st.sampled_from(PATHS)), safe=""))
        elif parameter["in"] == "query" and (parameter.get("required") or data.draw(st.booleans())):
            asked[name] = data.draw(queries(parameter))
    body = data.draw(bodies(operation)) if "requestBody" in operation else None
    answer = client.request(method, path, params=asked, content=body, headers=JSON)
    assert answer.status_code != 500, (method, path, asked, body, answer.text)
    if answer.status_code >= 400:
        assert answer.json()["detail"]


def whole_numbers(operation: dict[str, Any]) -> list[str]:
    """Names of its parameters that are numbers."""
    return [
        one["name"]
        for one in operation.get("parameters", [])
        if one["in"] == "query"
        and {kind.get("type") for kind in (one["schema"], *one["schema"].get("anyOf", []))} & {"integer", "number"}
    ]


def test_a_number_without_bounds_is_refused_everywhere_with_what_is_allowed(
    client: TestClient, operations: list[Operation]
) -> None:
    """`offset` of 23 digits was a 500."""
    found = 0
    for method, path, operation in operations:
        for name in whole_numbers(operation):
            for value in ("99999999999999999999999", "nan", "inf", "-99999999999999999999999"):
                asked = {"query": "x", "topic": "x"} if name in ("query", "topic") else {}
                needed = [
                    one["name"] for one in operation["parameters"] if one["in"] == "query" and one.get("required")
                ]
                asked |= dict.fromkeys(needed, "tea") | {name: value}
                there = path.replace("{owner}", "alice").replace("{memory_id}", "coffee").replace("{partition}", "0")
                answer = client.request(method, there, params=asked)
                told = answer.json()
                if (name, value[0]) == ("min_weight", "-") or (name, value[0]) == ("min_weight", "9"):
                    continue  # a weight may be any finite number
                assert (answer.status_code, told.get("field")) == (422, name), (path, asked, answer.text)
                assert told["allowed"]
                found += 1
    assert found > 60
