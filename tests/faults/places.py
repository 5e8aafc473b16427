"""Where faults are planted, and which tests pass through there."""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from tests.places import ROOT

LIST = Path(__file__).parent / "planted.json"
KEPT = ROOT / ".faults"
"""What the step `lines` measures; not in the repository."""
SLOW = 40.0
"""A test that takes longer, in seconds, is not asked."""
Lines = dict[str, dict[int, list[str]]]
"""The tests that pass through each line of each file."""


class Fault(NamedTuple):
    """A line and what stands there in its place, both without indentation, so that it is found where it moves."""

    area: str
    file: str
    function: str
    kind: str
    line: str
    planted: str
    before: str
    after: str
    """The lines before and after it: they tell it from an equal line of the same function."""
    noticed: str | None = None
    """The test that noticed it last; None if none did."""


def planned() -> list[Fault]:
    """The list as it is."""
    return [Fault(**fault) for fault in json.loads(LIST.read_text("utf-8"))["faults"]] if LIST.exists() else []


def functions(tree: ast.Module) -> dict[int, str]:
    """The innermost function or class of each line, by its qualified name."""
    named: dict[int, str] = {}

    def name(node: ast.AST, above: str) -> None:
        for child in ast.iter_child_nodes(node):
            here = above
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                here = f"{above}.{child.name}".lstrip(".")
                named.update(dict.fromkeys(range(child.lineno, (child.end_lineno or 0) + 1), here))
            name(child, here)

    name(tree, "")
    return named


def found(fault: Fault) -> tuple[str, int] | None:
    """The file and line where a fault can be planted today: the same line of a function of the same name."""
    best: tuple[list[bool], str, int] | None = None
    for path in (
        path for top in ("events", "projections", "consumers", "api", "ops") for path in (ROOT / top).rglob("*.py")
    ):
        text = path.read_text("utf-8")
        if fault.line not in text:
            continue
        file, lines, named = (
            path.relative_to(ROOT).as_posix(),
            [line.strip() for line in text.splitlines()],
            functions(ast.parse(text)),
        )
        for row, line in enumerate(lines, 1):
            name = named.get(row, "")
            if line == fault.line and name.rpartition(".")[2] == fault.function.rpartition(".")[2]:
                near = (lines[row - 2], lines[row] if row < len(lines) else "")
                like = [name == fault.function, file == fault.file, near[0] == fault.before, near[1] == fault.after]
                if best is None or like > best[0]:
                    best = like, file, row
    return best and best[1:]


def measured() -> tuple[Lines, dict[str, float]]:
    """The tests of each line, and how long each test takes; without those that failed."""
    lines: Lines = {}
    seconds: dict[str, float] = {}
    for file in sorted(KEPT.glob("*.json")):
        told = json.loads(file.read_text("utf-8"))
        seconds |= {test: took for test, took, passed in told["tests"] if passed and took < SLOW}
        for name, by_line in told["lines"].items():
            for line, numbers in by_line.items():
                tests = (told["tests"][number][0] for number in numbers)
                lines.setdefault(name, {}).setdefault(int(line), []).extend(test for test in tests if test in seconds)
    return lines, seconds


def passing(file: str, row: int, lines: Lines, seconds: Mapping[str, float]) -> list[str]:
    """The tests that pass through a line, or through the statement that it is part of.

    Of a line outside of functions, as one of a script for Redis: what passes through its file, or names its module.
    """
    here, tree = lines.get(file, {}), ast.parse((ROOT / file).read_text("utf-8"))
    if row in functions(tree):
        statements = (node for node in ast.walk(tree) if isinstance(node, ast.stmt))
        around = max(node.lineno for node in statements if node.lineno <= row <= (node.end_lineno or 0))
        return here.get(row) or here.get(around) or []
    module = file.removesuffix(".py").replace("/", ".")
    suites = {test.partition("::")[0] for test in seconds}
    naming = {suite for suite in suites if module in (ROOT / suite).read_text("utf-8")}
    return [test for tests in here.values() for test in tests] + [
        one for one in seconds if one.partition("::")[0] in naming
    ]
