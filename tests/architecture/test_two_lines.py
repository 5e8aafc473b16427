"""Every question takes both time lines on every face, or stands in the documentation's list with why it has no past."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import cast
from unittest.mock import MagicMock

import pytest

from api.application import Application
from api.cli.frame import whole
from api.http.app import create_app
from engramlog import Memory
from engramlog.client import Verb, Verbs
from tests.acceptance.commands.test_cli_shapes import commands

PAGE = Path(__file__).parents[2] / "docs" / "concepts.md"
LINES = {"as_of", "known"}
OF_ACCESS = ["GET /v1/access", "engramlog access", "engramlog key list", "memory.access"]
"""What is said of access happens as it is recorded: there both lines are one, `as_of`."""


def without_a_past() -> dict[str, str]:
    """What the page lists, each with its reason."""
    section = PAGE.read_text().partition("### What has no past\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (.+) \| (.+) \|$", section, re.MULTILINE)[2:]
    named = [(name, why.strip()) for names, why in rows for name in re.findall("`([^`]+)`", names)]
    assert len(named) == len(dict(named)), "something stands twice"
    return dict(named)


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
    verbs = [name for name, value in vars(Verbs).items() if isinstance(value, Verb)]
    return {f"memory.{name}": set(inspect.signature(getattr(Memory(), name)).parameters) for name in verbs}


@pytest.fixture(scope="module")
def everything() -> dict[str, set[str]]:
    return {**of_http(), **of_commands(), **of_client()}


def test_every_question_takes_both_lines_or_is_listed_with_the_reason(everything: dict[str, set[str]]) -> None:
    assert len(everything) > 130
    listed = without_a_past()
    assert {name for name, takes in everything.items() if not takes >= LINES} == set(listed)
    assert min(map(len, listed.values())) > 10


def test_nothing_takes_one_line_without_the_other(everything: dict[str, set[str]]) -> None:
    assert sorted(name for name, takes in everything.items() if len(takes & LINES) == 1) == OF_ACCESS


def test_what_reads_memories_is_not_in_the_list() -> None:
    questions = ("search", "get", "list", "why", "history", "provenance", "assess", "map", "associations", "facts")
    more = (
        "counts",
        "synonyms",
        "context",
        "uses",
        "compare",
        "replay",
        "stats",
        "export",
        "health",
        "fading",
        "review",
    )
    assert without_a_past().keys().isdisjoint(f"engramlog {name}" for name in questions + more)
