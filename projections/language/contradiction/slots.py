"""Facts with one value at a time, read out of a statement: age, year of birth, home, origin, counts, measures, dates, times.

One engine reads a clause by the rules of a language: exact numbers as people write them (23, 3.5, 1,200, twenty-three, 二十三, 两),
and places. Only two places that are both in the lexicon, neither within the other, are certain to be different. Values are
"type value" or a place. Only what is asserted of somebody definite is read: no question, supposition, approximation, denial, nor
what is past.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache, lru_cache
from typing import NamedTuple

from engramlog_server.projections.language import kin
from engramlog_server.projections.language.lexicon import either, rows, words
from engramlog_server.projections.language.patterns import HAN, begins_with_han, regex
from engramlog_server.projections.language.text import stem
from engramlog_server.projections.language.times.bounds import of_another_time
from engramlog_server.projections.language.times.calendar import (
    ENGLISH,
    HAN_DIGITS,
    HAN_UNITS,
    MONTH,
    TENS,
    WEEKDAY,
    month_number,
)

NUMBER_ENGLISH = (
    r"(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,9}(?:\.[0-9]{1,4})?|(?:"
    + "|".join(TENS)
    + r")(?:[- ](?:one|two|three|four|five|six|seven|eight|nine))?|"
    + "|".join(sorted(ENGLISH, key=len, reverse=True))
    + ")"
)
"""A pattern without groups, for texts in lower case."""
NUMBER_CHINESE = r"(?:[0-9]{1,9}(?:\.[0-9]{1,4})?|[零〇一二两三四五六七八九十百千]{1,7})"


def value_of(text: str) -> float | None:
    """The value of what one of the two patterns matched; None where it is not certain (三五, 一百二)."""
    digits = text.replace(",", "")
    if digits[0].isascii() and digits[0].isdigit():
        return float(digits)
    if text.isascii():
        tens, _, units = re.sub("[- ]", " ", text).partition(" ")
        return float(TENS[tens] + ENGLISH.get(units, 0)) if tens in TENS else float(ENGLISH[tens])
    return _han_value(text)


def _han_value(text: str) -> float | None:
    if all(one in HAN_DIGITS for one in text):
        return float("".join(str(HAN_DIGITS[one]) for one in text)) if len(text) != 2 else None
    if re.search("[百千][一二两三四五六七八九]$", text) or re.search("[十百千]{2}|[一二两三四五六七八九]{2}", text):
        return None
    total, digit = 0, 0
    for one in text:
        if one in HAN_DIGITS:
            digit = HAN_DIGITS[one]
        else:
            total, digit = total + (digit or 1) * HAN_UNITS[one], 0
    return float(total + digit)


@cache
def _places() -> tuple[Mapping[str, str], Mapping[str, frozenset[str]]]:
    """Names to places, and places to those they lie in directly."""
    named: dict[str, str] = {}
    within: dict[str, frozenset[str]] = {}
    for row in rows("places"):
        names = row["english"] + row["chinese"]
        named |= dict.fromkeys(names, names[0])
        if row["within"]:
            within[names[0]] = frozenset(row["within"])
    return named, within


@cache
def _starts() -> re.Pattern[str]:
    """Any known name at the start, longest first."""
    names = sorted(_places()[0], key=len, reverse=True)
    return re.compile("|".join(name if begins_with_han(name) else rf"{re.escape(name)}\b" for name in names))


def place_at_start(text: str) -> tuple[str, int] | None:
    """The known place with which a casefolded text begins, and how many characters name it."""
    found = _starts().match(text)
    return None if found is None else (_places()[0][found[0]], found.end())


def different_places(one: str, other: str) -> bool:
    """Whether two places from `place_at_start` are certainly not the same: neither lies in the other."""
    return one != other and other not in _around(one) and one not in _around(other)


def lies_in(place: str, outer: str) -> bool:
    """Whether one place lies in another, at any depth; a place does not lie in itself."""
    return outer in _around(place)


@cache
def _around(place: str) -> frozenset[str]:
    within, found, waiting = _places()[1], set[str](), [place]
    while waiting:
        areas = within.get(waiting.pop(), frozenset()) - found
        found |= areas
        waiting += areas
    return frozenset(found)


_Said = tuple[str, str]
"""Of what, and the value."""


class _SlotRule(NamedTuple):
    """One way to give a value. Group 1 of the pattern is whose it is; without it the value is the speaker's."""

    pattern: re.Pattern[str]
    says: Callable[[re.Match[str], str], _Said | None]
    """Of a match and its clause; None where it says nothing certain."""
    of_thing: bool = False
    """Group 1 is a thing (a meeting), not somebody."""


