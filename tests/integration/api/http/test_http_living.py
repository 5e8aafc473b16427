"""Health, reviews, reinforcing, profiles and laws over HTTP: documented shapes, and refusals that say what is allowed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from api.operations.answers import Fading, Graded, Laws, MemoryHealth, OwnerProfile, Reinforced, ReviewsDue
from tests.given.http import HttpStore, created, http_store


@pytest.fixture(scope="module")
def http(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpStore]:
    """One store where alice drinks coffee and tea."""
    folder: Path = tmp_path_factory.mktemp("http")
    with http_store(folder) as opened:
        opened.told("alice", created("coffee", confidence=1.0), created("tea", "I drink tea"))
        yield opened


def documented(model: BaseModel) -> None:
    """Every field of an answer is in its shape."""
    assert not model.model_extra, (type(model).__name__, model.model_extra)
    for name in type(model).model_fields:
        value = getattr(model, name)
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, BaseModel):
                documented(one)


LATER = "at=2026-02-01T00:00:00Z"


@pytest.mark.parametrize(
    ("path", "shape"),
    [
        (f"/v1/owners/alice/health?limit=1&{LATER}", MemoryHealth),
        (f"/v1/owners/alice/fading?{LATER}", Fading),
        (f"/v1/owners/alice/review?min_importance=0&{LATER}", ReviewsDue),
        ("/v1/owners/alice/profile", OwnerProfile),
        ("/v1/laws", Laws),
    ],
)
def test_answers_have_their_documented_shapes(http: HttpStore, path: str, shape: type[BaseModel]) -> None:
    answer = http.client.get(path)
    assert answer.status_code == 200, answer.text
    told = shape.model_validate(answer.json())
    documented(told)
    assert getattr(told, "memories", [1]) or getattr(told, "laws", None)


@pytest.mark.parametrize(
    ("path", "body", "shape"),
    [
        ("/v1/owners/alice/memories/coffee/reinforce", None, Reinforced),
        ("/v1/owners/alice/memories/coffee/reinforce", {"outcome": "used", "from_memory": "tea"}, Reinforced),
        ("/v1/owners/alice/memories/coffee/grade", {"grade": 3}, Graded),
        ("/v1/owners/alice/profile", {"profile": "tiered", "parameters": {"fact_decay": 0.9}}, OwnerProfile),
    ],
)
def test_verbs_answer_in_their_documented_shapes(
    http: HttpStore, path: str, body: dict[str, Any] | None, shape: type[BaseModel]
) -> None:
    answer = http.client.post(path) if body is None else http.client.post(path, json=body)
    assert answer.status_code == 200, answer.text
    documented(shape.model_validate(answer.json()))
    assert answer.json()["changes"]


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "said"),
    [
        ("GET", "/v1/owners/alice/health?limit=0", None, 422, "limit: got 0"),
        ("GET", "/v1/owners/alice/health?colour=red", None, 422, "no such field"),
        ("GET", "/v1/owners/alice/review?min_importance=2", None, 422, "from 0 to 1"),
        ("POST", "/v1/owners/alice/memories/nothing/reinforce", {}, 404, "has no memory nothing"),
        ("POST", "/v1/owners/alice/memories/coffee/grade", {}, 422, "grade: got nothing"),
        ("POST", "/v1/owners/alice/memories/coffee/grade", {"grade": 7}, 422, "grade: got 7"),
        ("POST", "/v1/owners/alice/profile", {}, 422, "give a profile, parameters, or both"),
        ("POST", "/v1/owners/alice/profile", {"parameters": {"c_min": 7}}, 422, "from 0 to 1"),
    ],
)
def test_refusals_are_problems_that_say_what_is_allowed(
    http: HttpStore, method: str, path: str, body: dict[str, Any] | None, status: int, said: str
) -> None:
    answer = http.client.request(method, path, json=body)
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json")
    assert said in answer.json()["detail"]


def test_http_and_the_service_answer_alike(http: HttpStore) -> None:
    told = http.client.get(f"/v1/owners/alice/health?{LATER}").json()
    assert told == http.application.living.health("alice", at="2026-02-01T00:00:00Z")
