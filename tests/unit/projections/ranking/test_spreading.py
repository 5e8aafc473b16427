"""Spreading activation: the worked paths, what ends them, and which of several counts (seed 004, section 5.3)."""

from __future__ import annotations

import pytest

from events.parameters import DEFAULTS, Parameters
from projections.memory.record import Memory
from projections.ranking.spreading import Activated, associative_score, spread
from tests.given.associated import half, index_of, memory, row_of, told
from tests.rows import each_row


def spreading(
    *edges: tuple[str, str, float],
    seeds: dict[str, float] | None = None,
    parameters: Parameters = DEFAULTS,
    limit: int = 5,
    but: str | None = None,
) -> dict[str, tuple[float, str]]:
    """Activation and path of what is reached over told edges, seed `a` unless told; `but`: a memory not admitted."""
    alone = [memory(name) for name in seeds or {} if not any(name in edge for edge in edges)]
    index = index_of([*told(*edges), *alone])
    rows = [(row_of(index, name), relevance) for name, relevance in (seeds or {"a": 1.0}).items()]
    found = spread(rows, index, parameters, limit, lambda row: index.id_of(row) != but)
    return {index.id_of(one.row): (one.activation, "".join(map(index.id_of, one.path))) for one in found}


def test_a_neighbour_gets_activation_times_weight_times_a_half() -> None:
    assert spreading(("a", "b", 0.8)) == {"b": (0.4, "ab")}


def test_the_next_one_gets_it_from_there() -> None:
    assert spreading(("a", "b", 0.8), ("b", "c", 0.6)) == {"b": (0.4, "ab"), "c": (pytest.approx(0.12), "abc")}


@each_row(("weight", "reached"), [(0.2, {"b"}), (0.19, set()), (0.2 - 1e-10, set())])
def test_under_a_tenth_nothing_is_reached(weight, reached) -> None:
    assert set(spreading(("a", "b", weight))) == reached


def test_what_is_just_enough_is_reached_however_quotients_are_rounded() -> None:
    assert 0.21 / (0.75 * 0.7) > 0.4
    assert 0.75 * 0.4 * 0.7 >= 0.21
    found = spreading(
        ("x", "y", 0.4), seeds={"a": 1.0, "x": 0.75}, parameters=Parameters(spread_decay=0.7, spread_least=0.21)
    )
    assert set(found) == {"y"}


def test_what_is_reached_too_weakly_is_dropped_at_the_second_hop_too() -> None:
    assert set(spreading(("a", "b", 0.8), ("b", "c", 0.5), ("b", "d", 0.49))) == {"b", "c"}


def test_two_hops_are_the_end() -> None:
    chain = [("a", "b", 1.0), ("b", "c", 1.0), ("c", "d", 1.0)]
    assert spreading(*chain) == {"b": (0.5, "ab"), "c": (0.25, "abc")}
    assert spreading(*chain, parameters=Parameters(spread_depth=3))["d"] == (0.125, "abcd")


def test_decay_and_the_least_activation_are_parameters() -> None:
    edges = [("a", "b", 0.8), ("b", "c", 0.6)]
    wider = spreading(*edges, parameters=Parameters(spread_decay=0.7))
    assert wider == {"b": (pytest.approx(0.56), "ab"), "c": (pytest.approx(0.2352), "abc")}
    assert set(spreading(*edges, parameters=Parameters(spread_least=0.2))) == {"b"}
    assert spreading(*edges, parameters=Parameters(spread_decay=0.0)) == {}


def test_activation_of_a_seed_is_its_share_of_the_best_relevance() -> None:
    found = spreading(("a", "b", 0.8), ("x", "y", 0.8), seeds={"a": 0.4, "x": 0.3})
    assert found == {"b": (pytest.approx(0.4), "ab"), "y": (pytest.approx(0.3), "xy")}


def test_the_five_best_hits_spread() -> None:
    edges = [(seed, seed.upper(), 1.0) for seed in "abcdef"]
    relevances = {"f": 0.9, "a": 0.5, "b": 0.6, "c": 0.7, "d": 0.8, "e": 1.0}
    assert set(spreading(*edges, seeds=relevances, limit=10)) == set("BCDEF")


def test_of_one_seed_told_twice_the_better_counts() -> None:
    index = index_of(told(("a", "b", 0.8), ("c", "d", 0.8)))
    a, c = row_of(index, "a"), row_of(index, "c")
    found = spread([(a, 0.2), (c, 1.0), (a, 0.5)], index, DEFAULTS)
    assert [one.activation for one in found] == [0.4, 0.2]


def test_seeds_are_not_returned_nor_those_that_do_not_spread() -> None:
    ring = [("a", "b", 1.0), ("b", "c", 1.0), ("c", "a", 1.0)]
    assert set(spreading(*ring, seeds={"a": 1.0, "b": 0.9})) == {"c"}
    assert set(spreading(*ring, seeds={"a": 1.0, "b": 0.0})) == {"c"}


