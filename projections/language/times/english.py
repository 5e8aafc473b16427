"""English time expressions: "last week", "two days ago", "last Tuesday", "the other day". Pure; texts are case-folded.

Dates are in times_english_dates, words about a time ("since", "the week before") in times_english_links. No pattern repeats
without bound, so that reading takes time proportional to the text.
"""

from __future__ import annotations

from datetime import date
from re import Match

from engramlog_server.projections.language.times import calendar as cal
from engramlog_server.projections.language.times.calendar import Span
from engramlog_server.projections.language.times.english_dates import DATES
from engramlog_server.projections.language.times.english_links import COUNT, UNITS, count_of, linked
from engramlog_server.projections.language.times.names import MONTHS, SHORT_MONTHS, WEEKDAY, WEEKDAYS
from engramlog_server.projections.language.times.phrases import FoundPhrases, Reader, Rule, collect

_WORD_TEXT = """
today tonight yesterday tomorrow this last next past previous coming ago back now earlier later other spring summer autumn fall
winter christmas halloween valentine boxing independence new
"""
WORDS = frozenset((*MONTHS, *SHORT_MONTHS, *WEEKDAYS, *_WORD_TEXT.split()))
"""A text without any of these and without digits holds no English time expression."""
_SOME = r"(?P<some>a few|few|several|some)"
_UNIT = r"(?P<unit>day|weekend|week|fortnight|month|quarter|year)"
_LONG = r"(?P<unit>weekend|week|month|quarter|year)\b(?! of\b)"
_HOURS = r"(?P<unit>hour|minute)s?"
_WHICH = r"(?P<which>last|(?:this )?past|previous|this|next|(?:this )?coming)"
_WEEKDAY = rf"(?P<weekday>{WEEKDAY})\b"
_PART = r"(?:morning|afternoon|evening|night)"
_GOES_ON = r"and|or|to|at|in|with|for|by|when|because|about|did|was|were|until|till|through"
_ENDS = rf"(?= ?(?:$|[?!.,;:)\0–-]|(?:{_GOES_ON}|{_PART})\b))(?!,? ?(?:the )?\0)"
_AWAY = {"this": 0, "next": 1, "coming": 1, "this coming": 1}
_NEAR = {"yesterday": -1, "today": 0, "tomorrow": 1}


def _near(match: Match[str], today: date) -> Span | None:
    return cal.days(today.toordinal() + _NEAR[match["near"]], 1)


def _night(back: int) -> Reader:
    def read(_: Match[str], today: date) -> Span | None:
        span = cal.days(today.toordinal() - back, 1)
        return span and cal.part(span, "night")

    return read


def _this_part(match: Match[str], today: date) -> Span | None:
    span = cal.days(today.toordinal(), 1)
    return span and cal.part(span, match["part"])


