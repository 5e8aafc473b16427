"""Chinese time expressions: 昨天, 上上周, 5月2号, 去年夏天, 三天前, 最近一周. Pure; texts are case-folded.

Words about a time (初, 晚上, 之前, 从 ... 到) are in times_chinese_links. Feasts are those of the solar calendar: which day
春节 or 中秋 is, is not known here. No pattern repeats without bound, so that reading takes time proportional to the text.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from re import Match

from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.times import calendar as cal
from engramlog_server.projections.language.times.calendar import Span
from engramlog_server.projections.language.times.chinese_links import (
    COUNT,
    MINUTES,
    UNIT,
    UNITS,
    count_of,
    linked,
    number,
)
from engramlog_server.projections.language.times.phrases import FoundPhrases, Reader, Rule, collect

SIGNS = frozenset("年月周日号天昨今明前后旬季礼星早晚上下去本元节夜旦")
"""A text without any of these holds no Chinese time expression."""
_SPACE = regex(
    r"(?<=[\d年月日号周天]) {1,2}(?=[之以]?[前后](?![天面台往]))|(?<=\d) {1,2}(?=[年月日号天周]|个(?:月|星期|礼拜))"
    r"|(?<=年) {1,2}(?=[\d一二三四五六七八九十春夏秋冬初底末第上下])|(?<=月) {1,2}(?=[\d初底末中上下])"
)
"""Spaces inside a date: 2026 年 3 月 5 日 之前."""
_DIGIT = "〇零一二三四五六七八九"
_AWAY_YEARS = {"大前年": -3, "前年": -2, "去年": -1, "今年": 0, "明年": 1, "后年": 2}
_TOLD_YEAR = rf"(?<!\d)(?P<year>\d{{4}}|[{_DIGIT}]{{4}})年"
_AWAY_YEAR = rf"(?P<away>{'|'.join(_AWAY_YEARS)})"
_ITS_YEAR = rf"(?:{_TOLD_YEAR}|{_AWAY_YEAR})的?"
_SHORT_YEAR = rf"(?:(?<!\d)(?P<year>\d{{4}}|\d{{2}}|[{_DIGIT}]{{4}}|[{_DIGIT}]{{2}})年|{_AWAY_YEAR})的?"
_MONTH = r"(?P<month>\d{1,2}|十[一二]|[一二三四五六七八九十])月份?"
_DAY = r"(?P<day>\d{1,2}|[二三]?十[一二三四五六七八九]?|[一二三四五六七八九])"
_TO = r"[日号]?(?:到|至|-|~|–|—)(?P<last>\d{1,2}|[二三]?十[一二三四五六七八九]?|[一二三四五六七八九])[日号]"
_WHICH = r"(?P<which>上上|(?<![晚早马网路身加以线手桌地街车])上|这|本|下下|(?<![以一楼如线剩当])下)个?"
_AWAY = {"上上": -2, "上": -1, "这": 0, "本": 0, "下": 1, "下下": 2}
_WEEK = r"(?:周|星期|礼拜)"
_WEEKDAY = r"(?P<weekday>一(?![直起些样共定个次家下同边])|[二三四五六](?![次个遍趟天位])|日(?![本语文子常])|天(?![气天空津文]))"
_DAYS = "一二三四五六日天"
_NEAR = {"大前": -3, "前": -2, "昨": -1, "今": 0, "明": 1, "后": 2, "大后": 3}
_PARTS = {"早": "morning", "晚": "night", "夜": "night"}
_SEASON = r"(?P<season>[春夏秋冬][天季]|[春夏秋冬]|[暑寒]假)"
_SEASONS = {"春": (3, 3), "夏": (6, 3), "秋": (9, 3), "冬": (12, 3), "暑": (7, 2), "寒": (1, 2)}
"""The first month of each, and how many it has; 暑假 and 寒假 are the schools' holidays."""
_FEASTS = {
    "元旦": (1, 1, 1),
    "情人节": (2, 14, 1),
    "妇女节": (3, 8, 1),
    "愚人节": (4, 1, 1),
    "劳动节": (5, 1, 5),
    "五一": (5, 1, 5),
    "儿童节": (6, 1, 1),
    "六一": (6, 1, 1),
    "国庆节": (10, 1, 7),
    "国庆": (10, 1, 7),
    "双十一": (11, 11, 1),
    "平安夜": (12, 24, 1),
    "圣诞节": (12, 25, 1),
}
_OF_FEAST = r"(?=$|[\s，。！？、?,!\0我你他她它咱那这当期假前后是去在有]|的时候)"


def _year(match: Match[str], today: date) -> int | None:
    if match["away"]:
        return today.year + _AWAY_YEARS[match["away"]]
    told = match["year"]
    if told is None:
        return None
    digits = told if told.isascii() else "".join(str(max(0, _DIGIT.index(one) - 1)) for one in told)
    return int(digits) + (2000 if len(digits) == 2 else 0)


def _of_year(make: cal.Maker, match: Match[str], today: date) -> Span | None:
    """In the year that is told, or in any, told of the latest."""
    year = _year(match, today)
    return cal.latest(make, today) if year is None else make(year)


