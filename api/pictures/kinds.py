"""Kinds of events on a picture of curves: their order, colours and shapes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import cos, pi, sin
from typing import Any

from api.pictures.colours import BLUE, GREEN, GREY, ORANGE, PINK, RED, SKY, YELLOW
from api.pictures.svg import path_of

Points = tuple[tuple[float, float], ...]


def _polygon(corners: int, turn: float = -0.25, inner: float = 1.0) -> Points:
    """Corners on a circle, from the upper one on; every second one nearer to the middle where `inner` says so."""
    angles = [2 * pi * (corner / corners + turn) for corner in range(corners)]
    return tuple(
        (cos(one) * (inner if number % 2 else 1.0), sin(one) * (inner if number % 2 else 1.0))
        for number, one in enumerate(angles)
    )


def _cross(turn: float) -> Points:
    """A cross with arms as wide as a third of it."""
    arm = ((1.0, -0.35), (1.0, 0.35), (0.35, 0.35), (0.35, 1.0))
    corners = [
        (x * cos(a) - y * sin(a), x * sin(a) + y * cos(a)) for a in (0, pi / 2, pi, 1.5 * pi) for x, y in arm[:3]
    ]
    return tuple((x * cos(turn) - y * sin(turn), x * sin(turn) + y * cos(turn)) for x, y in corners)


_UP, _DOWN, _LEFT = _polygon(3), _polygon(3, 0.25), _polygon(3, 0.5)
_DIAMOND, _SQUARE, _PENTAGON, _HEXAGON = _polygon(4), _polygon(4, 0.125), _polygon(5), _polygon(6)
_STAR, _DISC, _PLUS, _TIMES = _polygon(10, inner=0.45), _polygon(16), _cross(0), _cross(pi / 4)

DECISIONS: Mapping[str, tuple[str, Points]] = {
    "create": (GREEN, _DISC),
    "mention": (BLUE, _UP),
    "reinforce": (BLUE, _UP),
    "access": (GREY, _DIAMOND),
    "negate": (RED, _DOWN),
    "reaffirm": (SKY, _PLUS),
    "revise": (ORANGE, _HEXAGON),
    "merge": (PINK, _DIAMOND),
    "compress": (PINK, _SQUARE),
    "promote": (ORANGE, _STAR),
    "restore": (GREEN, _LEFT),
    "delete": (RED, _TIMES),
    "purge": (GREY, _TIMES),
    "erase": (GREY, _TIMES),
}
"""Fill and shape of a kind of decision; others are yellow pentagons."""
_OTHER = (YELLOW, _PENTAGON)


def kind_of(event: Mapping[str, Any]) -> str:
    """The decision of an event, else its type."""
    return str(event.get("decision") or event["event"])


def lane_order(kinds: Iterable[str]) -> list[str]:
    """The different kinds, in the order of DECISIONS, others last."""
    known = list(DECISIONS)
    return sorted(set(kinds), key=lambda kind: (known.index(kind) if kind in DECISIONS else len(known), kind))


def fill_of(kind: str) -> str:
    """The colour of a kind."""
    return DECISIONS.get(kind, _OTHER)[0]


def shape_of(kind: str, x: float, y: float, radius: float) -> str:
    """The path of a kind's shape around a point."""
    return path_of((x + radius * dx, y + radius * dy) for dx, dy in DECISIONS.get(kind, _OTHER)[1]) + "Z"
