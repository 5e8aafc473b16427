"""docs/how-to/mcp.md lists every tool with its hints and every argument, and every resource; and its one command works."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from engramlog_server.api.admission import Admission
from engramlog_server.api.choices import TOOLSETS
from engramlog_server.api.mcp.connection import Connection
from engramlog_server.api.mcp.server import ABOUT_URI, MEMORY_URI, RECENT_URI, tools_of
from engramlog_server.ops.main import main
from engramlog_server.ops.token import read_token
from tests.places import ROOT

PAGE = (ROOT / "docs" / "how-to" / "mcp.md").read_text("utf-8")
ROWS = re.findall(r"^\| `(\w+)` \| ([a-z, ]+) \| (.+) \|$", PAGE, re.MULTILINE)


def nowhere() -> Any:
    """An opener that opens nothing."""
    raise AssertionError("a description asks no store")


def hints(annotations: Any) -> str:
    """A tool's hints in the words of the table."""
    if annotations.read_only_hint:
        return "reads"
    told = [name for name in ("destructive", "idempotent") if getattr(annotations, f"{name}_hint")]
    return ", ".join(told) or "adds"


def test_the_table_has_every_tool_with_its_hints_and_arguments() -> None:
    connection = Connection(nowhere, "alice", also=["team/ops"])
    tools = [tool for toolset in TOOLSETS for tool in tools_of(connection, Admission(), toolset)]
    assert {name: (told, set(re.findall(r"`(\w+)`", row.rpartition(": ")[2]))) for name, told, row in ROWS} == {
        tool.name: (hints(tool.annotations), set(tool.parameters["properties"])) for tool in tools
    }


@pytest.mark.parametrize("uri", [ABOUT_URI, RECENT_URI, MEMORY_URI.replace("+", "")])
def test_every_resource_is_listed(uri: str) -> None:
    assert f"| `{uri}` |" in PAGE


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    """What the command prints."""
    assert main(["mcp", *words]) == 0
    return json.loads(capsys.readouterr().out)


def test_a_setting_that_holds_a_secret_is_named_and_not_printed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ENGRAMLOG_EMBEDDER_KEY", "sk-12345")
    monkeypatch.setenv("ENGRAMLOG_REDIS_URL", "redis://me:hunter2@localhost:6379/0")
    assert main(["mcp", "--owner", "alice", "--config"]) == 0
    said = capsys.readouterr()
    assert "ENGRAMLOG_EMBEDDER_KEY, ENGRAMLOG_REDIS_URL" in said.err
    assert [word for word in ("sk-12345", "hunter2") if word in said.out + said.err] == []


def test_the_entry_names_the_owners_that_are_shared_and_an_auditor_s_has_none(
    capsys: pytest.CaptureFixture[str],
) -> None:
    shared = ("--owner", "alice", "--also", "team/ops", "--also", "团队")
    assert printed(capsys, *shared, "--config")["mcpServers"]["memory"]["args"][-7:] == ["mcp", *shared]
    for words, field in (((*shared, "--tools", "audit"), "also"), (("--owner", "alice", "--also", "a b"), "also")):
        assert main(["mcp", *words, "--config"]) == 2
        assert f"{field}: got" in capsys.readouterr().err


def test_over_http_it_is_the_url_that_the_page_names_with_the_token_of_the_data_folder(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ENGRAMLOG_DATA", str(tmp_path / "store"))
    entry = printed(capsys, "--http", "--config")["mcpServers"]["memory"]
    shown = {"Authorization": f"Bearer {read_token(tmp_path / 'store')}"}
    assert entry == {"type": "http", "url": "http://127.0.0.1:8734/mcp/OWNER", "headers": shown}
    assert entry["url"] in PAGE
