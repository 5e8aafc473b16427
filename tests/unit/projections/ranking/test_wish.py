"""Filters of a search: each lets through what it names and nothing else."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from engramlog_server.events.errors import InputError
from engramlog_server.projections.choices import RANKINGS
from engramlog_server.projections.ranking.search_request import Filter, Filters, filters_of
from tests.given.events import Told, at, created
from tests.given.views import found, viewed
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


def test_metadata_is_bounded() -> None:
    with pytest.raises(InputError, match="at most 50"):
        filters_of({"metadata": [f"n{number}=1" for number in range(51)]}, 0, "UTC")


def test_metadata_told_twice_is_one_pair_and_the_bad_one_is_named() -> None:
    assert filters_of({"metadata": ["a=1", "a=1", "b="]}, 0, "UTC").metadata == (("a", "1"), ("b", ""))
    with pytest.raises(InputError) as refusal:
        filters_of({"metadata": ["a=1", "a=1", "bad"]}, 0, "UTC")
    assert refusal.value.context["got"] == "bad"


def test_a_secret_is_found_by_no_metadata() -> None:
    view = viewed(*NOTED)
    weights = np.ones(len(view.columns.memories))
    row = next(row for row, memory in enumerate(view.columns.memories) if memory.id == "s")
    assert Filter(view, Filters(kinds=("preference",)), weights).passes(row)
    assert not Filter(view, Filters(metadata=(("page", "4"),)), weights).passes(row)
