"""The command line, and a data folder with two owners of whom one will be erased."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.acceptance.helpers.cli import Cli, event, lines


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    return Cli(monkeypatch, capsys)


@pytest.fixture
def folder(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder with a sealed store of two owners."""
    monkeypatch.delenv("ENGRAMLOG_REDIS_URL", raising=False)
    monkeypatch.setenv("ENGRAMLOG_DATA", str(tmp_path / "data"))
    events = [event(at, ("ada", "bob")[at % 2], content=f"the key word is {at} today") for at in range(6)]
    assert cli.json("append", "-", stdin=lines(events))["appended"] == len(events)
    return tmp_path / "data"
