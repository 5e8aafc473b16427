"""Chinese time expressions: 昨天, 上上周, 5月2号, 去年夏天, 三天前, 最近一周. Pure; texts are case-folded.

With the words about a time: 初, 晚上, 之前, 从 ... 到. Feasts are those of the solar calendar: the days of 春节 and 中秋
are not known here. No pattern repeats without bound, so that reading takes time proportional to the text.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from functools import partial
from re import Match

from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.times import calendar as cal
from engramlog_server.projections.language.times.calendar import (
    HAN_DIGITS,
    FoundPhrases,
    Phrase,
    Reader,
    Rule,
    Span,
    collect,
    joined,
    linked,
    opened,
    yearly,
)

SIGNS = frozenset("年月周日号天昨今明前后旬季礼星早晚上下去本元节夜旦")
"""A text without any of these holds no Chinese time expression."""
_SPACE = regex(
    r"(?<=[\d年月日号周天]) {1,2}(?=[之以]?[前后](?![天面台往]))|(?<=\d) {1,2}(?=[年月日号天周]|个(?:月|星期|礼拜))"
    r"|(?<=年) {1,2}(?=[\d一二三四五六七八九十春夏秋冬初底末第上下])|(?<=月) {1,2}(?=[\d初底末中上下])"
)
"""Spaces inside a date: 2026 年 3 月 5 日 之前."""
_COUNT = r"(?P<count>\d{1,4}|[一二两三四五六七八九十百]{1,5}|半|好?几|十几)"
_UNIT = r"个?(?P<unit>天|日|周|星期|礼拜|月|年|小时|钟头|分钟)"
_UNITS = {"天": 1, "日": 1, "周": 7, "星": 7, "礼": 7, "月": 30, "年": 365}
"""Days of each, by its first character."""
_MINUTES = {"小": 60, "钟": 60, "分": 1}
"""Minutes of what is shorter, by its first character."""
_DIGIT = "〇零一二三四五六七八九"
_AWAY_YEARS = {"大前年": -3, "前年": -2, "去年": -1, "今年": 0, "明年": 1, "后年": 2}
_TOLD_YEAR = rf"(?<!\d)(?P<year>\d{{4}}|[{_DIGIT}]{{4}})年"
_AWAY_YEAR = rf"(?P<away>{'|'.join(_AWAY_YEARS)})"
_ITS_YEAR = rf"(?:{_TOLD_YEAR}|{_AWAY_YEAR})的?"
_SHORT_YEAR = rf"(?:(?<!\d)(?P<year>\d{{4}}|\d{{2}}|[{_DIGIT}]{{4}}|[{_DIGIT}]{{2}})年|{_AWAY_YEAR})的?"
_MONTH = r"(?P<month>\d{1,2}|十[一二]|[一二三四五六七八九十])月份?"
_DAY = r"(?P<day>\d{1,2}|[二三]?十[一二三四五六七八九]?|[一二三四五六七八九])"
_TO_DAY = r"[日号]?(?:到|至|-|~|–|—)(?P<last>\d{1,2}|[二三]?十[一二三四五六七八九]?|[一二三四五六七八九])[日号]"
_WHICH = r"(?P<which>上上|(?<![晚早马网路身加以线手桌地街车])上|这|本|下下|(?<![以一楼如线剩当])下)个?"
_AWAY = {"上上": -2, "上": -1, "这": 0, "本": 0, "下": 1, "下下": 2}
_WEEK = r"(?:周|星期|礼拜)"
_WEEKDAY = r"(?P<weekday>一(?![直起些样共定个次家下同边])|[二三四五六](?![次个遍趟天位])|日(?![本语文子常])|天(?![气天空津文]))"
_DAYS = "一二三四五六日天"
_NEAR_DAYS = {"大前": -3, "前": -2, "昨": -1, "今": 0, "明": 1, "后": 2, "大后": 3}
_HALVES = {"早": "morning", "晚": "night", "夜": "night"}
_SEASON = r"(?P<season>[春夏秋冬][天季]|[春夏秋冬]|[暑寒]假)"
_SEASONS = {"春": (3, 3), "夏": (6, 3), "秋": (9, 3), "冬": (12, 3), "暑": (7, 2), "寒": (1, 2)}
"""The first month of each, and how many it has; 暑假 and 寒假 are the schools' holidays."""
_FEASTS = cal.table("""
    元旦: 1-1-1, 情人节: 2-14-1, 妇女节: 3-8-1, 愚人节: 4-1-1, 劳动节: 5-1-5, 五一: 5-1-5, 儿童节: 6-1-1,
    六一: 6-1-1, 国庆节: 10-1-7, 国庆: 10-1-7, 双十一: 11-11-1, 平安夜: 12-24-1, 圣诞节: 12-25-1
""")
"""Month and first day of each, and how many days it has."""
_OF_FEAST = r"(?=$|[\s，。！？、?,!\0我你他她它咱那这当期假前后是去在有]|的时候)"


