"""A data folder, and the command line on it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.acceptance.helpers.cli import Cli


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], folder: Path) -> Cli:
    monkeypatch.setenv("ENGRAMLOG_REDIS_URL", "")
    monkeypatch.setenv("ENGRAMLOG_DATA", str(folder))
    return Cli(monkeypatch, capfd)


@pytest.fixture
def store(cli: Cli) -> Cli:
    """The same, with a memory."""
    cli("add", "ada", "Ada likes coffee")
    return cli