class _SlotLanguage(NamedTuple):
    """How one language gives values."""

    longest: int
    """Characters of a clause beyond which nothing is read."""
    unsure: re.Pattern[str]
    """Where a clause asks, supposes, denies, estimates or tells of the past: then it gives no value."""
    rules: tuple[_SlotRule, ...]
    whose: Callable[[str | None], str]
    """Somebody, as it is compared."""
    thing: Callable[[str], str] = str
    cleaned: Callable[[str], str] = str
    """The clause without words that only look unsure."""


def _read_slots(clause: str, language: _SlotLanguage) -> Iterator[tuple[str, str, str]]:
    """Whose, of what, value, rule by rule."""
    if len(clause) > language.longest:
        return
    clause = language.cleaned(clause)
    if language.unsure.search(clause):
        return
    for rule in language.rules:
        for found in rule.pattern.finditer(clause):
            if (said := rule.says(found, clause)) is not None:
                yield language.thing(found[1]) if rule.of_thing else language.whose(found[1]), *said


def _place_after(name: str) -> Callable[[re.Match[str], str], _Said | None]:
    """The place right behind a match: somebody's home, or origin."""

    def says(found: re.Match[str], clause: str) -> _Said | None:
        place = place_at_start(clause[found.end() :])
        return None if place is None else (name, place[0])

    return says


_UNSURE = regex(
    r"\?|\b(?:not|no|never|if|unless|maybe|might|may be|perhaps|probably|possibly|could|would|should|about|around|almost"
    r"|nearly|roughly|approximately|over|under|at least|at most|more than|less than|up to|until|used to|was|were|had|lived"
    r"|ago|last|when|said|says|told|think|thinks|guess|hope|wish|wants?|plans?|planning|will|going to|consider"
    r"|considering|thinking|feels? like|before|after|some days|sometimes|usually|often|during|weekends?|half|part)\b"
)
_SUBJECT = (
    r"(?<![a-z])(i|he|she|we|they|(?:my|our|his|her|their) (?:[a-z-]+ ){0,2}?[a-z-]+|(?:the )?user)"
    r" (?:now |already |currently |only |just |still |actually |really |both |all |presently |also )*"
)
_ADVERBS = r"(?:now |already |currently |only |just |still |exactly |actually |also )*"
_AGE = regex(
    rf"{_SUBJECT}(?:am|is|are|turned|turns) {_ADVERBS}({NUMBER_ENGLISH})(?: years? old| years? of age|$| and | now$| today$)"
)
_OF_AGE = regex(rf"{_SUBJECT}(?:am|is) {_ADVERBS}an? ({NUMBER_ENGLISH})[- ]years?[- ]old")
_BORN = regex(rf"{_SUBJECT}(?:am |is )?born in (\d{{4}})\b")
_HOME = regex(
    rf"{_SUBJECT}(?:lives?|(?:am|is|are) (?:living|based)|resides?|(?:have |has )?settled"
    r"|(?:have |has )?(?:just |recently )?(?:moved|relocated)(?: from [a-z ]{1,30}?)?(?= to)"
    rf") {_ADVERBS}(?:in|to) (?:the (?:city|town) of )?"
)
_ORIGIN = regex(
    rf"{_SUBJECT}(?:(?:come|comes|am|is) (?:originally )?from|(?:am |is )?(?:originally )?born (?:and raised )?in|grew up in) "
)
_OWN_COUNT = regex(
    rf"{_SUBJECT}(?:have|has|have got|has got|own|owns) {_ADVERBS}({NUMBER_ENGLISH}) ((?:[a-z-]+ )?[a-z-]+)"
    r"(?=$| (?:and|who|that|which|in|at|now|named|called) )"
)


