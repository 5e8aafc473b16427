"""English names of days, months, quarters, seasons and years: "5 May 2023", "in June", "Q3 2023". Pure; texts are case-folded.

May and march are months, spring and fall seasons, 2000 a year only where they stand like one.
"""

from __future__ import annotations

from datetime import date
from re import Match

from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.times import calendar as cal
from engramlog_server.projections.language.times.calendar import Span
from engramlog_server.projections.language.times.names import MONTH, MONTHS, month_number
from engramlog_server.projections.language.times.phrases import Rule

_ORDINAL_TEXT = """
first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth
sixteenth seventeenth eighteenth nineteenth twentieth
"""
_ORDINALS = _ORDINAL_TEXT.split()
FEASTS = {
    "new year's eve": (12, 31),
    "new year's day": (1, 1),
    "new year's": (1, 1),
    "christmas eve": (12, 24),
    "christmas day": (12, 25),
    "christmas": (12, 25),
    "boxing day": (12, 26),
    "halloween": (10, 31),
    "valentine's day": (2, 14),
    "independence day": (7, 4),
}

_MONTH = rf"(?P<month>{MONTH})\b\.?"
_TH = r"(?P<th>st|nd|rd|th)?\b"
_DAY = rf"(?<![\d.,/:])(?P<day>\d{{1,2}}){_TH}"
_TO = r" ?(?:-|–|to|and|through|until|till) ?(?:the )?(?P<last>\d{1,2})(?:st|nd|rd|th)?\b"
_NAMED_YEAR = r"\d{4}|(?:last|this|next) year"
_YEAR = rf"(?:,? {{0,2}}(?:of |in )?(?P<year>{_NAMED_YEAR})\b)?"
_ITS_YEAR = rf",? (?:of )?(?P<year>{_NAMED_YEAR})\b"
_SEASON = r"(?P<season>spring|summer|autumn|fall|winter)\b"
_NTH = rf"(?P<nth>{'|'.join(_ORDINALS)}|last)"
_FEAST = rf"(?P<feast>{'|'.join(FEASTS)})\b"
_WHICH = r"(?:this )?(?P<which>last|past|previous|this|next|coming)"
_NOT_COUNTED = r"(?![.,:]\d| (?:words|people|steps|times|miles|calories|dollars|pages|lines|points|users|characters)\b)"
_AWAY = {"last": -1, "this": 0, "next": 1, "coming": 1}
_AMBIGUOUS = {"may", "march"}
_LEADS = regex(r"(?:^|[\0,(]|\b(?:on|of|by|since|until|till|from|to|before|after|and|the|dated)) ?$")
_ENDS = r" ?(?:$|[?!.,;:)\0]|(?:and|or|to|at|in|with|for|by|when|because|about|did|was|were)\b)"
_AFTER_MONTH = regex(rf"(?:\0|\b(?:{'|'.join(MONTHS)})),? ?$")
_ENDED = regex(_ENDS)


def _month(match: Match[str]) -> int:
    return month_number(match["month"])


def _year(match: Match[str], today: date) -> int | None:
    told = match["year"]
    if told is None or told.isdigit():
        return int(told) if told else None
    return today.year + _AWAY[told.split()[0]]


def _of_year(make: cal.Maker, match: Match[str], today: date) -> Span | None:
    """In the year that is told, or in any, told of the latest."""
    year = _year(match, today)
    return cal.latest(make, today) if year is None else make(year)


def _day(match: Match[str], today: date) -> Span | None:
    month, number = _month(match), int(match["day"])
    if match["month"].strip(".") in _AMBIGUOUS and not match["th"] and not match["year"]:
        leads = _LEADS.search(match.string[max(0, match.start() - 10) : match.start()])
        if not leads and not _ENDED.match(match.string[match.end() : match.end() + 9]):
            return None
    return _of_year(lambda year: cal.day(year, month, number), match, today)


def _day_in_words(match: Match[str], today: date) -> Span | None:
    month, number = _month(match), _ORDINALS.index(match["nth"]) + 1 if match["nth"] != "last" else 0
    return _of_year(lambda year: cal.day(year, month, number), match, today)


def _days(match: Match[str], today: date) -> Span | None:
    month, first, last = _month(match), int(match["day"]), int(match["last"])
    return _of_year(lambda year: cal.days_of_month(year, month, first, last), match, today)


def _digits(year: str, month: str, number: str) -> Span | None:
    """A day told by three numbers; month and day change places where only that makes a day."""
    of = int(year) + (2000 if len(year) == 2 else 0)
    return cal.day(of, int(month), int(number)) or cal.day(of, int(number), int(month))


def _month_of_year(match: Match[str], today: date) -> Span | None:
    return _of_year(lambda year: cal.month(year, _month(match)), match, today)


def _month_alone(match: Match[str], today: date) -> Span | None:
    if match["on"] and not _AFTER_MONTH.search(match.string[max(0, match.start() - 16) : match.start()]):
        return None
    return _which(lambda year: cal.month(year, _month(match)), match["which"], today)


