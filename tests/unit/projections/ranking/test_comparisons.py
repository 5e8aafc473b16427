"""Two hundred invented comparisons: searching for each part of a question finds more of its evidence."""

from __future__ import annotations

import pytest

from benchmarks.dataset import Dataset, read_dataset
from benchmarks.quality import evaluate_search
from engramlog_server.projections.ranking.search_request import SearchRequest
from tests.doubles.comparisons import write_comparisons

KEYWORD = SearchRequest(search_mode="keyword", reasons=False)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    return read_dataset(write_comparisons(tmp_path_factory.mktemp("comparisons")))


def test_all_of_a_comparison_is_shown_more_often_where_each_thing_is_asked_for(data: Dataset) -> None:
    before = evaluate_search(data, None, KEYWORD._replace(parts=False))["all"]
    after = evaluate_search(data, None, KEYWORD)["all"]
    assert after["all@10"] >= before["all@10"] + 0.05
    assert after["hit@1"] >= before["hit@1"]