def _day(match: Match[str], today: date) -> Span | None:
    return _of_year(lambda year: cal.day(year, number(match["month"]), number(match["day"])), match, today)


def _days(match: Match[str], today: date) -> Span | None:
    month, first, last = number(match["month"]), number(match["day"]), number(match["last"])
    return _of_year(lambda year: cal.days_of_month(year, month, first, last), match, today)


def _month(match: Match[str], today: date) -> Span | None:
    return _of_year(lambda year: cal.month(year, number(match["month"])), match, today)


def _day_of_month(match: Match[str], today: date) -> Span | None:
    away = (_AWAY[match["which"]],) if match["which"] else range(0, -3, -1)
    return cal.day_of_month(number(match["day"]), away, today)


def _whole_year(match: Match[str], today: date) -> Span | None:
    return _of_year(cal.year, match, today)


def _season(match: Match[str], today: date) -> Span | None:
    return _of_year(lambda year: cal.months(year, *_SEASONS[match["season"][0]]), match, today)


def _season_away(match: Match[str], today: date) -> Span | None:
    return cal.which(lambda year: cal.months(year, *_SEASONS[match["season"][0]]), _AWAY[match["which"]], today)


def _half(match: Match[str], today: date) -> Span | None:
    return _of_year(lambda year: cal.months(year, 1 if match["half"] == "上" else 7, 6), match, today)


def _quarter(match: Match[str], today: date) -> Span | None:
    nth = number(match["nth"])
    return _of_year(lambda year: cal.months(year, 3 * nth - 2, 3), match, today)


