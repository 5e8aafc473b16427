"""How the keywords of a question match those of memories: the figures by hand, and what is told of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramlog_server.events.catalogue import SynonymDefined
from engramlog_server.projections.ranking.rankings import (
    MOST_ASKED,
    KeywordMatch,
    asked_keywords,
    expanded_terms,
    keyword_match,
    reached_rows,
)
from engramlog_server.projections.views.view import OwnerView
from tests.given.events import Told, created
from tests.given.views import found, viewed
from tests.rows import each_row


def tagged(of: str, *keywords: str, content: str = "the", day: float = 0, **data: Any) -> Told:
    return created(content, of, day, keywords=keywords, **data)


def alike(word: str, synonym: str, similarity: float) -> Told:
    return Told(SynonymDefined(keyword=word, synonym=synonym, similarity=similarity))


SHELF = (
    tagged("oven", "oven"), tagged("ovenware", "clay", "ovenware"), tagged("stove", "stove"),
    tagged("both", "oven", "harbour"), tagged("phrase", "brick oven"), alike("oven", "stove", 0.5),
)  # fmt: skip


def match(view: OwnerView, query: str) -> KeywordMatch:
    return keyword_match(view, query, np.arange(len(view), dtype=np.int64))


def values(view: OwnerView, query: str) -> dict[str, float]:
    """k by memory, as far as it is above 0."""
    found = match(view, query).values
    return {memory.id: round(float(k), 6) for memory, k in zip(view.columns.memories, found, strict=True) if k}


@each_row(
    ("query", "expected"),
    [
        ("oven", {"oven": 1.0, "ovenware": 0.8 * 0.95, "stove": 0.7 * 0.5, "both": 1.0, "phrase": 0.8}),
        ("Ovens!", {"oven": 1.0, "ovenware": 0.0, "stove": 0.35, "both": 1.0, "phrase": 0.0}),
        ("oven harbour", {"oven": 0.5, "ovenware": 0.38, "stove": 0.175, "both": 0.975, "phrase": 0.4}),
        ("harbour", {"both": 0.95}), ("harbourmaster", {"both": 0.8 * 0.95}),
        ("stove", {"oven": 0.35, "stove": 1.0, "both": 0.35}), ("ha", {}), ("who are you?", {}), ("", {}),
    ],
)  # fmt: skip
def test_k_is_the_mean_of_the_best_matches_times_their_weights(query: str, expected: dict[str, float]) -> None:
    found = values(viewed(*SHELF), query)
    assert found == pytest.approx({name: k for name, k in expected.items() if k or name in found})


@each_row(
    ("asked", "keyword", "matches"),
    [
        ("v2.3.1", "v2.3.10", False), ("v2.3.10", "v2.3.1", False), ("v2.3", "v2.3.1", True),
        ("err-104", "err-1042", False), ("咖啡", "咖啡馆", True), ("咖", "咖啡", False), ("foo", "foo_bar.py", True),
        ("bar", "foo_bar.py", False),
    ],
)  # fmt: skip
def test_a_prefix_has_three_letters_or_two_characters_and_breaks_no_number(
    asked: str, keyword: str, matches: bool
) -> None:
    assert values(viewed(tagged("m", keyword)), asked) == ({"m": 0.8} if matches else {})


def test_the_expansion_tells_original_synonyms_and_related_apart() -> None:
    view = viewed(tagged("m", "x"), alike("oven", "stove", 0.9), alike("stove", "hearth", 0.8))
    expansion = match(view, "the oven").expansion
    assert (expansion.original, expansion.synonyms, expansion.related) == (
        ("oven",),
        {"oven": {"stove": 0.9}},
        {"oven": {"hearth": 0.72}},
    )
    assert (
        values(viewed(tagged("m", "hearth"), alike("oven", "stove", 0.9), alike("stove", "hearth", 0.8)), "oven") == {}
    )


def test_a_secret_matches_nothing_whatever_it_was_given() -> None:
    assert values(viewed(tagged("m", "oven", sensitivity=3)), "oven") == {}


# --- what a question asks


def test_an_owners_phrase_is_asked_for_as_one() -> None:
    assert asked_keywords("the big red thing", (("big red thing", "fire engine", 0.9),)) == ("big red thing",)


@given(st.text(alphabet=st.characters() | st.sampled_from("aA1 .@_#/+-:猫的喝咖啡")))
def test_any_question_has_at_most_so_many_keywords_and_matches_within_bounds(query: str) -> None:
    view = viewed(*SHELF)
    assert len(asked_keywords(query)) <= MOST_ASKED
    found = match(view, query).values
    assert ((found >= 0) & (found <= 1)).all()


# --- what synonyms reach in the text index


@each_row(("asked", "synonym"), [("car", "automobile"), ("咖啡", "拿铁咖啡豆")])
def test_a_rare_synonym_counts_no_more_than_the_asked_word_which_stands_above_it(asked: str, synonym: str) -> None:
    told = [created(f"{asked} {number} here", f"said-{number}") for number in range(5)]
    view = viewed(*told, created(f"{synonym} 9 here", "alike"), alike(asked, synonym, 1.0))
    results = list(found(view, asked, limit=6, ranking="conversation"))
    assert results[-1] == "alike"
    for term, share in expanded_terms(view, asked).items():
        assert share * view.idf(term) <= view.idf(asked if asked.isascii() else asked[:2]) + 1e-9


def test_rows_are_reached_by_synonyms_and_by_what_begins_a_word_of_the_question() -> None:
    view = viewed(
        created("A new automobile", "auto"),
        created("The kube is up", "kube"),
        created("Lunch", "lunch"),
        created("轿车", "车"),
    )
    ids = {
        name: {view.columns.memories[int(row)].id for row in reached_rows(view, name, 9)}
        for name in ("car", "kubernetes")
    }
    assert ids == {"car": {"auto", "车"}, "kubernetes": {"kube"}}
    assert reached_rows(view, "car", 1).size == 1
    assert reached_rows(view, "who?", 9).size == 0


def test_a_match_tells_which_keyword_it_was_and_how() -> None:
    view = viewed(*SHELF)
    found = match(view, "oven harbour")
    rows = {memory.id: row for row, memory in enumerate(view.columns)}
    told = {"asked": "oven", "keyword": "oven", "weight": 1.0, "source": "user_tag", "match": "exact", "adds": 0.5}
    second = told | {"asked": "harbour", "keyword": "harbour", "weight": 0.95, "adds": 0.475}
    assert found.matched(rows["both"]) == [told, second]
    synonym = told | {"keyword": "stove", "match": "synonym", "adds": 0.175, "similarity": 0.5}
    assert found.matched(rows["stove"]) == [synonym]
    assert sum(one["adds"] for one in found.matched(rows["both"])) == pytest.approx(found.values[rows["both"]])
