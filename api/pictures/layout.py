"""Places of the nodes and labels of a map: clusters apart, associated nodes near, labels over nothing. Without chance."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import pi, sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Pairs = Sequence[tuple[int, int]]

_GOLDEN_ANGLE = 2.399963
_STEPS = 120
_FIRST_STEP, _LAST_STEP = 0.15, 0.002
"""How far a node may move in a step, of the radius of the whole picture."""
_GRAVITY = 0.6
_TURNS = 16
"""Ways in which a cluster may be turned toward those that it is tied to."""
_ROUNDS = 6
"""Tries to leave each hull as much room as it needs: more room makes all smaller."""
_MOST_ACROSS, _MOST_DOWN = 260.0, 170.0
"""Pixels of the distance between two nodes, at the most: a few nodes are not scattered over the whole picture."""


class PictureRoom(NamedTuple):
    """A box in pixels."""

    left: float
    top: float
    width: float
    height: float


def place_nodes(count: int, pairs: Pairs, strengths: Sequence[float]) -> Floats:
    """Places of `count` nodes as rows (x, y) within [0, 1], by the forces of Fruchterman and Reingold (1991).

    Nodes repel each other, pairs attract by their strength, and all are drawn to the middle, so that a node or a group
    without an association stays in the picture. Nodes start on a spiral in their order: the same graph gives the same
    picture. Takes time and memory by the square of `count`.
    """
    places = _spiral(count)
    spacing = np.sqrt(np.pi / max(count, 1))
    ends = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    pulls = np.array(strengths, dtype=np.float64)
    for reach in np.linspace(_FIRST_STEP, _LAST_STEP, _STEPS):
        apart = places[:, None, :] - places[None, :, :]
        squared = np.maximum((apart**2).sum(axis=2), 1e-6)
        force = (apart * (spacing**2 / squared)[:, :, None]).sum(axis=1) - _GRAVITY * np.pi * places
        span = places[ends[:, 0]] - places[ends[:, 1]]
        span *= (np.sqrt((span**2).sum(axis=1)) / spacing * pulls)[:, None]
        np.add.at(force, ends[:, 0], -span)
        np.add.at(force, ends[:, 1], span)
        length = np.maximum(np.sqrt((force**2).sum(axis=1, keepdims=True)), 1e-9)
        places = places + force / length * np.minimum(length, reach)
    return _within_one(places)


def _spiral(count: int) -> Floats:
    turns = np.arange(count) * _GOLDEN_ANGLE
    outward = np.sqrt((np.arange(count) + 0.5) / max(count, 1))
    return np.asarray(outward[:, None] * np.column_stack([np.cos(turns), np.sin(turns)]))


def _within_one(places: Floats) -> Floats:
    """Stretched to [0, 1] on both axes; what has no extent stands in the middle."""
    if not len(places):
        return places
    low, high = places.min(axis=0), places.max(axis=0)
    extent = high - low
    return np.where(extent > 1e-9, (places - low) / np.maximum(extent, 1e-9), 0.5)


def place_clusters(
    clusters: Sequence[Sequence[int]], pairs: Pairs, strengths: Sequence[float], room: PictureRoom, reach: float = 0.0
) -> Floats:
    """Places in pixels of the nodes of disjoint clusters, which cover 0, 1, 2 and so on: no two clusters reach into each other.

    Each cluster is laid out in a circle, the circles are packed, those that are tied near each other, and all is stretched
    to the room. `reach`: how many pixels a cluster's hull goes beyond the middles of its nodes.
    """
    count = sum(map(len, clusters))
    if not count:
        return np.zeros((0, 2))
    of = np.empty(count, dtype=np.int64)
    for number, members in enumerate(clusters):
        of[list(members)] = number
    ties = _ties(of, pairs, strengths)
    inner = np.array([0.0 if len(members) == 1 else 0.62 * sqrt(len(members)) for members in clusters])
    insides = [_within(members, of, pairs, strengths) * inner[number] for number, members in enumerate(clusters)]
    beyond = 0.5
    for _ in range(_ROUNDS if len(clusters) <= 120 else 1):
        middles = _packed(inner + beyond, ties)
        local = np.zeros((count, 2))
        for members, inside in zip(clusters, insides, strict=True):
            local[list(members)] = inside
        _turn(clusters, of, pairs, strengths, middles, local)
        places = middles[of] + local
        low, high = places.min(axis=0) - 0.3, places.max(axis=0) + 0.3
        stretch = np.minimum(np.array([room.width, room.height]) / (high - low), (_MOST_ACROSS, _MOST_DOWN))
        if beyond * stretch.min() >= reach + 1:
            break
        beyond = 1.1 * (reach + 2) / float(stretch.min())
    centre = np.array([room.left + room.width / 2, room.top + room.height / 2])
    return np.asarray(centre + (places - (low + high) / 2) * stretch)


def _ties(of: npt.NDArray[np.int64], pairs: Pairs, strengths: Sequence[float]) -> dict[tuple[int, int], float]:
    """How strongly two clusters are tied, in all."""
    ties: dict[tuple[int, int], float] = {}
    for (one, other), strength in zip(pairs, strengths, strict=True):
        ends = int(min(of[one], of[other])), int(max(of[one], of[other]))
        if ends[0] != ends[1]:
            ties[ends] = ties.get(ends, 0.0) + strength
    return ties


def _within(members: Sequence[int], of: npt.NDArray[np.int64], pairs: Pairs, strengths: Sequence[float]) -> Floats:
    """Places of a cluster's members in the circle of radius 1."""
    if len(members) == 1:
        return np.zeros((1, 2))
    own = {node: place for place, node in enumerate(members)}
    number = of[members[0]]
    inner = [
        (own[one], own[other], strength)
        for (one, other), strength in zip(pairs, strengths, strict=True)
        if of[one] == number and of[other] == number
    ]
    square = place_nodes(len(own), [(one, other) for one, other, _ in inner], [pull for *_, pull in inner]) * 2 - 1
    return np.asarray(square * np.sqrt(1 - square[:, ::-1] ** 2 / 2), dtype=np.float64)


