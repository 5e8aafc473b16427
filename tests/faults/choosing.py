"""Chooses 100 faults by a seed, and writes `planted.json`: `python -P -m tests.faults.choosing SEED`, after the step `lines`.

Each changes a line of a function in the heart that a test passes through, and still parses.
"""

from __future__ import annotations

import ast
import json
import random
import re
import sys
from collections.abc import Iterator

from tests.faults.places import LIST, Fault, Lines, functions, measured, passing
from tests.places import ROOT

AREAS = {
    "events": "events/[b-z]*.py events/redis/log.py events/door/*.py",
    "append": "events/redis/[adgl-p]*.py events/redis/re*.py",
    "fold": "projections/fold/*.py",
    "laws": "projections/laws/*.py",
    "decide": "projections/decide/*.py",
    "past": "projections/past/*.py",
    "access": "projections/access/*.py api/access.py",
    "ranking": "projections/ranking/**/*.py",
    "worker": "consumers/fold/*.py",
    "verify": "consumers/verify/*.py",
}
GOES = re.compile(r"sentinel|format.?1\b|0\.2\.0|upgrade|address|ready|parameters|wording|errors|alarms", re.IGNORECASE)
"""What a function or the name of its file must not say: that is to be deleted."""
PAIRS = [("<", "<="), (">", ">="), ("==", "!="), ("is", "is not"), ("in", "not in"), ("and", "or")]
PAIRS += [("+", "-"), ("*", "/"), ("|", "&"), ("<<", ">>")]
SWAPPED = dict(PAIRS) | {right: left for left, right in PAIRS} | {"//": "*", "%": "*", "**": "*"}
OPERATOR = re.compile(r"[\s)\]}]*((?:is|not)\s+(?:not|in)\b|(?:is|in|and|or)\b|[<>=!]=|<<|>>|//|\*\*|[-<>+*/%|&])")
INSTEAD = {"bool": "not ({})", "int": "({}) + 1", "float": "({}) + 1", "str": '""', "list": "[]", "tuple": "()"}
"""What a function returns instead, by what it says it returns; else None."""
Edit = tuple[str, int, int, int, str]
"""Kind, line, from, to and what to write there."""


def possible(file: str, area: str) -> Iterator[tuple[int, Fault]]:
    """Each fault that can be planted in this file, with its line."""
    text = (ROOT / file).read_text("utf-8")
    tree, lines = ast.parse(text), text.splitlines()
    named = functions(tree)
    for kind, row, start, end, new in edits(tree, lines, None):
        line = lines[row - 1]
        changed = line[:start] + new + line[end:]
        try:
            ast.parse("\n".join([*lines[: row - 1], changed, *lines[row:]]))
        except SyntaxError:
            continue
        around = (lines[row - 2].strip(), lines[row].strip() if row < len(lines) else "")
        yield row, Fault(area, file, named[row], kind, line.strip(), changed.strip(), *around)


def edits(node: ast.AST, lines: list[str], returns: str | None) -> Iterator[Edit]:
    """Those of this part of a file and what it holds; `returns` is what the function around it says, None outside of one."""
    if isinstance(node, (ast.JoinedStr, ast.Assert, ast.Raise)):
        return
    parts = list(ast.iter_child_nodes(node))
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        parts, returns = [*node.body], ast.unparse(node.returns).partition("[")[0] if node.returns else ""
    elif isinstance(node, ast.AnnAssign):
        parts = [node.value] if node.value else []
    elif isinstance(node, ast.keyword) and node.arg == "strict":  # of zip: no test could tell
        parts = []
    elif returns is not None and isinstance(node, (ast.expr, ast.stmt)):
        yield from edits_of(node, lines, returns)
    for part in parts:
        yield from edits(part, lines, returns)


