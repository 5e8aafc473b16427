"""Places of the nodes and labels of a map: clusters apart, associated nodes near, labels over nothing. Without chance."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import sqrt
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
_ROUNDS = 6
"""Tries to leave each hull as much room as it needs: more room makes all smaller."""
_MOST_ACROSS, _MOST_DOWN = 260.0, 170.0
"""Pixels of the distance between two nodes, at the most: a few nodes are not scattered over the whole picture."""


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

    @property
    def width(self) -> float:
        """From left to right."""
        return self.right - self.left

    @property
    def height(self) -> float:
        """From top to bottom."""
        return self.bottom - self.top


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
    clusters: Sequence[Sequence[int]], pairs: Pairs, strengths: Sequence[float], room: Box, reach: float = 0.0
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
    local = np.zeros((count, 2))
    for number, members in enumerate(clusters):
        local[list(members)] = _within(members, of, pairs, strengths) * inner[number]
    beyond = 0.5
    for _ in range(_ROUNDS if len(clusters) <= 120 else 1):
        places = _packed(inner + beyond, ties)[of] + local
        low, high = places.min(axis=0) - 0.3, places.max(axis=0) + 0.3
        stretch = np.minimum(np.array([room.width, room.height]) / (high - low), (_MOST_ACROSS, _MOST_DOWN))
        if beyond * stretch.min() >= reach + 1:
            break
        beyond = 1.1 * (reach + 2) / float(stretch.min())
    centre = np.array(room.middle)
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


def around(x: float, y: float, width: float, height: float) -> Box:
    """A box with its middle."""
    return Box(x - width / 2, y - height / 2, x + width / 2, y + height / 2)


class TakenRoom:
    """What of a picture is taken."""

    def __init__(self, within: Box, boxes: Iterable[Box] = ()) -> None:
        self._within = within
        self._boxes: Floats = np.array(list(boxes), dtype=np.float64).reshape(-1, 4)

    def take(self, box: Box) -> None:
        """It is taken from here on."""
        self._boxes = np.vstack([self._boxes, box])

    def best(self, boxes: Sequence[Box]) -> Box | None:
        """The first that lies within the picture, and on nothing that is taken; None where none does."""
        return next((one for one in boxes if self._is_free(one)), None)

    def _is_free(self, box: Box) -> bool:
        within, (left, top, right, bottom) = self._within, self._boxes.T
        met = (box.left < right) & (left < box.right) & (box.top < bottom) & (top < box.bottom)
        inside = box.left >= within.left and box.top >= within.top
        return inside and box.right <= within.right and box.bottom <= within.bottom and not met.any()


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
