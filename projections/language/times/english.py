"""English time expressions: "last week", "5 May 2023", "two days before Christmas", "since June". Pure; texts are case-folded.

May and march are months, spring and fall seasons, 2000 a year only where they stand like one. No pattern repeats without bound,
so that reading takes time proportional to the text.
"""

from __future__ import annotations

from datetime import date
from functools import partial
from re import Match

from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.times import calendar as cal
from engramlog_server.projections.language.times.calendar import (
    MONTH,
    MONTHS,
    SHORT_MONTHS,
    TWELVE,
    WEEKDAY,
    WEEKDAYS,
    FoundPhrases,
    Phrase,
    Rule,
    Span,
    collect,
    joined,
    linked,
    month_number,
    opened,
    yearly,
)

_WORD_TEXT = """
today tonight yesterday tomorrow this last next past previous coming ago back now earlier later other spring summer autumn fall
winter christmas halloween valentine boxing independence new
"""
WORDS = frozenset((*MONTHS, *SHORT_MONTHS, *WEEKDAYS, *_WORD_TEXT.split()))
"""A text without any of these and without digits holds no English time expression."""
_ORDINAL_TEXT = """
first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth
sixteenth seventeenth eighteenth nineteenth twentieth
"""
_ORDINALS = _ORDINAL_TEXT.split()
_FEASTS = cal.table("""
    new year's eve: 12-31, new year's day: 1-1, new year's: 1-1, christmas eve: 12-24, christmas day: 12-25, christmas: 12-25,
    boxing day: 12-26, halloween: 10-31, valentine's day: 2-14, independence day: 7-4
""")
"""Month and day of each."""
_NUMBERS = {word: float(number) for number, word in enumerate(TWELVE, 1)}
_NUMBERS |= {"a": 1, "an": 1, "the": 1, "last": 1, "a couple": 2, "a couple of": 2, "half a": 0.5, "half an": 0.5}
_UNITS = {"day": 1, "week": 7, "weekend": 7, "fortnight": 14, "month": 30, "quarter": 91, "year": 365}
"""Days of each."""
_KINDS: dict[str, cal.Kind] = {"day": "day", "week": "week"}
_AWAY = {"last": -1, "this": 0, "next": 1, "coming": 1, "this coming": 1}
"""How far from now, in units; any other word: -1."""
_NEAR_DAYS = {"yesterday": -1, "today": 0, "tomorrow": 1}
_EDGES = cal.table("early: early, mid: mid, late: late, beginning: beginning, start: beginning, middle: mid, end: end")
_NTH_WEEKS = ("first", "second", "third", "fourth", "last")