def _away(unit: str, away: int, today: date) -> Span | None:
    """The week, weekend, month, quarter or year so many from today's."""
    if unit == "week":
        return cal.week(today, away)
    if unit == "weekend":
        return cal.weekend(today, away)
    if unit == "month":
        return cal.months(today.year, today.month + away, 1, "month")
    if unit == "quarter":
        return cal.months(today.year, 3 * ((today.month - 1) // 3 + away) + 1, 3)
    return cal.year(today.year + away)


def _unit(match: Match[str], today: date) -> Span | None:
    return _away(match["unit"], _AWAY.get(match["which"], -1), today)


def _but_one(match: Match[str], today: date) -> Span | None:
    return _away(match["unit"], -2 if match["way"] == "before last" else 2, today)


def _within(match: Match[str], today: date) -> Span | None:
    """Earlier or later this week, month or year."""
    span, now = _away(match["unit"], 0, today), today.toordinal()
    if span is None:
        return None
    return Span(span.first, now + 1, "span") if match["way"] == "earlier" else Span(now, span.after, "span")


def _rolling(match: Match[str], today: date) -> Span | None:
    units = UNITS[match["unit"]]
    return cal.past(today, int((cal.SOME[1] if match["some"] else count_of(match)) * units))


def _past_unit(match: Match[str], today: date) -> Span | None:
    return cal.past(today, UNITS[match["unit"]])


def _rolling_on(match: Match[str], today: date) -> Span | None:
    units = UNITS[match["unit"]]
    return cal.ahead(today, int((cal.SOME[1] if match["some"] else count_of(match)) * units))


def _hours(match: Match[str], today: date) -> Span | None:
    return cal.moments(today, count_of(match) * (60 if match["unit"] == "hour" else 1), since=match["ago"] is None)


def _ago(match: Match[str], today: date) -> Span | None:
    units = UNITS[match["unit"]]
    if match["some"]:
        return cal.some_ago(today, units)
    if match["unit"] == "weekend" and match["way"] != "from now":
        return cal.weekend(today, -int(count_of(match)))
    return cal.ago(today, count_of(match) if match["way"] != "from now" else -count_of(match), units)


def _and_a_half(match: Match[str], today: date) -> Span | None:
    return cal.ago(today, 1.5, UNITS[match["unit"]])


def _other(match: Match[str], today: date) -> Span | None:
    return cal.past(today, 28 if match["unit"] == "week" else 7)


def _weekday(match: Match[str], today: date) -> Span | None:
    number, which = WEEKDAYS.index(match["weekday"]), match["which"]
    if which and which.endswith(("next", "coming")):
        return cal.days(today.toordinal() + ((number - today.weekday()) % 7 or 7), 1)
    if which == "this":
        return cal.days(today.toordinal() - today.weekday() + number, 1)
    return cal.weekday(number, today, strictly=bool(which))


def _weekday_of_week(match: Match[str], today: date) -> Span | None:
    span = cal.week(today, _AWAY.get(match["of"], -1))
    return span and cal.days(span.first + WEEKDAYS.index(match["weekday"]), 1)


def _weekday_but_one(match: Match[str], today: date) -> Span | None:
    span = cal.weekday(WEEKDAYS.index(match["weekday"]), today, strictly=True)
    return span and cal.days(span.first - 7, 1)


_RELATIVE: tuple[Rule, ...] = (
    (r"\b(?:the )?day before yesterday\b", lambda _, today: cal.days(today.toordinal() - 2, 1)),
    (r"\b(?:the )?day after tomorrow\b", lambda _, today: cal.days(today.toordinal() + 2, 1)),
    (r"\blast night\b", _night(1)),
    (r"\btonight\b", _night(0)),
    (r"\bthis (?P<part>morning|afternoon|evening)\b", _this_part),
    (r"\b(?P<near>yesterday|today|tomorrow)\b", _near),
    (r"\b(?:the )?(?P<unit>weekend|week|month|quarter|year) (?P<way>before last|after next)\b", _but_one),
    (rf"\b(?:the )?{_WEEKDAY} before last\b", _weekday_but_one),
    (rf"\b{_WEEKDAY} (?:of )?(?P<of>last|this|next) week\b", _weekday_of_week),
    (rf"\b(?P<of>last|this|next) week(?:'s| on)? {_WEEKDAY}", _weekday_of_week),
    (r"\b(?P<way>earlier|later) this (?P<unit>week|month|quarter|year)\b", _within),
    (r"\b(?:the|over) past (?P<unit>week|month|quarter|year)\b(?! of\b)", _past_unit),
    (rf"\b{_WHICH} {_LONG}", _unit),
    (rf"\b(?:the )?(?:last|past|previous) (?:{_SOME}|{COUNT}) {_UNIT}s?\b(?! of\b)", _rolling),
    (rf"\b(?:the )?next (?:{_SOME}|{COUNT}) {_UNIT}s?\b(?! of\b)", _rolling_on),
    (rf"\b(?:the )?(?:last|past) {COUNT} {_HOURS}\b(?P<ago>(?!))?", _hours),
    (rf"\b{COUNT} {_HOURS} (?P<ago>ago)\b", _hours),
    (rf"\ban? {_UNIT} and a half ago\b", _and_a_half),
    (rf"\b(?:{_SOME}|{COUNT}) {_UNIT}s? (?P<way>ago|from now|back)\b(?! to\b)", _ago),
    (r"\bthe other (?P<unit>day|night|week)\b", _other),
    (rf"\b{_WHICH} {_WEEKDAY}(?!,? ?\0)", _weekday),
    (
        rf"\b(?:on|since|by|before|after|until|till|from|between|to|through|and)(?P<which>(?!))? (?P<time>{_WEEKDAY})(?!,? ?\0)",
        _weekday,
    ),
    (rf"(?<!every )(?<!each )\b(?P<which>(?!))?{_WEEKDAY}{_ENDS}", _weekday),
)

RULES = (*DATES, *_RELATIVE)


def english(text: str, today: date) -> FoundPhrases:
    """The time expressions of a case-folded text as they are meant on a day."""
    phrases, named = collect(text, RULES, today)
    return FoundPhrases(linked(text, phrases, today, lambda part, on: english(part, on).phrases), named)
