"""Every sentence that says why has a code, by which it can be said in other words."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from engramlog_server.projections.fold import trust, working_set
from engramlog_server.projections.fold.changelog import NOBODYS, REASONS, reason_told
from engramlog_server.projections.memory import deletion
from tests.rows import each_row

PLACE = re.compile(r"\{(\w+)\}")
FOLD = sorted(Path(working_set.__file__).parent.glob("*.py"))
CALLS = {"ignore": 1, "mark": 2, "create": 2, "change": 2, "Note": 2}
"""Where the reason stands among the arguments."""
CONSTANTS = {
    "UNKNOWN": working_set.UNKNOWN, "PURGED": working_set.PURGED, "MERGED_AWAY": working_set.MERGED_AWAY,
    "FULL_QUEUE": trust.FULL_QUEUE, "trouble": working_set.UNKNOWN,
}  # fmt: skip


def written(node: ast.expr) -> str | None:
    """A sentence as it would be, with one word in each place; None of what is not written there."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.Name(id=name):
            return CONSTANTS.get(name)
        case ast.JoinedStr(values=parts):
            return "".join(_part(one) for one in parts)
    return None


def _part(node: ast.expr) -> str:
    if isinstance(node, ast.FormattedValue):
        if isinstance(node.value, ast.Call) and getattr(node.value.func, "id", "") == "_who":
            return "a reviewer"
        return (written(node.value) if isinstance(node.value, ast.Name) else None) or "x"
    return written(node) or ""


def said_by_folds() -> Iterator[tuple[str, str]]:
    """Where, and the sentence: of every call that notes a reason that is written there, and all that are given to `reason`."""
    for file in FOLD:
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            found: list[ast.expr] = []
            if isinstance(node, ast.Call):
                name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                if name in CALLS and len(node.args) > CALLS[name]:
                    found = [node.args[CALLS[name]]]
                elif name == "_Told":
                    found = node.args[1:]
            elif (given := _reason_given(node, file.stem)) is not None:
                found = [given]
            for one in found:
                for choice in [one.body, one.orelse] if isinstance(one, ast.IfExp) else [one]:
                    if (sentence := written(choice)) is not None and sentence.strip("x"):
                        yield f"{file.name}:{one.lineno}", sentence


def _reason_given(node: ast.AST, file: str) -> ast.expr | None:
    if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "reason":
        return node.value
    return node.value if isinstance(node, ast.Return) and file in {"merge", "trust"} else None


PART = {"two words are alike", "two words are no synonyms", "the owner's parameters from here on"}
"""To these the fold adds more."""


def test_every_sentence_of_the_folds_has_a_code() -> None:
    said = list(said_by_folds())
    assert len(said) > 60
    whole = [one for one in said if one[1] not in PART and not one[1].startswith(("x ", "x;"))]
    assert [one for one in whole if reason_told(one[1]) == NOBODYS] == []


def test_every_sentence_about_what_goes_with_a_deletion_has_a_code() -> None:
    source = ast.parse(Path(str(deletion.__file__)).read_text("utf-8"))
    said = {_joined(node) for node in ast.walk(source) if isinstance(node, ast.JoinedStr)}
    assert said
    assert {one for one in said if reason_told(one) == NOBODYS} == set()


def _joined(node: ast.JoinedStr) -> str:
    return "".join(_part(one) for one in node.values)


WORDS = st.text(alphabet="abc:/-_你好1234567890", min_size=1, max_size=20)


@given(st.sampled_from(sorted(REASONS)), st.data())
def test_a_sentence_gives_back_its_code_and_what_was_put_into_it(code: str, data: st.DataObject) -> None:
    values = {name: data.draw(WORDS, label=name) for name in PLACE.findall(REASONS[code])}
    told = reason_told(REASONS[code].format(**values))
    assert (told.code, told.values) == (code, values)


@each_row("own", ["", "because I say so", "level", "level 3 of the car park is full", "已经说过了"])
def test_somebodys_own_words_have_no_code(own: str) -> None:
    assert reason_told(own) == NOBODYS
