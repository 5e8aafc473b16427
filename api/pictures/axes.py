"""Box, scales and axes of a picture of curves, with ticks at round instants and weights."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from math import ceil, floor, log10
from typing import NamedTuple
from xml.etree.ElementTree import Element

from engramlog_server.api.pictures.look import Look
from engramlog_server.api.pictures.svg import group, line, number, write
from engramlog_server.api.pictures.text import width

_DAY = timedelta(days=1)
_WEEKDAY = datetime(2024, 1, 1, tzinfo=UTC)
"""A Monday, from which days are counted."""
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_SECONDS = (1, 2, 5, 15, 30, 60, 120, 300, 900, 1800, 3600, 10800, 21600, 43200, 86400, 172800, 604800, 1209600)
_STEPS: tuple[timedelta | int, ...] = (
    *(timedelta(seconds=one) for one in _SECONDS),
    *(1, 3, 6, 12, 24, 60, 120, 240, 600, 1200, 2400, 6000, 12000),
)
"""Between two ticks: up to two weeks as they are, beyond in months."""


class Tick(NamedTuple):
    """An instant, what is written there, and below it the larger unit where it begins."""

    at: datetime
    text: str
    below: str


def time_ticks(start: datetime, end: datetime, most: int, language: str) -> list[Tick]:
    """At most so many ticks from `start` to `end`, at round instants; both ends where the span is under two seconds."""
    span, most = end - start, max(most, 2)
    for step in _STEPS:
        about = step if isinstance(step, timedelta) else 31 * step * _DAY
        if span > about * (most + 1):
            continue
        found = list(_round_instants(start, end, step))
        if 2 <= len(found) <= most or (found and len(found) <= most and span >= _DAY):
            return _told(found, step, language)
    return [Tick(one, f"{one:%H:%M:%S.%f}", day_name(one, language)) for one in dict.fromkeys((start, end))]


def _round_instants(start: datetime, end: datetime, step: timedelta | int) -> Iterable[datetime]:
    if isinstance(step, timedelta):
        first = _WEEKDAY + ceil((start - _WEEKDAY) / step) * step
        return (first + place * step for place in range((end - first) // step + 1))
    begin = ceil((start.year * 12 + start.month - 1) / step) * step
    months = range(begin, end.year * 12 + end.month, step)
    found = (datetime(one // 12, one % 12 + 1, 1, tzinfo=UTC) for one in months)
    return (one for one in found if start <= one <= end)


def _told(found: list[datetime], step: timedelta | int, language: str) -> list[Tick]:
    """Each with the day below it where a day begins, or the year where a year does, and the first with what it is in."""
    ticks: list[Tick] = []
    before = ""
    is_time = isinstance(step, timedelta) and step < _DAY
    for at in found:
        text = _name(at, step, language)
        larger = day_name(at, language) if is_time else year_name(at, language)
        ticks.append(Tick(at, text, larger if larger not in (before, text) else ""))
        before = larger
    return ticks


def _name(at: datetime, step: timedelta | int, language: str) -> str:
    """An instant as a tick of such steps tells it."""
    if isinstance(step, timedelta):
        if step >= _DAY:
            return f"{at.month}月{at.day}日" if language == "zh" else f"{at.day} {_MONTHS[at.month - 1]}"
        return f"{at:%H:%M}" if step.seconds >= 60 else f"{at:%H:%M:%S}"
    if step >= 12:
        return year_name(at, language)
    return f"{at.month}月" if language == "zh" else _MONTHS[at.month - 1]


def year_name(at: datetime, language: str) -> str:
    """The year of an instant."""
    return f"{at.year}年" if language == "zh" else f"{at.year}"


def day_name(at: datetime, language: str) -> str:
    """The day of an instant."""
    if language == "zh":
        return f"{at.year}年{at.month}月{at.day}日"
    return f"{at.day} {_MONTHS[at.month - 1]} {at.year}"


def instant_name(at: datetime, language: str) -> str:
    """An instant to the minute."""
    return f"{day_name(at, language)} {at:%H:%M}"


LETTERS = 11
"""Size of a tick's letters."""
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
    step: float
    """Weight from tick to tick."""
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

    def weight(self, weight: float) -> str:
        """A weight at a tick."""
        return f"{weight:.{max(0, -floor(log10(self.step) + 1e-9))}f}"

    def scales(self) -> dict[str, str]:
        """What a page needs to map a pointer to an instant and a weight."""
        return {
            "data_plot": " ".join(map(number, (self.left, self.top, self.right - self.left, self.bottom - self.top))),
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
    span: tuple[datetime, datetime],
    weights: tuple[float, float],
    texts: Sequence[str],
    lanes: int,
    lower: float = 0.0,
) -> Frame:
    """The frame for a span of time and of weights; `texts` stand on the right, `lower` is what a longer title takes."""
    narrow = look.is_narrow
    edge, row = (12, 18) if narrow else (20, 20)
    top = (64 if narrow else 70) + lower
    lanes = min(lanes, max(int(0.32 * look.height / row), 1))  # lanes never take the curves' own room
    bottom = look.height - _BELOW - (8 + row * lanes if lanes else 0)
    beside = max((width(one, 12 if narrow else 13, bold=True) for one in texts), default=0.0)
    gutter = look.width - min(max(beside, 72 if narrow else 96) + 8, 0.34 * look.width)
    step = weight_step(weights[1] - weights[0], max(int((bottom - top) / 44), 2))
    low, high = floor(weights[0] / step + 1e-9) * step, ceil(weights[1] / step - 1e-9) * step
    found = Frame(0, top, gutter - 22, bottom, gutter, edge, *span, low, high, step, row, lanes)
    return found._replace(left=edge + 8 + max(width(found.weight(one), LETTERS) for one in (low, high)))


