"""Triples with the memories that back them, walks over them, and what a search reaches by way of them."""

from __future__ import annotations

from typing import Any

from engramlog_server.events.catalogue import FactAsserted, FactRetracted
from engramlog_server.projections.memory.columns import Columns, Graph, KnownTriple, ReachedMemory, triples_of
from engramlog_server.projections.ranking.recall import search
from engramlog_server.projections.ranking.search_request import SearchRequest
from engramlog_server.projections.views.query import ViewQuery
from engramlog_server.projections.views.view import OwnerView
from tests.given.events import (
    Story,
    Told,
    at,
    created,
    deleted,
    folded,
    memory,
    merged,
    restored,
    unmerged,
)
from tests.rows import each_row


def fact(subject: str, predicate: str, object_: str, *evidence: str, day: float = 0, **data: Any) -> Told:
    """An assertion; the memory `m` backs it unless told otherwise."""
    told = FactAsserted(subject=subject, predicate=predicate, object=object_, evidence=evidence or ("m",), **data)
    return Told(told, day, "judge")


def unfact(subject: str, predicate: str, object_: str, *evidence: str, day: float = 0, **data: Any) -> Told:
    told = FactRetracted(subject=subject, predicate=predicate, object=object_, evidence=evidence or ("m",), **data)
    return Told(told, day, "judge")


def columns_of(story: Story) -> Columns:
    columns = Columns()
    columns.put_all(folded(*story.events).memories.values())
    return columns


def held(story: Story) -> dict[str, tuple[str, ...]]:
    """The triples that hold, as texts, with what backs them."""
    return {one.text: one.backing for one in triples_of(columns_of(story))}


def named(story: Story, query: str) -> list[str]:
    return Graph(triples_of(columns_of(story))).named_in(query)


def reached(story: Story, query: str, **asked: Any) -> list[tuple[str, float, list[str]]]:
    """Memories that a walk reaches: id, activation, texts of the triples on the way."""
    columns = columns_of(story)
    found: list[ReachedMemory] = Graph(triples_of(columns)).walk(query, columns, **asked)
    return [(columns.memories[one.row].id, one.activation, [step.text for step in one.path]) for one in found]


RAMEN = "主人 喜欢 拉面"
TWO = memory.given(
    created("主人喜欢拉面"), created("又去吃拉面了", of="n", day=1), fact("主人", "喜欢", "拉面", "m", "n", day=1)
)
"""Two memories behind one triple."""


# --- evidence -------------------------------------------------------------------------------------------------------


def test_a_triple_holds_while_any_memory_backs_it_and_goes_with_the_last() -> None:
    assert held(TWO) == {RAMEN: ("m", "n")}
    one_gone = TWO.given(deleted("m", day=2))
    assert held(one_gone) == {RAMEN: ("n",)}
    assert held(one_gone.given(deleted("n", day=3))) == {}


def test_a_retraction_takes_away_what_it_names_and_nothing_else() -> None:
    assert held(TWO.given(unfact("主人", "喜欢", "拉面", "n", day=2))) == {RAMEN: ("m",)}
    assert held(TWO.given(unfact("主人", "喜欢", "寿司", "n", day=2))) == held(TWO)
    assert held(TWO.given(unfact("主人", "喜欢", "拉面", "n", day=2, negation=True))) == held(TWO)


def test_sources_of_a_merge_still_back_and_fall_with_the_merge() -> None:
    story = TWO.given(merged("m", "n", into="all", day=2))
    assert held(story) == {RAMEN: ("m", "n")}
    assert held(story.given(deleted("all", day=3))) == {}
    assert held(story.given(deleted("all", day=3), restored("all", day=4))) == held(TWO)
    assert held(story.given(unmerged("all", day=3))) == held(TWO)


def test_degree_condition_and_time_are_those_of_the_newest_assertion_whoever_made_it() -> None:
    story = TWO.given(
        fact("主人", "喜欢", "拉面", "n", day=9, degree=0.4, condition="冬天"),
        fact("主人", "喜欢", "拉面", "m", day=5, degree=0.9, condition="always"),
    )
    assert triples_of(columns_of(story)) == [
        KnownTriple("主人", "喜欢", "拉面", False, 0.4, "冬天", at(9), ("m", "n")),
    ]
    without = story.given(deleted("n", day=10))
    assert [(one.degree, one.condition, one.at) for one in triples_of(columns_of(without))] == [(0.9, "always", at(5))]


