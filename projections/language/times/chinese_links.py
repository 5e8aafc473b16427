"""Chinese words about a time: 初, 晚上, 前一周, 之前, 以来, 从 ... 到. Pure; texts are case-folded."""

from __future__ import annotations

from datetime import date
from re import Match

from engramlog_server.projections.language.numerals import HAN_DIGITS
from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.times import calendar as cal
from engramlog_server.projections.language.times.calendar import Span
from engramlog_server.projections.language.times.phrases import Phrase, joined, opened

COUNT = r"(?P<count>\d{1,4}|[一二两三四五六七八九十百]{1,5}|半|好?几|十几)"
UNIT = r"个?(?P<unit>天|日|周|星期|礼拜|月|年|小时|钟头|分钟)"
UNITS = {"天": 1, "日": 1, "周": 7, "星": 7, "礼": 7, "月": 30, "年": 365}
"""Days of each, by its first character."""
MINUTES = {"小": 60, "钟": 60, "分": 1}
"""Minutes of what is shorter, by its first character."""
_NEAR = 24
"""Characters about a time in which words about it are looked for."""
_KINDS: dict[int, cal.Kind] = {1: "day", 7: "week"}
_PARTS = {  # in reading order: 早上 before 早
    "凌晨": "dawn",
    "清晨": "morning",
    "早上": "morning",
    "早晨": "morning",
    "上午": "morning",
    "中午": "noon",
    "下午": "afternoon",
    "傍晚": "evening",
    "晚上": "night",
    "夜里": "night",
    "晚(?![饭餐会点安报])": "night",
    "早(?![饭餐点就已安])": "morning",
}
_PART = regex(rf"的?(?P<part>{'|'.join(_PARTS)})")
_PART_NAMES = {word.partition("(")[0]: name for word, name in _PARTS.items()}
_EDGES: dict[str, cal.Edge] = {
    "初": "beginning",
    "上旬": "early",
    "中旬": "mid",
    "中": "mid",
    "下旬": "late",
    "底": "end",
    "末": "end",
}
_EDGE = regex(r"的?[年月]?(?P<edge>初|上旬|中旬|中(?![国午间文秋])|下旬|底|末)")
_OF = regex(r"的?那个?(?P<unit>周末|周|星期|礼拜)")
_APART = regex(rf"的?(?:[之以](?P<of>[前后])的|(?P<way>[前后])){COUNT}{UNIT}")
_BOUND = regex(r" ?(?:[之以]?前(?![天面台往后夕])|[之以]?后(?![来面天悔])|以来|至今|到现在|为止)")
_SINCE = regex(r"自从?$")
_STARTS = regex(r"开始|起")
_UNTIL = regex(r"直到$")
_TO = regex(r" ?(?:到|至|-|~|–|—) ?")
_AND = regex(r"[和与跟]")
_BETWEEN = regex(r"之?间")
_FROM = regex(r"(?:自|从)$")
_THAN = regex(r"(?P<way>[早晚])于 ?$")


def number(text: str) -> int:
    """A number below 1000 in digits or in Chinese; 0 where it is none."""
    if text.isascii():
        return int(text)
    value = digit = 0
    for one in text:
        if one in "十百":
            value += (digit or 1) * (10 if one == "十" else 100)
            digit = 0
        else:
            digit = HAN_DIGITS.get(one, 0)
    return value + digit


def count_of(match: Match[str]) -> float | None:
    """The number that COUNT has matched; None for "a few"."""
    told = match["count"]
    if told.endswith("几"):
        return None
    return 0.5 if told == "半" else number(told)


def linked(text: str, phrases: list[Phrase], today: date) -> list[Phrase]:
    """The phrases together with the words about them."""
    done: list[Phrase] = []
    for place, phrase in enumerate(phrases):
        ends = phrases[place + 1].at if place + 1 < len(phrases) else len(text)
        this = _qualified(text, phrase, min(ends, phrase.end + _NEAR))
        begins = done[-2].end if len(done) > 1 else 0
        if done and (both := _together(text, done[-1], this, (begins, ends))):
            done[-1] = both
        else:
            done.append(this)
    starts = [0, *(one.end for one in done)]
    stops = [*(one.at for one in done[1:]), len(text)]
    return [opened_by(text, *one, today) for one in zip(done, starts, stops, strict=False)]


def _qualified(text: str, phrase: Phrase, ends: int) -> Phrase:
    """5月初, 昨天晚上, 5月2号那周, 5月2号前一周."""
    span, at = phrase.span, phrase.end
    if span.kind == "day" and (part := _PART.match(text, at, ends)):
        return _with(phrase, cal.part(span, _PART_NAMES[part["part"]]), part.end())
    if span.kind in {"month", "span"} and (edge := _EDGE.match(text, at, ends)):
        return _with(phrase, cal.edge(span, _EDGES[edge["edge"]]), edge.end())
    if span.kind == "day" and (of := _OF.match(text, at, ends)):
        on = date.fromordinal(span.first)
        around = cal.weekend(on) if of["unit"] == "周末" else cal.week(on)
        return _with(phrase, around and around._replace(yearless=span.yearless), of.end())
    if apart := _APART.match(text, at, ends):
        return _with(phrase, _apart(apart, span), apart.end())
    return phrase


def _with(phrase: Phrase, span: Span | None, end: int) -> Phrase:
    """The phrase as it is told with a word more; its own days count on, since news of it are told on them too."""
    return phrase if span is None else Phrase(phrase.at, end, span, (span, *phrase.fits))


def _apart(match: Match[str], span: Span) -> Span | None:
    count, unit = count_of(match), UNITS.get(match["unit"][0])
    if count is None or unit is None:
        return None
    long = max(1, int(count * unit))
    earlier = "前" in {match["way"], match["of"]}
    found = cal.days(span.first - long if earlier else span.after, long, _KINDS.get(long, "span"))
    return found and found._replace(yearless=span.yearless)


def _together(text: str, one: Phrase, other: Phrase, within: tuple[int, int]) -> Phrase | None:
    """从 ... 到, ... 和 ... 之间."""
    gap = text[one.end : other.at] if other.at - one.end < _NEAR else ""
    after = _BETWEEN.match(text, other.end, within[1])
    if not (_TO.fullmatch(gap) or (after and _AND.fullmatch(gap))):
        return None
    begins = max(within[0], one.at - 1)
    at = begins if _FROM.search(text[begins : one.at]) else one.at
    return joined(one, other._replace(end=after.end()) if after else other, at)


def opened_by(text: str, phrase: Phrase, begins: int, ends: int, today: date) -> Phrase:
    """5月之前, 5月以来, 自从5月, 直到5月, 早于5月."""
    begins = max(begins, phrase.at - 3)
    before, bound = text[begins : phrase.at], _BOUND.match(text, phrase.end, ends)
    since, until = _SINCE.search(before), _UNTIL.search(before)
    if not bound and _FROM.search(before):
        bound = _STARTS.match(text, phrase.end, ends)
    if bound:
        told = bound[0]
        way = "before" if "前" in told else "after" if "后" in told else "until" if told == "为止" else "since"
    elif than := _THAN.search(before):
        way = "before" if than["way"] == "早" else "after"
        return opened(phrase, way, begins + than.start(), phrase.end, today)
    elif since or until:
        way = "since" if since else "until"
    else:
        return phrase
    at = begins + since.start() if since else begins + until.start() if until else phrase.at
    return opened(phrase, way, at, bound.end() if bound else phrase.end, today)
