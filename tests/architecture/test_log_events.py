"""Log events are named `component verb-past`: what happened to what, in two to four words, so that one can search for them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tests.places import ROOT

FOLDERS = ("events", "projections", "consumers", "api", "ops")
CALLS = {"tell", "_tell"}
IRREGULAR = "begun built chosen done found kept left lost made met read sent set taken written"
FORM = re.compile(rf"[a-z]+( [a-z]+){{0,2}} ({'|'.join(IRREGULAR.split())}|[a-z]+ed|full|requested|unavailable)")


def events() -> Iterator[tuple[str, str]]:
    """Each log event that is written out in a call of `tell`, after its place; a part that varies counts as one word."""
    for path in sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")):
        for call in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(call, ast.Call) and call.args and _name(call.func) in CALLS:
                for event in _written(call.args[0]):
                    yield f"{path.relative_to(ROOT)}:{call.lineno}", event


def _name(function: ast.expr) -> str:
    return getattr(function, "attr", getattr(function, "id", ""))


def _written(value: ast.expr) -> list[str]:
    match value:
        case ast.Constant(value=str(event)):
            return [event]
        case ast.JoinedStr():
            return ["".join(part.value if isinstance(part, ast.Constant) else "part" for part in value.values)]
        case ast.IfExp():
            return _written(value.body) + _written(value.orelse)
    return []


def test_every_log_event_names_a_component_and_what_happened_to_it() -> None:
    found = list(events())
    assert len(found) > 80
    assert [(place, event) for place, event in found if not FORM.fullmatch(event)] == []
