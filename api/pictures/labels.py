"""PictureRoom for letters: boxes that must not meet each other, and the best free place for a label. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


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
