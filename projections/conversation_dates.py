"""The days a question names, and how well a turn's day fits them. English and Chinese; pure: today is an argument."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from functools import cache
from itertools import pairwise
from math import exp
from typing import NamedTuple
from zoneinfo import ZoneInfo

import numpy as np
import numpy.typing as npt

from projections.laws.law import Floats

Instants = npt.NDArray[np.int64]
WEEK = 7
"""Days after the named one on which news of it may still be told."""


class Named(NamedTuple):
    """A day or a month that a question names; no year: any."""

    year: int | None
    month: int
    day: int | None


class DateShares(NamedTuple):
    """What a turn is worth whose day is not exactly the one named, 0 to 1."""

    month: float = 0.65
    """In the month that is named without a day."""
    week: float = 0.3
    """Up to a week after the named day: x e^(-days / 7)."""
    eve: float = 0.1
    """On the day before it."""
    relative: float = 0.5
    """Within the days meant by "last week"."""


_MONTH_NAMES = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = (
    "(january|february|march|april|may|june|july|august|september|october|november|december"
    "|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)"
)
_PATTERNS = (  # with the groups of year, month and day (0: none)
    (re.compile(r"\b(\d{4})[-/](\d{1,2})[-/](\d{1,2})\b"), (1, 2, 3)),
    (re.compile(rf"\b{_MONTH}\.? (\d{{1,2}})(?:st|nd|rd|th)?\b(?:,? {{0,2}}(\d{{4}}))?"), (3, 1, 2)),
    (re.compile(rf"\b(\d{{1,2}})(?:st|nd|rd|th)?(?: of)? {_MONTH}\b\.?(?:,? {{0,2}}(\d{{4}}))?"), (3, 2, 1)),
    (re.compile(rf"\b{_MONTH}\b,? (?:of )?(\d{{4}})"), (2, 1, 0)),
    (re.compile(rf"\b(?:in|during|of|since|by|early|late|mid|last|this) {_MONTH}\b"), (0, 1, 0)),
    (re.compile(r"(?:(\d{4})年)?\s{0,2}(\d{1,2})月份?\s{0,2}(?:(\d{1,2})[日号])?"), (1, 2, 3)),
)
_NUMBERS = {word: n for n, word in enumerate("one two three four five six seven eight nine ten".split(), 1)}  # noqa: SIM905 - reads better
_NUMBERS |= {word: n for n, word in enumerate("一二三四五六七八九十", 1)} | {"a": 1, "an": 1, "两": 2}
_AGO = re.compile(
    r"\b(\d{1,3}|a|an|one|two|three|four|five|six|seven|eight|nine|ten) (day|week|month)s? ago\b"
    r"|(\d{1,3}|[一二两三四五六七八九十])个?(天|周|星期|礼拜|月)(?:以)?前"
)
_UNIT_DAYS = {"d": 1, "天": 1, "w": 7, "周": 7, "星": 7, "礼": 7, "m": 30, "月": 30}
_BEFORE_YESTERDAY = re.compile(r"\bday before yesterday\b|前天")
_YESTERDAY = re.compile(r"\b(?:yesterday|last night)\b|昨[天晚日]")
_LAST_WEEK = re.compile(r"\blast week\b|上个?(?:周|星期|礼拜)(?![一二三四五六日天末])")
_LAST_WEEKEND = re.compile(r"\blast weekend\b|上周末")
_THIS_WEEK = re.compile(r"\bthis week\b|[这本]个?(?:周|星期)")
_LAST_MONTH = re.compile(r"\blast month\b|上个?月")
zone_named = cache(ZoneInfo)


def named_dates(question: str) -> tuple[list[Named], str]:
    """The days and months a case-folded question names, and the question without them."""
    found = []
    for pattern, (year, month, day) in _PATTERNS:
        for match in pattern.finditer(question):
            word = match[month]
            number = int(word) if word.isdigit() else _MONTH_NAMES.index(word[:3]) + 1
            of_year = int(match[year]) if year and match[year] else None
            of_month = int(match[day]) if day and match[day] else None
            if 1 <= number <= 12 and (of_month is None or 1 <= of_month <= 31):
                found.append(Named(of_year, number, of_month))
        question = pattern.sub(" ", question)
    return found, question


def relative_days(question: str, today: date) -> tuple[int, int] | None:
    """First and last day (ordinals) that a case-folded question means by "yesterday", "last week", "两天前"."""
    now = today.toordinal()
    monday, first = now - today.weekday(), today.replace(day=1)
    before = first - timedelta(days=1)
    spans = (
        (_BEFORE_YESTERDAY, (now - 2, now - 2)),
        (_YESTERDAY, (now - 1, now - 1)),
        (_LAST_WEEK, (monday - 7, monday - 1)),
        (_LAST_WEEKEND, (monday - 2, monday - 1)),
        (_THIS_WEEK, (monday, now)),
        (_LAST_MONTH, (before.replace(day=1).toordinal(), before.toordinal())),
    )
    for pattern, span in spans:
        if pattern.search(question):
            return span
    match = _AGO.search(question)
    if match is None:
        return None
    number, unit = match[1] or match[3], match[2] or match[4]
    count = int(number) if number.isdigit() else _NUMBERS[number]
    days = count * _UNIT_DAYS[unit[0]]
    return now - days - days // 4, now - days + days // 4


def date_fit(
    found: list[Named], span: tuple[int, int] | None, said_at: Instants, zone: str, shares: DateShares
) -> Floats:
    """How well each instant (microseconds since 1970) fits the days named, 0 to 1, in the time zone; shape (len(said_at),)."""
    fit = np.zeros(said_at.size)
    if not said_at.size:
        return fit
    for named in found:
        for year in [named.year] if named.year else _years(said_at):
            days, values = _steps(year, named.month, named.day, shares)
            np.maximum(fit, _stepwise(said_at, days, values, zone), out=fit)
    if span:
        np.maximum(fit, _stepwise(said_at, [span[0], span[1] + 1], [shares.relative], zone), out=fit)
    return fit


def _steps(year: int, month: int, day: int | None, shares: DateShares) -> tuple[list[int], list[float]]:
    """Days (ordinals) at which the value changes, and the values between them; none where there is no such day."""
    try:
        if day is None:
            following = date(year + month // 12, month % 12 + 1, 1)
            return [date(year, month, 1).toordinal(), following.toordinal()], [shares.month]
        on = date(year, month, day).toordinal()
    except ValueError:
        return [], []
    later = [shares.week * exp(-after / WEEK) for after in range(1, WEEK + 1)]
    return list(range(on - 1, on + WEEK + 2)), [shares.eve, 1.0, *later]


def _stepwise(said_at: Instants, days: list[int], values: list[float], zone: str) -> Floats:
    """`values[i]` from the beginning of `days[i]` to that of the next, else 0."""
    try:
        starts = [_start(day, zone) for day in days]
    except (ValueError, OverflowError):
        starts = []
    if not starts:
        return np.zeros(said_at.size)
    assert all(before <= after for before, after in pairwise(starts))
    return np.array([0.0, *values, 0.0])[np.searchsorted(starts, said_at, side="right")]


def _start(day: int, zone: str) -> int:
    begins = datetime.fromordinal(day).replace(tzinfo=zone_named(zone)).astimezone(UTC)
    return int((begins - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds()) * 1_000_000


def _years(said_at: Instants) -> list[int]:
    """The years in which something was said, in any time zone."""
    years = set((np.unique(said_at.astype("datetime64[us]").astype("datetime64[Y]")).astype(np.int64) + 1970).tolist())
    return sorted(years | {year + 1 for year in years} | {year - 1 for year in years})