# Words of a sentence that looks ahead.
_CLAUSE = 40
"""Characters about a day in which words that look ahead are looked for."""
_SENTENCE = regex(r"[。！？；.!?;\n]")
_AHEAD = regex(
    r"(?<![重主需首不])要(?![是求点紧])|需要|[应應][该該当當]|(?<![应應])[该該]|打算|[计計][划劃]|[准準][备備]|想(?![起到法])"
    r"|能不能|可不可以|有空|有[没沒]有(?:空|[时時][间間]|事)|安排|[提][醒]|[预預][约約订訂定]|推荐|推薦|建[议議]"
    r"|(?:做|干|幹|吃|穿|[买買]|[带帶]|玩)(?:什[么麼]|啥|[点點])|干嘛|怎[么麼][过過]|如何[过過]|去[哪].{0,3}$|去.{1,6}[吗嗎]|吧$"
)
_PAST = regex(
    r"了(?!解)|(?<![怎么麼何])[过過](?![生节節年])|[记記]得|想起|想到|[刚剛]才|曾|[来來]着|[当當][时時]|那天|的是|是.{1,6}的$|[说說]的"
)


def _number(text: str) -> int:
    """A number below 1000 in digits or in Chinese; 0 where it is none."""
    if text.isascii():
        return int(text)
    value = digit = 0
    for character in text:
        if character in "十百":
            value += (digit or 1) * (10 if character == "十" else 100)
            digit = 0
        else:
            digit = HAN_DIGITS.get(character, 0)
    return value + digit


def _count(match: Match[str]) -> float | None:
    """The number that COUNT has matched; None for "a few"."""
    count = match["count"]
    if count.endswith("几"):
        return None
    return 0.5 if count == "半" else _number(count)


def _year(match: Match[str], today: date) -> int | None:
    if match["away"]:
        return today.year + _AWAY_YEARS[match["away"]]
    year = match["year"]
    if year is None:
        return None
    digits = year if year.isascii() else "".join(str(max(0, _DIGIT.index(character) - 1)) for character in year)
    return int(digits) + (2000 if len(digits) == 2 else 0)


_yearly = partial(yearly, _year)


def _day_of_month(match: Match[str], today: date) -> Span | None:
    number = _number(match["day"])
    if match["which"]:
        return cal.day_of_month(number, _AWAY[match["which"]], today)
    return cal.nearest_day_of_month(number, today, coming=_looks_ahead(match))


def _weekday(match: Match[str], today: date) -> Span | None:
    number = min(6, _DAYS.index(match["weekday"]))
    return cal.coming_weekday(number, today) if _looks_ahead(match) else cal.weekday(number, today)


def _looks_ahead(match: Match[str]) -> bool:
    """Whether the sentence about a phrase is a plan or asks for one: 周日我该做什么."""
    text, (at, end) = match.string, match.span()
    before, after = text[max(0, at - _CLAUSE) : at], text[end : end + _CLAUSE]
    sentence = _SENTENCE.split(before)[-1] + _SENTENCE.split(after)[0]
    return _AHEAD.search(sentence) is not None and _PAST.search(sentence) is None