@each_row("relevance", [0.0, -1.0])
def test_irrelevant_seeds_and_none_at_all_reach_nothing(relevance) -> None:
    assert spreading(("a", "b", 1.0), seeds={"a": relevance}) == {}
    assert spread([], index_of(told(("a", "b", 1.0))), DEFAULTS) == []
    assert spread([(99, 1.0)], index_of(told(("a", "b", 1.0))), DEFAULTS) == []


def test_cycles_end() -> None:
    ring = [("a", "b", 1.0), ("b", "c", 1.0), ("c", "a", 1.0)]
    endless = Parameters(spread_depth=5, spread_decay=1.0)
    assert spreading(*ring, parameters=endless) == {"b": (1.0, "ab"), "c": (1.0, "ac")}


def test_of_paths_of_one_length_the_strongest_counts() -> None:
    # First come by the order of the edges would be a-b-d: the seed's way.
    weak_first = [("a", "b", 0.9), ("b", "d", 0.5), ("a", "c", 0.8), ("c", "d", 1.0)]
    assert spreading(*weak_first)["d"] == (pytest.approx(0.2), "acd")
    assert spreading(("a", "d", 0.4), ("x", "d", 0.9), seeds={"a": 1.0, "x": 0.8})["d"] == (pytest.approx(0.36), "xd")


def test_a_shorter_path_counts_before_a_stronger_one() -> None:
    edges = [("a", "b", 1.0), ("b", "c", 1.0), ("x", "c", 0.8)]
    assert spreading(*edges, seeds={"a": 1.0, "x": 0.5})["c"] == (pytest.approx(0.2), "xc")


def test_a_path_that_is_too_weak_bars_no_longer_one() -> None:
    assert spreading(("a", "b", 1.0), ("b", "c", 1.0), ("a", "c", 0.1))["c"] == (0.25, "abc")


def test_of_equally_strong_paths_the_first_by_ids_counts() -> None:
    diamond = [("a", "c", 0.8), ("a", "b", 0.8), ("c", "d", 1.0), ("b", "d", 1.0)]
    assert spreading(*diamond)["d"] == (pytest.approx(0.2), "abd")
    assert spreading(*reversed(diamond))["d"] == (pytest.approx(0.2), "abd")


def test_the_most_activated_are_returned_in_order() -> None:
    star = [("a", name, weight) for name, weight in zip("bcdefg", (0.3, 0.9, 0.5, 0.5, 0.7, 0.4), strict=True)]
    assert list(spreading(*star)) == ["c", "f", "d", "e", "g"]
    assert list(spreading(*star, limit=2)) == ["c", "f"]


def test_nothing_spreads_through_what_is_not_admitted() -> None:
    assert spreading(("a", "b", 1.0), ("b", "c", 1.0), but="b") == {}
    assert spreading(("a", "b", 1.0), ("b", "c", 1.0), ("a", "c", 0.3), but="b") == {"c": (0.15, "ac")}


def test_what_is_reached_explains_itself() -> None:
    words = ("redis", "streams")
    memories: list[Memory] = [
        memory("a", *words, task="t", edges=(half("b", boost=0.05),)),
        memory("b", task="t", session="s", hours=1, edges=(half("a", boost=0.05),)),
        memory("c", session="s", hours=2, edges=(half("d", 0.9),)),
        memory("d", *words, hours=900, edges=(half("c", 0.9),)),
    ]
    index = index_of(memories)
    first, second, third = spread([(0, 0.8)], index, DEFAULTS)
    assert (first.row, first.activation, first.depth, first.path) == (3, 0.5, 1, (0, 3))
    assert [(link.link, link.weight) for link in first.links] == [("keyword", 1.0)]
    assert (second.row, second.activation, second.path) == (1, pytest.approx(0.275), (0, 1))
    assert [(link.link, link.base, link.boost) for link in second.links] == [("co-task", 0.5, 0.05)]
    assert (third.row, third.activation, third.depth, third.path) == (2, pytest.approx(0.225), 2, (0, 3, 2))
    assert [(link.link, link.weight) for link in third.links] == [("keyword", 1.0), ("semantic", 0.9)]
    assert isinstance(third, Activated)


@each_row(
    ("keyword", "activation", "strength", "expected"),
    [(1.0, 1.0, 100, 1.0), (1.0, 0.0, 100, 0.6), (0.0, 1.0, 100, 0.4), (0.5, 0.4, 61, 0.2806), (1.0, 1.0, 0, 0.0)],
)
def test_keywords_weigh_six_tenths_activation_four_and_strength_all(keyword, activation, strength, expected) -> None:
    assert associative_score(keyword, activation, strength) == pytest.approx(expected)