# --- entities -------------------------------------------------------------------------------------------------------

KITCHEN = memory.given(
    created("主人最爱拉面"),
    created("The ramen shop is in New York", of="shop"),
    created("一兰在东京", of="tokyo"),
    created("Bo cooks at the ramen shop", of="bo"),
    fact("主人", "喜欢", "拉面"),
    fact("拉面", "卖于", "一兰", "shop"),
    fact("一兰", "位于", "东京", "tokyo"),
    fact("Ramen Shop", "lies in", "New York", "shop"),
    fact("Bo", "cooks at", "ramen shop", "bo"),
)
"""主人 - 拉面 - 一兰 - 东京 in Chinese, Bo - ramen shop - New York in English."""


@each_row(
    ("query", "entities"),
    [
        ("主人喜欢吃什么拉面？", ["主人", "拉面"]), ("拉麵和拉面", ["拉面"]), ("主要人员", []),
        ("Who cooks in the Ramen Shop?", ["ramen shop"]), ("ＲＡＭＥＮ ＳＨＯＰ", ["ramen shop"]), ("ramen", []),
        ("a shop in new york that sells ramen", ["new york", "ramen shop"]), ("", []), ("？！", []),
    ],
)  # fmt: skip
def test_an_entity_is_named_by_a_query_that_has_all_of_its_words(query: str, entities: list[str]) -> None:
    assert sorted(named(KITCHEN, query)) == sorted(entities)


def test_at_most_eight_entities_are_named_the_longest_first() -> None:
    names = ["red", "red green", *(f"word{number}" for number in range(10))]
    story = memory.given(created(), *(fact(name, "is", "known") for name in names))
    found = named(story, " ".join(names))
    assert (len(found), found[0]) == (8, "red green")


def test_nothing_is_known_about_what_no_triple_names() -> None:
    assert Graph(triples_of(columns_of(KITCHEN))).about("寿司") == []


# --- walks ----------------------------------------------------------------------------------------------------------


def test_a_walk_reaches_the_memories_behind_triples_with_the_way_there() -> None:
    assert reached(KITCHEN, "主人") == [
        ("m", 0.5, ["主人 喜欢 拉面"]),
        ("shop", 0.25, ["主人 喜欢 拉面", "拉面 卖于 一兰"]),
    ]


@each_row(("depth", "ids"), [(1, ["m"]), (2, ["m", "shop"]), (3, ["m", "shop", "tokyo"]), (9, ["m", "shop", "tokyo"])])
def test_a_walk_goes_as_deep_as_it_may(depth: int, ids: list[str]) -> None:
    assert [one[0] for one in reached(KITCHEN, "主人", depth=depth)] == ids


# --- search ---------------------------------------------------------------------------------------------------------


def associated(
    story: Story, query: str, mode: Any = "normal", limit: int = 5
) -> list[tuple[str, list[dict[str, Any]]]]:
    """What a search tells beside its results, with the way there."""
    view = OwnerView.of_history("ada", folded(*story.events))
    answer = search(ViewQuery(view, at(3), mode), query, limit, SearchRequest(associations=True))
    return [(one["id"], one["path"]) for one in answer["associated"]]


SHOP = memory.given(
    created("主人最爱的是它"),
    created("一碗热汤", of="soup", project="other", source="judge"),
    fact("主人", "喜欢", "拉面"),
    fact("拉面", "卖于", "一兰", "soup"),
)
STEPS = [
    {"from": "主人", "to": "拉面", "link": "喜欢", "negation": False},
    {"from": "拉面", "to": "一兰", "link": "卖于", "negation": False},
]


def test_a_search_shows_what_it_reached_over_triples_with_the_triples_on_the_way() -> None:
    assert associated(SHOP, "主人爱什么") == [("soup", STEPS)]


def test_a_view_that_follows_changes_walks_over_the_triples_of_now() -> None:
    before, after = folded(*SHOP.events), folded(*SHOP.given(unfact("拉面", "卖于", "一兰", "soup", day=1)).events)
    view = OwnerView.of_history("ada", before)
    asked = ViewQuery(view, at(3), "normal")
    assert len(search(asked, "主人爱什么", 5, SearchRequest(associations=True))["associated"]) == 1
    view.follow(after.owner, [after.memories["soup"]])
    assert search(asked, "主人爱什么", 5, SearchRequest(associations=True))["associated"] == []