def _season(match: Match[str], year: int) -> Span | None:
    return cal.months(year, *_SEASONS[match["season"][0]])


def _weekday_of_week(match: Match[str], today: date) -> Span | None:
    week = cal.unit_away("week", _AWAY[match["which"]], today)
    return week and cal.days(week.first + min(6, _DAYS.index(match["weekday"])), 1)


def _near(match: Match[str], today: date) -> Span | None:
    return cal.day_away(today, _NEAR_DAYS[match["near"]], _HALVES.get(match["part"]))


def _ago(match: Match[str], today: date) -> Span | None:
    count, unit = _count(match), match["unit"][0]
    if unit == "月" and count not in {0.5, None} and "个" not in match[0]:
        return None  # 5月前 is before May
    earlier = match["way"] == "前"
    if count is None:
        return cal.some_ago(today, _UNITS[unit]) if earlier and unit in _UNITS else None
    if unit not in _UNITS:
        return cal.moments(today, count * _MINUTES[unit], since=False) if earlier else None
    if unit == "年" and count > 99:
        return None
    count += 0.5 if match["half"] else 0
    return cal.ago(today, count if earlier else -count, _UNITS[unit])


def _rolling(match: Match[str], today: date) -> Span | None:
    count, unit = _count(match), match["unit"][0]
    count = cal.SOME[1] if count is None else count
    if unit not in _UNITS:
        return cal.moments(today, count * _MINUTES[unit], since=True)
    return cal.past(today, int(count * _UNITS[unit]))


def _rolling_on(match: Match[str], today: date) -> Span | None:
    unit = _UNITS.get(match["unit"][0])
    return cal.ahead(today, int((_count(match) or cal.SOME[1]) * unit)) if unit else None


def _feast(match: Match[str], year: int) -> Span | None:
    month, first, count = map(int, _FEASTS[match["feast"]].split("-"))
    span = cal.day(year, month, first)
    return span and cal.days(span.first, count)


def _edge_of(unit: str, match: Match[str], today: date) -> Span | None:
    """年底, 月初: the latest that has begun."""
    for back in (0, -1):
        whole = cal.unit_away(unit, back, today)
        span = whole and cal.edge(whole, _EDGES["底" if match["edge"] == "末" else match["edge"]])
        if span and span.first <= today.toordinal():
            return span
    return None


def _unit_away(unit: str) -> Reader:
    return lambda match, today: cal.unit_away(unit, _AWAY[match["which"]], today)


_month = _yearly(lambda of, year: cal.month(year, _number(of["month"])))


