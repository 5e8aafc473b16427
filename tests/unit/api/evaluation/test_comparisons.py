"""Two hundred comparisons made up here: what asking each thing by itself brings. The figures stand in docs/benchmarks.md."""

from __future__ import annotations

from pathlib import Path

import pytest

from api.evaluation.search import evaluate
from projections.ranking.search_request import SearchRequest
from tests.doubles.comparisons import comparisons, write_comparisons

KEYWORD = SearchRequest(search_mode="keyword", reasons=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_comparisons(tmp_path_factory.mktemp("comparisons"))


def test_they_are_two_hundred_and_the_same_each_time() -> None:
    turns, questions = comparisons()
    assert (len(questions), comparisons()) == (200, (turns, questions))
    assert {str(one["category"])[:2] for one in questions} == {"en", "zh"}


def test_all_of_a_comparison_is_shown_more_often_where_each_thing_is_asked_for(folder: Path) -> None:
    before = evaluate(folder, KEYWORD._replace(parts=False), "review")["all"]
    after = evaluate(folder, KEYWORD, "review")["all"]
    assert after["all@10"] >= before["all@10"] + 0.05
    assert after["hit@1"] >= before["hit@1"]
