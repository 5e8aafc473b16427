"""Spans of calendar days, the names of months and numbers, and time expressions in a text. Pure.

`english` and `chinese` read phrases into spans with these. Days are ordinals (1: 0001-01-01), weeks begin on Monday, seasons are
those of the northern half (spring is March to May; the winter of a year begins in its December).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from functools import cache
from re import Match, Pattern
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


def coming_weekday(number: int, today: date) -> Span | None:
    """The next such day of the week (0: Monday) after today."""
    return days(today.toordinal() + ((number - today.weekday()) % 7 or 7), 1)


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


def day_of_month(number: int, away: int, today: date) -> Span | None:
    """Such a day of the month that is so many away from today's; None where it has no such day."""
    index = today.year * 12 + today.month - 1 + away
    span = day(index // 12, index % 12 + 1, number)
    return span and span._replace(named=False)


def nearest_day_of_month(number: int, today: date, *, coming: bool) -> Span | None:
    """The latest such day that is not after today, or the next after today; None where no near month has it."""
    now = today.toordinal()
    spans = (day_of_month(number, away, today) for away in (range(3) if coming else range(0, -3, -1)))
    return next((span for span in spans if span and (span.first > now) is coming), None)


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


_MONTH_TEXT = "january february march april may june july august september october november december"
_WEEKDAY_TEXT = "monday tuesday wednesday thursday friday saturday sunday"

MONTHS = tuple(_MONTH_TEXT.split())
SHORT_MONTHS = (*dict.fromkeys(name[:3] for name in MONTHS if name != "may"), "sept")
"""jan, feb and so on; may is not shortened."""
WEEKDAYS = tuple(_WEEKDAY_TEXT.split())
MONTH = "|".join((*MONTHS, *sorted(SHORT_MONTHS, key=len, reverse=True)))
"""Alternatives of a regular expression, without a group: a full name before its short form."""
MONTH_STARTS = "|".join(name[:3] for name in MONTHS)
"""Alternatives: the first three letters of each."""
WEEKDAY = "|".join(WEEKDAYS)
"""Alternatives of a regular expression, without a group."""


def month_number(written: str) -> int:
    """1 to 12, of a full or a short name. Raises ValueError for any other word."""
    return 1 + [name[:3] for name in MONTHS].index(written[:3])


_SMALL = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen
nineteen
"""
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
ENGLISH = {word: value for value, word in enumerate(_SMALL.split())}
"""zero to nineteen."""
TENS = {word: 10 * value for value, word in enumerate(_TENS.split(), 2)}
"""twenty to ninety."""
TWELVE = tuple(word for word, value in ENGLISH.items() if 1 <= value <= 12)
"""one to twelve, in order."""
HAN_DIGITS = {digit: value for value, digit in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
HAN_UNITS = {"十": 10, "百": 100, "千": 1000}


_compiled: Callable[[str], Pattern[str]] = cache(re.compile)
MASK = "\0"
"""Stands where a phrase was read, so that none is read twice and places stay."""


class Phrase(NamedTuple):
    """A time expression in a text."""

    at: int
    end: int
    """Its place, in characters."""
    span: Span
    fits: tuple[Span, ...]
    """What a memory's day is held against: the span, and the days it was told by ("the week before 5 May")."""

    def with_word(self, span: Span | None, at: int, end: int) -> Phrase:
        """The phrase with a word about it, which makes it mean `span`; its own days count too, as news of it is told on them."""
        return self if span is None or span == self.span else Phrase(at, end, span, (span, *self.fits))


class FoundPhrases(NamedTuple):
    """What was found in a text."""

    phrases: list[Phrase]
    """In reading order, none overlapping."""
    named: list[tuple[int, int]]
    """Places of the days and months that were named: none of them are words to search by."""


Reader = Callable[[Match[str], date], Span | None]
Rule = tuple[str, Reader]
"""What a phrase looks like, and how it is read on a day.

A regular expression, compiled when it is first used; a group `time`, where there is one, is the phrase itself, and begins
at the group `which`.
"""


def collect(text: str, rules: tuple[Rule, ...], today: date) -> FoundPhrases:
    """What each rule finds, earlier rules first.

    Takes time proportional to the text, if the patterns do.
    """
    phrases: list[Phrase] = []
    named: list[tuple[int, int]] = []
    for pattern, read in rules:

        def note(match: Match[str], read: Reader = read) -> str:
            span = read(match, today)
            if span is None:
                return match[0]
            at, end = match.span("time" if "time" in match.re.groupindex else 0)
            if "which" in match.re.groupindex and match["which"]:
                at = match.start("which")
            phrases.append(Phrase(at, end, span, (span,)))
            if span.named:
                named.append(match.span())
            return match[0][: at - match.start()] + MASK * (end - at) + match[0][end - match.start() :]

        text = _compiled(pattern).sub(note, text)
    return FoundPhrases(sorted(phrases), named)


def yearly(year_of: Callable[[Match[str], date], int | None], make: Callable[[Match[str], int], Span | None]) -> Reader:
    """Reads a span of the year that is named, else of the latest year in which it has begun."""

    def read(match: Match[str], today: date) -> Span | None:
        year = year_of(match, today)
        return latest(lambda number: make(match, number), today) if year is None else make(match, year)

    return read


def linked(
    text: str,
    phrases: list[Phrase],
    today: date,
    near: int,
    qualified: Callable[[str, Phrase, int, int], Phrase],
    together: Callable[[str, Phrase, Phrase, int, int], Phrase | None],
    opened_by: Callable[[str, Phrase, int, int, date], Phrase],
) -> list[Phrase]:
    """The phrases with the words about them, at most `near` characters away; no word is read for two phrases.

    `qualified`: early, the evening of. `together`: from one to the next. `opened_by`: since, before. The integers of each are where
    in the text it may begin and end.
    """
    done: list[Phrase] = []
    for place, phrase in enumerate(phrases):
        ends = phrases[place + 1].at if place + 1 < len(phrases) else len(text)
        begins = max(done[-1].end if done else 0, phrase.at - near)
        this = qualified(text, phrase, begins, min(ends, phrase.end + near))
        begins = done[-2].end if len(done) > 1 else 0
        if done and (both := together(text, done[-1], this, begins, ends)):
            done[-1] = both
        else:
            done.append(this)
    starts = [0, *(phrase.end for phrase in done)]
    stops = [*(phrase.at for phrase in done[1:]), len(text)]
    return [opened_by(text, *part, today) for part in zip(done, starts, stops, strict=False)]


def joined(one: Phrase, other: Phrase, at: int) -> Phrase | None:
    """From the one to the end of the other, a year or week told of only one holding for both; None where it runs backwards."""
    start, stop = one.span, other.span
    of = date.fromordinal(stop.first).year
    if start.yearless and not (stop.yearless and start.first < stop.first):
        start = next(
            (span for back in (0, 1) if (span := in_year(start, of - back)) and span.first < stop.first), start
        )
    elif stop.yearless and not start.yearless:
        of = date.fromordinal(start.first).year
        stop = next((span for on in (0, 1) if (span := in_year(stop, of + on)) and span.first > start.first), stop)
    elif start.kind == stop.kind == "day" and start.first >= stop.after:
        start = start._replace(first=start.first - 7, after=start.after - 7)
    if not BEGINNING <= start.first < stop.after:
        return None
    both = one.span.yearless and other.span.yearless
    named = one.span.named and other.span.named
    span = Span(start.first, stop.after, "span", named, yearless=both)
    return Phrase(at, other.end, span, (span, start._replace(yearless=both), stop._replace(yearless=both)))


def opened(phrase: Phrase, way: str, at: int, end: int, today: date) -> Phrase:
    """Since, after, before, until a time: from it to today, or to either end of the calendar."""
    first, after = phrase.span.first, phrase.span.after
    if way == "since":
        span = Span(first, today.toordinal() + 1 if first <= today.toordinal() else after, "span")
        return Phrase(at, end, span, (span, *phrase.fits))
    if way in {"after", "later than"}:
        first, after = after, END
    else:
        first, after = BEGINNING, first if way in {"before", "prior to", "earlier than"} else after
    if first >= after:
        return phrase
    span = Span(first, after, "span")
    return Phrase(at, end, span, (span,))


def masked(text: str, phrases: list[Phrase]) -> str:
    """The text with the mask where the phrases stand."""
    parts, place = [], 0
    for phrase in phrases:
        parts += [text[place : phrase.at], MASK * (phrase.end - phrase.at)]
        place = phrase.end
    return "".join((*parts, text[place:]))
