"""The frame of a picture of curves: the box where they are drawn, its scales, and its axes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import pairwise
from math import ceil, floor
from typing import NamedTuple
from xml.etree.ElementTree import Element

from api.pictures.look import Look
from api.pictures.svg import group, line, number, write
from api.pictures.text import width
from api.pictures.ticks import Tick, time_ticks, weight_step

TICK_LETTERS = 11
_BELOW = 38
"""Height of the dates under the lanes."""


class Frame(NamedTuple):
    """A box in pixels, and what its sides stand for."""

    left: float
    top: float
    right: float
    bottom: float
    gutter: float
    """Where texts on the right begin."""
    edge: float
    start: datetime
    end: datetime
    low: float
    high: float
    row: float
    """Height of a lane."""
    lanes: int

    def x(self, at: datetime) -> float:
        """Where an instant stands."""
        return self.left + (at - self.start) / (self.end - self.start) * (self.right - self.left)

    def y(self, weight: float) -> float:
        """Where a weight stands."""
        return self.bottom - (weight - self.low) / (self.high - self.low) * (self.bottom - self.top)

    @property
    def floor(self) -> float:
        """Where the lanes end."""
        return self.bottom + (8 + self.row * self.lanes if self.lanes else 0)

    def scales(self) -> dict[str, str]:
        """What a page needs to map a pointer to an instant and a weight."""
        box = " ".join(map(number, (self.left, self.top, self.right - self.left, self.bottom - self.top)))
        return {
            "data_plot": box,
            "data_x_from": spelled_instant(self.start),
            "data_x_to": spelled_instant(self.end),
            "data_y_from": f"{self.low:g}",
            "data_y_to": f"{self.high:g}",
        }


def spelled_instant(at: datetime) -> str:
    """An instant in UTC as answers spell it."""
    return at.isoformat().replace("+00:00", "Z")


def frame_of(
    look: Look,
    start: datetime,
    end: datetime,
    weights: tuple[float, float],
    texts: Sequence[str],
    lanes: int,
    lower: float = 0.0,
) -> Frame:
    """The frame for a span of time and of weights; `texts` stand on the right, `lower` is what a longer title takes."""
    narrow = look.is_narrow
    edge, row = (12, 18) if narrow else (20, 20)
    top = (64 if narrow else 70) + lower
    lanes = min(lanes, most_lanes(look, row))
    bottom = look.height - _BELOW - (8 + row * lanes if lanes else 0)
    beside = max((width(one, 12 if narrow else 13, bold=True) for one in texts), default=0.0)
    gutter = look.width - min(max(beside, 96 if not narrow else 72) + 8, 0.34 * look.width)
    step = weight_step(weights[1] - weights[0], max(int((bottom - top) / 44), 2))
    low, high = floor(weights[0] / step + 1e-9) * step, ceil(weights[1] / step - 1e-9) * step
    left = edge + 8 + max(width(weight_text(one, step), TICK_LETTERS) for one in (low, high))
    return Frame(left, top, gutter - 22, bottom, gutter, edge, start, end, low, high, row, lanes)


def most_lanes(look: Look, row: float) -> int:
    """How many lanes have room without taking the curves' own."""
    return max(int(0.32 * look.height / row), 1)


def weight_text(weight: float, step: float) -> str:
    """A weight at a tick."""
    return f"{weight:.{max(0, -floor_log(step))}f}"


def floor_log(step: float) -> int:
    """The decimal place of a step."""
    return int(f"{step:e}".partition("e")[2])


def draw_weight_axis(picture: Element, frame: Frame, look: Look) -> None:
    """Faint lines at round weights, and their figures on the left."""
    held = group(picture, "axis weights")
    step = weight_step(frame.high - frame.low, max(int((frame.bottom - frame.top) / 44), 2))
    for place in range(round((frame.high - frame.low) / step) + 1):
        weight = frame.low + place * step
        tick = group(held, "tick", data_weight=f"{weight:g}")
        y = frame.y(weight)
        is_zero = abs(weight) < step / 2
        line(tick, frame.left, y, frame.right, y, look.colours.rule if is_zero else look.colours.grid, stroke_width=1)
        text = weight_text(0.0 if is_zero else weight, step)
        write(tick, text, frame.left - 8, y + 4, TICK_LETTERS, look.colours.pale, anchor="end")


def draw_time_axis(picture: Element, frame: Frame, look: Look) -> None:
    """Faint lines at round instants through curves and lanes, and dates below."""
    most = int((frame.right - frame.left) / (46 if look.is_narrow else 64))
    ticks = time_ticks(frame.start, frame.end, most, look.language)
    while most > 1 and not _apart(ticks, frame, look):
        most -= 1
        ticks = time_ticks(frame.start, frame.end, most, look.language)
    held = group(picture, "axis times")
    below = _that_fit(ticks, frame, look)
    for tick in ticks:
        x = frame.x(tick.at)
        made = group(held, "tick", data_at=spelled_instant(tick.at))
        line(made, x, frame.top, x, frame.floor + 4, look.colours.grid, stroke_width=1)
        for text, down in ((tick.text, 17), (tick.below if tick in below else "", 31)):
            if text:
                at = _held(x, text, look)
                write(made, text, at, frame.floor + down, TICK_LETTERS, look.colours.pale, anchor="middle")


def _held(x: float, text: str, look: Look) -> float:
    """The middle of a text moved into the picture."""
    half = width(text, TICK_LETTERS) / 2
    return min(max(x, half + 2), look.width - half - 2)


def _apart(ticks: Sequence[Tick], frame: Frame, look: Look) -> bool:
    """Whether no tick's text meets that of the next one."""
    spans = [(_held(frame.x(one.at), one.text, look), width(one.text, TICK_LETTERS) / 2) for one in ticks]
    return all(at + half + 1 <= other - its for (at, half), (other, its) in pairwise(spans))


def _that_fit(ticks: Sequence[Tick], frame: Frame, look: Look) -> list[Tick]:
    """The ticks whose larger unit has room beside that of the next one."""
    fitting: list[Tick] = []
    free = float(look.width)
    for tick in reversed(ticks):
        if not tick.below:
            continue
        half = width(tick.below, TICK_LETTERS) / 2
        at = _held(frame.x(tick.at), tick.below, look)
        if at + half + 4 <= free:
            fitting.append(tick)
            free = at - half
    return fitting
