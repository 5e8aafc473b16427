"""What is current comes first, and a correction is found by asking in the old words."""

from __future__ import annotations

import pytest

from projections.choices import RANKINGS
from tests.given.events import created, deleted, in_conflict, merged, negated
from tests.given.views import found, noted, viewed
from tests.rows import each_row

OLD = noted("I drink coffee every morning", "coffee")
NEW = noted("Green tea is what I have at breakfast", "tea")
REPLACED = (OLD, NEW, negated("coffee", 1, resolution="latest_wins", replaced_by="tea"))


@each_row("ranking", ["conversation", "text"])
@each_row("mode", ["normal", "review"])
def test_asking_in_the_old_words_finds_the_correction_first(mode, ranking) -> None:
    results = found(viewed(*REPLACED), "coffee", mode=mode, ranking=ranking)
    assert list(results) == (["tea"] if mode == "normal" else ["tea", "coffee"])
    explained = results["tea"]["explain"]
    assert explained["replaces"] == ["coffee"]
    assert sum(explained["score"].values()) == pytest.approx(results["tea"]["score"], abs=2e-6)


def test_what_was_replaced_is_marked_with_what_holds_now() -> None:
    coffee = found(viewed(*REPLACED), "coffee", mode="review")["coffee"]
    assert (coffee["status"], coffee["successor"]) == ("superseded", "tea")


def test_the_rankings_of_the_source_stay_as_published() -> None:
    for ranking in RANKINGS:
        if ranking not in ("conversation", "text"):
            assert "tea" not in found(viewed(*REPLACED), "coffee", mode="review", ranking=ranking)


def test_the_last_of_several_successors_is_the_one_that_holds() -> None:
    again = (noted("Only water before noon", "water"), negated("tea", 2, resolution="latest_wins", replaced_by="water"))
    results = found(viewed(*REPLACED, *again), "coffee", mode="review")
    assert list(results)[0] == "water"  # noqa: RUF015 - the first of all
    assert "tea" not in found(viewed(*REPLACED, *again), "coffee")


def test_a_successor_that_was_merged_is_found_as_its_merge() -> None:
    joined = (created("Sencha", "sencha"), merged("tea", "sencha", into="both", summary="Japanese tea", day=2))
    assert list(found(viewed(*REPLACED, *joined), "coffee")) == ["both"]


def test_a_deleted_successor_lifts_nothing() -> None:
    assert found(viewed(*REPLACED, deleted("tea", 2)), "coffee") == {}


def test_without_a_successor_nothing_changes() -> None:
    assert found(viewed(OLD, NEW, negated("coffee", 1, resolution="latest_wins")), "coffee") == {}


def test_of_two_that_may_contradict_each_other_the_newer_stands_first_if_the_question_asks_for_both() -> None:
    others = (noted("I sing in a choir", "choir"), noted("The cat is grey", "cat"))
    known = (
        noted("The plumber comes on Wednesday morning", "old"),
        noted("The plumber comes on Friday", "new", 5),
        *others,
    )
    marked = (*known, in_conflict("old", "new", 5))
    of_both, of_old = "When does the plumber come in the morning?", "plumber Wednesday"
    assert list(found(viewed(*known), of_both)) == ["old", "new"]
    assert list(found(viewed(*marked), of_both)) == ["new", "old"]
    assert list(found(viewed(*marked), of_old)) == ["old", "new"]
