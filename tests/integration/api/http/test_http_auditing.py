"""Diff and why-above over HTTP: documented shapes, both ways of asking, refusals by name, and the client's verbs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.given.http import HttpStore, created, event, http_store
from tests.rows import each_row

BEFORE, AFTER = "2026-01-02T00:00:00Z", "2026-01-20T00:00:00Z"


@pytest.fixture(scope="module")
def http(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpStore]:
    folder: Path = tmp_path_factory.mktemp("http")
    with http_store(folder) as opened:
        opened.told("alice", created("coffee", "I drink coffee in the morning"), created("tea", "I drink tea"))
        opened.told("alice", event("MemoryNegated", memory_id="coffee", reason="the doctor said so"))
        yield opened


@each_row(
    ("query", "field"),
    [
        ("", "since"),
        (f"since={AFTER}&until={BEFORE}", "since"),
        (f"since={BEFORE}&until=soon", "until"),
        (f"since={BEFORE}&line=both", "line"),
        (f"since={BEFORE}&{'&'.join(['queries=tea'] * 21)}", "queries"),
    ],
)
def test_a_diff_that_cannot_be_is_refused_by_the_name_that_was_sent(http: HttpStore, query: str, field: str) -> None:
    answer = http.client.get(f"/v1/owners/alice/diff?{query}")
    assert answer.status_code == 422
    assert field in answer.text