# Parts of patterns.
_MONTH = rf"(?P<month>{MONTH})\b\.?"
_DAY = r"(?<![\d.,/:])(?P<day>\d{1,2})(?P<th>st|nd|rd|th)?\b"
_TO_DAY = r" ?(?:-|–|to|and|through|until|till) ?(?:the )?(?P<last>\d{1,2})(?:st|nd|rd|th)?\b"
_NAMED_YEAR = r"\d{4}|(?:last|this|next) year"
_YEAR = rf"(?:,? {{0,2}}(?:of |in )?(?P<year>{_NAMED_YEAR})\b)?"
_ITS_YEAR = rf",? (?:of )?(?P<year>{_NAMED_YEAR})\b"
_SEASON = r"(?P<season>spring|summer|autumn|fall|winter)\b"
_NTH = rf"(?P<nth>{'|'.join(_ORDINALS)}|last)"
_FEAST = rf"(?P<feast>{'|'.join(_FEASTS)})\b"
_WHICH_ONE = r"(?:this )?(?P<which>last|past|previous|this|next|coming)"
_NOT_COUNTED = r"(?![.,:]\d| (?:words|people|steps|times|miles|calories|dollars|pages|lines|points|users|characters)\b)"
_BEFORE_MONTH = (
    r"\b(?:(?P<which>last|this|next)|in|during|of|since|by|early|late|mid|before|after|until|till|from|through"
    r"|between|(?P<on>to|and))"
)
_BEFORE_YEAR = (
    r"\b(?:in|during|since|before|after|until|till|by|from|to|and|between|through|throughout|of|early|late|mid)"
)
_THE_NTH = r"the (?P<day>\d{1,2})(?:st|nd|rd|th)(?: of (?P<of>last|this|next) month)?"
_GOES_ON = r"and|or|to|at|in|with|for|by|when|because|about|did|was|were"
_DAY_ENDS = rf" ?(?:$|[?!.,;:)\0]|(?:{_GOES_ON})\b)"
_COUNT = rf"(?P<count>\d{{1,4}}|(?:a )?couple(?: of)?|half an?|an?|{'|'.join(TWELVE)})"
_SOME_OR_COUNT = rf"(?:(?P<some>a few|few|several|some)|{_COUNT})"
_UNIT = r"(?P<unit>day|weekend|week|fortnight|month|quarter|year)"
_HOURS = r"(?P<unit>hour|minute)s?"
_WHICH = r"(?P<which>last|(?:this )?past|previous|this|next|(?:this )?coming)"
_WEEKDAY = rf"(?P<weekday>{WEEKDAY})\b"
_PART = r"(?P<part>morning|afternoon|evening|night)"
_WEEKDAY_ENDS = (
    rf"(?= ?(?:$|[?!.,;:)\0–-]|(?:{_GOES_ON}|until|till|through|morning|afternoon|evening|night)\b))(?!,? ?(?:the )?\0)"
)
_LEADS = regex(r"(?:^|[\0,(]|\b(?:on|of|by|since|until|till|from|to|before|after|and|the|dated)) ?$")
_ENDED = regex(_DAY_ENDS)
_AFTER_MONTH = regex(rf"(?:\0|\b(?:{'|'.join(MONTHS)})),? ?$")


# Words of a sentence that looks ahead.
_CLAUSE = 100
"""Characters about a day in which words that look ahead are looked for."""
_SENTENCE = regex(r"[.!?;\n]")
_WHO = r"(?:i|we|you|he|she|they|it)"
_NOT_DONE = r"(?! (?:\w+ )?have (?:\w+e[dn]|done|gone|left|said|told|met|seen)\b)"
_AHEAD = regex(
    rf"\b(?:shall|(?:will|should|must|ought to|supposed to){_NOT_DONE}|going to|gonna|let's|let us|plan|plans|planning"
    rf"|(?:can|could|may|might) (?:i|we)|{_WHO} (?:need|have|want|would like|plan|hope) (?:to|an?|some)"
    rf"|(?:do|does) (?:i|we|he|she|they|it) have|(?:am|are|is) {_WHO} (?:free|busy|available|off|away)"
    r"|(?:am|are|is) (?:\w+ ){0,3}?(?:coming|doing|going|meeting|seeing|visiting|flying|leaving|arriving|happening|cooking|having"
    r"|driving|working|travell?ing|playing)"
    r"|remind me to|(?:book|reserve|schedule|arrange|prepare|suggest|recommend) (?:an?|the|some|me|us|my|our))\b|'ll\b"
)
_TOLD = regex(
    r"\b(?:what|who|whom|where|when|why|how|which|that|because"
    rf"|{_WHO} (?:(?!need\b|feed\b)\w+ed|met|saw|went|said|ate|had|took|made))\b"
)
"""What comes after a word that looks ahead, and is told of the past: "to remember what I ate"."""
_PAST = regex(r"\b(?:did|was|were|had|didn't|wasn't|weren't|ago|told|remember|recall)\b")
_AHEAD_AFTER = regex(
    rf",? (?:(?!(?:and|but|who|that|because|told|said|asked)\b)[\w']+ ){{0,4}}?"
    rf"(?:(?:shall|will|should|must){_NOT_DONE}|(?:am|are|is) going to|(?:need|have|want) to|{_WHO}'ll)\b"
)


def _away(which: str | None) -> int:
    return _AWAY.get(which or "", -1)


