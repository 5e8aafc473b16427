"""Searches by context, assessments, maps and trees over HTTP: documented shapes, refusals, the service's own answers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from api.operations.answers import Assessment, AssociationTree, Found, KnowledgeMap
from tests.given.http import HttpStore, created, event, http_store

MONDAY, NIGHT = "2026-01-05T08:00:00Z", "2026-01-05T23:00:00Z"
LATER = "at=2026-01-06T00:00:00Z"


def linked(a: str, b: str, weight: float) -> dict[str, Any]:
    return event("MemoriesLinked", a=a, b=b, weight=weight, link="semantic")


@pytest.fixture(scope="module")
def http(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpStore]:
    """One store where alice drinks coffee, and 小林 fires kilns."""
    folder: Path = tmp_path_factory.mktemp("http")
    with http_store(folder) as opened:
        opened.told(
            "alice",
            created("coffee", keywords=["drink", "coffee"], project="habits"),
            created("a/b", "Wonderful tea, urgently", keywords=["drink", "coffee", "tea"], at=NIGHT),
            created("beans", "Beans are out"),
            linked("coffee", "beans", 0.9),
            event("FactAsserted", subject="alice", predicate="buys", object="beans", evidence=["coffee"]),
        )
        opened.told("小林", created("窑", "周六烧窑"), created("泥", "陶泥到了"), linked("窑", "泥", 0.8))
        yield opened


def documented(model: BaseModel) -> None:
    """Every field of an answer is in its shape."""
    assert not model.model_extra, (type(model).__name__, model.model_extra)
    for name in type(model).model_fields:
        value = getattr(model, name)
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, BaseModel):
                documented(one)


def got(http: HttpStore, path: str) -> Any:
    answer = http.client.get(path)
    assert answer.status_code == 200, answer.text
    return answer.json()


# --- shapes


@pytest.mark.parametrize(
    ("path", "shape", "told"),
    [
        (f"assess?topic=coffee&{LATER}", Assessment, ["evidence", "suggestions"]),
        (f"assess?topic=unheard&{LATER}", Assessment, ["suggestions"]),
        (f"map?topic=coffee&{LATER}", KnowledgeMap, ["nodes", "edges", "clusters"]),
        (f"map?topic=unheard&{LATER}", KnowledgeMap, []),
        (f"memories/coffee/associations?depth=2&{LATER}", AssociationTree, ["associations", "triples"]),
        (f"search?q=coffee&associations=true&{LATER}", Found, ["results", "associated"]),
        (f"search?q=coffee&ranking=overlap&near_project=habits&{LATER}", Found, ["results"]),
    ],
)
def test_answers_have_their_documented_shapes(
    http: HttpStore, path: str, shape: type[BaseModel], told: list[str]
) -> None:
    answer = shape.model_validate(got(http, f"/v1/owners/alice/{path}"))
    documented(answer)
    assert [name for name in told if not getattr(answer, name)] == []


def test_the_service_answers_the_same(http: HttpStore) -> None:
    knower, reader = http.application.knower, http.application.reader
    at = LATER.removeprefix("at=")
    assert got(http, f"/v1/owners/alice/assess?topic=coffee&{LATER}") == knower.assess("alice", "coffee", at=at)
    asked = f"/v1/owners/alice/map?topic=coffee&depth=1&least=0.5&limit=2&mode=review&{LATER}"
    told = knower.map("alice", "coffee", depth=1, least=0.5, limit=2, mode="review", at=at)
    assert (got(http, asked), len(told["nodes"])) == (told, 2)
    asked = f"/v1/owners/alice/memories/a%2Fb/associations?depth=3&mode=debug&{LATER}"
    assert got(http, asked) == knower.associations("alice", "a/b", depth=3, mode="debug", at=at)
    asked = f"/v1/owners/alice/search?q=coffee&ranking=associative&tags=late_night&tags=work_hours&associations=true&{LATER}"
    assert got(http, asked) == reader.search(
        "alice", "coffee", ranking="associative", tags=["late_night", "work_hours"], associations=True, at=at
    )


# --- search


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("tags=late_night", ["a/b"]),
        ("tags=weekend", []),
        ("tags=late_night&tags=weekend", ["a/b"]),
        ("feeling=positive", ["a/b"]),
        ("feeling=negative", []),
        ("feeling=urgent&ranking=overlap", ["a/b"]),
        ("ranking=associative", ["coffee", "a/b", "beans"]),
        ("ranking=associative&tags=late_night", ["a/b"]),
        ("ranking=overlap&near_project=habits", ["coffee", "a/b"]),
    ],
)
def test_a_search_takes_rankings_tags_feelings_and_a_project(http: HttpStore, asked: str, expected: list[str]) -> None:
    answer = got(http, f"/v1/owners/alice/search?q=coffee&{asked}&{LATER}")
    assert [one["id"] for one in answer["results"]] == expected
    assert "associated" not in answer


def test_what_the_hits_bring_to_mind_is_told_with_the_way(http: HttpStore) -> None:
    answer = got(http, f"/v1/owners/alice/search?q=coffee&associations=true&{LATER}")
    (one,) = answer["associated"]
    assert (one["id"], one["activation"]) == ("beans", 0.45)
    assert one["path"] == [{"from": "coffee", "to": "beans", "link": "semantic", "weight": 0.9}]
    answer = got(http, f"/v1/owners/%E5%B0%8F%E6%9E%97/search?q=%E7%83%A7%E7%AA%91&associations=true&{LATER}")
    assert [one["id"] for one in answer["associated"]] == ["泥"]


def test_only_present_normal_searches_are_recorded(http: HttpStore) -> None:
    http.told(
        "bob",
        created("tea", "I drink tea"),
        created("pot", "A pot"),
        linked("tea", "pot", 0.9),
    )
    for asked in (LATER, "mode=review", "as_of=2026-01-06T00:00:00Z", "trace=false"):
        got(http, f"/v1/owners/bob/search?q=tea&associations=true&{asked}")
    for asked in ("assess?topic=tea", "map?topic=tea", "memories/tea/associations"):
        got(http, f"/v1/owners/bob/{asked}")
    assert http.application.accesses.flush() == []
    got(http, "/v1/owners/bob/search?q=tea&associations=true")
    assert len(http.application.accesses.flush()) == 2


# --- Chinese and the rest


def test_chinese_topics_are_answered_in_chinese(http: HttpStore) -> None:
    owner, topic = "%E5%B0%8F%E6%9E%97", "%E7%83%A7%E7%AA%91"
    assessed = got(http, f"/v1/owners/{owner}/assess?topic={topic}&{LATER}")
    assert (assessed["owner"], assessed["message"]) == ("小林", "关于“烧窑”我的记忆比较模糊（1 条记忆）")
    assert [node["id"] for node in got(http, f"/v1/owners/{owner}/map?topic={topic}&{LATER}")["nodes"]] == ["窑", "泥"]
    tree = got(http, f"/v1/owners/{owner}/memories/%E7%AA%91/associations?{LATER}")
    assert [branch["id"] for branch in tree["associations"]] == ["泥"]


# --- refusals


@pytest.mark.parametrize(
    ("path", "field", "allowed"),
    [
        ("search?q=tea&ranking=best", "ranking", "conversation, text, published, overlap, associative"),
        ("search?q=tea&feeling=sad", "feeling", "positive, negative, urgent"),
        ("search?q=tea&tags=", "tags", "tags of 1 to 100 characters"),
        ("search?q=tea&associations=perhaps", "associations", "true or false"),
        ("search?q=tea&tag=urgent", "tag", "no such field"),
        ("search?q=tea&limit=0", "limit", "from 1 to 100"),
        ("assess", "topic", "required"),
        ("assess?topic=", "topic", "some text"),
        ("assess?topic=%20", "topic", "some text"),
        ("assess?topic=tea&mode=review", "mode", "no such field"),
        ("assess?topic=tea&at=soon", "at", "RFC 3339"),
        ("map?topic=", "topic", "some text"),
        ("map?topic=tea&depth=0", "depth", "from 1 to 4"),
        ("map?topic=tea&depth=5", "depth", "from 1 to 4"),
        ("map?topic=tea&depth=two", "depth", "a whole number"),
        ("map?topic=tea&least=1.5", "least", "from 0 to 1"),
        ("map?topic=tea&least=nan", "least", "a finite number"),
        ("map?topic=tea&least=much", "least", "number"),
        ("map?topic=tea&limit=0", "limit", "from 1 to 1000"),
        ("map?topic=tea&limit=1001", "limit", "from 1 to 1000"),
        ("map?topic=tea&mode=all", "mode", "normal, review, debug"),
        ("memories/coffee/associations?depth=0", "depth", "from 1 to 4"),
        ("memories/coffee/associations?depth=5", "depth", "from 1 to 4"),
        ("memories/coffee/associations?mode=all", "mode", "normal, review, debug"),
        ("memories/coffee/associations?least=0.1", "least", "no such field"),
        ("memories/a%20b/associations", "memory_id", "letters or digits"),
    ],
)
def test_bad_input_is_a_problem_that_names_field_got_and_allowed(
    http: HttpStore, path: str, field: str, allowed: str
) -> None:
    answer = http.client.get(f"/v1/owners/alice/{path}")
    assert (answer.status_code, answer.headers["content-type"]) == (422, "application/problem+json")
    told = answer.json()
    assert (told["error"], told["field"]) == ("InputError", field)
    assert "got" in told
    assert allowed in told["allowed"]
    assert told["detail"].startswith(f"{field}: got ")


@pytest.mark.parametrize("owner", ["alice", "nobody"])
def test_an_unknown_memory_has_no_tree(http: HttpStore, owner: str) -> None:
    answer = http.client.get(f"/v1/owners/{owner}/memories/unheard/associations")
    assert (answer.status_code, answer.json()["error"]) == (404, "NotFound")


def test_an_owner_nobody_knows_is_answered(http: HttpStore) -> None:
    assert got(http, "/v1/owners/nobody/assess?topic=tea")["confidence"] == "none"
    assert got(http, "/v1/owners/nobody/map?topic=tea")["nodes"] == []


def test_a_position_beyond_the_head_is_a_conflict(http: HttpStore) -> None:
    partition = got(http, "/v1/owners/alice/assess?topic=tea")["position"].partition(":")[0]
    for path in ("assess?topic=tea&", "map?topic=tea&", "memories/coffee/associations?"):
        answer = http.client.get(f"/v1/owners/alice/{path}as_of={partition}:999999")
        assert (answer.status_code, answer.json()["error"]) == (409, "BeyondHead")
