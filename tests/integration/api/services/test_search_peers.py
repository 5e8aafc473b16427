"""What users of other memory stores suffer from when they search, told as what must not happen here: one test a sentence.

As in `test_peers` the store is real. An embedder stands beside it, so that meaning is searched too.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise, product
from typing import Any

import pytest

from engramlog_server.projections.choices import RANKINGS
from engramlog_server.projections.embedding.choosing import Embedders
from engramlog_server.projections.laws.modes import MODES
from engramlog_server.projections.ranking.search_request import BY_MEANING
from engramlog_server.projections.redis.vectors import Meanings
from tests.acceptance.helpers.store import Store, embedded_store
from tests.doubles.embedding import WordEmbedder
from tests.given.events import Told, accessed, created, deleted, linked, mentioned, negated, purged
from tests.rows import each_row

Answer = dict[str, Any]
WAYS = [(ranking, "keyword") for ranking in RANKINGS] + [(r, m) for r in BY_MEANING for m in ("hybrid", "semantic")]
ways = each_row(("ranking", "search_mode"), WAYS)
BY_WORDS = [way for way in WAYS if way[1] != "semantic"]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    embedder = WordEmbedder()
    with pytest.MonkeyPatch.context() as patch:
        embedders = Embedders.alone(lambda: embedder)
        patch.setattr(
            "engramlog_server.ops.wiring.meanings_of", lambda _settings, opened: Meanings(embedders, opened.vectors)
        )
        with embedded_store(tmp_path_factory.mktemp("search-peers") / "data") as opened:
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


@each_row("query", ["绿茶", "早上喝什么？", "茶", "喝绿茶的早上", "我 早上 绿茶"])
def test_chinese_is_found_under_every_ranking_and_search_mode(store, query) -> None:
    owner = known(store, said("我早上喝绿茶", "tea", store), said("他在银行上班", "bank", store))
    for ranking, search_mode in BY_WORDS:
        assert ids(asked(store, owner, query, ranking=ranking, search_mode=search_mode))[0] == "tea"


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


@each_row("identifier", IDENTIFIERS)
def test_an_identifier_is_found_exactly_whatever_is_near_it_in_meaning(store, identifier) -> None:
    near = [said(f"the other one is {identifier[:-1]}{digit}", f"near-{digit}", store) for digit in "345"]
    exact = said(f"somebody filed {identifier} among many other things last week", "exact", store)
    owner = known(store, *near, exact)
    for ranking, search_mode in BY_WORDS:
        way = {"ranking": ranking, "search_mode": search_mode}
        assert ids(asked(store, owner, identifier, **way))[0] == "exact"
        assert "exact" in ids(asked(store, owner, f"the other one is {identifier}", **way))


# --- deleted that still surface


@ways
def test_what_was_deleted_is_neither_found_nor_brought_to_mind_nor_quoted(store, ranking, search_mode) -> None:
    owner = known(
        store,
        said("the affair of the kiln", "gone", store),
        said("the kiln is hot", "stays", store),
        linked("gone", "stays", store.yesterday, 0.9),
        negated("stays", store.yesterday, replaced_by="gone", resolution="weight_balance"),
    )
    way = {"ranking": ranking, "search_mode": search_mode, "associations": True}
    assert "gone" in ids(asked(store, owner, "kiln", **way))
    store.delete(owner, "gone")
    for mode in ("normal", "review"):
        answer = asked(store, owner, "kiln", mode=mode, **way)
        assert ids(answer) == ["stays"]
        assert answer["associated"] == []
        assert "affair" not in json.dumps(answer)
        assert {one["reason"]: one["ids"] for one in answer["withheld"]} == {"deleted": ["gone"]}


def test_purged_words_stand_nowhere_in_any_answer_of_any_time(store) -> None:
    owner = known(
        store,
        created("Zorblax kept the xylotome near the kiln", "gone", speaker="Quuxley", keywords=("xylotome",)),
        created("the kiln is hot", "stays"),
        mentioned("gone", 1),
    )
    before = asked(store, owner, "kiln", limit=1, mode="debug", search_mode="keyword")
    store.tell(owner, deleted("gone", 2), purged("gone", 33))
    places: list[Answer] = [{}, {"as_of": before["position"]}, {"at": "2024-01-02T00:00:00Z"}]
    for (ranking, search_mode), place, mode in product(WAYS, places, MODES):
        way = {"ranking": ranking, "search_mode": search_mode, "associations": True, "mode": mode}
        for query in ("where near the kiln?", "kept", "xylo"):
            told = json.dumps(asked(store, owner, query, **way, **place)).lower()
            assert not [word for word in ("zorblax", "xylotome", "quuxley") if word in told]
    rest = asked(store, owner, "kiln", limit=1, mode="debug", search_mode="keyword", cursor=before["next"])
    assert "gone" not in ids(rest)


# --- secrets that come out

SECRET_TEXT = "Zorblax: my password is hunter2-Xylotome!9"


def with_a_secret(store: Store) -> str:
    """An owner with one secret memory, among others, one of which is linked to it."""
    then = store.yesterday
    return known(
        store,
        created(SECRET_TEXT, "hidden", then, speaker="Quuxley", keywords=("xylotome",), tags=("vaultish",)),
        created("the kiln password is kept by my aunt", "open", then),
        created("an old kiln", "old", then),
        linked("hidden", "open", then, 0.9),
    )


@each_row("query", ["what is my password?", "kiln", "who said it", "hunter", "xylo"])
def test_a_secret_stands_nowhere_in_an_answer_whatever_is_asked(store, query) -> None:
    owner = with_a_secret(store)
    for (ranking, search_mode), mode in product(WAYS, MODES):
        way = {"ranking": ranking, "search_mode": search_mode, "mode": mode, "associations": True}
        answer = asked(store, owner, query, **way)
        told = json.dumps(answer).lower()
        assert not [word for word in ("zorblax", "hunter2", "xylotome", "quuxley", "vaultish") if word in told]
        assert "hidden" not in ids(answer) + [one["id"] for one in answer["associated"]]
        assert [(one["count"], one["ids"]) for one in answer["withheld"] if one["reason"] == "sensitive"] == [(1, [])]


@each_row("ranking", RANKINGS)
def test_no_answer_tells_whether_a_secret_holds_the_words_of_a_question_or_a_filter(store, ranking) -> None:
    owner = with_a_secret(store)
    way = {"ranking": ranking, "search_mode": "keyword", "mode": "debug", "associations": True}
    hit, miss = (asked(store, owner, query, **way) for query in ("hunter2-Xylotome!9", "hunter3-Xylotame!8"))
    asked_back = {"expanded"}
    assert {name: hit[name] for name in hit.keys() - asked_back} == {
        name: miss[name] for name in miss.keys() - asked_back
    }
    filtered: list[Answer] = [{"speaker": "Quuxley"}, {"keywords": ["xylotome"]}, {"tags": ["vaultish"]}]
    for filters in filtered:
        answer = asked(store, owner, "kiln password", **way, **filters)
        assert (ids(answer), answer["total"], answer["associated"]) == ([], 0, [])


# --- what one owner says reaching another


def test_synonyms_keywords_and_names_of_one_owner_reach_no_other(store) -> None:
    told = (said("the kiln is hot", "m", store, speaker="Quuxley"), said("a grumfic at the fair", "n", store))
    one, other = known(store, *told), known(store, *told)
    store.app.synonyms.define(one, "kiln", "grumfic")
    stranger = known(store, said("nothing of this", "x", store))
    for ranking, search_mode in WAYS:
        way = {"ranking": ranking, "search_mode": search_mode}
        for owner, mine in ((one, True), (other, False), (one, True)):
            answer = asked(store, owner, "kiln", **way)
            told_of_it = "grumfic" in answer["expanded"]["synonyms"].get("kiln", {})
            assert told_of_it is (mine and ranking in BY_MEANING)
        answer = asked(store, stranger, "Quuxley and the kiln", **way)
        assert answer["understood"] == {"times": [], "speakers": []}
        assert "grumfic" not in json.dumps(answer)


# --- filters that are ignored

FILTERS: list[tuple[Answer, set[str]]] = [
    ({"kinds": ["lesson"]}, {"b"}),
    ({"categories": ["identity"]}, {"c"}),
    ({"speaker": "王芳"}, {"b"}),
    ({"project": "pots"}, {"a", "c"}),
    ({"session": "s1"}, {"a"}),
    ({"keywords": ["glaze"]}, {"b"}),
    ({"until": "2020-01-01"}, set()),
    ({"since": "2020-01-01", "project": "pots", "speaker": "ANN"}, {"a"}),
    ({"min_relevance": 1.0}, set()),
    ({"session": "nowhere"}, set()),
    ({"speaker": "%"}, set()),
    ({"keywords": ["kiln' OR 1=1"]}, set()),
]


@ways
def test_no_filter_is_ignored_not_even_one_that_nothing_has(store, ranking, search_mode) -> None:
    a = said("the kiln of Ann", "a", store, speaker="Ann", project="pots")
    owner = known(
        store,
        Told(a.data, a.day, a.actor, {"session_id": "s1"}),
        said("the kiln again", "b", store, kind="lesson", speaker="王芳", keywords=("Glaze",)),
        said("the kiln once more", "c", store, category="identity", project="pots"),
        linked("a", "b", store.yesterday, 0.9),
    )
    for filters, expected in FILTERS:
        answer = asked(store, owner, "the kiln", ranking=ranking, search_mode=search_mode, **filters)
        assert set(ids(answer)) == expected, filters
        assert answer["total"] == len(expected)


# --- pages that repeat


@ways
def test_pages_neither_repeat_nor_skip_while_results_are_recorded_as_shown(store, ranking, search_mode) -> None:
    words = ("kiln", "kiln clay", "clay clay", "the kiln again")
    owner = known(store, *(said(f"{words[n % 4]} {n}", f"m{n:02}", store) for n in range(9)))
    way = {"ranking": ranking, "search_mode": search_mode}
    whole = ids(asked(store, owner, "kiln and clay", **way))
    seen, cursor = [], None
    while cursor is not None or not seen:
        answer = asked(store, owner, "kiln and clay", limit=4, cursor=cursor, trace=True, **way)
        seen += ids(answer)
        cursor = answer["next"]
        store.flushed()
        store.tell(owner, *(accessed(one, day=store.yesterday + 0.5, count=50) for one in whole[-3:]))
    assert seen == whole
    assert len(set(seen)) == len(seen) > 4


# --- scores that mean nothing


@ways
def test_a_relevance_is_higher_where_more_of_the_question_is_said_and_the_same_each_time(
    store, ranking, search_mode
) -> None:
    owner = known(
        store,
        said("the violin concert in Vienna", "all", store),
        said("the violin case", "some", store),
        said("rain in May", "none", store),
    )
    way = {"ranking": ranking, "search_mode": search_mode}
    first, second = (asked(store, owner, "violin concert Vienna", **way) for _ in range(2))
    assert [one["score"] for one in first["results"]] == [one["score"] for one in second["results"]]
    told = {one["id"]: one for one in first["results"]}
    assert told["all"]["relevance"] > told["some"]["relevance"] > 0
    assert told["all"]["score"] > told["some"]["score"]
    assert all(one["score"] >= other["score"] for one, other in pairwise(first["results"]))
    assert "none" not in told or told["none"]["relevance"] < told["some"]["relevance"]


@each_row("ranking", RANKINGS)
def test_a_question_about_nothing_that_is_known_is_answered_with_nothing(store, ranking) -> None:
    owner = known(store, said("the violin concert in Vienna", "a", store), said("雨天去爬山", "b", store))
    for query in ("submarine propulsion", "量子力学", "🦄", "?!", "zzz-999"):
        answer = asked(store, owner, query, ranking=ranking, search_mode="keyword")
        assert (ids(answer), answer["total"], answer["withheld"]) == ([], 0, [])
