"""Operations are whole: what each may be told its service takes, what it answers is documented, and its row is in the table."""

from __future__ import annotations

import ast
import inspect
import re
from functools import cache
from importlib import import_module
from typing import Any, get_type_hints

import engramlog_server.api.application
from engramlog import answers
from engramlog_server.api.access import ALL
from engramlog_server.api.application import Application
from engramlog_server.api.http.routing import shape_of
from engramlog_server.api.operations.definition import NEVER, REQUIRED, Operation, loaded_from
from engramlog_server.api.operations.reading import REVEAL
from engramlog_server.api.operations.reports import EXTRACT
from engramlog_server.api.services.reading import Counter as RowCounter
from engramlog_server.api.services.reading import Reader, request_of
from engramlog_server.projections.ranking.search_request import filters_of
from engramlog_server.projections.reports.listing import wanted_of
from tests.rows import each_row

OF_ENDPOINTS = {REVEAL: {"actor", "reason"}, EXTRACT: {"dry_run"}}
"""What an endpoint of its own takes, and the service does not."""


@cache
def services() -> dict[str, str]:
    """The module of each service by its class: the application imports none before it is asked for."""
    tree = ast.parse(inspect.getsource(engramlog_server.api.application))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    return {alias.name: str(node.module) for node in imports for alias in node.names}


def called(operation: Operation) -> Any:
    """The function that an operation calls, without the application that would carry it out."""
    if ":" in operation.call:
        return loaded_from(operation.call)
    service, method = operation.call.split(".")
    member: Any = inspect.getattr_static(Application, service)
    kind = getattr(member, "fget", None) or member.func
    name = kind.__annotations__["return"]
    return getattr(getattr(import_module(services()[name]), name), method)


def taken_by(function: Any) -> set[str]:
    """The names that a function takes, those of its typed `**` too; a search takes what its filters are read from."""
    names = set(inspect.signature(function).parameters)
    for word in re.findall(r"Unpack\[(\w+)\]", str(inspect.signature(function))):
        names |= set(get_type_hints(vars(import_module(function.__module__))[word]))
    if function in (Reader.search, Reader.list, RowCounter.counts):
        read = inspect.getsource(filters_of) + inspect.getsource(request_of) + inspect.getsource(wanted_of)
        read += inspect.getsource(Reader._expanded)
        names |= set(re.findall(r'\.get\(\s*"(\w+)"', read)) | set(re.findall(r'_among\(\s*"(\w+)"', read))
        names |= {"since", "until", "updated_since", "updated_until"}
    return names


@each_row("operation", ALL, ids=lambda one: f"{one.name} {one.path}")
def test_a_service_takes_what_an_operation_may_be_told(operation: Operation) -> None:
    names = taken_by(called(operation))
    told = {one.name for one in operation.question if one.kind != NEVER} - OF_ENDPOINTS.get(operation, set())
    told -= {"owners"} if operation.together else set()
    told |= set(operation.fixed)
    assert told <= names


@each_row("operation", ALL, ids=lambda one: f"{one.name} {one.path}")
def test_what_a_service_cannot_do_without_is_asked_for(operation: Operation) -> None:
    own = [one for one in inspect.signature(called(operation)).parameters.values() if one.name != "self"]
    needed = {
        one.name for one in own if one.default is one.empty and one.kind not in (one.VAR_KEYWORD, one.VAR_POSITIONAL)
    }
    placed = {one.name for one in own[: len(operation.subject)]}
    told = {one.name for one in operation.question} | set(operation.fixed) | placed
    assert needed - told <= {"by", "memory_ids", "ids"}


@each_row("operation", ALL, ids=lambda one: f"{one.name} {one.path}")
def test_the_answer_of_an_operation_is_defined(operation: Operation) -> None:
    assert issubclass(getattr(answers, operation.answer), answers.Result)


@each_row("operation", [one for one in ALL if one.question], ids=lambda one: f"{one.name} {one.path}")
def test_a_question_s_examples_are_what_it_takes(operation: Operation) -> None:
    """Each parameter's examples pass the door, one at a time beside what must be told."""
    shape = shape_of(operation)
    needed = {one.name: one.examples[0] for one in operation.question if one.default is REQUIRED}
    for one in operation.question:
        for example in one.examples:
            shape.model_validate(needed | {one.name: example})


def test_paths_and_methods_are_each_defined_once() -> None:
    asked = [("GET" if one.body is None else "POST", one.path) for one in ALL]
    assert len(asked) == len(set(asked)) > 50


def test_every_operation_says_what_it_does() -> None:
    assert [one.path for one in ALL if not one.help.endswith(".")] == []
