"""Every client of these tests shows the token of the tests, as one does whom the environment tells it."""

from __future__ import annotations

import pytest

from tests.given.http import TOKEN


@pytest.fixture(autouse=True)
def _token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENGRAMLOG_TOKEN", TOKEN)
