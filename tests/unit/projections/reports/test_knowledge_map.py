"""The knowledge map: centres, how far it goes, edges between its nodes only, clusters that are the same every time."""

from __future__ import annotations

from typing import Any

from engramlog_server.projections.choices import LEAST_WEIGHT
from engramlog_server.projections.laws.modes import MODES, Mode
from engramlog_server.projections.memory.record import SECRET
from engramlog_server.projections.reports.knowledge_map import CENTRES, LABEL, knowledge_map
from engramlog_server.projections.views.query import ViewQuery
from engramlog_server.projections.views.view import OwnerView
from tests.given.events import Told, accessed, at, created, deleted, linked, negated, parameters, purged
from tests.given.views import CHAIN, noted, viewed
from tests.rows import each_row


def mapped(view: OwnerView, topic: str, day: float = 0, mode: Mode = "normal", **how: Any) -> dict[str, Any]:
    """The map of a topic on a day."""
    return knowledge_map(ViewQuery(view, at(day), mode), topic, **how)


def depths(answer: dict[str, Any]) -> dict[str, int]:
    """Steps from a centre by memory."""
    return {node["id"]: node["depth"] for node in answer["nodes"]}


def quiet(*names: str) -> list[Told]:
    """Memories that share nothing, not even a word."""
    return [noted(f"silent {name}", name) for name in names]


# --- centres and steps


def test_the_centres_are_the_five_best_hits() -> None:
    view = viewed(*(noted("kiln " * (number + 1), f"m{number}") for number in range(8)))
    answer = mapped(view, "kiln")
    assert [node["id"] for node in answer["nodes"] if node["is_center"]] == ["m7", "m6", "m5", "m4", "m3"]
    assert sorted(depths(answer).items()) == [(f"m{number}", 0) for number in range(8)]  # the others match as well
    assert (CENTRES, answer["truncated"]) == (5, False)


@each_row(
    ("depth", "expected"),
    [
        (1, {"kiln": 0, "a": 1}), (2, {"kiln": 0, "a": 1, "b": 2}), (3, {"kiln": 0, "a": 1, "b": 2, "c": 3}),
        (4, {"kiln": 0, "a": 1, "b": 2, "c": 3, "d": 4}),
    ],
)  # fmt: skip
def test_it_goes_as_many_steps_as_are_asked_for(depth, expected) -> None:
    chain = [linked(one, other, weight=0.9) for one, other in ("ka", "ab", "bc", "cd", "de")]
    chain[0] = linked("kiln", "a", weight=0.9)
    view = viewed(noted("the kiln", "kiln"), *quiet(*"abcde"), *chain)
    answer = mapped(view, "kiln", depth=depth)
    assert (depths(answer), answer["depth"]) == (expected, depth)
    assert answer["truncated"] is False
    assert [node["id"] for node in answer["nodes"] if node["is_center"]] == ["kiln"]


@each_row(("weight", "reached"), [(0.3, {"kiln", "a"}), (0.29, {"kiln"})])
def test_weaker_associations_than_three_tenths_are_not_followed_unless_told(weight, reached) -> None:
    view = viewed(noted("the kiln", "kiln"), *quiet("a"), linked("kiln", "a", weight=weight))
    assert LEAST_WEIGHT == 0.3
    assert set(depths(mapped(view, "kiln"))) == reached
    assert set(depths(mapped(view, "kiln", least=0.0))) == {"kiln", "a"}
    assert set(depths(mapped(view, "kiln", least=1.0))) == {"kiln"}


@each_row(("shown", "topic"), [(True, "kiln"), (True, None), (False, "kiln"), (False, None)])
def test_what_only_its_age_hides_is_on_the_map_as_in_a_search(shown, topic) -> None:
    events = [*(noted(f"the kiln {name}", name) for name in "ab"), linked("a", "b", weight=0.9)]
    answer = mapped(viewed(*events, parameters(long_ago=shown)), topic, day=1_000)
    assert set(depths(answer)) == (set("ab") if shown else set())
    assert [one["words"] for one in answer["clusters"]] == ([["kiln"]] if shown else [])
    assert sum(one["count"] for one in answer["withheld"]) == (0 if shown else 2)


# --- the most nodes


def star(count: int) -> OwnerView:
    names = [f"n{number}" for number in range(count)]
    edges = [linked("kiln", name, weight=0.4 + number / 100) for number, name in enumerate(names)]
    return viewed(noted("the kiln", "kiln"), *quiet(*names), *edges)