def _which(make: cal.Maker, which: str | None, today: date) -> Span | None:
    """The last, this, the next; else any year's."""
    return cal.latest(make, today) if which is None else cal.which(make, _AWAY.get(which, -1), today)


def _day_of_month(match: Match[str], today: date) -> Span | None:
    away = (_AWAY[match["of"]],) if match["of"] else range(0, -3, -1)
    return cal.day_of_month(int(match["day"]), away, today)


def _quarter(match: Match[str], today: date) -> Span | None:
    nth = match["nth"]
    number = 4 if nth == "last" else int(nth) if nth.isdigit() else _ORDINALS.index(nth) + 1
    if number > 4:
        return None
    return _of_year(lambda year: cal.months(year, 3 * number - 2, 3), match, today)


def _half(match: Match[str], today: date) -> Span | None:
    return _of_year(lambda year: cal.months(year, 1 if match["nth"] == "first" else 7, 6), match, today)


def _season_of_year(match: Match[str], today: date) -> Span | None:
    return _of_year(lambda year: cal.season(year, cal.SEASONS[match["season"]]), match, today)


def _season(match: Match[str], today: date) -> Span | None:
    return _which(lambda year: cal.season(year, cal.SEASONS[match["season"]]), match["which"], today)


def _feast(match: Match[str], today: date) -> Span | None:
    def made(year: int) -> Span | None:
        span = cal.day(year, *FEASTS[match["feast"]])
        return span and span._replace(named=False)

    told = _year(match, today)
    return _which(made, match["which"], today) if told is None else made(told)


DATES: tuple[Rule, ...] = (
    (
        r"(?<![\d.-])(?P<year>\d{4})(?P<by>[-/.])(\d{1,2})(?P=by)(\d{1,2})(?![\d-])",
        lambda match, _: cal.day(int(match[1]), int(match[3]), int(match[4])),
    ),
    (r"(?<![\d/])(\d{1,2})/(\d{1,2})/(\d{4}|\d{2})(?![\d/])", lambda match, _: _digits(match[3], match[1], match[2])),
    (r"(?<![\d.])(\d{1,2})\.(\d{1,2})\.(\d{4})(?![\d.])", lambda match, _: _digits(match[3], match[2], match[1])),
    (
        r"(?<![\d-])((?:19|20)\d\d)[-/](0[1-9]|1[0-2])(?![\d/-])",
        lambda match, _: cal.month(int(match[1]), int(match[2])),
    ),
    (rf"\b{_MONTH} (?:the )?{_DAY}{_TO}{_YEAR}", _days),
    (rf"\b{_DAY}{_TO}(?: of)? {_MONTH}{_YEAR}", _days),
    (rf"\b{_MONTH} (?:the )?{_DAY}{_YEAR}", _day),
    (rf"\b{_DAY}(?: of)? {_MONTH}{_YEAR}", _day),
    (rf"\b{_NTH} of {_MONTH}{_YEAR}", _day_in_words),
    (rf"\b{_MONTH}{_ITS_YEAR}", _month_of_year),
    (
        (
            r"\b(?:(?P<which>last|this|next)|in|during|of|since|by|early|late|mid|before|after|until|till|from|through"
            rf"|between|(?P<on>to|and))[ -](?P<time>{_MONTH})"
        ),
        _month_alone,
    ),
    (rf"\bq(?P<nth>[1-4]){_ITS_YEAR}", _quarter),
    (rf"\b(?:in|during|since|for|until) (?P<time>q(?P<nth>[1-4])\b{_YEAR})", _quarter),
    (rf"\b{_NTH} quarter{_ITS_YEAR}", _quarter),
    (rf"\b(?P<nth>first|second) half{_ITS_YEAR}", _half),
    (rf"\b{_SEASON}{_ITS_YEAR}", _season_of_year),
    (rf"\b(?:{_WHICH}|in|during|since|over)(?: the)? (?P<time>{_SEASON})", _season),
    (rf"\b(?:{_WHICH}|on|at|over|during|since|before|after|until|by) (?P<time>{_FEAST}{_YEAR})", _feast),
    (
        (
            r"\b(?:in|during|since|before|after|until|till|by|from|to|and|between|through|throughout|of|early|late|mid)[ -]"
            rf"(?P<time>(?P<year>(?:1[89]|20|21)\d\d)\b){_NOT_COUNTED}"
        ),
        lambda match, _: cal.year(int(match["year"])),
    ),
    (r"\b(?:19|20)\d0'?s\b", lambda match, _: cal.months(int(match[0][:4]), 1, 120)),
    (
        (
            r"\b(?:on|since|by|before|after|until|till|from) (?P<time>the (?P<day>\d{1,2})(?:st|nd|rd|th)"
            rf"(?: of (?P<of>last|this|next) month)?)\b(?={_ENDS})"
        ),
        _day_of_month,
    ),
)
