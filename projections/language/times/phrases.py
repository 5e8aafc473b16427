"""Time expressions as they stand in a text: how rules find them, and how two of them, or one and a word, are put together. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from functools import cache
from re import Match, Pattern
from typing import NamedTuple

from engramlog_server.projections.language.times import calendar as cal
from engramlog_server.projections.language.times.calendar import Span

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
        return cal.latest(lambda number: make(match, number), today) if year is None else make(match, year)

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
            (span for back in (0, 1) if (span := cal.in_year(start, of - back)) and span.first < stop.first), start
        )
    elif stop.yearless and not start.yearless:
        of = date.fromordinal(start.first).year
        stop = next((span for on in (0, 1) if (span := cal.in_year(stop, of + on)) and span.first > start.first), stop)
    elif start.kind == stop.kind == "day" and start.first >= stop.after:
        start = start._replace(first=start.first - 7, after=start.after - 7)
    if not cal.BEGINNING <= start.first < stop.after:
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
        first, after = after, cal.END
    else:
        first, after = cal.BEGINNING, first if way in {"before", "prior to", "earlier than"} else after
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
