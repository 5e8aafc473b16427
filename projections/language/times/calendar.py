"""Days, weeks, months and seasons as spans of calendar days; what `english` and `chinese` read phrases into. Pure.

Days are ordinals (1: 0001-01-01), weeks begin on Monday, seasons are those of the northern half (spring is March to May;
the winter of a year begins in its December).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import date
from typing import Literal, NamedTuple

Kind = Literal["moment", "part", "day", "week", "month", "span"]
"""How exact: an instant or some hours, a part of a day, a day, a week or weekend, a month, any longer or vaguer span."""
BEGINNING, END = 1, date.max.toordinal() + 1
"""The first day there is, and the day after the last: where a span is open."""
WEEKEND = 5
MINUTES = {
    "dawn": (0, 5 * 60),
    "morning": (5 * 60, 12 * 60),
    "noon": (11 * 60, 14 * 60),
    "afternoon": (12 * 60, 18 * 60),
    "evening": (17 * 60, 24 * 60),
    "night": (18 * 60, 29 * 60),
}
"""Parts of a day, in minutes from its midnight; the night ends at five the next morning."""
SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
"""The first month of each."""
MOST_MINUTES = 100 * 24 * 60
SOME = (2, 7)
"""How many "a few" and 几 are, least and most."""


class Span(NamedTuple):
    """Days [first, after), as ordinals."""

    first: int
    after: int
    kind: Kind
    named: bool = False
    """Days or a month of the calendar ("5 May"), and no words to search by."""
    yearless: bool = False
    """No year is told: the days are those of the latest time not after the question, and any year's are meant."""
    minutes: tuple[int, int] | None = None
    """The part of the first day that is meant; of a moment: counted from the instant of the question."""


Maker = Callable[[int], Span | None]
"""Makes a span of a year; None where it has none."""


def table(written: str) -> dict[str, str]:
    """Words and what each says, written as `word: meaning, word: meaning`."""
    return dict(pair.split(": ") for pair in re.split(r",\s+", written.strip()))


def day(year: int, month: int, number: int) -> Span | None:
    """A day of the calendar; None where there is no such day."""
    try:
        first = date(year, month, number).toordinal()
    except ValueError:
        return None
    return Span(first, first + 1, "day", named=True)


def month(year: int, number: int) -> Span | None:
    """A month of the calendar; None where there is no such month."""
    return months(year, number, 1, "month", named=True) if 1 <= number <= 12 else None


def months(year: int, first: int, count: int, kind: Kind = "span", *, named: bool = False) -> Span | None:
    """So many months from one on, which may lie before January or after December; None outside the years 1 to 9999."""
    start, after = _first_of(year, first), _first_of(year, first + count)
    return Span(start, after, kind, named) if start and after else None


def year(number: int) -> Span | None:
    """A whole year."""
    return months(number, 1, 12)


def days_of_month(year: int, number: int, first: int, last: int) -> Span | None:
    """From one day of a month to another."""
    start, stop = day(year, number, first), day(year, number, last)
    if start is None or stop is None or start.first >= stop.first:
        return None
    return Span(start.first, stop.after, "span", named=True)


def days(first: int, count: int, kind: Kind | None = None) -> Span | None:
    """So many days from one on; None where they are not on the calendar."""
    if not BEGINNING <= first < first + count <= END:
        return None
    return Span(first, first + count, kind or ("day" if count == 1 else "span"))


