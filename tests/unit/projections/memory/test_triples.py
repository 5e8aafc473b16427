"""Triples with the memories that back them, walks over them, and what a search reaches by way of them."""

from __future__ import annotations

from typing import Any

from events.catalogue import FactAsserted, FactRetracted
from projections.memory.columns import Columns
from projections.memory.triples import Graph, KnownTriple, ReachedMemory, triples_of
from projections.ranking.recall import search
from projections.ranking.search_request import SearchRequest
from projections.views.query import ViewQuery
from projections.views.view import OwnerView
from tests.given.events import (
    Story,
    Told,
    at,
    created,
    deleted,
    folded,
    memory,
    merged,
    negated,
    purged,
    restored,
    revised,
    unmerged,
)
from tests.rows import each_row

SECRET = "my password is hunter2-Xq9!"


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


def test_any_number_of_memories_back_one_triple() -> None:
    story = memory.given(*(created(of=f"m{number}") for number in range(30)))
    story = story.given(*(fact("Ada", "likes", "coffee", f"m{number}", day=number) for number in range(30)))
    assert held(story) == {"Ada likes coffee": tuple(sorted(f"m{number}" for number in range(30)))}


def test_a_triple_holds_while_any_memory_backs_it_and_goes_with_the_last() -> None:
    assert held(TWO) == {RAMEN: ("m", "n")}
    one_gone = TWO.given(deleted("m", day=2))
    assert held(one_gone) == {RAMEN: ("n",)}
    assert held(one_gone.given(deleted("n", day=3))) == {}


def test_what_a_deletion_took_away_comes_back_with_the_restoration() -> None:
    gone = TWO.given(deleted("m", day=2), deleted("n", day=3))
    assert held(gone.given(restored("n", day=4))) == {RAMEN: ("n",)}
    assert held(gone.given(restored("n", day=4), restored("m", day=5))) == held(TWO)


def test_a_purge_takes_the_backing_away_for_good() -> None:
    story = TWO.given(deleted("m", day=2), purged("m", day=40, due=32))
    assert held(story) == {RAMEN: ("n",)}
    assert held(story.given(restored("m", day=41))) == {RAMEN: ("n",)}


def test_a_retraction_takes_away_what_it_names_and_nothing_else() -> None:
    assert held(TWO.given(unfact("主人", "喜欢", "拉面", "n", day=2))) == {RAMEN: ("m",)}
    assert held(TWO.given(unfact("主人", "喜欢", "寿司", "n", day=2))) == held(TWO)
    assert held(TWO.given(unfact("主人", "喜欢", "拉面", "n", day=2, negation=True))) == held(TWO)


def test_a_statement_and_its_negation_are_two_triples() -> None:
    story = TWO.given(fact("主人", "喜欢", "拉面", "m", day=2, negation=True))
    assert held(story) == {RAMEN: ("m", "n"), "主人 not 喜欢 拉面": ("m",)}


def test_a_secret_memory_backs_nothing_that_is_told() -> None:
    assert held(memory.given(created(SECRET), fact("Ada", "uses", "hunter2"))) == {}
    later = memory.given(created(), fact("Ada", "uses", "coffee"), revised(SECRET, day=2))
    assert held(later) == {}


def test_sources_of_a_merge_still_back_and_fall_with_the_merge() -> None:
    story = TWO.given(merged("m", "n", into="all", day=2))
    assert held(story) == {RAMEN: ("m", "n")}
    assert held(story.given(deleted("all", day=3))) == {}
    assert held(story.given(deleted("all", day=3), restored("all", day=4))) == held(TWO)
    assert held(story.given(unmerged("all", day=3))) == held(TWO)


def test_what_was_superseded_still_backs_what_it_said() -> None:
    assert held(TWO.given(negated("m", day=2, resolution="latest_wins"))) == {RAMEN: ("m", "n")}


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


def test_triples_come_by_subject_predicate_and_object_whatever_the_order_of_events() -> None:
    facts = [
        fact("Bo", "likes", "tea"),
        fact("Ada", "likes", "tea"),
        fact("Ada", "hates", "tea"),
        fact("Ada", "hates", "milk"),
    ]
    expected = ["Ada hates milk", "Ada hates tea", "Ada likes tea", "Bo likes tea"]
    for order in (facts, facts[::-1]):
        assert list(held(memory.given(created(), *order))) == expected


def test_an_unknown_memory_backs_nothing() -> None:
    assert held(memory.given(created(), fact("Ada", "likes", "tea", "nobody"))) == {}


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


