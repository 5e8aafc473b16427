"""The runbook of docs/operating.md: alarms and alerts lead to a procedure, and each procedure names the test that runs it."""

from __future__ import annotations

import re

import yaml

from engramlog_server.events.alarms import KNOWN
from tests.acceptance.docs.pages import procedures_of
from tests.places import ROOT

PAGE = (ROOT / "docs" / "operating.md").read_text("utf-8")
PROCEDURES = procedures_of(PAGE)
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


def test_an_alarm_in_the_table_is_one_that_there_is_and_leads_to_a_procedure() -> None:
    led = rows("An alarm")
    assert set(led) == set(KNOWN)
    assert set(led.values()) <= set(BY_ANCHOR)


def test_every_alert_names_the_procedure_that_its_row_leads_to() -> None:
    led = rows("An alert of Prometheus")
    assert led == {rule["alert"]: rule["annotations"]["runbook"].partition("#")[2] for rule in RULES}
    assert set(led.values()) <= set(BY_ANCHOR)