def _packed(radii: Floats, ties: dict[tuple[int, int], float]) -> Floats:
    """Middles of circles that do not overlap, near the middle of all, those that are tied near each other."""
    count = len(radii)
    middles = _spiral(count) * sqrt(float((radii**2).sum())) * 1.2
    ends = np.array(list(ties), dtype=np.int64).reshape(-1, 2)
    pulls = np.minimum(np.array(list(ties.values())), 1.0)
    steps, most = (260, 400) if count <= 120 else (40, 40)
    for step in range(steps):
        if step < steps * 0.8:
            span = middles[ends[:, 0]] - middles[ends[:, 1]]
            span *= (0.04 * pulls)[:, None]
            np.add.at(middles, ends[:, 0], -span)
            np.add.at(middles, ends[:, 1], span)
            middles *= 0.985
        middles = _pushed(middles, radii)
    for _ in range(most):
        before = middles
        middles = _pushed(middles, radii)
        if np.abs(middles - before).max() < 1e-6:
            break
    return middles


def _pushed(middles: Floats, radii: Floats) -> Floats:
    """Circles that overlap moved apart, each by half of it."""
    apart = middles[:, None, :] - middles[None, :, :]
    distance = np.maximum(np.sqrt((apart**2).sum(axis=2)), 1e-6)
    overlap = np.maximum(radii[:, None] + radii[None, :] - distance, 0.0)
    np.fill_diagonal(overlap, 0.0)
    return np.asarray(middles + (apart / distance[:, :, None] * (overlap * 0.51)[:, :, None]).sum(axis=1))


def _turn(
    clusters: Sequence[Sequence[int]],
    of: npt.NDArray[np.int64],
    pairs: Pairs,
    strengths: Sequence[float],
    middles: Floats,
    local: Floats,
) -> None:
    """Turn each cluster so that its members face those of other clusters that they are tied to; changes `local`."""
    across = [
        (one, other, pull) for (one, other), pull in zip(pairs, strengths, strict=True) if of[one] != of[other] and pull
    ]
    for number, members in enumerate(clusters):
        if len(members) < 2:
            continue
        ties = [(a, b, pull) if of[a] == number else (b, a, pull) for a, b, pull in across if number in (of[a], of[b])]
        if not ties:
            continue
        own, others = [a for a, *_ in ties], [b for _, b, _ in ties]
        aims = middles[of[others]] + local[others] - middles[number]
        weights = np.array([pull for *_, pull in ties])
        best = min(
            (_turned(turn, mirrored) for turn in range(_TURNS) for mirrored in (False, True)),
            key=lambda way: float((np.hypot(*(_own_at(way, local, own) - aims).T) * weights).sum()),
        )
        local[list(members)] = _own_at(best, local, list(members))


def _turned(turn: int, mirrored: bool) -> Floats:
    angle = 2 * pi * turn / _TURNS
    turning = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    return turning @ np.diag([-1.0 if mirrored else 1.0, 1.0])


