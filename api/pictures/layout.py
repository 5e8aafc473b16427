"""Where things stand in a picture of a graph: nodes by forces, labels where there is room. Pure, and without chance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

_GOLDEN_ANGLE = 2.399963
_STEPS = 120
_FIRST_STEP, _LAST_STEP = 0.15, 0.002
"""How far a node may move in a step, of the radius of the whole picture."""
_GRAVITY = 0.6


def place_nodes(count: int, pairs: Sequence[tuple[int, int]], strengths: Sequence[float]) -> Floats:
    """Places of `count` nodes as rows (x, y) within [0, 1], by the forces of Fruchterman and Reingold (1991).

    Nodes repel each other, pairs attract by their strength, and all are drawn to the middle, so that a node or a group
    without an association stays in the picture. Nodes start on a spiral in their order: the same graph gives the same
    picture. Takes time and memory by the square of `count`.
    """
    turns = np.arange(count) * _GOLDEN_ANGLE
    places = np.sqrt((np.arange(count) + 0.5) / max(count, 1))[:, None] * np.column_stack(
        [np.cos(turns), np.sin(turns)]
    )
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


def _within_one(places: Floats) -> Floats:
    """Stretched to [0, 1] on both axes; what has no extent stands in the middle."""
    if not len(places):
        return places
    low, high = places.min(axis=0), places.max(axis=0)
    extent = high - low
    return np.where(extent > 1e-9, (places - low) / np.maximum(extent, 1e-9), 0.5)


class Spot(NamedTuple):
    """A node that wants a label: its place, its radius, and the width of the label, in one unit."""

    x: float
    y: float
    radius: float
    width: float


def place_labels(
    spots: Sequence[Spot], height: float, size: tuple[float, float], kept: int = 0
) -> list[tuple[float, float] | None]:
    """The middle of each node's label: below, above, right or left of the node, else None.

    Earlier nodes choose first; a label hides no node, no other label, and stays within `size` (width, height). The
    first `kept` have one in any case.
    """
    nodes = np.array([(s.x - s.radius, s.y - s.radius, s.x + s.radius, s.y + s.radius) for s in spots]).reshape(-1, 4)
    taken = np.empty((0, 4))
    middles: list[tuple[float, float] | None] = []
    for number, spot in enumerate(spots):
        boxes = [_box(middle, spot.width, height) for middle in _middles(spot, height)]
        free = (box for box in boxes if _inside(box, size) and not _meets(box, nodes) and not _meets(box, taken))
        unlabelled = (box for box in boxes if number < kept and _inside(box, size) and not _meets(box, taken))
        last = _held(boxes[0], size) if number < kept else None
        box = next(free, None) or next(unlabelled, None) or last
        middles.append(box and ((box[0] + box[2]) / 2, (box[1] + box[3]) / 2))
        taken = np.vstack([taken, box]) if box else taken
    return middles


Box = tuple[float, float, float, float]


def _middles(spot: Spot, height: float) -> list[tuple[float, float]]:
    up, across = spot.radius + 1 + height / 2, spot.radius + 2 + spot.width / 2
    return [(spot.x, spot.y - up), (spot.x, spot.y + up), (spot.x + across, spot.y), (spot.x - across, spot.y)]


def _box(middle: tuple[float, float], width: float, height: float) -> Box:
    x, y = middle
    return (x - width / 2, y - height / 2, x + width / 2, y + height / 2)


def _inside(box: Box, size: tuple[float, float]) -> bool:
    return box[0] >= 0 and box[1] >= 0 and box[2] <= size[0] and box[3] <= size[1]


def _held(box: Box, size: tuple[float, float]) -> Box:
    """The box moved into the picture."""
    right, up = max(0.0, -box[0]) - max(0.0, box[2] - size[0]), max(0.0, -box[1]) - max(0.0, box[3] - size[1])
    return (box[0] + right, box[1] + up, box[2] + right, box[3] + up)


def _meets(box: Box, others: Floats) -> bool:
    low, high = np.maximum(others[:, :2], box[:2]), np.minimum(others[:, 2:], box[2:])
    return bool((low < high).all(axis=1).any())
