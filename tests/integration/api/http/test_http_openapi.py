"""The OpenAPI document: references that resolve, and an example for every route, parameter and body."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any, cast

import orjson
import pytest
from fastapi.openapi.utils import get_openapi
from fastapi.testclient import TestClient

from engramlog import answers
from engramlog_server.api.application import Application
from engramlog_server.api.http.app import create_app
from engramlog_server.api.http.callers import is_open
from engramlog_server.api.http.problem import SCHEMAS
from tests.given.http import BASE
from tests.given.shaped import OutOfShape, check_shape

Document = dict[str, Any]


class _Anything:
    """Stands for every part of an application that is only described."""

    partitions = 4

    def __getattr__(self, _name: str) -> _Anything:
        return _Anything()


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    """A client of an application without a store."""
    with TestClient(create_app(cast("Application", _Anything())), base_url=BASE) as opened:
        yield opened


@pytest.fixture(scope="module")
def document(client: TestClient) -> Document:
    """The document as it is served."""
    return cast("Document", client.get("/v1/openapi.json").json())


def operations(document: Document) -> dict[str, Document]:
    """Every operation by its method and path."""
    return {
        f"{method.upper()} {path}": one
        for path, methods in document["paths"].items()
        for method, one in methods.items()
    }


def test_it_is_made_once_and_beside_the_event_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    on_the_loop: list[bool] = []

    def made(**told: Any) -> dict[str, Any]:
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            on_the_loop.append(False)
        else:
            on_the_loop.append(True)
        return get_openapi(**told)

    monkeypatch.setattr("fastapi.openapi.utils.get_openapi", made)
    with TestClient(create_app(cast("Application", _Anything())), base_url=BASE) as opened:
        assert {opened.get(path).status_code for path in ("/docs", "/v1/openapi.json", "/docs")} == {200}
    assert on_the_loop == [False]


def test_every_reference_resolves(document: Document) -> None:
    def references(node: object) -> Iterator[str]:
        if isinstance(node, dict):
            yield from ([node["$ref"]] if isinstance(node.get("$ref"), str) else [])
            for value in node.values():
                yield from references(value)
        elif isinstance(node, list):
            for value in node:
                yield from references(value)

    known = {f"#/components/schemas/{name}" for name in document["components"]["schemas"]}
    found = set(references(document))
    assert found
    assert found - known == set()


def test_every_parameter_and_every_body_has_an_example(document: Document) -> None:
    lacking = []
    for name, one in operations(document).items():
        for parameter in one.get("parameters", ()):
            if not (parameter.get("examples") or parameter["schema"].get("examples")):
                lacking.append(f"{name} {parameter['name']}")
        for kind, content in one.get("requestBody", {}).get("content", {}).items():
            if not (content.get("examples") or content.get("example")):
                lacking.append(f"{name} {kind}")
    assert lacking == []


def test_every_answer_has_an_example_with_its_fields(document: Document) -> None:
    """The examples are recorded: `tests.made.examples` makes them again."""
    wrong = []
    for name, one in operations(document).items():
        content = one["responses"]["200"]["content"].get("application/json", {})
        if "$ref" in content.get("schema", {}):
            kind = getattr(answers, content["schema"]["$ref"].removeprefix(SCHEMAS))
            try:
                check_shape(kind, orjson.dumps(content["example"]), name)
            except OutOfShape as refused:
                wrong.append(str(refused))
    assert wrong == []


def test_every_route_says_whether_it_asks_for_the_token(document: Document) -> None:
    scheme = document["components"]["securitySchemes"]["token"]
    assert (scheme["type"], scheme["scheme"], document["security"]) == ("http", "bearer", [{"token": []}])
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            asks = operation.get("security", document["security"]) != []
            assert (asks, "401" in operation["responses"]) == ((not is_open(method.upper(), path),) * 2), path
