"""docs/features.md: every command of the table succeeds on the example turns and shows what the table says."""

from __future__ import annotations

import re
import shlex

import pytest

from tests.acceptance.docs.test_readme import missing
from tests.acceptance.helpers.cli import Cli
from tests.places import ROOT
from tests.servers import Servers

ROWS = re.findall(
    r"^\| .+ \| `engramlog (.+)` \| (.+) \|$", (ROOT / "docs" / "features.md").read_text("utf-8"), re.MULTILINE
)


def test_every_feature_works(
    redis_servers: Servers, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ENGRAMLOG_REDIS_URL", redis_servers.get("valkey").url)
    monkeypatch.chdir(ROOT)
    cli = Cli(monkeypatch, capsys)
    absent = {command: missing([shown], cli(*shlex.split(command)).out) for command, shown in ROWS}
    assert absent
    assert {command: shown for command, shown in absent.items() if shown} == {}
