"""One store with all its doors for the acceptance tests of trust."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.acceptance.trust.doors import Doors
from tests.acceptance.trust.doors import doors as opened
from tests.given.http import TOKEN


@pytest.fixture(scope="package")
def doors(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Doors]:
    """The same store for all: every test takes an owner of its own."""
    with opened(tmp_path_factory.mktemp("trust")) as made:
        yield made


@pytest.fixture(autouse=True)
def _token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENGRAMLOG_TOKEN", TOKEN)
