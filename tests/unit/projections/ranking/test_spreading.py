"""Spreading activation: the worked paths, what ends them, and which of several counts (seed 004, section 5.3)."""

from __future__ import annotations

import pytest

from engramlog_server.events.parameters import DEFAULTS, Parameters
from engramlog_server.projections.memory.record import Memory
from engramlog_server.projections.ranking.rankings import Activated, spread
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


@each_row(("weight", "reached"), [(0.2, {"b"}), (0.19, set()), (0.2 - 1e-10, set())])
def test_under_a_tenth_nothing_is_reached(weight, reached) -> None:
    assert set(spreading(("a", "b", weight))) == reached


def test_the_five_best_hits_spread() -> None:
    edges = [(seed, seed.upper(), 1.0) for seed in "abcdef"]
    relevances = {"f": 0.9, "a": 0.5, "b": 0.6, "c": 0.7, "d": 0.8, "e": 1.0}
    assert set(spreading(*edges, seeds=relevances, limit=10)) == set("BCDEF")


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