@cache
def _counted_stems() -> frozenset[str]:
    """Stems of what one has a certain number of at a time: relatives, animals, things."""
    return frozenset(map(stem, (*kin.words_english(), *words("countables", "english"))))


_MEASURE = regex(
    rf"{_SUBJECT}(?:am|is|weighs?|measures?) {_ADVERBS}({NUMBER_ENGLISH})"
    r" ?(cm|centimet(?:er|re)s?|m|met(?:er|re)s?|kg|kilos?|kilograms?|lbs?|pounds?|feet|inches)(?: tall| high|$)"
)
_UNITS = {"c": "cm", "k": "kg", "l": "lb", "p": "lb", "m": "m", "f": "ft", "i": "in"}
_OF_THING = regex(
    r"(?<![a-z])((?:my|our|his|her|their|the) (?:[a-z'-]+ ){0,2}?[a-z'-]+?)"
    r" (?:is|are|costs?|starts?|begins?|ends?|takes place|falls)"
    r" (?:now |scheduled |set |due |planned |always )*(?:(?:for|on|at|by|to|every) )?(?:the )?(?=[\d$€£]|[a-z])"
)
_MONTH_DAY = regex(
    rf"(?:({MONTH})\.? (?:the )?(\d{{1,2}})(?:st|nd|rd|th)?\b|(\d{{1,2}})(?:st|nd|rd|th)? (?:of )?({MONTH})\b)"
)
_ISO_DAY = regex(r"\d{4}-(\d{2})-(\d{2})\b")
_WEEKDAY = regex(rf"({WEEKDAY})s?\b")
_CLOCK = regex(r"(\d{1,2})(?::(\d{2}))? ?([ap])\.?m\b|(\d{1,2}):(\d{2})\b")
_AMOUNT = regex(rf"([$€£])? ?({NUMBER_ENGLISH})(?: ?(%|[a-z]+))?(?=$| (?:a|per|each) (?:month|year|week|day|hour)$)")


def _age(found: re.Match[str], _clause: str) -> _Said | None:
    value = value_of(found[2])
    return None if value is None or value > 120 else ("age", f"years {value:g}")


def _born(found: re.Match[str], _clause: str) -> _Said:
    return "year of birth", f"year {found[2]}"


def _counted(found: re.Match[str], _clause: str) -> _Said | None:
    noun = [stem(word) for word in found[3].split()]
    value = value_of(found[2])
    if noun[-1] not in _counted_stems() or value is None or value != int(value):
        return None
    return f"number of {' '.join(noun)}", f"count {value:g}"


def _measured(found: re.Match[str], _clause: str) -> _Said | None:
    unit, value = _UNITS[found[3][0]], value_of(found[2])
    return None if value is None else ("weight" if unit in ("kg", "lb") else "height", f"{unit} {value:g}")


def _of_thing(found: re.Match[str], clause: str) -> _Said | None:
    """My birthday is on May 3, the meeting starts at 3 pm, our rent is 900 euros."""
    value = _value(clause[found.end() : found.end() + 40])
    counts_age = value is not None and _AGE.match(clause, found.start()) is not None
    return None if value is None or counts_age else (value.partition(" ")[0], value)


