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
    found: list[Phrase] = []
    named: list[tuple[int, int]] = []
    for pattern, read in rules:

        def note(match: Match[str], read: Reader = read) -> str:
            span = read(match, today)
            if span is None:
                return match[0]
            at, end = match.span("time" if "time" in match.re.groupindex else 0)
            if "which" in match.re.groupindex and match["which"]:
                at = match.start("which")
            found.append(Phrase(at, end, span, (span,)))
            if span.named:
                named.append(match.span())
            return match[0][: at - match.start()] + MASK * (end - at) + match[0][end - match.start() :]

        text = _compiled(pattern).sub(note, text)
    return FoundPhrases(sorted(found), named)


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
