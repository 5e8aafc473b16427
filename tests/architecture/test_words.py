"""What is said of languages is said once: which characters are Han, the names of months, who is a relative."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PRODUCT = ("events", "projections", "consumers", "api", "ops", "client")
SCRIPTS = ROOT / "projections" / "language" / "scripts.py"
_EDGES = "\u3400\u4dbf\u4dff\u9fa5\u9fff\uf900\ufaff\U00020000\U0003ffff"
"""Characters that nobody writes but to say where Han begins or ends."""
_IN_HAN = "[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
_RANGE = re.compile(
    rf"\[[^\]]*{_IN_HAN}-{_IN_HAN}|[{_EDGES}]-|-[{_EDGES}]"
    r"|\\[uU](?:0000)?(?:3400|4e00|f900|00020000)-|-\\[uU](?:0000)?(?:4dbf|9fa5|9fff|faff|0003ffff)"
)
"""A range of a character class that begins or ends as Han does, written out or escaped."""
_POINTS = frozenset((0x3400, 0x4DBF, 0x4E00, 0x9FA5, 0x9FFF, 0xA000, 0x2A6DF, 0x3FFFF))
_ORDER = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)


def han_defined_in(source: str) -> list[int]:
    """The lines of a source that say which characters are Han: a range, an edge, its number, or an order among characters."""
    lines = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Compare) and any(isinstance(how, _ORDER) for how in node.ops):
            sides = [one.value for one in (node.left, *node.comparators) if isinstance(one, ast.Constant)]
            if any(isinstance(side, str) and re.fullmatch(_IN_HAN, side) for side in sides):
                lines.add(node.lineno)
        elif isinstance(node, ast.Constant):
            value = node.value
            text = isinstance(value, str) and (_RANGE.search(value) or (value and value in _EDGES))
            if text or (type(value) is int and value in _POINTS):
                lines.add(node.lineno)
    return sorted(lines)


@pytest.mark.parametrize(
    "source",
    [
        'HAN = "[\\u4e00-\\u9fff]"',
        'HAN = "[一-鿿]"',
        'HAN = r"[\\u4e00-\\u9fff]"',
        'late = word >= "\\u3400"',
        "late = '一' <= character",
        "points = range(0x4E00, 0xA000)",
        'WIDE = f"[a-z{rest}\\u3400-\\u4dbf]"',
    ],
)
def test_a_definition_of_han_is_seen_however_it_is_written(source: str) -> None:
    assert han_defined_in(source) == [1]


@pytest.mark.parametrize("source", ['"[一二三四五]-[月日]"', '"[0-9零一二]"', '"密-码, 密码"', "0x4E", '"。-"'])
def test_a_list_of_characters_is_no_definition_of_han(source: str) -> None:
    assert han_defined_in(source) == []


def test_which_characters_are_han_is_said_in_one_file() -> None:
    files = [file for room in PRODUCT for file in sorted((ROOT / room).rglob("*.py"))]
    said = {str(file.relative_to(ROOT)): lines for file in files if (lines := han_defined_in(file.read_text("utf-8")))}
    assert list(said) == [str(SCRIPTS.relative_to(ROOT))], said


@pytest.mark.parametrize(
    ("said", "where"),
    [
        (r"jan(?:uary)?\W+(?:\w+\W+)?feb", "projections/language/times/names.py"),
        (r"mon(?:day)?\W+tues", "projections/language/times/names.py"),
        (r"爷爷\W+奶奶|奶奶\W+爷爷|爸爸\W+妈妈\W+父亲|哥哥\??\|姐姐", None),
        (r"brothers?\??\W+sisters?\??\W+(?:siblings|uncle|aunt)|\bniece\W+(?:or )?nephew", None),
    ],
)
def test_a_list_of_names_stands_in_one_file(said: str, where: str | None) -> None:
    files = [file for room in PRODUCT for file in sorted((ROOT / room).rglob("*.py"))]
    found = [str(file.relative_to(ROOT)) for file in files if re.search(said, file.read_text("utf-8"))]
    assert found == ([where] if where else [])
