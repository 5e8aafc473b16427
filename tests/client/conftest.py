"""One service for each file. Every client shows the token of the tests, as one does that reads it from the environment."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.given.client import Proxy, Service, proxy, service
from tests.given.http import TOKEN


@pytest.fixture(autouse=True)
def _token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENGRAMLOG_TOKEN", TOKEN)


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with service(tmp_path_factory.mktemp("client")) as opened:
        yield opened


@pytest.fixture
def between(running: Service) -> Iterator[Proxy]:
    with proxy(running.url) as opened:
        yield opened