def _count(match: Match[str]) -> float:
    """The number that _COUNT has matched."""
    count = match["count"]
    if count is None:
        return 1
    return float(count) if count.isdigit() else _NUMBERS.get(count, 2)


def _days_of_units(match: Match[str]) -> int:
    return int((cal.SOME[1] if match["some"] else _count(match)) * _UNITS[match["unit"]])


def _month(match: Match[str]) -> int:
    return month_number(match["month"])


def _year(match: Match[str], today: date) -> int | None:
    year = match["year"]
    if year is None or year.isdigit():
        return int(year) if year else None
    return today.year + _AWAY[year.split()[0]]


_yearly = partial(yearly, _year)


def _which(make: cal.Maker, which: str | None, today: date) -> Span | None:
    """The last, this, the next; else any year's."""
    return cal.latest(make, today) if which is None else cal.which(make, _away(which), today)


def _day(match: Match[str], today: date) -> Span | None:
    if match["month"].strip(".") in {"may", "march"} and not match["th"] and not match["year"]:
        leads = _LEADS.search(match.string[max(0, match.start() - 10) : match.start()])
        if not leads and not _ENDED.match(match.string[match.end() : match.end() + 9]):
            return None
    return _yearly(lambda of, year: cal.day(year, _month(of), int(of["day"])))(match, today)


def _month_alone(match: Match[str], today: date) -> Span | None:
    if match["on"] and not _AFTER_MONTH.search(match.string[max(0, match.start() - 16) : match.start()]):
        return None
    return _which(lambda year: cal.month(year, _month(match)), match["which"], today)


def _digits(year: str, month: str, number: str) -> Span | None:
    """A day written as three numbers; month and day change places where only that makes a day."""
    of = int(year) + (2000 if len(year) == 2 else 0)
    return cal.day(of, int(month), int(number)) or cal.day(of, int(number), int(month))


def _nth(match: Match[str], last: int) -> int:
    nth = match["nth"]
    return last if nth == "last" else int(nth) if nth.isdigit() else _ORDINALS.index(nth) + 1


def _quarter(match: Match[str], year: int) -> Span | None:
    return cal.months(year, 3 * nth - 2, 3) if (nth := _nth(match, 4)) <= 4 else None


def _feast(match: Match[str], today: date) -> Span | None:
    def make(year: int) -> Span | None:
        span = cal.day(year, *map(int, _FEASTS[match["feast"]].split("-")))
        return span and span._replace(named=False)

    year = _year(match, today)
    return _which(make, match["which"], today) if year is None else make(year)


def _day_of_month(match: Match[str], today: date) -> Span | None:
    number = int(match["day"])
    if match["of"]:
        return cal.day_of_month(number, _AWAY[match["of"]], today)
    return cal.nearest_day_of_month(number, today, coming=_looks_ahead(match))


def _looks_ahead(match: Match[str]) -> bool:
    """Whether the sentence about a phrase is a plan or asks for one: "What shall I do on Sunday?"."""
    text, (at, end) = match.string, match.span("time" if "time" in match.re.groupindex else 0)
    before = _SENTENCE.split(text[max(0, at - _CLAUSE) : at])[-1]
    if _PAST.search(before):
        return False
    return any(not _TOLD.search(before, word.end()) for word in _AHEAD.finditer(before)) or bool(
        _AHEAD_AFTER.match(text, end, end + _CLAUSE)
    )


def _within(match: Match[str], today: date) -> Span | None:
    """Earlier or later this week, month or year."""
    span, now = cal.unit_away(match["unit"], 0, today), today.toordinal()
    if span is None:
        return None
    return Span(span.first, now + 1, "span") if match["way"] == "earlier" else Span(now, span.after, "span")


def _hours(match: Match[str], today: date) -> Span | None:
    return cal.moments(today, _count(match) * (60 if match["unit"] == "hour" else 1), since=match["ago"] is None)


