"""The table of needs is whole: every call of a face has its line, every line its call, every event type its verb."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib import import_module
from pkgutil import walk_packages

import engramlog_server.api.operations
from engramlog_server.api.access import NEEDS
from engramlog_server.api.http.routes import console, events, operations, records
from engramlog_server.api.operations.definition import Operation
from engramlog_server.events.schema import json_schemas
from engramlog_server.ops.wiring import JoinedApplication
from engramlog_server.projections.access.caller import VERBS, VERBS_OF_TYPES
from tests.places import ROOT

ROUTERS = (console, events, events, operations, records, console)
UNCONFINED = {
    "reads.record": "what records a look, in the name of who looks",
    "access_follower.admitting": "what recognises a caller",
    "reads.record_over": "what records that somebody shows a key that is over",
    "supervision.kept": "figures for /metrics, which asks for operate by itself",
    "contexts.on_injected": "a counter that is joined at the start",
    "operator.status": "also what /ready counts, without a name",
}
"""Calls of the HTTP face that are made for nobody: none of them answers a caller with an owner's memories."""


def served() -> set[tuple[str, str]]:
    """Method and path of every route."""
    return {(method, one.path) for module in ROUTERS for one in module.router.routes for method in one.methods}  # type: ignore[attr-defined]


def of_operations() -> Iterator[str]:
    """What the operations call that have a route."""
    for module in walk_packages(engramlog_server.api.operations.__path__, "engramlog_server.api.operations."):
        for one in vars(import_module(module.name)).values():
            if isinstance(one, Operation) and one.route in served() and ":" not in one.call:
                yield one.call


def named_in(folder: str, services: set[str]) -> Iterator[str]:
    """`service.method` of an application, wherever a file of the folder names one."""
    for file in sorted((ROOT / folder).rglob("*.py")):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        names = {
            target.id: value.attr
            for node in ast.walk(tree)
            if isinstance(node, ast.Assign)
            for told, given in [(node.targets[0], node.value)]
            for target, value in _pairs(told, given)
            if value.attr in services
        }
        for node in ast.walk(tree):
            if not isinstance(node, ast.Attribute):
                continue
            if (
                isinstance(node.value, ast.Attribute)
                and node.value.attr in services
                and _is_application(node.value.value)
            ):
                yield f"{node.value.attr}.{node.attr}"
            if isinstance(node.value, ast.Name) and node.value.id in names:
                yield f"{names[node.value.id]}.{node.attr}"


def _pairs(told: ast.expr, given: ast.expr) -> Iterator[tuple[ast.Name, ast.Attribute]]:
    if isinstance(told, ast.Tuple) and isinstance(given, ast.Tuple):
        for one, value in zip(told.elts, given.elts, strict=True):
            yield from _pairs(one, value)
    elif isinstance(told, ast.Name) and isinstance(given, ast.Attribute) and _is_application(given.value):
        yield told, given


def _is_application(node: ast.expr) -> bool:
    name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    return name in ("application", "app", "whole")


def called(*folders: str) -> set[str]:
    services = JoinedApplication.services()
    assert len(services) > 30
    return {one for folder in folders for one in named_in(folder, services)}


def test_every_call_of_the_http_face_has_its_line() -> None:
    found = called("api/http") | set(of_operations())
    assert len(found) > 70
    assert found - set(NEEDS) - set(UNCONFINED) == set()


def test_every_line_is_called_by_a_face() -> None:
    assert set(NEEDS) - called("api/http", "api/mcp") - set(of_operations()) == set()


def test_every_line_names_a_service_and_its_method() -> None:
    kinds = {name: member for kind in JoinedApplication.__mro__ for name, member in vars(kind).items()}
    assert {call for call in NEEDS if call.partition(".")[0] not in kinds} == set()
    assert {need.verb for need in NEEDS.values()} <= set(VERBS)


def test_every_event_type_has_its_verb() -> None:
    assert set(VERBS_OF_TYPES) == set(json_schemas())
    assert set(VERBS_OF_TYPES.values()) <= set(VERBS)
