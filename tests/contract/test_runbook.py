"""The runbook of docs/operating.md: alarms and alerts lead to a procedure, and each procedure names the test that runs it."""

from __future__ import annotations

import ast
import re

import yaml

from events.alarms import KNOWN
from tests.acceptance.docs.pages import Procedure, procedures_of
from tests.places import ROOT
from tests.rows import each_row

PAGE = (ROOT / "docs" / "operating.md").read_text("utf-8")
PROCEDURES = procedures_of(PAGE)
FOLDER = "tests/acceptance/runbook"
ALERTS = yaml.safe_load((ROOT / "ops" / "metrics" / "board" / "alerts.yml").read_text("utf-8"))
RULES = [rule for group in ALERTS["groups"] for rule in group["rules"]]
ROW = re.compile(r"^\| (`.+?) \| .*?\[[^\]]+\]\(#([\w-]+)\)", re.MULTILINE)


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


def named_tests(file: str) -> dict[str, list[str]]:
    """The tests of a file -> what they ask for."""
    tree = ast.parse((ROOT / file).read_text("utf-8"))
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")]
    return {one.name: [argument.arg for argument in one.args.args] for one in functions}


@each_row("one", PROCEDURES, ids=[anchor(one.title) for one in PROCEDURES])
def test_a_procedure_names_a_test_that_there_is_or_says_that_it_is_not_run(one: Procedure) -> None:
    ((mark, what),) = one.marks
    if mark == "not run":
        assert "```sh" not in one.text, "commands that stand to be copied are run, or named within a sentence"
        return
    file, _, name = what.partition("::")
    assert name in named_tests(file)
    assert not file.startswith(FOLDER) or "night" in named_tests(file)[name]


def test_an_alarm_in_the_table_is_one_that_there_is_and_leads_to_a_procedure() -> None:
    led = rows("An alarm")
    assert set(led) == set(KNOWN)
    assert set(led.values()) <= set(BY_ANCHOR)


def test_each_test_of_the_folder_follows_one_procedure() -> None:
    there = [
        f"{file.relative_to(ROOT)}::{name}"
        for file in (ROOT / FOLDER).glob("test_*.py")
        for name in named_tests(str(file))
    ]
    named = [what for one in PROCEDURES for _, what in one.marks if what.startswith(FOLDER)]
    assert sorted(there) == sorted(named)


def test_every_alert_names_the_procedure_that_its_row_leads_to() -> None:
    led = rows("An alert of Prometheus")
    assert led == {rule["alert"]: rule["annotations"]["runbook"].partition("#")[2] for rule in RULES}
    assert set(led.values()) <= set(BY_ANCHOR)