@each_row("entity", ["ramen shop", "RAMEN  Shop", " Ramen\tSHOP "])
def test_an_entity_is_looked_up_whatever_its_case_and_spaces(entity: str) -> None:
    found = Graph(triples_of(columns_of(KITCHEN))).about(entity)
    assert [one.text for one in found] == ["Bo cooks at ramen shop", "Ramen Shop lies in New York"]


def test_nothing_is_known_about_what_no_triple_names() -> None:
    assert Graph(triples_of(columns_of(KITCHEN))).about("寿司") == []


# --- walks ----------------------------------------------------------------------------------------------------------


def test_a_walk_reaches_the_memories_behind_triples_with_the_way_there() -> None:
    assert reached(KITCHEN, "主人") == [
        ("m", 0.5, ["主人 喜欢 拉面"]),
        ("shop", 0.25, ["主人 喜欢 拉面", "拉面 卖于 一兰"]),
    ]


def test_triples_are_walked_in_both_directions() -> None:
    assert reached(KITCHEN, "东京有什么？") == [
        ("tokyo", 0.5, ["一兰 位于 东京"]),
        ("shop", 0.25, ["一兰 位于 东京", "拉面 卖于 一兰"]),
    ]


@each_row(("depth", "ids"), [(1, ["m"]), (2, ["m", "shop"]), (3, ["m", "shop", "tokyo"]), (9, ["m", "shop", "tokyo"])])
def test_a_walk_goes_as_deep_as_it_may(depth: int, ids: list[str]) -> None:
    assert [one[0] for one in reached(KITCHEN, "主人", depth=depth)] == ids


def test_each_step_halves_the_activation_and_a_memory_keeps_its_nearest_way() -> None:
    story = KITCHEN.given(fact("一兰", "位于", "东京", "m"))
    found = {memory_id: (activation, len(path)) for memory_id, activation, path in reached(story, "主人", depth=3)}
    assert found == {"m": (0.5, 1), "shop": (0.25, 2), "tokyo": (0.125, 3)}


def test_a_cycle_ends_and_a_triple_about_itself_is_one_step() -> None:
    story = memory.given(
        *(created(of=name) for name in "abcd"),
        fact("x", "to", "y", "a"),
        fact("y", "to", "z", "b"),
        fact("z", "to", "x", "c"),
        fact("x", "is", "x", "d"),
    )
    assert [(one[0], one[1]) for one in reached(story, "x", depth=9)] == [
        ("a", 0.5),
        ("c", 0.5),
        ("d", 0.5),
        ("b", 0.25),
    ]


def test_of_memories_reached_alike_the_first_ids_are_given() -> None:
    story = memory.given(*(created(of=name) for name in "cab"), fact("Ada", "likes", "tea", "c", "a", "b"))
    assert [one[0] for one in reached(story, "what does Ada drink?", limit=2)] == ["a", "b"]


def test_a_query_that_names_no_entity_walks_nowhere() -> None:
    assert reached(KITCHEN, "what is the weather like?") == []


def test_what_a_deleted_memory_alone_backed_is_no_way_any_more() -> None:
    assert reached(KITCHEN.given(deleted("m", day=1)), "主人") == []


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


def test_what_the_results_show_already_is_not_told_again() -> None:
    assert associated(SHOP, "主人 热汤") == []
    assert associated(SHOP, "主人 热汤", limit=1) != []


def test_a_search_reaches_nothing_that_its_mode_withholds() -> None:
    faded = SHOP.given(negated("soup", day=1, resolution="latest_wins"))
    assert associated(faded, "主人爱什么") == []
    assert [one[0] for one in associated(faded, "主人爱什么", "review")] == ["soup"]
    assert associated(SHOP.given(deleted("soup", day=1)), "主人爱什么", "review") == []


def test_a_view_that_follows_changes_walks_over_the_triples_of_now() -> None:
    before, after = folded(*SHOP.events), folded(*SHOP.given(unfact("拉面", "卖于", "一兰", "soup", day=1)).events)
    view = OwnerView.of_history("ada", before)
    asked = ViewQuery(view, at(3), "normal")
    assert len(search(asked, "主人爱什么", 5, SearchRequest(associations=True))["associated"]) == 1
    view.follow(after.owner, [after.memories["soup"]])
    assert search(asked, "主人爱什么", 5, SearchRequest(associations=True))["associated"] == []
