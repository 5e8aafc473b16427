"""Which memories stand on a map, and which of their links: no more than can be read, the most strongly connected. Pure.

Around a topic: the best hits, then step by step what is most strongly joined with those that are there. What a memory counts
is 1 - product over its links of (1 - what the other counts * weight), so that several links count more than one. Of a
whole owner: the strongest memories that are shown, and of these so many from each of the circles that they form.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from math import ceil
from typing import NamedTuple

from engramlog_server.projections.checks import Check
from engramlog_server.projections.reports.mapping.links import MapLink, MapLinks

LEAST_HIT = 0.4
"""A hit stands on a map of its own if its score is this share of the best one's."""
BEST_EDGES = 5
"""An edge is told if it is among the best of both its ends, or the best of one."""
POOL = 8
"""An overview is chosen among so many times as many memories as it has nodes at the most."""
MOST_POOL = 2_000
CIRCLES = 8
"""An overview shows so many circles of memories, where there are enough."""


class ChosenNodes(NamedTuple):
    """Steps from what was asked for by row, in the order in which they were chosen; whether there was more; weaker links."""

    depths: dict[int, int]
    truncated: bool
    weaker: int


def around(links: MapLinks, hits: Sequence[tuple[int, float]], depth: int, least: float, most: int) -> ChosenNodes:
    """The hits, best first, each with what it counts (0 to 1), and what is joined with them in so many steps."""
    own = dict(hits)
    first = hits[: ceil(most / 3)]
    values, depths = dict(first), {row: 0 for row, _ in first}
    left: dict[int, tuple[float, int]] = {row: (value, 0) for row, value in hits[len(first) :]}
    frontier, weaker = list(depths), 0
    for step in range(1, depth + 1):
        found, weak = links.beyond(frontier, least)
        weaker += weak
        reached = _counting(found, frontier, values, own)
        ranked = sorted((row for row in reached if row not in depths), key=lambda row: (-reached[row], -row))
        free = most - len(depths)
        room = free if step == depth else ceil(free * 2 / 3)
        frontier = ranked[:room]
        for row in frontier:
            left.pop(row, None)
            values[row], depths[row] = reached[row], 0 if row in own else step
        for row in ranked[room:]:
            known = left.get(row, (0.0, step))
            left[row] = max(known[0], reached[row]), known[1]
        if not frontier:
            break
    spare = sorted(left, key=lambda row: (-left[row][0], -row))
    for row in spare[: most - len(depths)]:
        depths[row] = left.pop(row)[1]
    return ChosenNodes(dict(sorted(depths.items(), key=lambda one: one[1])), bool(left), weaker)


def _counting(
    found: Iterable[MapLink], frontier: Sequence[int], values: Mapping[int, float], own: Mapping[int, float]
) -> dict[int, float]:
    """What each row counts that links lead to from the frontier."""
    begun, apart = set(frontier), dict[int, float]()
    for one in found:
        for here, there in ((one.a, one.b), (one.b, one.a)):
            if here in begun and there not in begun:
                apart[there] = apart.get(there, 1 - own.get(there, 0.0)) * (1 - values[here] * one.weight)
    return {row: 1 - rest for row, rest in apart.items()}


def overview(
    links: MapLinks, strongest: Sequence[int], least: float, most: int, total: int, check: Check
) -> ChosenNodes:
    """The circles of the strongest memories, each begun with the one that is joined most. `total`: how many could be shown."""
    found = links.among(strongest)
    strong = best_edges([one for one in found if one.weight >= least])
    places = {row: place for place, row in enumerate(strongest)}
    joined: dict[int, dict[int, float]] = defaultdict(dict)
    for one in strong:
        joined[one.a][one.b] = joined[one.b][one.a] = one.weight
    circles = [one for one in communities(list(strongest), strong, check) if len(one) > 1]
    orders = [_from_the_middle(one, joined, places) for one in circles]
    chosen = _in_turn(orders[:CIRCLES], most) or []
    for order in orders[CIRCLES:]:
        chosen += order[: most - len(chosen)]
    inside = set(chosen)
    alone = [row for row in strongest if row not in inside]
    chosen += alone[: max(0, most - len(chosen))]
    return ChosenNodes(dict.fromkeys(chosen, 0), total > len(chosen), sum(one.weight < least for one in found))


def _in_turn(orders: Sequence[Sequence[int]], most: int) -> list[int]:
    """Of each in turn its next, until there are enough."""
    longest = max(map(len, orders), default=0)
    turns = [order[at] for at in range(longest) for order in orders if at < len(order)]
    return turns[:most]


def _from_the_middle(
    circle: Iterable[int], joined: Mapping[int, Mapping[int, float]], places: Mapping[int, int]
) -> list[int]:
    """A circle's rows: the most joined, then each time the one most joined with those before it; of equals the stronger memory."""
    inside = set(circle)
    towards = {row: sum(w for other, w in joined[row].items() if other in inside) for row in inside}
    order, waiting = list[int](), set(inside)
    while waiting:
        row = min(waiting, key=lambda one: (-towards[one], places[one]))
        if not order:
            towards = dict.fromkeys(inside, 0.0)
        order.append(row)
        waiting.discard(row)
        for other, weight in joined[row].items():
            if other in waiting:
                towards[other] += weight
    return order


def best_edges(links: Iterable[MapLink]) -> list[MapLink]:
    """The links that are among the best of both their ends, or the best of one, in order of rows."""
    ranks: dict[int, int] = defaultdict(int)
    kept = []
    for one in sorted(links, key=lambda link: (-link.weight, -len(link.reasons), link.a, link.b)):
        a, b = ranks[one.a], ranks[one.b]
        ranks[one.a] += 1
        ranks[one.b] += 1
        if max(a, b) < BEST_EDGES or min(a, b) == 0:
            kept.append(one)
    return sorted(kept, key=lambda link: (link.a, link.b))


def communities(rows: Sequence[int], links: Sequence[MapLink], check: Check) -> list[list[int]]:
    """Louvain communities, the largest first; the same for the same rows and links."""
    import networkx as nx  # noqa: PLC0415 - a tenth of a second that no other question needs

    graph = nx.Graph()
    graph.add_nodes_from(sorted(rows))
    graph.add_weighted_edges_from(sorted((one.a, one.b, one.weight) for one in links))
    if not rows:
        return []
    found: list[set[int]] = []
    for number, partition in enumerate(nx.community.louvain_partitions(graph, seed=0), 1):
        check(number, len(rows))
        found = partition
    return sorted((sorted(community) for community in found), key=lambda community: (-len(community), community))
