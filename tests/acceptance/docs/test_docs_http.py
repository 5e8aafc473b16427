"""docs/http.md lists every route with every parameter and every field of its body, and none that does not exist."""

from __future__ import annotations

import re
from typing import Any, cast

from api.application import Application
from api.http.app import create_app
from tests.places import ROOT

PAGE = (ROOT / "docs" / "http.md").read_text("utf-8")
ROW = re.compile(r"^\| (`(?:GET|POST) .*?) \| (.+) \|$", re.MULTILINE)
ROUTE = re.compile(r"`((?:GET|POST) \S+)`")


class _Anything:
    """Stands for every part of an application that is only described."""

    def __getattr__(self, _name: str) -> _Anything:
        return _Anything()


DOCUMENT: dict[str, Any] = create_app(cast("Application", _Anything())).openapi()
OPERATIONS = {
    f"{method.upper()} {path}": operation
    for path, methods in DOCUMENT["paths"].items()
    for method, operation in methods.items()
}
ROWS = {route: told for routes, told in ROW.findall(PAGE) for route in ROUTE.findall(routes)}
APART = "POST /v1/events"
"""Its body is told in a section of its own."""


def fields_of(operation: dict[str, Any]) -> set[str]:
    """Names of the query parameters, and of the body's fields, an optional one as `name?`."""
    named = {one["name"] for one in operation.get("parameters", ()) if one["in"] == "query"}
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    for reference in re.findall(r"'#/components/schemas/(\w+)'", str(body)):
        schema = DOCUMENT["components"]["schemas"][reference]
        required = set(schema.get("required", ()))
        named |= {name if name in required else f"{name}?" for name in schema["properties"]}
    return named


def told_fields(told: str) -> set[str]:
    """What a row tells in code: parameters one by one, a body's fields in braces; `name=value` names a parameter."""
    found = set()
    for code in re.findall(r"`([^`]+)`", told):
        inside = code.strip("{}") if code.startswith("{") else code
        found |= {part.strip().partition("=")[0] for part in inside.split(",")}
    return found


def test_the_table_has_every_route_and_no_other() -> None:
    assert set(ROWS) == set(OPERATIONS)


def test_the_table_has_every_parameter_and_field_of_each_route() -> None:
    routes = [route for route in OPERATIONS if route != APART]
    wrong = {route: told_fields(ROWS.get(route, "")) ^ fields_of(OPERATIONS[route]) for route in routes}
    assert {route: fields for route, fields in wrong.items() if fields} == {}