def _value(text: str) -> str | None:
    if found := _ISO_DAY.match(text):
        return f"day {int(found[1])}-{int(found[2])}"
    if found := _MONTH_DAY.match(text):
        month = month_number(found[1] or found[4])
        return f"day {month}-{int(found[2] or found[3])}"
    if found := _WEEKDAY.match(text):
        return f"weekday {found[1]}"
    if found := _CLOCK.match(text):
        hour = int(found[1] or found[4]) % 24
        hour = hour % 12 + (12 if found[3] == "p" else 0) if found[3] else hour
        return f"time {hour}:{found[2] or found[5] or '00'}"
    if (found := _AMOUNT.match(text)) and (value := value_of(found[2])) is not None:
        unit = found[1] or (stem(found[3]) if found[3] else "number")
        return f"{unit} {value:g}"
    return None


_SLOTS = _SlotLanguage(
    longest=300,
    unsure=_UNSURE,
    rules=(
        _SlotRule(_AGE, _age),
        _SlotRule(_OF_AGE, _age),
        _SlotRule(_BORN, _born),
        _SlotRule(_HOME, _place_after("home")),
        _SlotRule(_ORIGIN, _place_after("origin")),
        _SlotRule(_OWN_COUNT, _counted),
        _SlotRule(_MEASURE, _measured),
        _SlotRule(_OF_THING, _of_thing, of_thing=True),
    ),
    whose=lambda subject: "i" if subject in (None, "user", "the user") else str(subject),
    cleaned=lambda clause: re.sub(r"\b(was|were) (?=born)|\bused to (?=it\b)", "", clause),
)


_UNSURE_ZH = regex(
    r"\?|[吗么]$|是不是|有没有|难道|什么|哪|谁|怎么|多少|几[岁个只]|[不没无]|如果|要是|假如|万一|可能|也许|或许|大概|大约|应该|好像|似乎|估计|猜|以为|觉得|感觉|听说|据说|希望|打算|想"
    r"|计划|准备|梦想|差不多|左右|上下|快|近|将近|接近|至少|最多|以上|以下|多岁|几岁|来岁|超过|以前|曾|之前|过去|当时|那时|去年|前年|小时候|从前|原来|原先|昨天|上次|那年|的时候|年前|后来|毕业于"
    r"|永远|像|比[你我他她]|[大小][一二两三四五六七八九十\d]+岁|你|您|她?们说|他说|她说|要去|会去|路过|出差|旅游|玩"
)


def _who() -> str:
    """Whose a slot is: the speaker's, or that of somebody who stands in a relation to the speaker."""
    people = f"{kin.chinese()}|朋友|同事"
    return (
        rf"(?:(?:我|他|她|俺|咱|我们|咱们|他们|用户)?(?:的|家|家里)?(?:大|小|二)?(?:{people})"
        r"|我们|咱们|他们|她们|我|他|她|俺|咱|用户)"
    )


