"""English words about a time: early, the evening of, the week before, since, from ... to. Pure; texts are case-folded."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from re import Match

from engramlog_server.projections.language.numerals import TWELVE
from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.times import calendar as cal
from engramlog_server.projections.language.times.calendar import Span
from engramlog_server.projections.language.times.phrases import Phrase, joined, opened

_NUMBERS = {word: float(number) for number, word in enumerate(TWELVE, 1)}
_NUMBERS |= {"a": 1, "an": 1, "the": 1, "last": 1, "a couple": 2, "a couple of": 2, "half a": 0.5, "half an": 0.5}
COUNT = rf"(?P<count>\d{{1,4}}|(?:a )?couple(?: of)?|half an?|an?|{'|'.join(TWELVE)})"
UNITS = {"day": 1, "week": 7, "weekend": 7, "fortnight": 14, "month": 30, "quarter": 91, "year": 365}
"""Days of each."""
_KINDS: dict[str, cal.Kind] = {"day": "day", "week": "week"}
_NEAR = 40
"""Characters before a time in which words about it are looked for."""
_PART = r"(?P<part>morning|afternoon|evening|night)"
_PART_AFTER = regex(rf"(?:'s|,)? (?:in the |at )?{_PART}\b")
_PART_BEFORE = regex(rf"\bthe {_PART} of (?:the )?$")
_EDGE = regex(
    r"\b(?:(?P<edge>early|mid|late)(?: in)?|(?:at )?(?:the )?(?P<of>beginning|start|middle|end) of)[ -](?:the )?$"
)
_EDGES: dict[str, cal.Edge] = {
    "early": "early",
    "mid": "mid",
    "late": "late",
    "beginning": "beginning",
    "start": "beginning",
    "middle": "mid",
    "end": "end",
}
_NTH = ("first", "second", "third", "fourth", "last")
_WEEK = regex(rf"\b(?:the )?(?P<nth>{'|'.join(_NTH)}) (?P<unit>week|weekend) (?:of|in) (?:the )?$")
_APART = regex(
    rf"\b(?:the|{COUNT}) (?P<unit>day|weekend|week|month|year)s? (?P<way>before|after|prior to|following|of) (?:the )?$"
)
_ANCHORED = regex(r" (?:before|prior to) (?:the )?")
_TO = regex(r" ?(?:to|through|thru|until|till|-|–|—) ?(?:the )?")
_AND = regex(r",? and (?:the )?")
_FROM = regex(r"\b(?:from|between) (?:the )?$")
_BETWEEN = regex(r"\bbetween (?:the )?$")
_OPEN = regex(r"\b(?P<way>since|after|later than|before|prior to|earlier than|until|till|up to|from)(?: the)? $")
_ONWARDS = regex(r" (?:on|onwards?|and (?:after|later))\b")


def count_of(match: Match[str]) -> float:
    """The number that COUNT has matched."""
    told = match["count"]
    if told is None:
        return 1
    return float(told) if told.isdigit() else _NUMBERS.get(told, 2)


def linked(text: str, phrases: list[Phrase], today: date, read: Callable[[str, date], list[Phrase]]) -> list[Phrase]:
    """The phrases together with the words about them; `read` reads a text as of another day."""
    done: list[Phrase] = []
    for place, phrase in enumerate(phrases):
        begins = max(done[-1].end if done else 0, phrase.at - _NEAR)
        ends = phrases[place + 1].at if place + 1 < len(phrases) else len(text)
        this = _qualified(text, phrase, begins, min(ends, phrase.end + _NEAR))
        if done and (both := _together(text, done[-1], this, done[-2].end if len(done) > 1 else 0, read)):
            done[-1] = both
        else:
            done.append(this)
    starts = [0, *(one.end for one in done)]
    stops = [*(one.at for one in done[1:]), len(text)]
    return [_opened(text, *one, today) for one in zip(done, starts, stops, strict=False)]


def _qualified(text: str, phrase: Phrase, begins: int, ends: int) -> Phrase:
    """Early May, the evening of 5 May, yesterday morning, two weeks before 5 May."""
    before = text[begins : phrase.at]
    if after := _PART_AFTER.match(text, phrase.end, ends):
        return _with(phrase, cal.part(phrase.span, after["part"]), phrase.at, after.end())
    if within := _PART_BEFORE.search(before):
        return _with(phrase, cal.part(phrase.span, within["part"]), begins + within.start(), phrase.end)
    if edge := _EDGE.search(before):
        span = cal.edge(phrase.span, _EDGES[edge["edge"] or edge["of"]]) if phrase.span.kind != "day" else None
        return _with(phrase, span, begins + edge.start(), phrase.end)
    if phrase.span.kind == "month" and (week := _WEEK.search(before)):
        return _with(phrase, _week(week, phrase.span), begins + week.start(), phrase.end)
    if apart := _APART.search(before):
        return _with(phrase, _apart(apart, phrase.span), begins + apart.start(), phrase.end)
    return phrase


def _with(phrase: Phrase, span: Span | None, at: int, end: int) -> Phrase:
    """The phrase as it is told with a word more; its own days count on, since news of it are told on them too."""
    if span is None or span == phrase.span:
        return phrase
    return Phrase(at, end, span, (span, *phrase.fits))


def _week(match: Match[str], month: Span) -> Span | None:
    """The first seven days of a month, the next ...; or the weekend that begins in them."""
    first = month.after - 7 if match["nth"] == "last" else month.first + 7 * _NTH.index(match["nth"])
    if match["unit"] == "week":
        return Span(first, first + 7, "week", yearless=month.yearless)
    return cal.days(first + (cal.WEEKEND - date.fromordinal(first).weekday()) % 7, 2, "week")


def _apart(match: Match[str], span: Span) -> Span | None:
    """So many units before or after a time; "the weekend of" it."""
    unit, earlier = match["unit"], match["way"] in {"before", "prior to"}
    if match["way"] == "of":
        of = {"week": cal.week, "weekend": cal.weekend}.get(unit)
        found = of(date.fromordinal(span.first)) if of else None
    elif unit == "weekend":
        found = cal.weekend_beside(span, earlier=earlier)
    elif match["count"] is None:
        found = cal.days(span.first - UNITS[unit] if earlier else span.after, UNITS[unit], _KINDS.get(unit, "span"))
    else:
        near = date.fromordinal(span.first if earlier else span.after - 1)
        found = cal.ago(near, count_of(match) if earlier else -count_of(match), UNITS[unit])
    return found and found._replace(yearless=span.yearless)


def _together(
    text: str, one: Phrase, other: Phrase, begins: int, read: Callable[[str, date], list[Phrase]]
) -> Phrase | None:
    """From one time to another; or last week as it was before a day."""
    gap = text[one.end : other.at] if other.at - one.end < _NEAR else ""
    begins = max(begins, one.at - _NEAR)
    before = text[begins : one.at]
    if _TO.fullmatch(gap) or (_AND.fullmatch(gap) and _BETWEEN.search(before)):
        start = _FROM.search(before)
        return joined(one, other, begins + start.start() if start else one.at)
    if _ANCHORED.fullmatch(gap) and one.span.kind in {"week", "month"} and not one.span.named:
        on = date.fromordinal(other.span.first)
        again = read(text[one.at : one.end], on)
        if again and other.span.kind == "day":
            span = again[0].span._replace(yearless=other.span.yearless)
            return Phrase(one.at, other.end, span, (span, *other.fits))
    return None


def _opened(text: str, phrase: Phrase, begins: int, ends: int, today: date) -> Phrase:
    """Since, after, before and until a time."""
    begins = max(begins, phrase.at - _NEAR)
    match = _OPEN.search(text[begins : phrase.at])
    on = _ONWARDS.match(text, phrase.end, ends)
    way = "since" if on else match["way"] if match else None
    if way is None or way == "from":
        return phrase
    at, end = begins + match.start() if match else phrase.at, on.end() if on else phrase.end
    return opened(phrase, way, at, end, today)
