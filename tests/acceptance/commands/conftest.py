"""The command line on an empty Redis of its own."""

from __future__ import annotations

import pytest

from tests.acceptance.helpers.cli import Cli
from tests.servers import Servers


@pytest.fixture
def cli(redis_servers: Servers, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    monkeypatch.setenv("ENGRAMLOG_REDIS_URL", redis_servers.get("valkey").url)
    return Cli(monkeypatch, capsys)
