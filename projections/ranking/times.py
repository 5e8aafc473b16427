"""The times that a question or a filter names: ranges of instants, and how well the time of a turn fits them. Pure.

What a phrase looks like and means is in `language.times`. A question without a time word costs microseconds. English and Chinese.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import pairwise
from math import exp
from typing import NamedTuple
from zoneinfo import ZoneInfo

import numpy as np
import numpy.typing as npt

from engramlog_server.events.envelope import from_micros, micros, utc_text
from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.times import calendar as cal
from engramlog_server.projections.language.times.calendar import BEGINNING, END, MASK, Kind, Phrase, Span, masked
from engramlog_server.projections.language.times.chinese import SIGNS, chinese, opened_by
from engramlog_server.projections.language.times.english import WORDS, english
from engramlog_server.projections.laws.law import Floats
from engramlog_server.projections.shapes import TimeNamed

Instants = npt.NDArray[np.int64]
WEEK = 7
"""Days after the named one on which news of it may still be told."""
MONTH = 31
"""Days up to which a span tells something of its days; a longer one tells less of each."""
MOST = 16
"""Time expressions of a question that are looked at, the first ones."""
RANGE_RULE = (
    "an RFC 3339 date-time with a zone, a date (2023-05-07), or a time in words, English or Chinese"
    " (last week, since June, between 3 May and 7 May, 上周三, 5月2号)"
)
"""What parse_range reads."""
DAY_RULE = "a day that is the same everywhere: 2023-05-07, or with its month's name, 7 May 2023"


class TimeRange(NamedTuple):
    """Instants [start, end), microseconds since 1970."""

    start: int
    end: int
    kind: Kind
    """How exact it was told."""


class QuestionTimes(NamedTuple):
    """What a question says of time."""

    text: str
    """The question as it was read, case-folded."""
    phrases: tuple[Phrase, ...]
    """Its first time expressions, in reading order."""
    now: int
    """When it was asked, microseconds since 1970."""
    zone: str


class DateShares(NamedTuple):
    """What a turn is worth whose day is not exactly the one named, 0 to 1."""

    month: float = 0.65
    """In the month that is named without a day."""
    week: float = 0.3
    """Up to a week after the named day: x e^(-days / 7)."""
    eve: float = 0.1
    """On the day before it."""
    relative: float = 0.5
    """Within the days meant by "last week". What is longer than a month, by whatever words, has a month's share of its share."""
    today: float = 0.05
    """On the day of the question: who says "today" mostly tells news, and does not ask for what was said before."""


