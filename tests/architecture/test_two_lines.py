"""A question about the past takes both time lines on every face, or neither."""

from __future__ import annotations

import inspect
import re
from typing import cast
from unittest.mock import MagicMock

import pytest

from engramlog import Memory
from engramlog.client import Verb, Verbs
from engramlog_server.api.application import Application
from engramlog_server.api.cli.main import whole
from engramlog_server.api.http.app import create_app
from tests.acceptance.commands.test_cli_shapes import commands
from tests.rows import each_row

LINES = {"as_of", "known"}
OF_ACCESS = ["GET /v1/access", "engramlog access", "memory.access"]
"""What is said of access happens as it is recorded: there both lines are one, `as_of`."""


def of_http() -> dict[str, set[str]]:
    """What each route takes, in query and body."""
    document = create_app(cast("Application", MagicMock())).openapi()
    found = {}
    for path, operations in document["paths"].items():
        for method, told in operations.items():
            takes = {one["name"] for one in told.get("parameters", ())}
            for content in told.get("requestBody", {}).get("content", {}).values():
                for name in re.findall(r"#/components/schemas/(\w+)", str(content["schema"])):
                    takes |= set(document["components"]["schemas"][name].get("properties", ()))
            found[f"{method.upper()} {path}"] = takes
    return found


def of_commands() -> dict[str, set[str]]:
    return {f"engramlog {name}": {str(one.name) for one in told.params} for name, told in commands(whole())}


def of_client() -> dict[str, set[str]]:
    verbs = [name for name in dir(Verbs) if isinstance(getattr(Verbs, name), Verb)]
    return {f"memory.{name}": set(inspect.signature(getattr(Memory(), name)).parameters) for name in verbs}


@pytest.fixture(scope="module")
def everything() -> dict[str, set[str]]:
    return {**of_http(), **of_commands(), **of_client()}


def test_nothing_takes_one_line_without_the_other(everything: dict[str, set[str]]) -> None:
    assert sorted(name for name, takes in everything.items() if len(takes & LINES) == 1) == OF_ACCESS


@each_row("name", ["search", "get", "list", "why", "history", "map", "associations", "facts", "context", "replay"])
def test_a_question_about_memories_takes_both_lines(everything: dict[str, set[str]], name: str) -> None:
    assert everything[f"engramlog {name}"] >= LINES