RULES: tuple[Rule, ...] = (
    (rf"(?<![\d第月]){_COUNT}{_UNIT}(?P<half>半)?多?[以之]?(?P<way>前)(?![天面台往后夕])", _ago),
    (rf"(?<![\d第月过后]){_COUNT}{_UNIT}(?P<half>半)?[以之]?(?P<way>后)(?![来面天])", _ago),
    (
        r"(?<![以之今])(?:前|这|近|最近)(?P<some>[几些两])个?(?P<unit>天|日|周|星期|礼拜|月|年)(?![前后])",
        lambda of, today: cal.past(today, (3 if of["some"] == "两" else cal.SOME[1]) * _UNITS[of["unit"][0]]),
    ),
    (rf"(?:最近|过去|这|近)的?{_COUNT}{_UNIT}(?![前后])", _rolling),
    (rf"(?:接下来|未来)的?{_COUNT}{_UNIT}", _rolling_on),
    (
        rf"(?:{_SHORT_YEAR})?{_MONTH}{_DAY}{_TO_DAY}",
        _yearly(
            lambda of, year: cal.days_of_month(year, _number(of["month"]), _number(of["day"]), _number(of["last"]))
        ),
    ),
    (
        rf"(?:{_SHORT_YEAR}\s?)?{_MONTH}\s{{0,2}}{_DAY}[日号]",
        _yearly(lambda of, year: cal.day(year, _number(of["month"]), _number(of["day"]))),
    ),
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
    (
        rf"{_ITS_YEAR}(?P<half>[上下])半年",
        _yearly(lambda of, year: cal.months(year, 1 if of["half"] == "上" else 7, 6)),
    ),
    (
        rf"{_ITS_YEAR}第?(?P<nth>[一二三四1-4])季度",
        _yearly(lambda of, year: cal.months(year, 3 * _number(of["nth"]) - 2, 3)),
    ),
    (rf"{_ITS_YEAR}{_SEASON}", _yearly(_season)),
    (rf"(?:{_ITS_YEAR})?(?P<feast>{'|'.join(_FEASTS)}){_OF_FEAST}", _yearly(_feast)),
    (rf"{_TOLD_YEAR}(?P<away>(?!))?(?![级代来多])", _yearly(lambda _, year: cal.year(year))),
    (rf"(?P<year>(?!))?{_AWAY_YEAR}", _yearly(lambda _, year: cal.year(year))),
    (
        r"(?<!\d)(?P<year>(?:19|20)\d0|[5-9]0|[五六七八九]十)年代",
        lambda of, _: cal.months(_number(of["year"]) + (1900 if len(of["year"]) == 2 else 0), 1, 120),
    ),
    (rf"{_WHICH}{_SEASON}", lambda of, today: cal.which(lambda year: _season(of, year), _AWAY[of["which"]], today)),
    (rf"{_WHICH}季度", _unit_away("quarter")),
    (rf"{_WHICH}{_WEEK}末", _unit_away("weekend")),
    (rf"{_WHICH}{_WEEK}{_WEEKDAY}", _weekday_of_week),
    (rf"{_WHICH}{_WEEK}", _unit_away("week")),
    (rf"{_WHICH}月(?![亮球光饼色])", _unit_away("month")),
    (
        rf"(?<![每隔整半几两一二三四五六七八九十百\d]){_WEEK}{_WEEKDAY}",
        _weekday,
    ),
    (r"(?P<near>大前|(?<![以之天周月年])前|昨|今|明|(?<![今以之])后|大后)(?P<part>天|日(?!本))", _near),
    (r"(?P<near>[昨今明])(?:天|日)?(?P<part>[早晚夜])(?:上|晨|间|里)?(?!安|会|报)", _near),
    (
        (
            r"(?<![\d.〇零一二三四五六七八九十第])(?P<which>(?!))?"
            rf"{_DAY}号(?=$|[\s，。！？?,!\0]|那天|当天|的时候|[我你他她去来做说看吃买见聊到至要该想]|应该|打算|准备|上午|下午|晚上)"
        ),
        _day_of_month,
    ),
    (r"(?<![今明去前后\d年\0的])年(?P<edge>[初底末])", partial(_edge_of, "year")),
    (r"(?<![上下这本个\d月一二三四五六七八九十\0的])月(?P<edge>[初底末])", partial(_edge_of, "month")),
    (
        r"(?:^|(?<=[，,。！!？?\s我你在]))(?P<part>上午|下午)(?![茶好])",
        lambda of, today: cal.day_away(today, 0, "morning" if of["part"] == "上午" else "afternoon"),
    ),
)