def _ago(match: Match[str], today: date) -> Span | None:
    count, units = _count(match), _UNITS[match["unit"]]
    if match["some"]:
        return cal.some_ago(today, units)
    if match["way"] == "from now":
        return cal.ago(today, -count, units)
    if match["unit"] == "weekend":
        return cal.unit_away("weekend", -int(count), today)
    return cal.ago(today, count, units)


def _weekday(match: Match[str], today: date) -> Span | None:
    number, which = WEEKDAYS.index(match["weekday"]), match["which"]
    if which and which.endswith(("next", "coming")):
        return cal.coming_weekday(number, today)
    if which == "this":
        return cal.days(today.toordinal() - today.weekday() + number, 1)
    if not which and _looks_ahead(match):
        return cal.coming_weekday(number, today)
    return cal.weekday(number, today, strictly=bool(which))


def _weekday_of_week(match: Match[str], today: date) -> Span | None:
    span = cal.unit_away("week", _away(match["of"]), today)
    return span and cal.days(span.first + WEEKDAYS.index(match["weekday"]), 1)


def _weekday_but_one(match: Match[str], today: date) -> Span | None:
    span = cal.weekday(WEEKDAYS.index(match["weekday"]), today, strictly=True)
    return span and cal.days(span.first - 7, 1)