_ADVERBS_ZH = "(?:今年|现在|已经|都|也|才|刚|刚满|满|就|是|只|真|一直|目前|还|呢|呀|啊|家|家里|一共|总共|的)*"
_AGE_ZH = regex(
    lambda: (
        rf"^(?:嗯|是的?|对|啊|呢|那)?({_who()})?{_ADVERBS_ZH}({NUMBER_CHINESE})(?:周?岁(?!的时|时|那|之|零)|了?$|了[啊呀呢哦]?$)"
    )
)
_BORN_ZH = regex(lambda: rf"^({_who()})?{_ADVERBS_ZH}((?:19|20)?\d\d)年?(?:出生|生)?的?(?:$|[啊呀呢哦]$)")
_HOME_ZH = regex(lambda: rf"({_who()})?{_ADVERBS_ZH}(?:住在?|定居在?|搬到了?|搬来了?|搬去了?)(?:了)?")
_ORIGIN_ZH = regex(lambda: rf"({_who()})?{_ADVERBS_ZH}(?:来自|老家(?:就)?(?:是|在)|籍贯是?|是从|出生在|出生于)")
_IS_FROM = regex(lambda: rf"^({_who()})?{_ADVERBS_ZH}(?=[{HAN}])")
_AT = regex(lambda: rf"({_who()})?{_ADVERBS_ZH}(?:人)?(?<![住居搬存])在(?=[{HAN}])")
_LEADS_IN = regex(
    "(?:嗯|是的?|对|那|啊|哦|呢|好|没有?|不|吧|不过|但是?|而且|所以|因为|其实|确实|的确|当然|知道|我|现在|目前|一直|已经|刚|最近|今年|家|也|都|还|就|人"
    "|[，, ])*"
)
"""What may stand before a place that is the speaker's own where nobody is named: else it is somebody else's."""
_WAS = regex(
    "那会儿?|那阵|那段|大学时|年轻|当年|早年|(?:住|待|呆|生活|工作|上班|上学|读书|打工|当兵)(?:过|了[^，。]{1,5}(?:年|个?月|天|周|阵子)(?!了))"
)
"""_Said of a time that is over, or may be."""
_SCHOOLS = regex("大学|学院|学校|中学|高中|公司|银行|集团|医院")
_STAYS = regex(rf"(?:市|省|这边|那边|的)?[{HAN}]{{0,4}}?(?:工作|上班|上学|读书|念书|读大学|上大学|生活|定居|打工|当兵)")
_FROM_THERE = regex(rf"(?:市|省|县)?[{HAN}]{{0,5}}?(?:的|人)[啊呀呢哦了]?$")
_COUNT = regex(
    lambda: (
        rf"({_who()})?{_ADVERBS_ZH}(?:有|养着?了?|生了|育有)(?:了)?({NUMBER_CHINESE})"
        rf"[个只条匹辆套名位台间]([{HAN}]{{1,4}}?)(?:$|了$|[啊呀呢哦]$)"
    )
)
_COUNTED = regex(lambda: f"{kin.chinese()}|{either(words('countables', 'chinese'))}")


@cache
def _alike() -> dict[str, str]:
    """What is counted by several names, with the one by which it is compared."""
    return {other: row["chinese"][0] for row in rows("countables") for other in row["chinese"][1:]}


_MEASURE_ZH = regex(
    lambda: (
        rf"({_who()})?(?:的)?(身高|体重|月薪|工资|年薪|房租|月租|学费|预算)(?:是|有|为|:)?({NUMBER_CHINESE})"
        r"(厘米|cm|米|公斤|kg|斤|千克|万|元|块|美元)?(?:$|[了啊呀呢钱]+$)"
    )
)
_THING = rf"((?:我|我们|他|她|咱们|公司)?的?[{HAN}]{{2,6}}?)(?:就|都)?(?:是在|定在|改到|改成|改在|安排在|约在|是|在)"
_DAY = regex(rf"{_THING}(?:农历|阳历|每年)?({NUMBER_CHINESE})月({NUMBER_CHINESE})[日号](?:$|[了的啊呀呢举开]+)")
_WEEKDAY_ZH = regex(rf"{_THING}(?:每)?(?:周|星期|礼拜)([一二三四五六日天])(?:$|[了的啊呀呢举开]+)")
_CLOCK_ZH = regex(
    rf"{_THING}(?:每天|每)?(凌晨|早上|早晨|上午|中午|下午|傍晚|晚上)?({NUMBER_CHINESE})(?:点钟?(半|整|{NUMBER_CHINESE}分)?|:(\d\d))(?:$|[了的啊呀呢]+$|开始|结束|出发)"
)
_SPEAKER = "i"
"""As in English, so that the two languages speak of one person."""
_LATE = frozenset(("下午", "傍晚", "晚上"))


def _whose(subject: str | None) -> str:
    if subject is None or subject in ("我", "俺", "咱", "用户"):
        return _SPEAKER
    return re.sub("^(?:我|俺|咱)(?:们)?(?:的|家|家里)?(?=.)", "", subject) or _SPEAKER


def _age_zh(found: re.Match[str], _clause: str) -> _Said | None:
    value = value_of(found[2])
    named = "岁" in found[0] or (value is not None and value >= 10 and (found[1] or "了" in found[0]))
    return ("age", f"years {value:g}") if value is not None and value <= 120 and named else None


