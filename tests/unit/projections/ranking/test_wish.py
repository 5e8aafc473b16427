"""Filters of a search: each lets through what it names and nothing else."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from events.errors import InputError
from events.parameters import DEFAULTS
from projections.choices import RANKINGS
from projections.laws.modes import visibility
from projections.ranking.search_request import Filter, Filters, filters_of
from tests.given.events import Told, at, created, deleted, negated
from tests.given.views import asked, found, viewed
from tests.rows import each_row

SAID: tuple[Told, ...] = (
    created("The kiln broke", "a", 0, keywords=["Kiln", "repair"], kind="lesson", speaker="Ada", project="clay"),
    replace(created("A new kiln came", "b", 5, category="fact", speaker="ada"), extra={"session_id": "s2"}),
    created("我修好了窑 kiln", "c", 9, kind="note", category="skill", speaker="小明", project="fair"),
)


@each_row(
    ("filters", "expected"),
    [
        ({}, "abc"), ({"kinds": ("lesson",)}, "a"), ({"kinds": ("lesson", "note")}, "ac"),
        ({"categories": ("skill",)}, "c"), ({"speaker": "ADA"}, "ab"), ({"speaker": "小明"}, "c"), ({"session": "s2"}, "b"),
        ({"project": "fair"}, "c"), ({"keywords": ("kiln",)}, "abc"), ({"keywords": ("repair",)}, "a"),
        ({"since": at(5)}, "bc"), ({"until": at(5)}, "a"), ({"since": at(5), "until": at(9)}, "b"),
        ({"kinds": ("lesson",), "speaker": "小明"}, ""), ({"kinds": ("nothing",)}, ""),
    ],
    ids=str,
)  # fmt: skip
@each_row("ranking", RANKINGS)
def test_a_filter_lets_through_what_it_names(ranking, filters, expected) -> None:
    results = found(viewed(*SAID), "kiln", 10, mode="review", limit=10, ranking=ranking, **filters)
    assert sorted(results) == list(expected)


def test_the_min_weight_is_that_of_the_law_at_the_instant() -> None:
    view = viewed(*SAID)
    weights = {name: one["weight"] for name, one in found(view, "kiln", 10, mode="debug").items()}
    least = sorted(weights.values())[1]
    expected = {name for name, weight in weights.items() if weight >= least - 1e-6}
    assert 0 < len(expected) < 3
    assert set(found(view, "kiln", 10, mode="debug", min_weight=least - 1e-6)) == expected


@each_row("ranking", RANKINGS)
def test_the_least_relevance_is_that_which_results_tell(ranking) -> None:
    view = viewed(*SAID, created("kiln kiln kiln", "d", 9.5))
    told = {name: one["relevance"] for name, one in found(view, "kiln", 10, mode="review", ranking=ranking).items()}
    least = max(told.values())
    best = found(view, "kiln", 10, mode="review", ranking=ranking, least_relevance=least - 1e-6)
    assert set(best) == {name for name, relevance in told.items() if relevance >= least - 1e-6}
    assert found(view, "kiln", 10, mode="review", ranking=ranking, least_relevance=min(1.0, least + 1e-4)) == {}


def test_what_the_filter_leaves_out_is_not_withheld() -> None:
    view = viewed(*SAID, deleted("a"), negated("b", day=10))
    told = asked(view, "kiln", 11, mode="normal", kinds=("lesson",))["withheld"]
    assert [(one["reason"], one["ids"]) for one in told] == [("deleted", ["a"])]


def test_an_open_filter_lets_everything_through_and_says_so() -> None:
    view = viewed(*SAID)
    seen = visibility(view.columns, view.law, at(10), DEFAULTS, "debug")
    everything = np.arange(3, dtype=np.int64)
    for filters, is_open in ((Filters(), True), (Filters(least_relevance=0.5), True), (Filters(kinds=("x",)), False)):
        filter_ = Filter(view, filters, seen.weights)
        assert filter_.is_open == is_open
        assert filter_.passing(everything).all() == is_open


@each_row("ranking", RANKINGS)
def test_a_filter_finds_the_one_among_hundreds_of_better_matches(ranking) -> None:
    many = [created("tea tea tea", f"b{n}", speaker="Bob") for n in range(520)]
    view = viewed(*many, created("we had tea that day", "a", speaker="Ann"))
    assert list(found(view, "tea", 1, mode="review", ranking=ranking, speaker="Ann")) == ["a"]


def test_hidden_memories_take_no_place_from_those_that_a_synonym_finds() -> None:
    hidden = [event for n in range(520) for event in (created("automobile", f"h{n}"), deleted(f"h{n}"))]
    view = viewed(*hidden, created("An automobile is there", "seen"))
    assert list(found(view, "car", 1, ranking="published")) == ["seen"]


def test_relevance_is_the_same_whatever_the_ranking() -> None:
    view = viewed(*SAID)
    told = [
        {
            name: one["relevance"]
            for name, one in found(view, "the kiln broke", 10, mode="review", ranking=ranking).items()
        }
        for ranking in ("conversation", "text", "published", "overlap")
    ]
    assert all(one["a"] == told[0]["a"] for one in told)


NOTED = (
    created("The kiln broke", "a", 0, metadata={"page": 4, "checked": True, "of": "窑=火"}),
    created("A new kiln came", "b", 1, metadata={"page": 4.0, "checked": False}),
    created("The kiln is old", "c", 2),
    created("My kiln's password is hunter2", "s", 3, metadata={"page": 4}, sensitivity=3),
)


@each_row(
    ("pairs", "expected"),
    [
        (["page=4"], "ab"), (["checked=true"], "a"), (["page=4", "checked=false"], "b"), (["of=窑=火"], "a"),
        (["page=5"], ""), (["nothing="], ""), ([], "abc"),
    ],
    ids=str,
)  # fmt: skip
def test_memories_are_found_by_metadata_as_it_is_written(pairs: list[str], expected: str) -> None:
    filters = filters_of({"metadata": pairs}, 0, "UTC")
    results = found(viewed(*NOTED), "kiln", 10, mode="debug", limit=10, ranking="text", metadata=filters.metadata)
    assert sorted(results) == list(expected)


def test_a_secret_is_found_by_no_metadata() -> None:
    view = viewed(*NOTED)
    weights = np.ones(len(view.columns.memories))
    row = next(row for row, memory in enumerate(view.columns.memories) if memory.id == "s")
    assert Filter(view, Filters(kinds=("preference",)), weights).passes(row)
    assert not Filter(view, Filters(metadata=(("page", "4"),)), weights).passes(row)


@each_row("pair", ["page", "=4", "", "x" * 201, "n=" + "x" * 4_096, "\ud800=1"])
def test_metadata_without_a_name_and_an_equals_sign_is_refused(pair: str) -> None:
    with pytest.raises(InputError) as refusal:
        filters_of({"metadata": [pair]}, 0, "UTC")
    assert refusal.value.context["field"] == "metadata"


def test_metadata_is_bounded() -> None:
    with pytest.raises(InputError, match="at most 50"):
        filters_of({"metadata": [f"n{number}=1" for number in range(51)]}, 0, "UTC")


def test_metadata_told_twice_is_one_pair_and_the_bad_one_is_named() -> None:
    assert filters_of({"metadata": ["a=1", "a=1", "b="]}, 0, "UTC").metadata == (("a", "1"), ("b", ""))
    with pytest.raises(InputError) as refusal:
        filters_of({"metadata": ["a=1", "a=1", "bad"]}, 0, "UTC")
    assert refusal.value.context["got"] == "bad"
