"""What the hits of a search bring to mind, over associations and over triples, and the way there."""

from __future__ import annotations

from engramlog_server.projections.laws.modes import MODES
from engramlog_server.projections.ranking.rankings import MOST_ASSOCIATED
from engramlog_server.projections.views.view import OwnerView
from tests.given.events import created, deleted, linked, merged, negated, purged
from tests.given.views import brought, fact, noted, viewed, way
from tests.rows import each_row

# --- what the hits bring to mind


def star(*weights: float) -> OwnerView:
    """One hit, `kiln`, with a neighbour for each weight."""
    names = [f"n{number}" for number in range(len(weights))]
    edges = [linked("kiln", name, weight=weight) for name, weight in zip(names, weights, strict=True)]
    return viewed(noted("The kiln broke", "kiln"), *(noted(f"quiet {name}", name) for name in names), *edges)


def test_at_most_five_come_to_mind_the_most_activated_first() -> None:
    told = brought(star(0.3, 0.9, 0.5, 1.0, 0.7, 0.4, 0.8), "kiln")
    assert MOST_ASSOCIATED == 5
    assert {name: one["activation"] for name, one in told.items()} == {
        "n3": 0.5,
        "n1": 0.45,
        "n6": 0.4,
        "n4": 0.35,
        "n2": 0.25,
    }
    assert way(told["n3"]) == [("kiln", "semantic", "n3")]


LANDS = (
    created("Ada speaks", "speaks", category="fact"), created("Home is Lyon", "home", category="fact"),
    created("A city of rivers", "rivers", category="fact"), fact("Ada", "lives in", "Lyon", "home"),
    fact("Lyon", "has", "two rivers", "rivers"),
)  # fmt: skip


def test_triples_bring_to_mind_over_two_steps_at_a_half_each() -> None:
    told = brought(viewed(*LANDS), "What about Ada?")
    assert {name: one["activation"] for name, one in told.items()} == {"home": 0.5, "rivers": 0.25}
    assert told["rivers"]["path"] == [
        {"from": "Ada", "to": "Lyon", "link": "lives in", "negation": False},
        {"from": "Lyon", "to": "two rivers", "link": "has", "negation": False},
    ]


@each_row("mode", ["normal", "review"])
@each_row("hiding", [(deleted("home"),), (deleted("home"), purged("home"))], ids=["deleted", "purged"])
def test_a_triple_without_backing_is_not_walked(hiding, mode) -> None:
    assert brought(viewed(*LANDS, *hiding), "Ada", mode=mode) == {}


def test_what_only_a_superseded_memory_says_is_neither_told_nor_walked() -> None:
    events = (*LANDS, negated("home", 0, resolution="latest_wins"))
    assert brought(viewed(*events), "Ada") == {}
    assert list(brought(viewed(*events), "Ada", mode="review")) == ["home", "rivers"]
    again = (created("Still Lyon", "still", 1, category="fact"), fact("Ada", "lives in", "Lyon", "still"))
    assert list(brought(viewed(*events, *again), "Ada")) == ["still", "rivers"]


def test_a_triple_of_memories_that_merged_is_walked_while_their_merge_stands() -> None:
    joined = (created("Lyon is home", "too", category="fact"), merged("home", "too", into="both", summary="Home: Lyon"))
    assert list(brought(viewed(*LANDS, *joined), "Ada")) == ["rivers"]
    assert brought(viewed(*LANDS, *joined, deleted("both")), "Ada") == {}
    assert brought(viewed(*LANDS, *joined, negated("both", 0, resolution="latest_wins")), "Ada") == {}


def test_what_is_reached_both_ways_is_told_by_the_stronger() -> None:
    weaker, stronger = (
        brought(viewed(*LANDS, linked("speaks", "home", weight=weight)), "Ada")["home"] for weight in (0.5, 1.0)
    )
    assert (weaker["activation"], way(weaker)) == (0.5, [("Ada", "lives in", "Lyon")])
    assert (stronger["activation"], way(stronger)) == (0.5, [("speaks", "semantic", "home")])


@each_row("mode", MODES)
def test_a_secret_backs_nothing_that_is_told(mode) -> None:
    events = [created("Home is Lyon", "home", sensitivity=3) if told is LANDS[1] else told for told in LANDS]
    assert brought(viewed(*events), "Ada", mode=mode) == {}
