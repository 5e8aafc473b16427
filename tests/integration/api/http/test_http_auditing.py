"""Diff and why-above over HTTP: documented shapes, both ways of asking, refusals by name, and the client's verbs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from api.operations.answers import Above, Diff
from tests.given.http import HttpStore, created, event, http_store

BEFORE, AFTER = "2026-01-02T00:00:00Z", "2026-01-20T00:00:00Z"


@pytest.fixture(scope="module")
def http(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpStore]:
    folder: Path = tmp_path_factory.mktemp("http")
    with http_store(folder) as opened:
        opened.told("alice", created("coffee", "I drink coffee in the morning"), created("tea", "I drink tea"))
        opened.told("alice", event("MemoryNegated", memory_id="coffee", reason="the doctor said so"))
        yield opened


def documented(model: BaseModel) -> None:
    """Every field of an answer is in its shape."""
    assert not model.model_extra, (type(model).__name__, model.model_extra)
    for name in type(model).model_fields:
        value = getattr(model, name)
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, BaseModel):
                documented(one)


def test_a_diff_has_its_documented_shape_and_is_the_same_asked_either_way(http: HttpStore) -> None:
    asked: dict[str, Any] = {"from": "0:0", "query": ["coffee", "茶"], "all": True, "line": "known"}
    partition = http.client.get("/v1/owners/alice/stats").json()["position"].split(":")[0]
    asked["from"] = f"{partition}:1"
    got = http.client.get("/v1/owners/alice/diff", params=asked)
    posted = http.client.post("/v1/owners/alice/diff", json=asked)
    assert (got.status_code, posted.status_code) == (200, 200), (got.text, posted.text)
    told = Diff.model_validate(got.json())
    documented(told)
    assert told.counts.made == 1
    assert [one.query for one in told.questions] == ["coffee", "茶"]
    assert Diff.model_validate(posted.json()).counts.made == told.counts.made


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("", "from"),
        (f"from={AFTER}&to={BEFORE}", "from"),
        (f"from={BEFORE}&to=soon", "to"),
        (f"from={BEFORE}&line=both", "line"),
        (f"from={BEFORE}&{'&'.join(['query=tea'] * 21)}", "query"),
    ],
)
def test_a_diff_that_cannot_be_is_refused_by_the_name_that_was_sent(http: HttpStore, query: str, field: str) -> None:
    answer = http.client.get(f"/v1/owners/alice/diff?{query}")
    assert answer.status_code == 422
    assert field in answer.text


def test_why_above_has_its_documented_shape_and_refuses_what_it_cannot_compare(http: HttpStore) -> None:
    path = "/v1/owners/alice/memories/tea/above"
    answer = http.client.get(path, params={"other": "coffee", "q": "what does she drink?", "mode": "review"})
    assert answer.status_code == 200, answer.text
    told = Above.model_validate(answer.json())
    documented(told)
    assert told.order in ("above", "below")
    assert told.sentence.startswith(("tea (rank", "coffee (rank"))
    for params, status, named in (
        ({"other": "tea", "q": "drink"}, 422, "other"),
        ({"other": "nothing", "q": "drink"}, 404, "nothing"),
        ({"other": "coffee", "q": "drink", "language": "fr"}, 422, "language"),
        ({"other": "coffee", "q": "drink", "ranking": "best"}, 422, "ranking"),
    ):
        refused = http.client.get(path, params=params)
        assert (refused.status_code, named in refused.text) == (status, True), refused.text