@each_row(("most", "truncated"), [(1, True), (4, True), (6, False), (200, False)])
def test_it_says_whether_there_was_more_than_the_most_nodes(most, truncated) -> None:
    answer = mapped(star(5), "kiln", most=most)
    assert (len(answer["nodes"]), answer["truncated"]) == (min(most, 6), truncated)
    assert len(answer["edges"]) == min(most, 6) - 1


# --- clusters

TWO_CIRCLES = [
    *(noted(f"the kiln, {name}", name, keywords=["clay", name]) for name in ("a1", "a2", "a3")),
    *(noted(f"quiet, {name}", name, keywords=["glaze", name]) for name in ("b1", "b2", "b3", "b4")),
    *(linked(one, other, weight=0.9) for one, other in (("a1", "a2"), ("a2", "a3"), ("a1", "a3"))),
    *(linked(one, other, weight=0.9) for one, other in (("b1", "b2"), ("b2", "b3"), ("b3", "b4"), ("b1", "b4"))),
    linked("a1", "b1", weight=0.31),
]


def test_clusters_part_what_is_more_associated_with_itself_the_largest_first() -> None:
    answer = mapped(viewed(*TWO_CIRCLES), "kiln", depth=4)
    assert [cluster["members"] for cluster in answer["clusters"]] == [["b1", "b2", "b3", "b4"], ["a1", "a2", "a3"]]
    assert [cluster["id"] for cluster in answer["clusters"]] == [0, 1]
    assert [cluster["words"][0] for cluster in answer["clusters"]] == ["glaze", "clay"]
    assert {node["id"][0]: node["cluster"] for node in answer["nodes"]} == {"b": 0, "a": 1}


def test_the_same_memories_give_the_same_map_every_time() -> None:
    tangle = [noted("kiln", f"m{number}", keywords=[f"k{number % 4}", f"j{number % 3}"]) for number in range(30)]
    first = mapped(viewed(*tangle), "kiln", depth=3)
    assert len(first["clusters"]) > 1
    assert all(mapped(viewed(*tangle), "kiln", depth=3) == first for _ in range(5))


def test_the_words_of_a_cluster_are_spelled_as_somebody_spelled_them() -> None:
    edges = [linked("a", "b", weight=0.9), linked("b", "c", weight=0.9)]
    english = viewed(
        noted("The deployment failing", "a"), noted("Deployments", "b"), noted("deployments!", "c"), *edges
    )
    (cluster,) = mapped(english, "deployment")["clusters"]
    assert (cluster["words"][0], cluster["label"]) == ("deployment", " ".join(cluster["words"]))
    chinese = viewed(noted("部署失败", "a"), noted("部署成功", "b"), noted("重新部署", "c"), *edges)
    assert mapped(chinese, "部署")["clusters"][0]["words"][0] == "部署"
    mixed = viewed(noted("部署API, cafés", "a"), noted("部署API हिन्दी", "b"), linked("a", "b", weight=0.9))
    assert mapped(mixed, "部署")["clusters"][0]["words"] == ["api"]


# --- nodes


def test_a_node_tells_its_figures() -> None:
    view = viewed(
        created("我每天早上都要喝一杯咖啡，" * 5, "zh", kind="habit", confidence=0.9), accessed("zh", day=1, count=99)
    )
    (node,) = mapped(view, "咖啡", 30)["nodes"]
    assert node == {
        "id": "zh",
        "label": ("我每天早上都要喝一杯咖啡，" * 5)[: LABEL - 1] + "…",
        "kind": "habit",
        "confidence": 0.9,
        "consolidation": round(0.5 + 0.2 * 30 / 365 + 0.3 * 0.5, 6),
        "weight": round(1.3 / (1 + 0.01 * 30 / 1.3), 6),
        "depth": 0,
        "is_center": True,
        "cluster": None,
    }


# --- what is shown


HIDING = {
    "superseded": [negated("clay", 0, resolution="latest_wins")],
    "deleted": [deleted("clay")],
    "purged": [deleted("clay"), purged("clay")],
}


@each_row("hiding", HIDING.values(), ids=HIDING)
def test_nothing_is_shown_or_passed_through_that_normal_mode_withholds(hiding) -> None:
    view = viewed(*CHAIN, *hiding)
    assert list(depths(mapped(view, "kiln"))) == ["kiln"]
    assert "clay" not in depths(mapped(view, "clay late"))


@each_row("mode", MODES)
def test_a_secret_is_on_no_map(mode) -> None:
    events = [noted("Clay: the PIN is 4821", "clay", sensitivity=SECRET) if one is CHAIN[1] else one for one in CHAIN]
    for topic in ("kiln", "clay PIN 4821"):
        assert "clay" not in depths(mapped(viewed(*events), topic, mode=mode))
    assert list(depths(mapped(viewed(*events), "kiln", mode=mode))) == ["kiln"]
