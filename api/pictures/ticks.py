"""Where axes have ticks and what stands there: instants in UTC by the length of the span, and round weights. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from math import ceil, floor, log10
from typing import NamedTuple

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