# Words about a time.
_NEAR = 24
"""Characters about a time in which words about it are looked for."""
_KINDS: dict[int, cal.Kind] = {1: "day", 7: "week"}
_PARTS = cal.table("""
    凌晨: dawn, 清晨: morning, 早上: morning, 早晨: morning, 上午: morning, 中午: noon, 下午: afternoon, 傍晚: evening, 晚上: night,
    夜里: night, 晚(?![饭餐会点安报]): night, 早(?![饭餐点就已安]): morning
""")
"""In reading order: 早上 before 早."""
_PART = regex(rf"的?(?P<part>{'|'.join(_PARTS)})")
_PART_NAMES = {word.partition("(")[0]: name for word, name in _PARTS.items()}
_EDGES = cal.table("初: beginning, 上旬: early, 中旬: mid, 中: mid, 下旬: late, 底: end, 末: end")
_EDGE = regex(r"的?[年月]?(?P<edge>初|上旬|中旬|中(?![国午间文秋])|下旬|底|末)")
_OF = regex(r"的?那个?(?P<unit>周末|周|星期|礼拜)")
_APART = regex(rf"的?(?:[之以](?P<of>[前后])的|(?P<way>[前后])){_COUNT}{_UNIT}")
_BOUND = regex(r" ?(?:[之以]?前(?![天面台往后夕])|[之以]?后(?![来面天悔])|以来|至今|到现在|为止)")
_SINCE = regex(r"自从?$")
_STARTS = regex(r"开始|起")
_UNTIL = regex(r"直到$")
_TO = regex(r" ?(?:到|至|-|~|–|—) ?")
_AND = regex(r"[和与跟]")
_BETWEEN = regex(r"之?间")
_FROM = regex(r"(?:自|从)$")
_THAN = regex(r"(?P<way>[早晚])于 ?$")


def _qualified(text: str, phrase: Phrase, _: int, ends: int) -> Phrase:
    """5月初, 昨天晚上, 5月2号那周, 5月2号前一周."""
    span, at = phrase.span, phrase.end
    meant: Span | None
    if span.kind == "day" and (word := _PART.match(text, at, ends)):
        meant = cal.part(span, _PART_NAMES[word["part"]])
    elif span.kind in {"month", "span"} and (word := _EDGE.match(text, at, ends)):
        meant = cal.edge(span, _EDGES[word["edge"]])
    elif span.kind == "day" and (word := _OF.match(text, at, ends)):
        around = cal.unit_away("weekend" if word["unit"] == "周末" else "week", 0, date.fromordinal(span.first))
        meant = around and around._replace(yearless=span.yearless)
    elif word := _APART.match(text, at, ends):
        meant = _apart(word, span)
    else:
        return phrase
    return phrase.with_word(meant, phrase.at, word.end())


def _apart(match: Match[str], span: Span) -> Span | None:
    count, unit = _count(match), _UNITS.get(match["unit"][0])
    if count is None or unit is None:
        return None
    long = max(1, int(count * unit))
    earlier = "前" in {match["way"], match["of"]}
    moved = cal.days(span.first - long if earlier else span.after, long, _KINDS.get(long, "span"))
    return moved and moved._replace(yearless=span.yearless)


def _together(text: str, one: Phrase, other: Phrase, begins: int, ends: int) -> Phrase | None:
    """从 ... 到, ... 和 ... 之间."""
    gap = text[one.end : other.at] if other.at - one.end < _NEAR else ""
    after = _BETWEEN.match(text, other.end, ends)
    if not (_TO.fullmatch(gap) or (after and _AND.fullmatch(gap))):
        return None
    begins = max(begins, one.at - 1)
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
        words = bound[0]
        way = "before" if "前" in words else "after" if "后" in words else "until" if words == "为止" else "since"
    elif than := _THAN.search(before):
        way = "before" if than["way"] == "早" else "after"
        return opened(phrase, way, begins + than.start(), phrase.end, today)
    elif since or until:
        way = "since" if since else "until"
    else:
        return phrase
    at = begins + since.start() if since else begins + until.start() if until else phrase.at
    return opened(phrase, way, at, bound.end() if bound else phrase.end, today)


def chinese(text: str, today: date) -> FoundPhrases:
    """Time expressions of a case-folded text, resolved on a day; spaces next to numbers do not matter."""
    if _SPACE.search(text) is None:
        return _read(text, today)
    places = [place for begin, end in _between_spaces(text) for place in range(begin, end)]
    phrases, named = _read("".join(text[place] for place in places), today)
    moved = [phrase._replace(at=places[phrase.at], end=places[phrase.end - 1] + 1) for phrase in phrases]
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
    return FoundPhrases(linked(text, phrases, today, _NEAR, _qualified, _together, opened_by), named)