RULES: tuple[Rule, ...] = (
    # Dates.
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
    *(
        (pattern, _yearly(lambda of, year: cal.days_of_month(year, _month(of), int(of["day"]), int(of["last"]))))
        for pattern in (rf"\b{_MONTH} (?:the )?{_DAY}{_TO_DAY}{_YEAR}", rf"\b{_DAY}{_TO_DAY}(?: of)? {_MONTH}{_YEAR}")
    ),
    (rf"\b{_MONTH} (?:the )?{_DAY}{_YEAR}", _day),
    (rf"\b{_DAY}(?: of)? {_MONTH}{_YEAR}", _day),
    (rf"\b{_NTH} of {_MONTH}{_YEAR}", _yearly(lambda of, year: cal.day(year, _month(of), _nth(of, 0)))),
    (rf"\b{_MONTH}{_ITS_YEAR}", _yearly(lambda of, year: cal.month(year, _month(of)))),
    (rf"{_BEFORE_MONTH}[ -](?P<time>{_MONTH})", _month_alone),
    (rf"\bq(?P<nth>[1-4]){_ITS_YEAR}", _yearly(_quarter)),
    (rf"\b(?:in|during|since|for|until) (?P<time>q(?P<nth>[1-4])\b{_YEAR})", _yearly(_quarter)),
    (rf"\b{_NTH} quarter{_ITS_YEAR}", _yearly(_quarter)),
    (
        rf"\b(?P<nth>first|second) half{_ITS_YEAR}",
        _yearly(lambda of, year: cal.months(year, 1 if of["nth"] == "first" else 7, 6)),
    ),
    (rf"\b{_SEASON}{_ITS_YEAR}", _yearly(lambda of, year: cal.months(year, cal.SEASONS[of["season"]], 3))),
    (
        rf"\b(?:{_WHICH_ONE}|in|during|since|over)(?: the)? (?P<time>{_SEASON})",
        lambda of, today: _which(lambda year: cal.months(year, cal.SEASONS[of["season"]], 3), of["which"], today),
    ),
    (rf"\b(?:{_WHICH_ONE}|on|at|over|during|since|before|after|until|by) (?P<time>{_FEAST}{_YEAR})", _feast),
    (
        rf"{_BEFORE_YEAR}[ -](?P<time>(?P<year>(?:1[89]|20|21)\d\d)\b){_NOT_COUNTED}",
        lambda match, _: cal.year(int(match["year"])),
    ),
    (r"\b(?:19|20)\d0'?s\b", lambda match, _: cal.months(int(match[0][:4]), 1, 120)),
    (rf"\b(?:on|since|by|before|after|until|till|from) (?P<time>{_THE_NTH})\b(?={_DAY_ENDS})", _day_of_month),
    # From today.
    (r"\b(?:the )?day before yesterday\b", lambda _, today: cal.day_away(today, -2)),
    (r"\b(?:the )?day after tomorrow\b", lambda _, today: cal.day_away(today, 2)),
    (r"\blast night\b", lambda _, today: cal.day_away(today, -1, "night")),
    (r"\btonight\b", lambda _, today: cal.day_away(today, 0, "night")),
    (r"\bthis (?P<part>morning|afternoon|evening)\b", lambda match, today: cal.day_away(today, 0, match["part"])),
    (
        r"\b(?P<near>yesterday|today|tomorrow)\b",
        lambda match, today: cal.day_away(today, _NEAR_DAYS[match["near"]]),
    ),
    (
        r"\b(?:the )?(?P<unit>weekend|week|month|quarter|year) (?P<way>before last|after next)\b",
        lambda match, today: cal.unit_away(match["unit"], -2 if match["way"] == "before last" else 2, today),
    ),
    (rf"\b(?:the )?{_WEEKDAY} before last\b", _weekday_but_one),
    (rf"\b{_WEEKDAY} (?:of )?(?P<of>last|this|next) week\b", _weekday_of_week),
    (rf"\b(?P<of>last|this|next) week(?:'s| on)? {_WEEKDAY}", _weekday_of_week),
    (r"\b(?P<way>earlier|later) this (?P<unit>week|month|quarter|year)\b", _within),
    (
        r"\b(?:the|over) past (?P<unit>week|month|quarter|year)\b(?! of\b)",
        lambda match, today: cal.past(today, _UNITS[match["unit"]]),
    ),
    (
        rf"\b{_WHICH} (?P<unit>weekend|week|month|quarter|year)\b(?! of\b)",
        lambda match, today: cal.unit_away(match["unit"], _away(match["which"]), today),
    ),
    (
        rf"\b(?:the )?(?:last|past|previous) {_SOME_OR_COUNT} {_UNIT}s?\b(?! of\b)",
        lambda match, today: cal.past(today, _days_of_units(match)),
    ),
    (
        rf"\b(?:the )?next {_SOME_OR_COUNT} {_UNIT}s?\b(?! of\b)",
        lambda match, today: cal.ahead(today, _days_of_units(match)),
    ),
    (rf"\b(?:the )?(?:last|past) {_COUNT} {_HOURS}\b(?P<ago>(?!))?", _hours),
    (rf"\b{_COUNT} {_HOURS} (?P<ago>ago)\b", _hours),
    (rf"\ban? {_UNIT} and a half ago\b", lambda match, today: cal.ago(today, 1.5, _UNITS[match["unit"]])),
    (rf"\b{_SOME_OR_COUNT} {_UNIT}s? (?P<way>ago|from now|back)\b(?! to\b)", _ago),
    (
        r"\bthe other (?P<unit>day|night|week)\b",
        lambda match, today: cal.past(today, 28 if match["unit"] == "week" else 7),
    ),
    (rf"\b{_WHICH} {_WEEKDAY}(?!,? ?\0)", _weekday),
    (
        rf"\b(?:on|since|by|before|after|until|till|from|between|to|through|and)(?P<which>(?!))? (?P<time>{_WEEKDAY})(?!,? ?\0)",
        _weekday,
    ),
    (rf"(?<!every )(?<!each )\b(?P<which>(?!))?{_WEEKDAY}{_WEEKDAY_ENDS}", _weekday),
)


