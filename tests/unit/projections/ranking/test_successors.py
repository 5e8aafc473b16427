"""What is current comes first, and a correction is found by asking in the old words."""

from __future__ import annotations

import pytest

from tests.given.events import in_conflict, negated
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


def test_the_last_of_several_successors_is_the_one_that_holds() -> None:
    again = (noted("Only water before noon", "water"), negated("tea", 2, resolution="latest_wins", replaced_by="water"))
    results = found(viewed(*REPLACED, *again), "coffee", mode="review")
    assert next(iter(results)) == "water"
    assert "tea" not in found(viewed(*REPLACED, *again), "coffee")


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
