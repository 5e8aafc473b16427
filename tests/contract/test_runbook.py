"""The runbook of docs/operating.md is whole: whatever an operator may see leads to a procedure, and each says whether it is run."""

from __future__ import annotations

import ast
import re

import pytest
import yaml

from events.alarms import KNOWN
from tests.acceptance.docs.pages import PART, Procedure, procedures_of
from tests.places import ROOT

PAGE = (ROOT / "docs" / "operating.md").read_text("utf-8")
PROCEDURES = procedures_of(PAGE)
FOLDER = "tests/acceptance/runbook"
ALERTS = yaml.safe_load((ROOT / "ops" / "metrics" / "board" / "alerts.yml").read_text("utf-8"))
RULES = [rule for group in ALERTS["groups"] for rule in group["rules"]]
ROW = re.compile(r"^\| (`.+?) \| .*?\[[^\]]+\]\(#([\w-]+)\)", re.MULTILINE)
OF_ERRORS = "EngramlogError"
OF_CLIENTS = ROOT / "client"
"""What a client raises is told to its program, and named there as the service names it."""
OUR_OWN = {"EngramlogError", "InputError", "ReadError", "StoreError", "FoldError"}
"""Those under which others stand: nobody is told one by its name."""


def anchor(title: str) -> str:
    """What stands behind `#` in a link to a heading."""
    return re.sub(r"[^\w\- ]", "", title.replace("`", "").lower()).replace(" ", "-")


BY_ANCHOR = {anchor(one.title): one for one in PROCEDURES}


def section(title: str) -> str:
    """One of the tables of what is seen."""
    return PAGE.partition(f"\n### {title}\n")[2].partition("\n### ")[0].partition("\n<!-- procedures -->")[0]


def rows(title: str) -> dict[str, str]:
    """What is seen -> the procedure that its row leads to first."""
    return {name: to for names, to in ROW.findall(section(title)) for name in re.findall(r"`(\w+)`", names)}


def errors() -> set[str]:
    """Every error that is raised on purpose, by its name."""
    bases: dict[str, set[str]] = {}
    for folder in ("api", "consumers", "events", "ops", "projections"):
        for file in (ROOT / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(file.read_text("utf-8"))):
                if isinstance(node, ast.ClassDef):
                    bases.setdefault(node.name, set()).update(ast.unparse(one).split(".")[-1] for one in node.bases)
    found = {OF_ERRORS}
    while more := {name for name, of in bases.items() if of & found} - found:
        found |= more
    return {name for name in found if not name.startswith("_")} - OUR_OWN


def named_tests(file: str) -> dict[str, list[str]]:
    """The tests of a file -> what they ask for."""
    tree = ast.parse((ROOT / file).read_text("utf-8"))
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")]
    return {one.name: [argument.arg for argument in one.args.args] for one in functions}


def test_there_is_a_runbook() -> None:
    assert len(BY_ANCHOR) == len(PROCEDURES) > 30
    assert len([one for one in PROCEDURES if one.marks[0][0] == "runs"]) > 20


@pytest.mark.parametrize("one", PROCEDURES, ids=[anchor(one.title) for one in PROCEDURES])
def test_a_procedure_says_when_what_how_it_is_known_to_have_worked_what_way_back_there_is_and_whether_it_is_run(
    one: Procedure,
) -> None:
    assert PART.findall(one.text) == ["When", "Do", "Check", "Undo"]
    ((mark, what),) = one.marks
    told = one.text.partition(" -->\n")[2].partition("\n")[0]
    if mark == "not run":
        assert told.startswith("*Not run")
        assert "```sh" not in one.text, "commands that stand to be copied are run, or named within a sentence"
        return
    assert told.startswith("*Run by a test, on")
    file, _, name = what.partition("::")
    assert name in named_tests(file)
    assert file.startswith(("tests/acceptance/runbook/", "tests/acceptance/docs/"))
    assert not file.startswith(FOLDER) or "night" in named_tests(file)[name]


def test_each_test_of_the_folder_follows_one_procedure() -> None:
    there = [
        f"{file.relative_to(ROOT)}::{name}"
        for file in (ROOT / FOLDER).glob("test_*.py")
        for name in named_tests(str(file))
    ]
    named = [what for one in PROCEDURES for _, what in one.marks if what.startswith(FOLDER)]
    assert sorted(there) == sorted(named)


def test_every_alarm_leads_to_a_procedure_that_tells_of_it() -> None:
    led = rows("An alarm")
    assert set(led) == set(KNOWN)
    assert {name for name, to in led.items() if f"`{name}`" not in BY_ANCHOR[to].text} == set()


def test_every_error_leads_to_what_is_to_be_done() -> None:
    table = section("A refusal")
    named = set(re.findall(r"`([A-Z]\w+)`", "\n".join(re.findall(r"^\| (.+?) \|", table, re.MULTILINE))))
    assert errors() - named == set()
    assert named - errors() == set()


def test_every_alert_names_the_procedure_that_its_row_leads_to() -> None:
    led = rows("An alert of Prometheus")
    assert led == {rule["alert"]: rule["annotations"]["runbook"].partition("#")[2] for rule in RULES}
    assert set(led.values()) <= set(BY_ANCHOR)


def test_what_is_linked_to_from_the_tables_is_there() -> None:
    links = set(
        re.findall(r"\]\(#([\w-]+)\)", PAGE.partition("\n## What you see\n")[2].partition("<!-- procedures -->")[0])
    )
    elsewhere = {"settings", "alarms", "keys"}
    assert links - elsewhere <= set(BY_ANCHOR)
    assert {anchor(one.title) for one in PROCEDURES} - links == set(), "a procedure that nothing leads to"
