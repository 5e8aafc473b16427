"""What the best hits of a search bring to mind: over associations, then over triples, with the way there. Pure.

A neighbour gets `activation * weight * 0.5`, over at most two edges, if that is at least 0.1 (memory.md, section 10).
Activation spreads breadth-first: a memory belongs to the least depth at which it is reached, and nothing comes back, so cycles end.
Of several paths of one depth the strongest counts, of equally strong ones the first by its ids: the order of hits and edges changes
nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

from engramlog_server.events.parameters import Parameters
from engramlog_server.projections.index.associations import AssociationIndex, Link
from engramlog_server.projections.laws.law import Floats
from engramlog_server.projections.laws.modes import Visibility
from engramlog_server.projections.memory.columns import Columns, KnownTriple, ReachedMemory
from engramlog_server.projections.memory.record import LEVELS
from engramlog_server.projections.shapes import Associated, Step
from engramlog_server.projections.views.query import ViewQuery, card, told_beside
from engramlog_server.projections.views.view import OwnerView

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


MOST_ACTIVATED = 50
"""How many memories beside the direct hits are considered."""
MOST_ASSOCIATED = 5


def brought_to_mind(
    asked: ViewQuery,
    query: str,
    seeds: Sequence[tuple[int, float]],
    shown: set[int],
    seen: Visibility,
    admits: Callable[[int], bool],
) -> list[Associated]:
    """What the best hits bring to mind and the results do not show: over associations, then over triples.

    `admits`: whether a row may be reached.
    """
    view, now, _ = asked
    over_edges = spread(seeds, view.associations, view.parameters, MOST_ACTIVATED, admits)
    over_triples = view.graph.walk(
        query,
        view.columns,
        view.parameters.spread_depth,
        MOST_ACTIVATED,
        hop=view.parameters.spread_decay,
        admits=_backed(view, seen),
    )
    told: dict[int, tuple[float, list[Step]]] = {}
    for way in over_edges:
        told[way.row] = (way.activation, path_told(view.columns, way))
    for reached in over_triples:
        if admits(reached.row) and reached.activation > told.get(reached.row, (0.0, []))[0]:
            told[reached.row] = (reached.activation, _triples_told(reached))
    rows = sorted((row for row in told if row not in shown), key=lambda row: (-told[row][0], -row))
    answer: list[Associated] = []
    for row in rows[:MOST_ASSOCIATED]:
        memory = view.columns.memories[row]
        reading = view.law.read(memory, now, view.parameters)
        answer.append(
            {
                **card(memory, LEVELS[int(seen.levels[row])]),
                **told_beside(view, memory),
                "activation": round(told[row][0], 6),
                "weight": round(reading.weight, 6),
                "path": told[row][1],
            }
        )
    return answer


def admits_shown(seen: Visibility) -> Callable[[int], bool]:
    """Whether a row may be reached: only what the mode shows."""
    return lambda row: bool(seen.shown[row])


def _backed(view: OwnerView, seen: Visibility) -> Callable[[KnownTriple], bool]:
    """Whether a shown memory backs a triple, itself or as a source of it: what only hidden ones say is not walked."""

    def admits(triple: KnownTriple) -> bool:
        heirs = (_heir(view.columns, memory_id) for memory_id in triple.backing)
        return any(row is not None and bool(seen.shown[row]) for row in heirs)

    return admits


def _heir(columns: Columns, memory_id: str) -> int | None:
    """The row of a memory, or of what it was merged into."""
    row = columns.row(memory_id)
    while row is not None and (into := columns.memories[row].merged_into) is not None:
        row = columns.row(into)
    return row


def path_told(columns: Columns, way: Activated) -> list[Step]:
    """The way of an activation, edge by edge."""
    return [
        {
            "from": columns.memories[start].id,
            "to": columns.memories[link.to_row].id,
            "link": link.link,
            "weight": round(link.weight, 6),
        }
        for start, link in zip(way.path, way.links, strict=False)
    ]


def _triples_told(reached: ReachedMemory) -> list[Step]:
    return [
        {"from": triple.subject, "to": triple.object, "link": triple.predicate, "negation": triple.negation}
        for triple in reached.path
    ]