zone_named = cache(ZoneInfo)
_LETTERS = regex("[a-z]+")
_NUMERIC = regex(r"\d[-/.]\d|\d{4}|\d(?:st|nd|rd|th)\b|\d0'?s\b|q\d")
_SPACE = regex(r"\s")
_DATE_TIME = regex(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?(?:[Zz]|[+-]\d\d:\d\d)")
_BARE_YEAR = regex(r"(?:19|20)\d\d")
_SLASHED = regex(r"0?(\d{1,2})/0?(\d{1,2})/(?:\d{4}|\d\d)")
_BEFORE = regex(r"(?:(?:in|on|at|during|over|within|from) ?)?(?:the )?|[在于]")
_FIRST, _LAST = micros(datetime.min.replace(tzinfo=UTC)), micros(datetime.max.replace(tzinfo=UTC))


def times_in(text: str, now: int, zone: str) -> tuple[QuestionTimes, str]:
    """The times that a case-folded text names, asked at `now`; and the text without the days and months it names."""
    in_english = not WORDS.isdisjoint(_LETTERS.findall(text)) or _NUMERIC.search(text) is not None
    in_chinese = not SIGNS.isdisjoint(text)
    if not in_english and not in_chinese:
        return QuestionTimes(text, (), now, zone), text
    today = _local(now, zone).date()
    even = _evened(text)
    phrases: list[Phrase] = []
    named: list[tuple[int, int]] = []
    if in_english:
        phrases, named = english(even, today)
        if in_chinese:  # 2022-03-05 之前
            phrases = [opened_by(even, phrase, phrase.at - 3, len(even), today) for phrase in phrases]
        even = masked(even, phrases)
    if in_chinese:
        more = chinese(even, today)
        phrases, named = sorted(phrases + more.phrases), named + more.named
    return QuestionTimes(text, tuple(phrases[:MOST]), now, zone), _without(text, named)


def parse_range(text: str, now: int, zone: str) -> TimeRange:
    """The range that a filter means: an instant (start == end), a date, or a time in words, seen from `now`, in the zone.

    Where it is open ("before April") it reaches to the first or last instant there is. Raises ValueError, which tells
    what is allowed.
    """
    asked = text.strip()
    if (instant := _instant(asked)) is not None:
        return TimeRange(instant, instant, "moment")
    if _BARE_YEAR.fullmatch(asked):
        asked = f"in {asked}"
    elif (
        (slashed := _SLASHED.fullmatch(asked)) and slashed[1] != slashed[2] and int(slashed[1]) <= 12 >= int(slashed[2])
    ):
        raise ValueError(f"{asked!r} is one day in America and another elsewhere; allowed: {DAY_RULE}")
    folded = asked.casefold()
    times, _ = times_in(folded, now, zone)
    if len(times.phrases) == 1:
        (phrase,) = times.phrases
        if _BEFORE.fullmatch(_evened(folded[: phrase.at])) and not folded[phrase.end :].strip(" .。"):
            return range_of(phrase.span, now, zone)
    raise ValueError(f"{asked[:60]!r} is no time; allowed: {RANGE_RULE}")


def told(times: QuestionTimes, question: str, within: tuple[int, int] | None = None) -> list[TimeNamed]:
    """What was understood: the words (`text`), from when and to when (RFC 3339 in the time zone; `to` is not included).

    `within`: the owner's first and last instant, microseconds since 1970, which bound what is open ("before April").
    """
    folded = _evened(question.casefold())
    lines: list[TimeNamed] = []
    for phrase in times.phrases:
        start, end, _ = range_of(phrase.span, times.now, times.zone)
        if within is not None and phrase.span.first == BEGINNING:
            start = min(within[0], end)
        if within is not None and phrase.span.after == END:
            end = max(start, within[1] + 1)
        words = times.text[phrase.at : phrase.end]
        place = folded.find(_evened(words))
        if place >= 0 and len(folded) == len(question):
            words = question[place : place + len(words)]
        lines.append({"text": words, "from": zoned_text(start, times.zone), "to": zoned_text(end, times.zone)})
    return lines


def range_of(span: Span, now: int, zone: str) -> TimeRange:
    """The instants of a span, in the time zone; `now` counts for what is told from it ("two hours ago")."""
    if span.minutes is None:
        return TimeRange(_start(span.first, zone), _start(span.after, zone), span.kind)
    first, last = span.minutes
    if span.kind == "moment":
        start, end = (min(max(now + one * 60_000_000, _FIRST), _LAST) for one in (first, last))
        return TimeRange(start, end, span.kind)
    return TimeRange(_start(span.first, zone, first), _start(span.first, zone, last), span.kind)


def date_fit(times: QuestionTimes, said_at: Instants, shares: DateShares) -> Floats:
    """How well each instant (microseconds since 1970) fits the times named, 0 to 1; shape (len(said_at),)."""
    fit = np.zeros(said_at.size)
    if not said_at.size:
        return fit
    first, last = (_local(int(one), times.zone).toordinal() for one in (said_at.min(), said_at.max()))
    for span in dict.fromkeys(span for phrase in times.phrases for span in phrase.fits):
        for one in (
            [cal.in_year(span, year) for year in _years(said_at)] if span.yearless else [_closed(span, first, last)]
        ):
            if one is not None:
                days, values = _steps(one, times, shares)
                np.maximum(fit, _stepwise(said_at, days, values, times.zone), out=fit)
    return fit


def _closed(span: Span, first: int, last: int) -> Span | None:
    """Where a span is open, it ends with the memories."""
    begins = first if span.first == BEGINNING else span.first
    after = last + 1 if span.after == END else span.after
    return span._replace(first=begins, after=after) if begins < after else None


def _steps(span: Span, times: QuestionTimes, shares: DateShares) -> tuple[list[int], list[float]]:
    """Days (ordinals) at which the value changes, and the values between them."""
    if span.kind == "moment":
        start, end, _ = range_of(span, times.now, times.zone)
        return [_local(start, times.zone).toordinal(), _local(end, times.zone).toordinal() + 1], [shares.relative]
    if span.kind == "day" and span.named:
        later = [shares.week * exp(-after / WEEK) for after in range(1, WEEK + 1)]
        return list(range(span.first - 1, span.first + WEEK + 2)), [shares.eve, 1.0, *later]
    today = _local(times.now, times.zone).toordinal()
    if span.kind in {"day", "part"} and span.first == today and not span.named:
        share = shares.today
    else:
        share = (shares.month if span.named else shares.relative) * min(1.0, MONTH / (span.after - span.first))
    return [span.first, span.after], [share]


def _stepwise(said_at: Instants, days: list[int], values: list[float], zone: str) -> Floats:
    """`values[i]` from the beginning of `days[i]` to that of the next, else 0."""
    starts = [_start(day, zone) for day in days]
    assert all(before <= after for before, after in pairwise(starts))
    return np.array([0.0, *values, 0.0])[np.searchsorted(starts, said_at, side="right")]


def _start(day: int, zone: str, minutes: int = 0) -> int:
    """When it is so many minutes after midnight by the clocks of the zone; days off the calendar are its ends."""
    if day <= BEGINNING:
        return _FIRST
    if day >= END or (day == END - 1 and minutes >= 24 * 60):
        return _LAST
    local = datetime.fromordinal(day) + timedelta(minutes=minutes)
    return micros(local.replace(tzinfo=zone_named(zone)))


def _local(instant: int, zone: str) -> datetime:
    try:
        return from_micros(instant).astimezone(zone_named(zone))
    except OverflowError:
        return from_micros(instant)


def zoned_text(instant: int, zone: str) -> str:
    """RFC 3339 in the zone; in UTC where its offset then was no whole minutes."""
    local = _local(instant, zone)
    offset = local.utcoffset() or timedelta(0)
    return utc_text(local) if offset % timedelta(minutes=1) else local.isoformat()


def _instant(text: str) -> int | None:
    """An RFC 3339 date-time with a zone."""
    if not _DATE_TIME.fullmatch(text):
        return None
    try:
        return micros(datetime.fromisoformat(text.upper()))
    except ValueError:
        return None


def _evened(text: str) -> str:
    """With blanks of one kind and straight apostrophes; every character stays in its place."""
    return _SPACE.sub(" ", text).replace("’", "'").replace(MASK, " ")


def _without(text: str, places: Iterable[tuple[int, int]]) -> str:
    parts, at = [], 0
    for start, end in sorted(places):
        parts.append(text[at:start])
        at = end
    return " ".join((*parts, text[at:])) if parts else text


def _years(said_at: Instants) -> list[int]:
    """The years in which something was said, in any time zone."""
    years = set((np.unique(said_at.astype("datetime64[us]").astype("datetime64[Y]")).astype(np.int64) + 1970).tolist())
    return sorted(years | {year + 1 for year in years} | {year - 1 for year in years})
