"""Times of recorded statements: the date of a relative day, until when a statement holds, and whether it is about now. Pure.

`dated` writes the date after a relative day: "tomorrow (2024-03-03)". `bounded` reads
"until Friday I am in Paris", 周五之前我在上海.
Times in words are otherwise read as questions mean them, looking back; a bound looks ahead from the day it was said. What names no
day that lies ahead is no bound ("until he came", 三天之前).

"I live in Paris for the summer" and "In 2010, I moved to Boston" say little about where somebody lives. A sentence often says this
next to the clause that states something: `set_in` and `limited_to` read it there.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from functools import lru_cache
from re import Match
from typing import NamedTuple
from zoneinfo import ZoneInfo

from engramlog_server.events.envelope import from_micros, micros
from engramlog_server.projections.language.lexicon import either
from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.times import calendar as cal
from engramlog_server.projections.language.times.calendar import WEEKDAY, WEEKDAYS, FoundPhrases, Span
from engramlog_server.projections.language.times.chinese import chinese
from engramlog_server.projections.language.times.english import english

MOST_DATED = 2_000
"""Characters of a text that are read."""
_OFFSETS = {
    **dict.fromkeys(("today", "tonight", "this morning", "今天", "今晚", "今早"), 0),
    **dict.fromkeys(("yesterday", "last night", "昨天", "昨晚"), -1),
    **dict.fromkeys(("tomorrow", "明天", "明晚", "明早"), 1),
    **dict.fromkeys(("the day before yesterday", "前天"), -2),
    **dict.fromkeys(("the day after tomorrow", "后天"), 2),
    "大前天": -3,
    "大后天": 3,
}
"""Days from the day on which it was said."""
_ANY_DAY = regex(r"day\b|tonight|night|morning|tomorrow|天|晚|早|周|星期|礼拜", re.IGNORECASE)
_RELATIVE = regex(
    rf"\b(?P<word>{either(word for word in _OFFSETS if word.isascii())})\b"
    rf"|\b(?P<way>last|this|next) (?P<weekday>{WEEKDAY})\b"
    rf"|(?P<han>{either(word for word in _OFFSETS if not word.isascii())})(?!早已|今日)"
    r"|(?P<week>上个?|这个?|本|下个?)(?:周|星期|礼拜)(?P<number>[一二三四五六日天])",
    re.IGNORECASE,
)


@lru_cache(maxsize=1 << 14)
def dated(text: str, said_at: int, zone: str) -> str:
    """The text with the date after each relative day; `said_at` in microseconds, the day in the time zone.

    "Next" and "last" are the nearest such day. Dates that are written out already stay as they are.
    """
    if len(text) > MOST_DATED or _ANY_DAY.search(text) is None:
        return text
    try:
        said = from_micros(said_at).astimezone(ZoneInfo(zone)).date()
    except OverflowError:  # at the ends of the calendar
        return text

    def with_date(found: Match[str]) -> str:
        if text[found.end() :].lstrip()[:1] in ("(", "（"):
            return found[0]
        try:
            day = said + timedelta(days=_offset(found, said))
        except OverflowError:
            return found[0]
        return f"{found[0]}（{day}）" if found["han"] or found["week"] else f"{found[0]} ({day})"

    return _RELATIVE.sub(with_date, text)


def _offset(found: Match[str], said: date) -> int:
    """Days from the day it was said to the day that is meant."""
    word = found["word"] or found["han"]
    if word:
        return _OFFSETS[word.lower()]
    if found["week"]:
        weeks = {"上": -1, "这": 0, "本": 0, "下": 1}[found["week"][0]]
        return 7 * weeks + "一二三四五六日".find(found["number"].replace("天", "日")) - said.weekday()
    ahead = (WEEKDAYS.index(found["weekday"].lower()) - said.weekday() - 1) % 7 + 1
    return {"last": ahead - 7 if ahead < 7 else -7, "next": ahead}.get(found["way"].lower(), ahead % 7)


MOST_READ = 400
"""Characters of a text that may tell a bound; a longer one says more than one thing."""
_ENGLISH = regex(
    r",? ?\b(?:(?:but |and )?(?:only )?(?P<way>until|till|through|up to|before) "
    r"(?P<time>[^,.;:!?]{2,30}?)(?=[,.;:!?]|$| (?:I|i|we|my|our|you|user|it|he|she|they)\b)"
    r"|for the (?P<span>next [^,.;:!?]{3,20}))"
)
_CHINESE = regex(
    r"(?:直到|一直到|截至|截止到?|(?:^|(?<=[，。；！\s我住待呆]))到)(?P<to>[^，。；！？\s到]{1,10}?)(?:为止|(?=[我，。；！？\s都]|一直|$))"
    r"|(?P<time>[^，。；！？\s我到]{1,10}?)(?P<way>之前|以前)"
    r"|(?P<span>接下来[^，。；！？\s我]{1,6}?[天周月])"
)
_PAST = regex(
    r"\b(?:was|were|had|did|been|used to|lived|stayed|worked|went|last|ago|\w+ed)\b|过|曾|了[。，！]?$|那时|当时"
    r"|上(?:周|星期|礼拜|个)|[?？吗]"
)
"""What was, or is asked."""
_ANY = regex(r"until|till|through|up to|before|for the next|到|截至|之前|以前|接下来")
"""A text without any of these tells no bound."""
_PLAN = regex(
    r"\b(?:plan(?:s|ned|ning)?|upcoming|going to|will|goals?|scheduled|booked|booking|reserved|reservation|rescheduled"
    r"|deadlines?|due|prioriti[sz]ing"
    r"|appointment|exams?|interview|flight|meeting|wedding|party|concert|festival|surgery|operation|presentation|speech|talk"
    r"|communion|graduation|race|marathon|trip|journey|event|visit(?:s|ing)?|fly(?:ing)?|travel(?:s|ling|ing)?)\b"
    r"|打算|计划|準備|准备|预约|預約|约在|約在|约了|約了|订了|訂了|考试|考試|面试|面試|婚礼|婚禮|演讲|演講|开会|開會|会议|會議"
    r"|手术|手術|聚会|聚會|航班|体检|體檢|截止|交房|出发|出發|要去|要交|旅行|旅游|旅遊"
)
_LASTING = regex(
    r"\b(?:birthdays?|born|anniversary|every|each|always|usually|yearly|annual(?:ly)?|was|were|had|did|went|took|happened|attended"
    r"|finished|passed|graduated|since|ago|until|till)\b|生日|出生|纪念日|紀念日|每|一直|过了|過了|办完|辦完|那天|结束|結束|之后|以来"
)
"""What comes again each year, or is told of the past: no plan that ends."""
_NUMBERED = regex(r"\b(?:on|for|is|by) the (\d{1,2})(?:st|nd|rd|th)\b(?! (?:of|[a-z]*day|floor|time))")
_SAID = regex(r" ?[(（](?:said on )?\d{4}-\d{2}-\d{2}说?[)）]\.?$")
_BEFORE = frozenset({"before", "之前", "以前"})
"""Words of which the time is no part of the bound."""
_UNTIL = frozenset({"until", "till", "up to"})
"""Words that reach to the end of a day, and to the beginning of anything longer."""


class Bounded(NamedTuple):
    """A statement with the time to which it is limited."""

    rest: str
    """What it says without that."""
    until: int
    """The first instant at which it holds no longer, microseconds since 1970."""


@lru_cache(maxsize=1 << 12)
def bounded(text: str, said_at: int, zone: str) -> Bounded | None:
    """The bound of a text that was said at an instant, in a time zone; None where it tells none that lies ahead."""
    folded = text.casefold()
    if (
        len(text) > MOST_READ
        or len(folded) != len(text)
        or _ANY.search(folded) is None
        or _PAST.search(folded) is not None
    ):
        return None
    try:
        day_said = from_micros(said_at).astimezone(ZoneInfo(zone))
    except OverflowError:  # at the ends of the calendar
        return None
    for pattern, read in ((_ENGLISH, english), (_CHINESE, chinese)):
        for match in pattern.finditer(folded):
            parts = match.groupdict()
            words = next(parts[name] for name in ("time", "span", "to") if parts.get(name))
            end = _end(words.strip(), parts.get("way") or "", day_said.date(), read)
            rest = _without(text, *match.span())
            if end is not None and end > day_said.date().toordinal() and rest.strip(" .。"):
                day = datetime.combine(date.fromordinal(end), time(), day_said.tzinfo)
                return Bounded(rest, micros(day))
    return None


@lru_cache(maxsize=1 << 12)
def plan_over(text: str, said_at: int, zone: str) -> int | None:
    """The first instant after the last day that a plan or an appointment names; None if the text is no plan or names no day.

    Days without a year are the first that lie ahead of the day it was said. Microseconds since 1970.
    """
    folded = _SAID.sub("", text).casefold()
    if len(folded) > MOST_READ or _PLAN.search(folded) is None or _LASTING.search(folded) is not None:
        return None
    try:
        day_said = from_micros(said_at).astimezone(ZoneInfo(zone))
    except OverflowError:  # at the ends of the calendar
        return None
    spans = [phrase.span for read in (english, chinese) for phrase in read(folded, day_said.date()).phrases]
    spans = [span._replace(yearless=True) if span.kind == "span" and not span.named else span for span in spans]
    today = day_said.date().toordinal()
    for number in _NUMBERED.findall(folded):
        day = today + _until_day(day_said.date(), int(number))
        spans.append(Span(day, day + 1, "day", named=True))
    ends = [span.after for phrase_span in spans if (span := _ahead(phrase_span, day_said.date(), "")).after < cal.END]
    if not ends or max(ends) <= today:
        return None
    return micros(datetime.combine(date.fromordinal(max(ends)), time(), day_said.tzinfo))


def _until_day(said: date, number: int) -> int:
    """Days until the next day of a month that has this number, at most 61; 0 if there is none."""
    return next((days for days in range(1, 62) if date.fromordinal(said.toordinal() + days).day == number), 0)


def _without(text: str, start: int, end: int) -> str:
    """A text without a part of it."""
    before, after = text[:start].rstrip(" ,，"), text[end:].lstrip(" ,，")
    return f"{before} {after}" if before and after[:1].isascii() and after[:1].isalnum() else before + after


def _end(words: str, way: str, said: date, read: Callable[[str, date], FoundPhrases]) -> int | None:
    """The first day, as an ordinal, that a bound no longer covers; None where its words name none."""
    phrases = read(words, said).phrases or read(f"in {words}", said).phrases
    if len(phrases) != 1:
        return None
    span = _ahead(phrases[0].span, said, way)
    if not said.toordinal() < span.after < cal.END:
        return None
    if way in _BEFORE or (way in _UNTIL and span.kind in ("week", "month")):
        return span.first
    return span.after


def _ahead(span: Span, said: date, way: str) -> Span:
    """The days that are meant by somebody who looks ahead."""
    today = said.toordinal()
    if span.after > today + 1:
        return span
    if span.yearless:
        years = (cal.in_year(span, year) for year in (said.year, said.year + 1))
        return next((in_year for in_year in years if in_year is not None and in_year.after > today + 1), span)
    is_weekday = span.kind == "day" and not span.named and today - 7 < span.first
    if is_weekday and (span.first < today or way in _BEFORE):
        return span._replace(first=span.first + 7, after=span.after + 7)
    return span


_SEASON = r"(?:summer|winter|spring|autumn|fall|semester|term|holidays?|season|weekend|week|month|year|time being|moment|present)"
_SPAN = r"(?:days?|nights?|weeks?|months?|semesters?|terms?|summers?|winters?|years?)"
_SOME = r"(?:an?|one|two|three|four|five|six|\d{1,3}|a few|a couple of|several|some|a short)"
_FOR_A_TIME = regex(
    rf"\b(?:temporar\w+|for now\b|for (?:the|this|next) (?:next |whole |entire )?{_SEASON}|for {_SOME} {_SPAN}(?! now)"
    rf"|until|till|(?:over|during) the {_SEASON}|this (?:summer|winter|spring|autumn|fall|semester|term|season)"
    rf"|next {_SEASON}|in (?:the )?(?:summers?|winters?|springtime|autumn)\b|(?:on|at) (?:the )?weekends?|on weekdays"
    r"|part[- ]time|(?:half|part) (?:of )?the|sometimes"
    r"|on (?:an? )?(?:exchange|vacation|holiday|assignment|sabbatical|business))\b"
    "|暂时|临时|暂住|借住|短期|过渡|平时|周末|期间|直到|为止|出差|暑假|寒假|假期|夏天|冬天|春天|秋天|学期|明年|下个?月"
    "|这(?:段时间|几[天周]|几个月)"
    "|(?<!延后|推迟|提前|往后)[一二两三四五六七八九十几半\\d](?:天|周|个?星期|个月)"
    "(?![前初底份]|以前|之前|[一二两三四五六七八九十几\\d]+[顿次杯回片粒])",
    re.IGNORECASE,
)
_EARLIER = regex(
    r"\b(?:(?:years?|decades?|long) ago|last (?:year|decade)|years? (?:before|earlier)|when (?:they|I|my|their)\b"
    r"|as an? (?:\w+ )?(?:kid|child|teen\w*|student|boy|girl)|used to|previously|formerly|at (?:the )?age|back then"
    r"|at the time|in (?:my|their|the) (?:childhood|youth|teens|twenties|thirties|college|student|\d\ds)"
    r"|during (?:college|school|university))\b"
    "|去年|前年|年前|小时候|以前|之前|从前|曾|当时|那时|那年|的时候|年轻时|岁时",
    re.IGNORECASE,
)
_YEAR = regex(r"(?<!since )(?<![\d.,-])((?:19|20)\d\d)(?![\d.,]*\d|-\d)(?!年?(?:以来|起|开始|至今))")
_SET_IN = regex(
    r"(?:and |but |so |well |oh )?(?:(?:back )?in (?:[a-z]+ |the (?:early |late |mid )?)?(?:19|20)?\d\ds?"
    r"|(?:back )?when I was [^,.]{1,40}|as an? (?:\w+ )?(?:kid|child|teen\w*|student|boy|girl)|back then"
    rf"|for {_SOME} {_SPAN}|(?:for|over|during) the [a-z]+|last (?:year|summer|winter)|(?:\w+ )?\w+ years? ago"
    rf"|this (?:summer|winter|spring|autumn|fall|semester|term)|next {_SEASON}|until [^,.]{{1,30}}|in my [a-z]+)",
    re.IGNORECASE,
)
_LIMITED_TO = regex(
    r"(?:and |but |though |although )?(?:it's |that's |this is )?(?:only |just )?(?:"
    rf"for (?:{_SOME}|the|now|this|next)\b(?: [\w]+){{0,3}}|temporarily|until [^,.]{{1,30}}|back in (?:19|20)\d\d"
    r"|in (?:19|20)\d\d|when I was [^,.]{1,40}|(?:\w+ )?\w+ years? ago)",
    re.IGNORECASE,
)
_SET_IN_CHINESE = regex(
    "(?:在)?(?:(?:19|20)\\d\\d年(?:\\d{1,2}月)?(?:的时候|时|那年)?|小时候|以前|从前|当时|那时候?|去年|前年|年轻时"
    "|[几一二两三四五六七八九十多\\d]+年前|我?[一二两三四五六七八九十\\d]+岁(?:时|的时候|那年)|明年|暂时|临时"
    "|(?:上?大学|高中|初中|小学|工作)(?:时|期间|的时候)|(?:这个?|今年|去年)?(?:暑假|寒假|夏天|冬天|学期)(?:期间|里)?)"
)
_LIMITED_TO_CHINESE = regex(
    "(?:不过|但是?|而且)?(?:只是|就|只)?(?:暂时|临时|短期|(?:住|待|呆)(?:到|[一二两三四五六七八九十几半\\d])"
    "|(?:这个?|一个)?(?:暑假|寒假|夏天|冬天|学期))[^，。]{0,10}"
)
_MARKS = " ,.!;:，。！；：…"


def for_a_time(text: str) -> bool:
    """Whether a statement is said of a while that ends, or of a part of the time."""
    return _FOR_A_TIME.search(text) is not None


def of_earlier(text: str, year: int | None) -> bool:
    """Whether a statement is said of an earlier time than `year`, the one in which it was said; None: any year may be."""
    if _EARLIER.search(text) is not None:
        return True
    return any(year is None or int(found[1]) < year for found in _YEAR.finditer(text))


def of_another_time(text: str, year: int | None) -> bool:
    """Whether a statement is said of a while that ends, or of an earlier time than `year`."""
    return for_a_time(text) or of_earlier(text, year)


def set_in(before: str) -> str:
    """The time in which the next clause is set, where a clause says nothing else: "In 2010"; else an empty string."""
    said = before.strip(_MARKS)
    whole = _SET_IN.fullmatch(said) or _SET_IN_CHINESE.fullmatch(said)
    return said if whole else ""


def limited_to(after: str) -> str:
    """The time to which the clause before is limited, where a clause says nothing else: "but only for the summer"."""
    said = after.strip(_MARKS)
    whole = _LIMITED_TO.fullmatch(said) or _LIMITED_TO_CHINESE.fullmatch(said)
    return said if whole else ""
