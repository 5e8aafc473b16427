"""Spreading activation: from the best direct hits along associations to what a question did not name.

Seed 004, sections 5.3 and 11.2; memory.md, section 10. A neighbour gets `activation * weight * 0.5`, over at most two
edges, and is reached if that is at least 0.1. As in the seed, activation spreads breadth-first: a memory belongs to the
least depth at which it is reached, and nothing comes back to where it has been, so cycles end. Unlike the seed, where the
first path found wins, the strongest of one depth does, and of equally strong ones the first by the ids along it: so the
answer depends neither on the order of the hits nor on that of the edges.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

from engramlog_server.events.parameters import Parameters
from engramlog_server.projections.index.associations import AssociationIndex, Link
from engramlog_server.projections.laws.law import Floats

MOST_SEEDS = 5
KEYWORD_SHARE, ACTIVATION_SHARE = 0.6, 0.4
_Number = TypeVar("_Number", float, Floats)


class Activated(NamedTuple):
    """A memory reached from a seed: activation in (0, 1], over `depth` edges.

    `path` has the rows from the seed to the memory, both included; `links` the edges followed, one fewer.
    """

    row: int
    activation: float
    depth: int
    path: tuple[int, ...]
    links: tuple[Link, ...]


def spread(
    seeds: Sequence[tuple[int, float]],
    index: AssociationIndex,
    parameters: Parameters,
    limit: int = 5,
    admits: Callable[[int], bool] = lambda _row: True,
) -> list[Activated]:
    """The `limit` most activated memories, strongest first, then the shallower, then by the ids along the path.

    `seeds` are (row, relevance) of direct hits, which are never returned; the 5 most relevant spread, with activation =
    relevance / best relevance. One of relevance 0 or less, or that is no member of the index, does not spread.
    `admits` tells which rows may be reached at all, e.g. those of the mode: nothing spreads through another.
    """
    reached = {row for row, _ in seeds}
    frontier = _seeded(seeds, index)
    found: list[Activated] = []
    for _ in range(parameters.spread_depth):
        frontier = _step(frontier, reached, index, parameters, admits)
        reached.update(one.row for one in frontier)
        found += frontier
    return sorted(found, key=lambda one: _order(one, index))[:limit]


def associative_score(keyword: _Number, activation: _Number, strength: _Number) -> _Number:
    """(0.6 keyword + 0.4 activation) * strength / 100: both in [0, 1], strength 0 to 100 (seed 004, section 11.2)."""
    return (KEYWORD_SHARE * keyword + ACTIVATION_SHARE * activation) * strength / 100


def _seeded(seeds: Sequence[tuple[int, float]], index: AssociationIndex) -> list[Activated]:
    relevances: dict[int, float] = {}
    for row, relevance in seeds:
        if row in index and relevance > relevances.get(row, 0.0):
            relevances[row] = relevance
    best = sorted(relevances, key=lambda row: (-relevances[row], index.id_of(row)))[:MOST_SEEDS]
    return [Activated(row, relevances[row] / relevances[best[0]], 0, (row,), ()) for row in best]


def _step(
    frontier: list[Activated],
    reached: set[int],
    index: AssociationIndex,
    parameters: Parameters,
    admits: Callable[[int], bool],
) -> list[Activated]:
    """What the frontier activates that is not reached yet: each memory once, by its strongest path."""
    best: dict[int, Activated] = {}
    for one in frontier:
        passed_on = one.activation * parameters.spread_decay
        if passed_on < parameters.spread_least:
            continue
        # A little under what is needed, as a quotient may be rounded up: the exact test is below.
        enough = parameters.spread_least / passed_on - 1e-9
        for link in index.neighbours(one.row, parameters, enough):
            row, activation = link.to_row, one.activation * link.weight * parameters.spread_decay
            if activation < parameters.spread_least:
                break
            if row in reached or not admits(row):
                continue
            new = Activated(row, activation, one.depth + 1, (*one.path, row), (*one.links, link))
            known = best.get(row)
            if known is None or _order(new, index) < _order(known, index):
                best[row] = new
    return list(best.values())


def _order(one: Activated, index: AssociationIndex) -> tuple[float, int, list[str]]:
    return -one.activation, one.depth, [index.id_of(row) for row in one.path]
