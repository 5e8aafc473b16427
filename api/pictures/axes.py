"""Box, scales and axes of a picture of curves, with ticks at round instants and weights."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from math import ceil, floor, log10
from typing import NamedTuple
from xml.etree.ElementTree import Element

from engramlog_server.api.pictures.look import Look
from engramlog_server.api.pictures.svg import group, line, number, write
from engramlog_server.api.pictures.text import width

_SECOND = timedelta(seconds=1)
_DAY = timedelta(days=1)
_WEEKDAY = datetime(2024, 1, 1, tzinfo=UTC)
"""A Monday, from which days are counted."""
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_FINE = tuple(timedelta(seconds=step) for step in (1, 2, 5, 15, 30, 60, 120, 300, 900, 1800, 3600, 10800, 21600, 43200))
_DAYS = tuple(timedelta(days=step) for step in (1, 2, 7, 14))
_MONTH_STEPS = (1, 3, 6, 12, 24, 60, 120, 240, 600, 1200, 2400, 6000, 12000)


class Tick(NamedTuple):
    """An instant, what is written there, and below it the larger unit where it begins."""

    at: datetime
    text: str
    below: str


def time_ticks(start: datetime, end: datetime, most: int, language: str) -> list[Tick]:
    """At most so many ticks from `start` to `end`, at round instants; both ends where the span is under two seconds."""
    most = max(most, 2)
    for instants, told in _ways(start, end, most, language):
        found = list(instants)
        if 2 <= len(found) <= most or (found and len(found) <= most and end - start >= _DAY):
            return _below(found, told, language)
    return [Tick(one, f"{one:%H:%M:%S.%f}", day_name(one, language)) for one in dict.fromkeys((start, end))]


def _ways(
    start: datetime, end: datetime, most: int, language: str
) -> Iterator[tuple[Iterator[datetime], Callable[[datetime], str]]]:
    """Ticks from the closest on; those that would be far too many are passed over."""
    span = end - start
    for step in _FINE:
        if span <= step * (most + 1):
            yield _stepped(start, end, step), (_to_second if step < 60 * _SECOND else _to_minute)
    for step in _DAYS:
        if span <= step * (most + 1):
            yield _stepped(start, end, step), lambda one: day_and_month(one, language)
    for months in _MONTH_STEPS:
        if span <= _DAY * 31 * months * (most + 1):
            yield _monthly(start, end, months), (_month(language) if months < 12 else _year(language))


def _stepped(start: datetime, end: datetime, step: timedelta) -> Iterator[datetime]:
    at = _WEEKDAY + ceil((start - _WEEKDAY) / step) * step
    while at <= end:
        yield at
        try:
            at += step
        except OverflowError:
            return


def _monthly(start: datetime, end: datetime, months: int) -> Iterator[datetime]:
    number = ceil((start.year * 12 + start.month - 1) / months) * months
    while number // 12 <= end.year:
        at = datetime(number // 12, number % 12 + 1, 1, tzinfo=UTC)
        if at > end:
            return
        if at >= start:
            yield at
        number += months


def _below(found: list[datetime], told: Callable[[datetime], str], language: str) -> list[Tick]:
    """Each with the day below it where a day begins, or the year where a year does, and the first with what it is in."""
    ticks: list[Tick] = []
    before = ""
    texts = [told(one) for one in found]
    is_time = ":" in texts[0]
    for at, text in zip(found, texts, strict=True):
        larger = day_name(at, language) if is_time else year_name(at, language)
        ticks.append(Tick(at, text, larger if larger not in (before, text) else ""))
        before = larger
    return ticks


def _to_second(at: datetime) -> str:
    return f"{at:%H:%M:%S}"


def _to_minute(at: datetime) -> str:
    return f"{at:%H:%M}"


def _month(language: str) -> Callable[[datetime], str]:
    return lambda at: f"{at.month}月" if language == "zh" else _MONTHS[at.month - 1]


def _year(language: str) -> Callable[[datetime], str]:
    return lambda at: year_name(at, language)


def year_name(at: datetime, language: str) -> str:
    """The year of an instant."""
    return f"{at.year}年" if language == "zh" else f"{at.year}"


def day_and_month(at: datetime, language: str) -> str:
    """The day of an instant without its year."""
    return f"{at.month}月{at.day}日" if language == "zh" else f"{at.day} {_MONTHS[at.month - 1]}"


def day_name(at: datetime, language: str) -> str:
    """The day of an instant."""
    if language == "zh":
        return f"{at.year}年{at.month}月{at.day}日"
    return f"{at.day} {_MONTHS[at.month - 1]} {at.year}"


def instant_name(at: datetime, language: str) -> str:
    """An instant to the minute."""
    return f"{day_name(at, language)} {at:%H:%M}"


def weight_step(span: float, most: int) -> float:
    """The least round step (1, 2 or 5 of a power of ten) of which at most so many fit into a span."""
    raw = span / max(most, 1)
    power = 10.0 ** floor(log10(raw))
    return next(factor * power for factor in (1.0, 2.0, 5.0, 10.0) if factor * power >= raw * (1 - 1e-9))


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
