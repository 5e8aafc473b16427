"""The auditor's day is run as it stands: on a store with late events, several principals, and a copy that was tampered with."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from engramlog_server.events.partitions import LogKeys
from engramlog_server.ops.settings import Settings
from engramlog_server.ops.store import open_the_store
from tests.acceptance.docs.test_readme import missing
from tests.acceptance.docs.test_readme import run_tour as run
from tests.places import ROOT

PAGE = ROOT / "docs" / "how-to" / "audit.md"
SUSPECT = "suspect"


def tampered(data: Path, copy: Path) -> None:
    """A copy of a data folder in which one letter of who brought an event is another, as somebody with Redis leaves it."""
    shutil.copytree(data, copy, ignore=shutil.ignore_patterns("*.sock", "engramlog.lock", "engramlog.owner"))
    with open_the_store(Settings(data=copy)) as store:
        client: Any = store.client
        key = LogKeys(store.identity.tags[0]).stream
        laid = client.execute_command("XRANGE", key, "-", "+")
        client.delete(key)
        for number, (entry_id, fields) in enumerate(laid):
            words = fields if isinstance(fields, list) else [part for pair in fields.items() for part in pair]
            by = words.index(b"p") + 1
            if not number:
                words[by] = words[by][:-1] + b"x"
            client.execute_command("XADD", key, entry_id, *words)


@pytest.mark.timeout(900)
def test_every_question_of_an_auditor_is_answered_as_the_page_shows(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "docs" / "examples", tmp_path / "docs" / "examples")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ENGRAMLOG_")} | {
        "ENGRAMLOG_DATA": str(tmp_path / "audited"),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONUTF8": "1",
        "COLUMNS": "160",
    }
    before, between, after = PAGE.read_text("utf-8").partition("## Was anything altered")
    assert run(before, tmp_path, environment) == {}
    tampered(tmp_path / "audited", tmp_path / SUSPECT)
    assert run(between + after, tmp_path, environment) == {}


def test_a_page_that_shows_something_else_is_noticed() -> None:
    assert missing(["kiln-sheet ... 3"], "kiln-sheet  2") == ["kiln-sheet ... 3"]
