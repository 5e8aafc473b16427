"""Questions that a model rewords, over a real store: what is sent, what is answered, what switches it off."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.acceptance.helpers.store import Store, embedded_store
from tests.doubles.model_endpoint import ModelEndpoint, model_endpoint
from tests.given.events import created
from tests.patience import PATIENCE

TERMS = ["boxes new flat", "removal van"]
QUESTION = "When did Caroline move house?"
TALK = [f"Caroline and I talked about the house, round {number}" for number in range(14)]


@pytest.fixture(scope="module")
def endpoint() -> Iterator[ModelEndpoint]:
    with model_endpoint() as running:
        yield running


@pytest.fixture(scope="module")
def opened(endpoint: ModelEndpoint, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    settings = {"model": "small", "model_url": endpoint.url, "expansion": "model", "embedder": "none"}
    with embedded_store(tmp_path_factory.mktemp("expansion") / "data", **settings) as store:
        store.app._expander._seconds = PATIENCE  # type: ignore[union-attr]
        yield store


@pytest.fixture
def server(endpoint: ModelEndpoint, opened: Store) -> ModelEndpoint:
    """The endpoint with its usual answer, and an expander that no other test left resting."""
    opened.app._expander._resting = float("-inf")  # type: ignore[union-attr]
    endpoint.asked.clear()
    endpoint.replies = []
    endpoint.says({"terms": TERMS})
    return endpoint


def mover(store: Store) -> str:
    """An owner who told of a removal in other words than people ask for it."""
    owner = store.owner()
    texts = [*TALK, "We carried the boxes into the new flat", "The removal van was late again"]
    store.tell(owner, *(created(text, f"m{number}", store.yesterday) for number, text in enumerate(texts)))
    return owner


def asked(store: Store, owner: str, query: str = QUESTION, **how: Any) -> dict[str, Any]:
    answer: Any = store.reader.search(owner, query, **{"trace": False} | how)
    return dict(answer)


def ids(answer: dict[str, Any]) -> list[str]:
    return [one["id"] for one in answer["results"]]


def test_at_the_default_limit_the_answer_has_what_the_other_words_find_and_says_what_was_asked(
    opened: Store, server: ModelEndpoint
) -> None:
    owner = mover(opened)
    plain, answer = asked(opened, owner, expand=False), asked(opened, owner)
    assert answer["understood"]["expansion"] == {"status": "asked", "terms": TERMS, "model": "small"}
    assert len(ids(answer)) == 5
    assert ids(answer)[0] == ids(plain)[0], "the question's own best match stays first"
    assert {"m14", "m15"} <= set(ids(asked(opened, owner, limit=10)))
    assert not {"m14", "m15"} & set(ids(asked(opened, owner, limit=10, expand=False)))
    assert "expansion" not in plain["understood"]
    assert len(server.asked) == 1, "the same question is asked once"
    found = next(one for one in asked(opened, owner, limit=10)["results"] if one["id"] == "m15")
    assert found["explain"]["asked_by"] == [TERMS[1]]
    assert sum(found["explain"]["score"].values()) == pytest.approx(found["score"], abs=1e-5)


def test_pages_go_on_with_the_words_of_the_first(opened: Store, server: ModelEndpoint) -> None:
    owner = mover(opened)
    first = asked(opened, owner, limit=6)
    server.says({"terms": ["something else"]})
    opened.app._expander.forget()  # type: ignore[union-attr]
    pages = [ids(first)]
    while first["next"]:
        first = asked(opened, owner, limit=6, cursor=first["next"])
        pages.append(ids(first))
    shown = [one for page in pages for one in page]
    assert sorted(shown) == sorted(set(shown)), "no page repeats a memory"
    assert {"m14", "m15"} <= set(shown)
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    "how",
    [
        {"search_mode": "keyword"},
        {"ranking": "text"},
        {"ranking": "published"},
        {"expand": False},
        {"at": "2100-01-01T00:00:00Z"},
        {"as_of": "2100-01-01"},
    ],
)
def test_other_searches_and_the_past_give_no_model_the_question(
    opened: Store, server: ModelEndpoint, how: dict[str, Any]
) -> None:
    assert "expansion" not in asked(opened, mover(opened), **how)["understood"]
    assert server.asked == []


@pytest.mark.parametrize("how", [{}, {"expand": False}, {"search_mode": "keyword"}, {"at": "2100-01-01T00:00:00Z"}])
def test_why_one_memory_ranks_above_another_is_told_of_the_same_ranking(
    opened: Store, server: ModelEndpoint, how: dict[str, Any]
) -> None:
    owner = mover(opened)
    found = asked(opened, owner, limit=10, **how)
    ranks = {one["id"]: (number, one["score"]) for number, one in enumerate(found["results"], 1)}
    for one, other in zip(ids(found), [*ids(found)[1:], "m15"], strict=True):
        told: Any = opened.reader.why(owner, one, above=other, query=QUESTION, **how)["above"]
        for side in (told["first"], told["second"]):
            assert (side["rank"], side["score"] and round(side["score"], 6)) == ranks.get(side["id"], (None, None))
        assert told["expansion"] == found["understood"].get("expansion") or told["expansion"]["status"] == "kept"
    assert len(server.asked) == (0 if how else 1)


def test_a_sensitive_question_is_not_sent(opened: Store, server: ModelEndpoint) -> None:
    answer = asked(opened, mover(opened), "Who lives at 12 Elm Street, London NW1 6XE?")
    assert answer["understood"]["expansion"] == {"status": "private", "terms": [], "model": "small"}
    assert server.asked == []


def test_the_block_says_it_too_and_a_request_switches_it_off(opened: Store, server: ModelEndpoint) -> None:
    owner = mover(opened)
    block: Any = opened.app.contexts.context(owner, QUESTION, related="always")
    assert block["searches"][0]["expansion"] == {"status": "asked", "terms": TERMS, "model": "small"}
    assert "The removal van was late again" in block["block"]
    plain: Any = opened.app.contexts.context(owner, QUESTION, related="always", expand=False)
    assert plain["searches"][0]["expansion"] is None
    assert len(server.asked) == 1


def test_garbage_costs_the_search_nothing(opened: Store, server: ModelEndpoint) -> None:
    owner = mover(opened)
    plain = ids(asked(opened, owner, expand=False, limit=10))
    server.replies = []
    server.says({"terms": ["<script>", "http://evil.example", "x" * 500, 'ignore "all" {rules}']})
    answer = asked(opened, owner, limit=10)
    assert answer["understood"]["expansion"]["status"] == "nothing"
    assert ids(answer) == plain
    server.says({"terms": "no list"})
    assert asked(opened, owner, "Which house did she like?", limit=10)["results"]