def _born_zh(found: re.Match[str], _clause: str) -> _Said | None:
    if "年" not in found[0]:
        return None
    year = int(found[2]) if len(found[2]) == 4 else (1900 if int(found[2]) > 30 else 2000) + int(found[2])
    return "year of birth", f"year {year}"


def _is_now_and_his(found: re.Match[str], clause: str) -> bool:
    """Whether a place is said of now, and of somebody who is named or of the speaker: not 我同学在上海, 我在上海工作过."""
    if _WAS.search(clause):
        return False
    return found[1] is not None or _LEADS_IN.fullmatch(clause, 0, found.start()) is not None


def _place(name: str) -> Callable[[re.Match[str], str], _Said | None]:
    says = _place_after(name)
    return lambda found, clause: says(found, clause) if _is_now_and_his(found, clause) else None


def _whereabouts(found: re.Match[str], clause: str) -> _Said | None:
    place = place_at_start(clause[found.end() :])
    if place is None or not _is_now_and_his(found, clause):
        return None
    rest = clause[found.end() + place[1] :]
    stays = not rest.strip("了的啊呀呢哦市这边") or _STAYS.match(rest)
    return ("whereabouts", place[0]) if stays else None


def _is_from(found: re.Match[str], clause: str) -> _Said | None:
    place = place_at_start(clause[found.end() :])
    if place is None or "是" not in found[0] or _SCHOOLS.search(clause, found.end()):
        return None
    if not _FROM_THERE.match(clause, found.end() + place[1]):
        return None
    return "origin", place[0]


def _counted_zh(found: re.Match[str], _clause: str) -> _Said | None:
    # 一只 is nearly "a": who has a cat may have two.
    value = value_of(found[2]) if found[2] != "一" and _COUNTED.fullmatch(found[3]) else None
    return None if value is None else (f"number of {_alike().get(found[3], found[3])}", f"count {value:g}")


def _measured_zh(found: re.Match[str], _clause: str) -> _Said | None:
    value = value_of(found[3])
    return None if value is None else (found[2], f"{found[4] or 'number'} {value:g}")


def _day(found: re.Match[str], _clause: str) -> _Said | None:
    """生日是5月3号."""
    month, day = value_of(found[2]), value_of(found[3])
    return None if month is None or day is None else ("day", f"day {month:g}-{day:g}")


def _weekday(found: re.Match[str], _clause: str) -> _Said:
    """会议改到星期五."""
    return "weekday", f"weekday {found[2].replace('天', '日')}"


def _clock(found: re.Match[str], _clause: str) -> _Said | None:
    """课在下午3点开始."""
    hour = value_of(found[3])
    if hour is None or hour > 24:
        return None
    hour += 12 if found[2] in _LATE and hour < 12 else 0
    if found[4] == "半":
        minute: float | None = 30
    else:
        minute = value_of(found[4][:-1]) if found[4] and found[4] != "整" else float(found[5] or 0)
    return "time", f"time {hour:g}:{minute or 0:02g}"


_SLOTS_ZH = _SlotLanguage(
    longest=150,
    unsure=_UNSURE_ZH,
    rules=(
        _SlotRule(_AGE_ZH, _age_zh),
        _SlotRule(_BORN_ZH, _born_zh),
        _SlotRule(_HOME_ZH, _place("home")),
        _SlotRule(_ORIGIN_ZH, _place("origin")),
        _SlotRule(_AT, _whereabouts),
        _SlotRule(_IS_FROM, _is_from),
        _SlotRule(_COUNT, _counted_zh),
        _SlotRule(_MEASURE_ZH, _measured_zh),
        _SlotRule(_DAY, _day, of_thing=True),
        _SlotRule(_WEEKDAY_ZH, _weekday, of_thing=True),
        _SlotRule(_CLOCK_ZH, _clock, of_thing=True),
    ),
    whose=_whose,
    thing=lambda thing: re.sub("^(?:我|我们|咱们)的?", "", thing),
)