def weight_step(span: float, most: int) -> float:
    """The least round step (1, 2 or 5 of a power of ten) of which at most so many fit into a span."""
    raw = span / max(most, 1)
    power = 10.0 ** floor(log10(raw))
    return next(factor * power for factor in (1.0, 2.0, 5.0, 10.0) if factor * power >= raw * (1 - 1e-9))


def draw_weight_axis(picture: Element, frame: Frame, look: Look) -> None:
    """Faint lines at round weights, and their figures on the left."""
    held = group(picture, "axis weights")
    for place in range(round((frame.high - frame.low) / frame.step) + 1):
        weight = frame.low + place * frame.step
        is_zero = abs(weight) < frame.step / 2
        tick, y = group(held, "tick"), frame.y(weight)
        line(tick, frame.left, y, frame.right, y, look.colours.rule if is_zero else look.colours.grid, stroke_width=1)
        text = frame.weight(0.0 if is_zero else weight)
        write(tick, text, frame.left - 8, y + 4, LETTERS, look.colours.pale, anchor="end")


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
                at = sum(_ends(x, text, look)) / 2
                write(made, text, at, frame.floor + down, LETTERS, look.colours.pale, anchor="middle")


def _ends(x: float, text: str, look: Look) -> tuple[float, float]:
    """Where a text around a place begins and ends, moved into the picture."""
    half = width(text, LETTERS) / 2
    middle = min(max(x, half + 2), look.width - half - 2)
    return middle - half, middle + half


def _apart(ticks: Sequence[Tick], frame: Frame, look: Look) -> bool:
    """Whether no tick's text meets that of the next one."""
    ends = [_ends(frame.x(one.at), one.text, look) for one in ticks]
    return all(one[1] + 1 <= other[0] for one, other in pairwise(ends))


def _that_fit(ticks: Sequence[Tick], frame: Frame, look: Look) -> list[Tick]:
    """The ticks whose larger unit has room beside that of the next one."""
    fitting: list[Tick] = []
    free = float(look.width)
    for tick in reversed([one for one in ticks if one.below]):
        begin, end = _ends(frame.x(tick.at), tick.below, look)
        if end + 4 <= free:
            fitting.append(tick)
            free = begin
    return fitting