def _own_at(way: Floats, local: Floats, nodes: Sequence[int]) -> Floats:
    """Places of nodes within their cluster, turned."""
    return np.asarray(local[list(nodes)] @ way.T)


def hull(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """The corners of the convex hull of points, in order (Andrew's monotone chain)."""
    ordered = sorted(set(points))
    if len(ordered) < 3:
        return ordered
    chains = []
    for chain_of in (ordered, ordered[::-1]):
        chain: list[tuple[float, float]] = []
        for point in chain_of:
            while len(chain) > 1 and _turns_right(chain[-2], chain[-1], point):
                chain.pop()
            chain.append(point)
        chains.append(chain[:-1])
    return chains[0] + chains[1]


def _turns_right(one: tuple[float, float], other: tuple[float, float], third: tuple[float, float]) -> bool:
    return (other[0] - one[0]) * (third[1] - one[1]) - (other[1] - one[1]) * (third[0] - one[0]) <= 0


class Box(NamedTuple):
    """Sides in pixels, y downward."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def middle(self) -> tuple[float, float]:
        """Its middle."""
        return (self.left + self.right) / 2, (self.top + self.bottom) / 2

    def meets(self, other: Box) -> bool:
        """Whether they have anything in common but a border."""
        return (
            self.left < other.right and other.left < self.right and self.top < other.bottom and other.top < self.bottom
        )


def around(x: float, y: float, width: float, height: float) -> Box:
    """A box with its middle."""
    return Box(x - width / 2, y - height / 2, x + width / 2, y + height / 2)


class TakenRoom:
    """What of a picture is taken; lines may be crossed, but are rather not."""

    def __init__(
        self, within: Box, boxes: Iterable[Box] = (), lines: Sequence[tuple[float, float, float, float]] = ()
    ) -> None:
        self._within = within
        self._boxes: Floats = np.array(list(boxes), dtype=np.float64).reshape(-1, 4)
        self._lines: Floats = np.array(list(lines), dtype=np.float64).reshape(-1, 4)

    def take(self, box: Box) -> None:
        """It is taken from here on."""
        self._boxes = np.vstack([self._boxes, box])

    def free(self, boxes: Floats) -> npt.NDArray[np.bool_]:
        """Of rows of boxes, which lie within the picture, and on nothing that is taken."""
        within = self._within
        inside = (boxes[:, :2] >= within[:2]).all(axis=1) & (boxes[:, 2:] <= within[2:]).all(axis=1)
        beside = boxes[:, None, :2] < self._boxes[None, :, 2:]
        before = self._boxes[None, :, :2] < boxes[:, None, 2:]
        met = np.any(np.all(beside & before, axis=2), axis=1)
        return np.asarray(inside & ~met, dtype=np.bool_)

    def crossed(self, box: Box) -> int:
        """How many lines pass through a box (Liang and Barsky)."""
        if not len(self._lines):
            return 0
        begin, span = self._lines[:, :2], self._lines[:, 2:] - self._lines[:, :2]
        safe = np.where(np.abs(span) < 1e-9, 1e-9, span)
        one, other = (np.array(box[:2]) - begin) / safe, (np.array(box[2:]) - begin) / safe
        enter = np.minimum(one, other).max(axis=1)
        leave = np.maximum(one, other).min(axis=1)
        return int(((enter <= leave) & (leave >= 0) & (enter <= 1)).sum())

    def best(self, boxes: Iterable[Box], most_crossed: int | None = None) -> Box | None:
        """The first free box that crosses the fewest lines, none at best; None where none is free."""
        places = list(boxes)
        if not places:
            return None
        found: tuple[int, Box] | None = None
        for at in np.flatnonzero(self.free(np.array(places, dtype=np.float64))):
            crossed = self.crossed(places[at])
            if crossed == 0:
                return places[at]
            if (most_crossed is None or crossed <= most_crossed) and (found is None or crossed < found[0]):
                found = crossed, places[at]
        return found[1] if found else None


def beside(x: float, y: float, radius: float, width: float, height: float) -> list[Box]:
    """Places for a label at a node: right, left, below, above, and aslant."""
    across, down = radius + 3 + width / 2, radius + 2 + height / 2
    aslant = 0.72 * radius + 2
    return [
        around(x + across, y, width, height),
        around(x - across, y, width, height),
        around(x, y + down, width, height),
        around(x, y - down, width, height),
        *(
            around(x + right * (aslant + width / 2), y + lower * (aslant + height / 2), width, height)
            for lower in (-1, 1)
            for right in (1, -1)
        ),
        *(around(x + right * (0.3 * width), y + lower * down, width, height) for lower in (1, -1) for right in (1, -1)),
    ]