# Words about a time.
_NEAR = 40
"""Characters about a time in which words about it are looked for."""
_PART_AFTER = regex(rf"(?:'s|,)? (?:in the |at )?{_PART}\b")
_PART_BEFORE = regex(rf"\bthe {_PART} of (?:the )?$")
_EDGE = regex(
    r"\b(?:(?P<edge>early|mid|late)(?: in)?|(?:at )?(?:the )?(?P<of>beginning|start|middle|end) of)[ -](?:the )?$"
)
_WEEK = regex(rf"\b(?:the )?(?P<nth>{'|'.join(_NTH_WEEKS)}) (?P<unit>week|weekend) (?:of|in) (?:the )?$")
_APART = regex(
    rf"\b(?:the|{_COUNT}) (?P<unit>day|weekend|week|month|year)s? (?P<way>before|after|prior to|following|of) (?:the )?$"
)
_ANCHORED = regex(r" (?:before|prior to) (?:the )?")
_TO = regex(r" ?(?:to|through|thru|until|till|-|–|—) ?(?:the )?")
_AND = regex(r",? and (?:the )?")
_FROM = regex(r"\b(?:from|between) (?:the )?$")
_BETWEEN = regex(r"\bbetween (?:the )?$")
_OPEN = regex(r"\b(?P<way>since|after|later than|before|prior to|earlier than|until|till|up to|from)(?: the)? $")
_ONWARDS = regex(r" (?:on|onwards?|and (?:after|later))\b")


def _qualified(text: str, phrase: Phrase, begins: int, ends: int) -> Phrase:
    """Early May, the evening of 5 May, yesterday morning, two weeks before 5 May."""
    before, span = text[begins : phrase.at], phrase.span
    if after := _PART_AFTER.match(text, phrase.end, ends):
        return phrase.with_word(cal.part(span, after["part"]), phrase.at, after.end())
    if word := _PART_BEFORE.search(before):
        meant: Span | None = cal.part(span, word["part"])
    elif word := _EDGE.search(before):
        meant = cal.edge(span, _EDGES[word["edge"] or word["of"]]) if span.kind != "day" else None
    elif span.kind == "month" and (word := _WEEK.search(before)):
        meant = _week(word, span)
    elif word := _APART.search(before):
        meant = _apart(word, span)
    else:
        return phrase
    return phrase.with_word(meant, begins + word.start(), phrase.end)


def _week(match: Match[str], month: Span) -> Span | None:
    """The first seven days of a month, the next ...; or the weekend that begins in them."""
    first = month.after - 7 if match["nth"] == "last" else month.first + 7 * _NTH_WEEKS.index(match["nth"])
    if match["unit"] == "week":
        return Span(first, first + 7, "week", yearless=month.yearless)
    return cal.days(first + (cal.WEEKEND - date.fromordinal(first).weekday()) % 7, 2, "week")


def _apart(match: Match[str], span: Span) -> Span | None:
    """So many units before or after a time; "the weekend of" it."""
    unit, earlier = match["unit"], match["way"] in {"before", "prior to"}
    if match["way"] == "of":
        moved = cal.unit_away(unit, 0, date.fromordinal(span.first)) if unit in {"week", "weekend"} else None
    elif unit == "weekend":
        moved = cal.weekend_beside(span, earlier=earlier)
    elif match["count"] is None:
        moved = cal.days(span.first - _UNITS[unit] if earlier else span.after, _UNITS[unit], _KINDS.get(unit, "span"))
    else:
        near = date.fromordinal(span.first if earlier else span.after - 1)
        moved = cal.ago(near, _count(match) if earlier else -_count(match), _UNITS[unit])
    return moved and moved._replace(yearless=span.yearless)


def _together(text: str, one: Phrase, other: Phrase, begins: int, _: int) -> Phrase | None:
    """From one time to another; or last week as it was before a day."""
    gap = text[one.end : other.at] if other.at - one.end < _NEAR else ""
    begins = max(begins, one.at - _NEAR)
    before = text[begins : one.at]
    if _TO.fullmatch(gap) or (_AND.fullmatch(gap) and _BETWEEN.search(before)):
        start = _FROM.search(before)
        return joined(one, other, begins + start.start() if start else one.at)
    if _ANCHORED.fullmatch(gap) and one.span.kind in {"week", "month"} and not one.span.named:
        again = english(text[one.at : one.end], date.fromordinal(other.span.first)).phrases
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


def english(text: str, today: date) -> FoundPhrases:
    """The time expressions of a case-folded text as they are meant on a day."""
    phrases, named = collect(text, RULES, today)
    return FoundPhrases(linked(text, phrases, today, _NEAR, _qualified, _together, _opened), named)
