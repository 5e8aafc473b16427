"""One store or service for each file; every test takes an owner of its own. Clients show the token of the tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from engramlog_server.api.services.knowing import Knower
from tests.acceptance.helpers.store import Store, embedded_store
from tests.given.client import Service, service
from tests.given.http import TOKEN, HttpStore, http_store


@pytest.fixture(autouse=True)
def _token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENGRAMLOG_TOKEN", TOKEN)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with embedded_store(tmp_path_factory.mktemp("store")) as opened:
        yield opened


@pytest.fixture
def knower(store: Store) -> Knower:
    return store.app.knower


@pytest.fixture(scope="module")
def http(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpStore]:
    with http_store(tmp_path_factory.mktemp("http")) as opened:
        yield opened


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with service(tmp_path_factory.mktemp("service")) as opened:
        yield opened