def _quarter_away(match: Match[str], today: date) -> Span | None:
    return cal.months(today.year, 3 * ((today.month - 1) // 3 + _AWAY[match["which"]]) + 1, 3)


def _month_away(match: Match[str], today: date) -> Span | None:
    return cal.months(today.year, today.month + _AWAY[match["which"]], 1, "month")


def _week(match: Match[str], today: date) -> Span | None:
    return cal.week(today, _AWAY[match["which"]])


def _weekend(match: Match[str], today: date) -> Span | None:
    return cal.weekend(today, _AWAY[match["which"]])


def _weekday_of_week(match: Match[str], today: date) -> Span | None:
    week = _week(match, today)
    return week and cal.days(week.first + min(6, _DAYS.index(match["weekday"])), 1)


def _weekday(match: Match[str], today: date) -> Span | None:
    return cal.weekday(min(6, _DAYS.index(match["weekday"])), today)


def _near(match: Match[str], today: date) -> Span | None:
    span = cal.days(today.toordinal() + _NEAR[match["near"]], 1)
    name = match["part"]
    return cal.part(span, _PARTS[name]) if span and name in _PARTS else span


def _some_time(match: Match[str], today: date) -> Span | None:
    return cal.past(today, (3 if match["some"] == "两" else cal.SOME[1]) * UNITS[match["unit"][0]])


def _ago(match: Match[str], today: date) -> Span | None:
    count, unit = count_of(match), match["unit"][0]
    if unit == "月" and count not in {0.5, None} and "个" not in match[0]:
        return None  # 5月前 is before May
    earlier = match["way"] == "前"
    if count is None:
        return cal.some_ago(today, UNITS[unit]) if earlier and unit in UNITS else None
    if unit not in UNITS:
        return cal.moments(today, count * MINUTES[unit], since=False) if earlier else None
    if unit == "年" and count > 99:
        return None
    count += 0.5 if match["half"] else 0
    return cal.ago(today, count if earlier else -count, UNITS[unit])


def _rolling(match: Match[str], today: date) -> Span | None:
    count, unit = count_of(match), match["unit"][0]
    count = cal.SOME[1] if count is None else count
    if unit not in UNITS:
        return cal.moments(today, count * MINUTES[unit], since=True)
    return cal.past(today, int(count * UNITS[unit]))


def _rolling_on(match: Match[str], today: date) -> Span | None:
    count = count_of(match) or cal.SOME[1]
    unit = UNITS.get(match["unit"][0])
    return cal.ahead(today, int(count * unit)) if unit else None


def _feast(match: Match[str], today: date) -> Span | None:
    month, first, count = _FEASTS[match["feast"]]

    def made(year: int) -> Span | None:
        span = cal.day(year, month, first)
        return span and cal.days(span.first, count)

    return _of_year(made, match, today)


def _part_of_today(match: Match[str], today: date) -> Span | None:
    span = cal.days(today.toordinal(), 1)
    return span and cal.part(span, "morning" if match["part"] == "上午" else "afternoon")


def _edge(of: str) -> Reader:
    def read(match: Match[str], today: date) -> Span | None:
        def made(back: int) -> Span | None:
            whole = (
                cal.year(today.year - back) if of == "年" else cal.months(today.year, today.month - back, 1, "month")
            )
            return whole and cal.edge(whole, {"初": "beginning", "中": "mid"}.get(match["edge"], "end"))  # type: ignore[arg-type]

        spans = (made(0), made(1))
        return next((span for span in spans if span and span.first <= today.toordinal()), None)

    return read


RULES: tuple[Rule, ...] = (
    (rf"(?<![\d第月]){COUNT}{UNIT}(?P<half>半)?多?[以之]?(?P<way>前)(?![天面台往后夕])", _ago),
    (rf"(?<![\d第月过后]){COUNT}{UNIT}(?P<half>半)?[以之]?(?P<way>后)(?![来面天])", _ago),
    (r"(?<![以之今])(?:前|这|近|最近)(?P<some>[几些两])个?(?P<unit>天|日|周|星期|礼拜|月|年)(?![前后])", _some_time),
    (rf"(?:最近|过去|这|近)的?{COUNT}{UNIT}(?![前后])", _rolling),
    (rf"(?:接下来|未来)的?{COUNT}{UNIT}", _rolling_on),
    (rf"(?:{_SHORT_YEAR})?{_MONTH}{_DAY}{_TO}", _days),
    (rf"(?:{_SHORT_YEAR}\s?)?{_MONTH}\s{{0,2}}{_DAY}[日号]", _day),
    (rf"{_WHICH}月的?{_DAY}[日号]", _day_of_month),
    (rf"{_SHORT_YEAR}{_MONTH}", _month),
    (r"(?<![\d.])(?P<year>(?!))?(?P<away>(?!))?(?P<month>\d{1,2})月份?", _month),
    (
        (
            r"(?<![每上下这那本个第前后两几半隔十〇零一二三四五六七八九])(?P<year>(?!))?(?P<away>(?!))?"
            r"(?P<month>十[一二]|[一二三四五六七八九十])月份?(?!天(?!气))"
        ),
        _month,
    ),
    (rf"{_ITS_YEAR}(?P<half>[上下])半年", _half),
    (rf"{_ITS_YEAR}第?(?P<nth>[一二三四1-4])季度", _quarter),
    (rf"{_ITS_YEAR}{_SEASON}", _season),
    (rf"(?:{_ITS_YEAR})?(?P<feast>{'|'.join(_FEASTS)}){_OF_FEAST}", _feast),
    (rf"{_TOLD_YEAR}(?P<away>(?!))?(?![级代来多])", _whole_year),
    (rf"(?P<year>(?!))?{_AWAY_YEAR}", _whole_year),
    (
        r"(?<!\d)(?P<year>(?:19|20)\d0|[5-9]0|[五六七八九]十)年代",
        lambda match, _: cal.months(_decade(match["year"]), 1, 120),
    ),
    (rf"{_WHICH}{_SEASON}", _season_away),
    (rf"{_WHICH}季度", _quarter_away),
    (rf"{_WHICH}{_WEEK}末", _weekend),
    (rf"{_WHICH}{_WEEK}{_WEEKDAY}", _weekday_of_week),
    (rf"{_WHICH}{_WEEK}", _week),
    (rf"{_WHICH}月(?![亮球光饼色])", _month_away),
    (rf"(?<![每隔整半几两一二三四五六七八九十百\d]){_WEEK}{_WEEKDAY}", _weekday),
    (r"(?P<near>大前|(?<![以之天周月年])前|昨|今|明|(?<![今以之])后|大后)(?P<part>天|日(?!本))", _near),
    (r"(?P<near>[昨今明])(?:天|日)?(?P<part>[早晚夜])(?:上|晨|间|里)?(?!安|会|报)", _near),
    (
        (
            r"(?<![\d.〇零一二三四五六七八九十第])(?P<which>(?!))?"
            rf"{_DAY}号(?=$|[\s，。！？?,!\0]|那天|当天|的时候|[我你他她去来做说看吃买见聊到至]|上午|下午|晚上)"
        ),
        _day_of_month,
    ),
    (r"(?<![今明去前后\d年\0的])年(?P<edge>[初底末])", _edge("年")),
    (r"(?<![上下这本个\d月一二三四五六七八九十\0的])月(?P<edge>[初底末])", _edge("月")),
    (r"(?:^|(?<=[，,。！!？?\s我你在]))(?P<part>上午|下午)(?![茶好])", _part_of_today),
)


def chinese(text: str, today: date) -> FoundPhrases:
    """Time expressions of a case-folded text, resolved on a day; spaces next to numbers do not matter."""
    if _SPACE.search(text) is None:
        return _read(text, today)
    places = [place for begin, end in _between_spaces(text) for place in range(begin, end)]
    phrases, named = _read("".join(text[place] for place in places), today)
    moved = [one._replace(at=places[one.at], end=places[one.end - 1] + 1) for one in phrases]
    return FoundPhrases(moved, [(places[at], places[end - 1] + 1) for at, end in named])


def _between_spaces(text: str) -> Iterator[tuple[int, int]]:
    """Positions of the text without the spaces inside dates."""
    begin = 0
    for match in _SPACE.finditer(text):
        yield begin, match.start()
        begin = match.end()
    yield begin, len(text)


def _read(text: str, today: date) -> FoundPhrases:
    phrases, named = collect(text, RULES, today)
    return FoundPhrases(linked(text, phrases, today), named)


def _decade(told: str) -> int:
    return number(told) + (1900 if len(told) == 2 else 0)
