"""What users of other memory stores suffer from when they search, told as what must not happen here: one test a sentence.

As in `test_peers` the store is real; an embeddings endpoint on loopback stands beside it, so that meaning is searched too.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest

from projections.modes import MODES
from projections.wish import BY_MEANING, RANKINGS
from tests.acceptance.helpers.store import Store, embedded_store
from tests.embedding import WordEmbedder
from tests.embeddings_endpoint import Asked, Reply, endpoint, vectors
from tests.given import Told, accessed, created, deleted, linked, mentioned, merged, negated, purged, revised

Answer = dict[str, Any]
WAYS = [(ranking, "keyword") for ranking in RANKINGS] + [(r, m) for r in BY_MEANING for m in ("hybrid", "semantic")]
ways = pytest.mark.parametrize(("ranking", "search_mode"), WAYS)
WORDED = [way for way in WAYS if way[1] != "semantic"]
by_words = pytest.mark.parametrize(("ranking", "search_mode"), WORDED)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    embedder = WordEmbedder()

    def reply(asked: Asked) -> Reply:
        return Reply(body=vectors(*(one.whole.tolist() for one in embedder.texts(asked.inputs))))

    with endpoint() as embeddings:
        embeddings.reply = reply  # type: ignore[method-assign]
        folder = tmp_path_factory.mktemp("search-peers") / "data"
        with embedded_store(folder, embedder="openai:words", embedder_url=embeddings.url) as opened:
            yield opened


def known(store: Store, *told: Told) -> str:
    """An owner of whom this is known, with every memory embedded."""
    owner = store.owner()
    store.tell(owner, *told)
    store.app.embeddings.embed(owner)
    return owner


def asked(store: Store, owner: str, query: str, **asking: Any) -> Answer:
    return store.reader.search(owner, query, **{"trace": False, "limit": 50} | asking)


def ids(answer: Answer) -> list[str]:
    return [one["id"] for one in answer["results"]]


def said(text: str, of: str, store: Store, **data: Any) -> Told:
    """A memory of yesterday."""
    return created(text, of, store.yesterday, **data)


# --- Chinese keyword search that matches nothing


@by_words
@pytest.mark.parametrize("query", ["绿茶", "早上喝什么？", "茶", "喝绿茶的早上", "我 早上 绿茶"])
def test_chinese_is_found_under_every_ranking_and_search_mode(store, ranking, search_mode, query) -> None:
    owner = known(store, said("我早上喝绿茶", "tea", store), said("他在银行上班", "bank", store))
    assert ids(asked(store, owner, query, ranking=ranking, search_mode=search_mode))[0] == "tea"


def test_chinese_keywords_are_extracted_filtered_by_and_expanded(store) -> None:
    owner = known(store, said("我喜欢喝咖啡", "coffee", store), said("他在银行上班", "bank", store))
    assert ids(asked(store, owner, "喜欢 银行", keywords=["咖啡"])) == ["coffee"]
    assert "咖啡" in asked(store, owner, "喝咖啡吗")["expanded"]["original"]


# --- exact identifiers lost in hybrid search

IDENTIFIERS = [
    "ERR-1042",
    "foo_bar.py",
    "v2.3.1",
    "a.lee@example.org",
    "0xDEADBEEF",
    "PR#77",
    "+49 30 12345678",
    "工单A-77",
]


@by_words
@pytest.mark.parametrize("identifier", IDENTIFIERS)
def test_an_identifier_is_found_exactly_whatever_is_near_it_in_meaning(store, ranking, search_mode, identifier) -> None:
    near = [said(f"the other one is {identifier[:-1]}{digit}", f"near-{digit}", store) for digit in "345"]
    exact = said(f"somebody filed {identifier} among many other things last week", "exact", store)
    owner = known(store, *near, exact)
    answer = asked(store, owner, f"the other one is {identifier}", ranking=ranking, search_mode=search_mode)
    assert "exact" in ids(answer)
    assert ids(asked(store, owner, identifier, ranking=ranking, search_mode=search_mode))[0] == "exact"