class Slot(NamedTuple):
    """One value: whose, of what, and the value in a form in which equal values are equal."""

    subject: str
    name: str
    value: str

    def __str__(self) -> str:
        return f"{self.subject}, {self.name}: {self.value.removeprefix(self.name).strip()}"


class SlotClash(NamedTuple):
    """Two values of one thing that cannot both hold."""

    new: Slot
    known: Slot

    def __str__(self) -> str:
        return f"{self.new} / {self.known}"


_ANYBODY = regex(r"(?:he|she|they)$|(?:his|her|their|the) |[他她]")
_TIMES = frozenset(("day", "time"))
_ONES_OWN = regex(r"i$|(?:my|our|we)\b|[^\x00-\x7f]*(?:生日|纪念日)$")
_CLAUSE = regex(r"[^,.;:!?。、\n]+(?:(?<=\d)[.,:](?=\d)[^,.;:!?。、\n]+)*[?]?")
_ENGLISH, _CHINESE = regex("[a-z]"), regex(rf"[{HAN}]|\d年?$")
_PLACES = frozenset(("home", "origin", "whereabouts"))


@lru_cache(maxsize=1 << 10)
def slots(text: str) -> tuple[Slot, ...]:
    """The slots of a text in one writing (`negation.written`), each name once; never raises.

    What a text gives two different values ("in May, no, in June") is left out, and so is a place that was somebody's once or is
    his for a while.
    """
    found: dict[tuple[str, str], str | None] = {}
    before = ""
    for clause in _CLAUSE.finditer(text):
        said = clause[0].strip()
        for subject, name, value in _read(said):
            if name in _PLACES and (
                _elsewhere(value, text, clause.end()) or of_another_time(f"{before}, {said}", None)
            ):
                continue
            key = subject, name
            found[key] = value if found.get(key, value) == value else None
        before = said if text[clause.end() : clause.end() + 1] == "," else ""
    return tuple(Slot(*key, value) for key, value in found.items() if value is not None)


def _elsewhere(place: str, text: str, end: int) -> bool:
    """Whether a comma leads on to a place in which this one does not lie: "Paris, Texas"."""
    after = place_at_start(text[end + 1 : end + 40].lstrip()) if text[end : end + 1] == "," else None
    return after is not None and different_places(place, after[0])


def _read(clause: str) -> Iterator[tuple[str, str, str]]:
    """In either language, where its letters stand in the clause."""
    if _ENGLISH.search(clause):
        yield from _read_slots(clause, _SLOTS)
    if _CHINESE.search(clause):
        yield from _read_slots(clause, _SLOTS_ZH)


def clashes(new: tuple[Slot, ...], known: tuple[Slot, ...]) -> tuple[SlotClash, ...]:
    """Where two statements give one thing different values."""
    values = {(slot.subject, slot.name): slot for slot in known}
    pairs = ((slot, values.get((slot.subject, slot.name))) for slot in new)
    return tuple(SlotClash(slot, other) for slot, other in pairs if other is not None and _differ(slot, other))


def certain(clash: SlotClash) -> bool:
    """Whether both values are surely of one thing: "he", "the meeting" and "Friday" may be others the next time."""
    if clash.new.name == "weekday":
        return False
    if clash.new.name in _TIMES:
        return _ONES_OWN.match(clash.new.subject) is not None
    return _ANYBODY.match(clash.new.subject) is None


def agreements(new: tuple[Slot, ...], known: tuple[Slot, ...]) -> tuple[Slot, ...]:
    """Slots that both statements fill with one value."""
    return tuple(slot for slot in new if slot in known)


def _differ(one: Slot, other: Slot) -> bool:
    if one.name in _PLACES:
        return different_places(one.value, other.value)
    kind_a, _, value_a = one.value.partition(" ")
    kind_b, _, value_b = other.value.partition(" ")
    return kind_a == kind_b and value_a != value_b