def edits_of(node: ast.expr | ast.stmt, lines: list[str], returns: str) -> Iterator[Edit]:
    """Those of this part itself."""

    def place(of: ast.expr | ast.stmt) -> tuple[int, int, int]:
        line = lines[of.lineno - 1].encode()
        return of.lineno, len(line[: of.col_offset].decode()), len(line[: of.end_col_offset].decode("utf-8", "ignore"))

    def swap(kind: str, left: ast.expr) -> Iterator[Edit]:
        row = left.end_lineno or 0
        at = len(lines[row - 1].encode()[: left.end_col_offset].decode())
        if not lines[row - 1][at:].strip(" )]}") and row < len(lines):
            row, at = row + 1, 0  # the operator begins the next line
        found = OPERATOR.match(lines[row - 1], at)
        if found and (new := SWAPPED.get(" ".join(found[1].split()))):
            yield kind, row, found.start(1), found.end(1), new

    def text(of: ast.expr) -> str:
        return lines[of.lineno - 1][slice(*place(of)[1:])]

    one_line = node.lineno == node.end_lineno
    match node:
        case ast.Compare():
            for left in (node.left, *node.comparators[:-1]):
                yield from swap("comparison", left)
        case ast.BoolOp():
            yield from swap("and, or", node.values[0])
        case ast.BinOp() if not joins_texts(node):
            yield from swap("arithmetic", node.left)
        case ast.Constant(value=bool()):
            yield "boolean", *place(node), str(not node.value)
        case ast.Constant(value=int() | float()):
            yield "constant", *place(node), str(node.value + 1)
        case ast.Return(value=ast.expr() as value) if one_line and text(value) not in ("None", "self"):
            yield "return", *place(node), "return " + INSTEAD.get(returns, "None").format(text(value))
        case ast.Expr(value=ast.Call()) | ast.AugAssign() | ast.Assign(targets=[ast.Attribute() | ast.Subscript()]) if (
            one_line
        ):
            yield "removed", *place(node), "pass"


def joins_texts(node: ast.BinOp) -> bool:
    """Whether no other operator could stand there."""
    return any(
        isinstance(getattr(part, "value", None), (str, bytes)) or isinstance(part, ast.JoinedStr)
        for part in ast.walk(node)
    )


def files(area: str) -> list[str]:
    """Those of an area that stay."""
    there = {file.relative_to(ROOT).as_posix() for pattern in AREAS[area].split() for file in ROOT.glob(pattern)}
    return sorted(file for file in there if not GOES.search(file))


def choose(seed: int, count: int, lines: Lines, seconds: dict[str, float]) -> list[Fault]:
    """Faults in lines that a test passes through: of each area as many, kinds as they come, three in a function at most."""
    chance = random.Random(seed)
    areas: dict[str, dict[str, list[Fault]]] = {area: {} for area in AREAS}
    unseen = 0
    for area, file in ((one, file) for one in AREAS for file in files(one)):
        text = (ROOT / file).read_text("utf-8")
        said: dict[str, str] = {}
        for row, name in functions(ast.parse(text)).items():
            said[name] = said.get(name, "") + text.splitlines()[row - 1]
        for row, fault in possible(file, area):
            seen = bool(passing(file, row, lines, seconds))
            unseen += not seen
            if seen and not GOES.search(said[fault.function]):
                areas[area].setdefault(fault.kind, []).append(fault)
    many = sum(len(faults) for kinds in areas.values() for faults in kinds.values())
    print(f"seed {seed}: {many} possible faults; {unseen} others are in lines that no test passes through")
    chosen: list[Fault] = []
    while len(chosen) < count:
        area = [*AREAS][len(chosen) % len(AREAS)]
        faults = areas[area][chance.choice([kind for kind, left in areas[area].items() if left])]
        fault = faults.pop(chance.randrange(len(faults)))
        same = [one for one in chosen if (one.file, one.function) == (fault.file, fault.function)]
        if len(same) < 3 and all(one.line != fault.line for one in same):
            chosen.append(fault)
    return chosen


if __name__ == "__main__":
    seed = int(sys.argv[1])
    told = {"seed": seed, "faults": [fault._asdict() for fault in choose(seed, 100, *measured())]}
    LIST.write_text(json.dumps(told, indent=1, ensure_ascii=False) + "\n", "utf-8")
