"""Stores to make backups of: one that lies open, and one that is sealed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration.backup.depot import Depot


@pytest.fixture(params=[False, True], ids=["open", "sealed"])
def depot(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Depot:
    return Depot(monkeypatch, capsys, tmp_path, sealed=request.param)


@pytest.fixture
def sealed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Depot:
    return Depot(monkeypatch, capsys, tmp_path, sealed=True)


@pytest.fixture
def lying_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Depot:
    return Depot(monkeypatch, capsys, tmp_path, sealed=False)