def unit_away(unit: str, away: int, today: date) -> Span | None:
    """The week, weekend (Saturday and Sunday), month, quarter or year so many from today's."""
    monday = today.toordinal() - today.weekday() + 7 * away
    if unit == "week":
        return days(monday, 7, "week")
    if unit == "weekend":
        return days(monday + WEEKEND, 2, "week")
    if unit == "month":
        return months(today.year, today.month + away, 1, "month")
    if unit == "quarter":
        return months(today.year, 3 * ((today.month - 1) // 3 + away) + 1, 3)
    return year(today.year + away)


def day_away(today: date, away: int, part_name: str | None = None) -> Span | None:
    """The day so many from today, or a part of it."""
    span = days(today.toordinal() + away, 1)
    return part(span, part_name) if span and part_name else span


def weekend_beside(span: Span, *, earlier: bool) -> Span | None:
    """The last weekend that is over before a span, or the first that begins after it."""
    if earlier:
        last = span.first - 2
        return days(last - (date.fromordinal(last).weekday() - WEEKEND) % 7, 2, "week") if last > 0 else None
    if span.after >= END:
        return None
    return days(span.after + (WEEKEND - date.fromordinal(span.after).weekday()) % 7, 2, "week")


def weekday(number: int, today: date, *, strictly: bool = False) -> Span | None:
    """The latest such day of the week (0: Monday) that is not after today; strictly: before it."""
    back = (today.weekday() - number) % 7 or (7 if strictly else 0)
    return days(today.toordinal() - back, 1)


def latest(make: Maker, today: date) -> Span | None:
    """What a year's span is in the latest year in which it has begun; marked as meant of any year."""
    for number in range(today.year, max(0, today.year - 9), -1):
        span = make(number)
        if span and span.first <= today.toordinal():
            return span._replace(yearless=True)
    return None


def which(make: Maker, away: int, today: date) -> Span | None:
    """The last that is over (away -1: "last summer"), this year's (0), or the first that has not begun (1: "next summer")."""
    if away == 0:
        return make(today.year)
    now, years = today.toordinal(), (0, -1, -2) if away < 0 else (0, 1)
    spans = (make(today.year + year) for year in years)
    return next((span for span in spans if span and (span.after <= now if away < 0 else span.first > now)), None)


def day_of_month(number: int, away: Iterable[int], today: date) -> Span | None:
    """Such a day of the first of the months, so many away from today's, that has it; of several not after today."""
    months_away = tuple(away)
    for away_months in months_away:
        index = today.year * 12 + today.month - 1 + away_months
        span = day(index // 12, index % 12 + 1, number)
        if span and (len(months_away) == 1 or span.first <= today.toordinal()):
            return span._replace(named=False)
    return None


def ago(today: date, count: float, unit_days: int) -> Span | None:
    """So many units before today, give or take a quarter."""
    back = int(count * unit_days)
    about = abs(back) // 4
    return days(today.toordinal() - back - about, 1 + 2 * about)


def ahead(today: date, count: int) -> Span | None:
    """The next so many days, without today."""
    return days(today.toordinal() + 1, count, "span")


def some_ago(today: date, unit_days: int) -> Span | None:
    """ "A few weeks ago"."""
    least, most = (number * unit_days for number in SOME)
    return days(today.toordinal() - most, most - least + 1, "span")


def past(today: date, count: int) -> Span | None:
    """The last so many days and today."""
    return Span(max(BEGINNING, today.toordinal() - count), today.toordinal() + 1, "span")


def moments(today: date, minutes: float, *, since: bool) -> Span | None:
    """The last so many minutes before the instant of the question; or so many ago, give or take a quarter."""
    back = min(int(minutes), MOST_MINUTES)
    about = 0 if since else back // 4 + 1
    span = days(today.toordinal(), 1, "moment")
    return span and span._replace(minutes=(-back - about, about - back if about else 0))


def part(span: Span, name: str) -> Span:
    """A part of a day, of the span's first; another span stays as it is."""
    return span._replace(kind="part", minutes=MINUTES[name]) if span.kind == "day" else span


def edge(span: Span, at: str) -> Span | None:
    """Early, mid, late: the first ten days of a month, the next ten, the rest; thirds of anything else.

    Beginning and end: the same of a month; of anything else a sixth.
    """
    if span.kind == "month":
        start = span.first + {"early": 0, "beginning": 0, "mid": 10, "late": 20, "end": 20}[at]
        after = span.after if at in {"late", "end"} else start + 10
    else:
        long = span.after - span.first
        sixth, third = -(-long // 6), -(-long // 3)
        start, after = {
            "early": (span.first, span.first + third),
            "mid": (span.first + third, span.after - third),
            "late": (span.after - third, span.after),
            "beginning": (span.first, span.first + sixth),
            "end": (span.after - sixth, span.after),
        }[at]
    return Span(start, after, "span", yearless=span.yearless) if start < after else None


def in_year(span: Span, number: int) -> Span | None:
    """The same days of another year; None where it has no such day."""
    start = date.fromordinal(span.first)
    if span.kind == "month":
        moved = month(number, start.month)
    else:
        first = day(number, start.month, start.day)
        moved = first and days(first.first, span.after - span.first, span.kind)
    return moved and moved._replace(named=span.named)


def _first_of(number: int, month: int) -> int:
    """The first day of a month, which may lie before January or after December; 0 where there is none."""
    number, month = number + (month - 1) // 12, (month - 1) % 12 + 1
    if (number, month) == (date.max.year + 1, 1):
        return END
    return date(number, month, 1).toordinal() if 1 <= number <= date.max.year else 0
