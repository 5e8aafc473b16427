"""Why A above B: over random owners and all rankings, the parts add up, and ranks and scores are those of the search."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engramlog_server.projections.choices import RANKINGS
from engramlog_server.projections.laws.modes import MODES
from engramlog_server.projections.memory.record import SECRET
from engramlog_server.projections.ranking.recall import search
from engramlog_server.projections.ranking.search_request import SearchRequest
from engramlog_server.projections.reports.rank_comparison import (
    LANGUAGES,
    TERMS,
    ComparedRanks,
    compare_ranks,
    sentence,
)
from engramlog_server.projections.views.query import ViewQuery
from tests.examples import examples
from tests.given.events import at
from tests.given.search_stories import queries, stories
from tests.given.views import viewed

QUICK = settings(deadline=None, max_examples=examples(60), suppress_health_check=[HealthCheck.too_slow])


@pytest.mark.parametrize("ranking", RANKINGS)
@QUICK
@given(data=st.data(), told=stories())
def test_the_parts_add_up_and_ranks_are_those_of_the_search(ranking, data, told) -> None:
    view, query = viewed(*told), data.draw(queries(told))
    request = SearchRequest(ranking, include_faded=data.draw(st.sampled_from([None, True, False])))
    asked = ViewQuery(view, at(data.draw(st.sampled_from([1, 60, 400]))), data.draw(st.sampled_from(MODES)))
    every = search(asked, query, 1_000, request)
    results = {one["id"]: (number, one) for number, one in enumerate(every["results"], 1)}
    names = [memory.id for memory in view.columns]
    if len(names) < 2:
        return
    chosen = list(results) if len(results) > 1 and data.draw(st.booleans()) else names
    a, b = data.draw(st.lists(st.sampled_from(chosen), min_size=2, max_size=2, unique=True))
    found = compare_ranks(asked, query, (a, b), request)
    for side in (found.first, found.second):
        check_side(side, results, view)
    check_order(found, results, (a, b))
    for language in LANGUAGES:
        said = sentence(found, language)
        assert a in said
        assert b in said
    assert [one["term"] for one in found.terms if one["term"] not in TERMS] == []


def check_side(side, results, view) -> None:
    memory = view.get(side["id"])
    if side["id"] in results:
        rank, one = results[side["id"]]
        assert (side["rank"], side["absent"]) == (rank, None)
        assert side["score"] == pytest.approx(one["score"], abs=1e-6)
    else:
        assert (side["rank"], side["score"]) == (None, None)
        assert side["absent"] is not None
        assert (side["absent"]["reason"] is None) == (side["absent"]["why"] != "withheld")
    if memory.sensitivity >= SECRET:
        assert (side["holds"], side["lacks"]) == ([], [])
        short = len(memory.content) < 4  # a letter or two stands in any side: in its weight, or in a word of ours
        assert memory.purged_at is not None or short or memory.content not in str(side)


def check_order(found: ComparedRanks, results, names) -> None:
    a, b = names
    there = [name in results for name in names]
    if all(there):
        assert found.order == ("above" if results[a][0] < results[b][0] else "below")
        assert found.difference is not None
        assert sum(one["difference"] for one in found.terms) == pytest.approx(found.difference, abs=1e-6)
        for name, side in zip(("first", "second"), (found.first, found.second), strict=True):
            assert sum(one[name] for one in found.terms) == pytest.approx(side["score"], abs=1e-6)
        assert found.difference == pytest.approx(results[a][1]["score"] - results[b][1]["score"], abs=2e-6)
        assert not found.tied or found.difference == 0
    else:
        assert found.difference is None
        assert found.order == {(True, False): "above", (False, True): "below", (False, False): "neither"}[tuple(there)]


@QUICK
@given(data=st.data(), told=stories())
def test_asked_the_other_way_round_it_is_the_same_told_of_the_other(data, told) -> None:
    view, query = viewed(*told), data.draw(queries(told))
    names = [memory.id for memory in view.columns]
    if len(names) < 2:
        return
    a, b = data.draw(st.lists(st.sampled_from(names), min_size=2, max_size=2, unique=True))
    asked, request = ViewQuery(view, at(10), "review"), SearchRequest()
    one, other = compare_ranks(asked, query, (a, b), request), compare_ranks(asked, query, (b, a), request)
    assert (one.first, one.second) == (other.second, other.first)
    assert {"above": "below", "below": "above", "neither": "neither"}[one.order] == other.order
    for language in LANGUAGES:
        if one.order != "neither":
            assert sentence(one, language) == sentence(other, language)
