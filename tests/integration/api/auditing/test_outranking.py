"""Why A above B by a store: both time lines, secrets, filters, what is current first, and one answer with the search."""

from __future__ import annotations

from typing import Any

import pytest

from events.errors import InputError, NotFound
from tests.acceptance.helpers.store import Store, day
from tests.given.events import created, deleted, merged, negated, profile, purged

ASKED = "what do I drink in the morning?"


@pytest.fixture
def owner(store: Store) -> str:
    named, now = store.owner(), store.yesterday
    store.tell(
        named,
        created("I drink coffee every morning", "coffee", day=now),
        created("I drink tea every morning", "tea", day=now),
        created("早上我喝龙井茶", "longjing", day=now),
        created("my password is hunter2 and I drink it every morning", "pw", day=now),
        created("The kiln is behind the church", "kiln", day=now),
    )
    return named


def above(store: Store, owner: str, one: str, other: str, query: str = ASKED, **asked: Any) -> dict[str, Any]:
    return dict(store.app.outranking.above(owner, one, other=other, query=query, **asked))


def test_ranks_scores_and_the_order_are_those_of_the_search(store: Store, owner: str) -> None:
    found = store.reader.search(owner, ASKED, trace=False, limit=50)["results"]
    ranks = {one["id"]: (number, one["score"]) for number, one in enumerate(found, 1)}
    told = above(store, owner, "coffee", "tea")
    for side in (told["first"], told["second"]):
        assert (side["rank"], round(side["score"], 6)) == ranks[side["id"]]
    assert told["order"] == ("above" if ranks["coffee"] < ranks["tea"] else "below")
    assert sum(term["difference"] for term in told["terms"]) == pytest.approx(told["difference"], abs=1e-8)


def test_of_equal_scores_what_was_made_later_stands_above(store: Store) -> None:
    named, now = store.owner(), store.yesterday
    store.tell(named, created("I drink tea", "older", day=now), created("I drink tea", "newer", day=now))
    told = above(store, named, "older", "newer", "drink tea", ranking="text")
    assert (told["order"], told["tied"], told["difference"]) == ("below", True, 0)
    assert "newer (rank 1) stands above older (rank 2): their scores are equal" in told["sentence"]
    assert "得分相同" in above(store, named, "older", "newer", "drink tea", ranking="text", language="zh")["sentence"]


def test_what_is_current_stands_above_and_before_the_correction_it_does_not(store: Store, owner: str) -> None:
    before = store.reader.list(owner)["position"]
    store.tell(owner, negated("coffee", store.yesterday + 0.1, resolution="version_keep", replaced_by="tea"))
    told = above(store, owner, "tea", "coffee", "coffee morning", mode="review")
    assert told["order"] == "above"
    assert {"rule": "current_first", "of": "tea", "others": ["coffee"]} in told["rules"]
    assert told["terms"][0]["term"] == "current"
    then = above(store, owner, "tea", "coffee", "coffee morning", mode="review", known=before)
    assert (then["order"], then["rules"], then["known"]) == ("below", [], before)
    withheld = above(store, owner, "tea", "coffee", "coffee morning")
    assert withheld["second"]["absent"]["why"] == "withheld"
    assert "review" in withheld["sentence"]


def test_a_match_in_the_other_language_is_asked_for_in_its_words(store: Store, owner: str) -> None:
    told = above(store, owner, "kiln", "longjing", "早上喝什么")
    assert (told["order"], told["language"]) == ("below", "zh")
    assert told["sentence"].startswith("longjing（第 1）在结果之中，kiln 不在：它不含问题中的词")
    assert told["first"]["absent"] == {"why": "no_match", "reason": None, "shown_by": None, "filters": []}
    assert told["first"]["lacks"] == ["早上", "上喝", "喝什", "什么"]
    assert set(told["second"]["holds"]) >= {"早上"}


@pytest.mark.parametrize("mode", ["normal", "review", "debug"])
def test_no_word_of_a_secret_is_told_and_whether_it_matches_neither(store: Store, owner: str, mode: str) -> None:
    told = above(store, owner, "pw", "tea", "hunter2 password morning", mode=mode)
    assert told["first"]["absent"] == {
        "why": "withheld",
        "reason": "sensitive",
        "shown_by": "get --reveal",
        "filters": [],
    }
    assert (told["first"]["holds"], told["first"]["lacks"]) == ([], [])
    assert "my password is" not in str(told)


def test_the_filters_that_a_memory_does_not_pass_are_named(store: Store, owner: str) -> None:
    told = above(store, owner, "coffee", "tea", kinds=["lesson"], min_weight=999.0)
    assert [side["absent"]["filters"] for side in (told["first"], told["second"])] == [["kinds", "min_weight"]] * 2
    assert told["order"] == "neither"
    relevant = above(store, owner, "coffee", "tea", "coffee every morning", ranking="published", min_relevance=0.6)
    assert relevant["second"]["absent"]["filters"] == ["min_relevance"]


def test_what_is_merged_deleted_or_purged_says_so(store: Store, owner: str) -> None:
    now = store.yesterday
    store.tell(owner, created("I drink milk every morning", "milk", day=0), deleted("milk", 1), purged("milk", 60))
    store.tell(owner, merged("coffee", "tea", into="both", day=now))
    told = above(store, owner, "coffee", "milk")
    assert [told[side]["absent"]["reason"] for side in ("first", "second")] == ["merged", "deleted"]
    assert (told["second"]["memory"], told["second"]["lacks"]) == (None, [])


def test_another_law_weighs_both_by_itself(store: Store, owner: str) -> None:
    store.tell(owner, profile("ebbinghaus", store.yesterday))
    told = above(store, owner, "coffee", "tea", at=day(2_000))
    assert (told["at"], told["first"]["weight"]) == (day(2_000), told["second"]["weight"])


@pytest.mark.parametrize(
    ("asked", "field"),
    [
        ({"other": "coffee"}, "other"),
        ({"other": "tea", "language": "fr"}, "language"),
        ({"other": "tea", "mode": "all"}, "mode"),
        ({"other": "tea", "ranking": "best"}, "ranking"),
        ({"other": "tea", "search_mode": "semantic"}, "search_mode"),
        ({"other": "tea", "query": ""}, "query"),
        ({"other": "tea", "known": "then"}, "known"),
    ],
)
def test_what_cannot_be_compared_is_refused_by_name(
    store: Store, owner: str, asked: dict[str, Any], field: str
) -> None:
    with pytest.raises(InputError, match=rf"^{field}: "):
        store.app.outranking.above(owner, "coffee", **{"query": ASKED, **asked})


def test_a_memory_that_was_not_there_is_not_found(store: Store, owner: str) -> None:
    for one, other in (("coffee", "none"), ("none", "coffee")):
        with pytest.raises(NotFound):
            above(store, owner, one, other)
    with pytest.raises(NotFound):
        above(store, owner, "coffee", "tea", as_of="2000-01-01")


def test_asking_leaves_no_trace(store: Store, owner: str) -> None:
    head = store.head(owner)
    above(store, owner, "coffee", "tea")
    store.flushed()
    assert store.head(owner) == head
