"""Slots of a Chinese clause (of any clause that is not all ASCII), in one writing. Values are "type value" or a place."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

from engramlog_server.projections.language import kin
from engramlog_server.projections.language.contradiction.values import NUMBER_CHINESE as NUMBER
from engramlog_server.projections.language.contradiction.values import (
    Said,
    SlotLanguage,
    SlotRule,
    place_after,
    place_at_start,
    value_of,
)
from engramlog_server.projections.language.lexicon import either, rows, words
from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.scripts import HAN

_UNSURE = regex(
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


_ADVERBS = "(?:今年|现在|已经|都|也|才|刚|刚满|满|就|是|只|真|一直|目前|还|呢|呀|啊|家|家里|一共|总共|的)*"
_AGE = regex(
    lambda: (
        rf"^(?:嗯|是的?|对|啊|呢|那)?({_who()})?{_ADVERBS}({NUMBER})(?:周?岁(?!的时|时|那|之|零)|了?$|了[啊呀呢哦]?$)"
    )
)
_BORN = regex(lambda: rf"^({_who()})?{_ADVERBS}((?:19|20)?\d\d)年?(?:出生|生)?的?(?:$|[啊呀呢哦]$)")
_HOME = regex(lambda: rf"({_who()})?{_ADVERBS}(?:住在?|定居在?|搬到了?|搬来了?|搬去了?)(?:了)?")
_ORIGIN = regex(lambda: rf"({_who()})?{_ADVERBS}(?:来自|老家(?:就)?(?:是|在)|籍贯是?|是从|出生在|出生于)")
_IS_FROM = regex(lambda: rf"^({_who()})?{_ADVERBS}(?=[{HAN}])")
_AT = regex(lambda: rf"({_who()})?{_ADVERBS}(?:人)?(?<![住居搬存])在(?=[{HAN}])")
_LEADS_IN = regex(
    "(?:嗯|是的?|对|那|啊|哦|呢|好|没有?|不|吧|不过|但是?|而且|所以|因为|其实|确实|的确|当然|知道|我|现在|目前|一直|已经|刚|最近|今年|家|也|都|还|就|人"
    "|[，, ])*"
)
"""What may stand before a place that is the speaker's own where nobody is named: else it is somebody else's."""
_WAS = regex(
    "那会儿?|那阵|那段|大学时|年轻|当年|早年|(?:住|待|呆|生活|工作|上班|上学|读书|打工|当兵)(?:过|了[^，。]{1,5}(?:年|个?月|天|周|阵子)(?!了))"
)
"""Said of a time that is over, or may be."""
_SCHOOLS = regex("大学|学院|学校|中学|高中|公司|银行|集团|医院")
_STAYS = regex(rf"(?:市|省|这边|那边|的)?[{HAN}]{{0,4}}?(?:工作|上班|上学|读书|念书|读大学|上大学|生活|定居|打工|当兵)")
_FROM_THERE = regex(rf"(?:市|省|县)?[{HAN}]{{0,5}}?(?:的|人)[啊呀呢哦了]?$")
_COUNT = regex(
    lambda: (
        rf"({_who()})?{_ADVERBS}(?:有|养着?了?|生了|育有)(?:了)?({NUMBER})"
        rf"[个只条匹辆套名位台间]([{HAN}]{{1,4}}?)(?:$|了$|[啊呀呢哦]$)"
    )
)
_COUNTED = regex(lambda: f"{kin.chinese()}|{either(words('countables', 'chinese'))}")


@cache
def _alike() -> dict[str, str]:
    """What is counted by several names, with the one by which it is compared."""
    return {other: row["chinese"][0] for row in rows("countables") for other in row["chinese"][1:]}


_MEASURE = regex(
    lambda: (
        rf"({_who()})?(?:的)?(身高|体重|月薪|工资|年薪|房租|月租|学费|预算)(?:是|有|为|:)?({NUMBER})"
        r"(厘米|cm|米|公斤|kg|斤|千克|万|元|块|美元)?(?:$|[了啊呀呢钱]+$)"
    )
)
_THING = rf"((?:我|我们|他|她|咱们|公司)?的?[{HAN}]{{2,6}}?)(?:就|都)?(?:是在|定在|改到|改成|改在|安排在|约在|是|在)"
_DAY = regex(rf"{_THING}(?:农历|阳历|每年)?({NUMBER})月({NUMBER})[日号](?:$|[了的啊呀呢举开]+)")
_WEEKDAY = regex(rf"{_THING}(?:每)?(?:周|星期|礼拜)([一二三四五六日天])(?:$|[了的啊呀呢举开]+)")
_CLOCK = regex(
    rf"{_THING}(?:每天|每)?(凌晨|早上|早晨|上午|中午|下午|傍晚|晚上)?({NUMBER})(?:点钟?(半|整|{NUMBER}分)?|:(\d\d))(?:$|[了的啊呀呢]+$|开始|结束|出发)"
)
_SPEAKER = "i"
"""As in English, so that the two languages speak of one person."""
_LATE = frozenset(("下午", "傍晚", "晚上"))


def _whose(subject: str | None) -> str:
    if subject is None or subject in ("我", "俺", "咱", "用户"):
        return _SPEAKER
    return re.sub("^(?:我|俺|咱)(?:们)?(?:的|家|家里)?(?=.)", "", subject) or _SPEAKER


def _age(found: re.Match[str], _clause: str) -> Said | None:
    value = value_of(found[2])
    named = "岁" in found[0] or (value is not None and value >= 10 and (found[1] or "了" in found[0]))
    return ("age", f"years {value:g}") if value is not None and value <= 120 and named else None


def _born(found: re.Match[str], _clause: str) -> Said | None:
    if "年" not in found[0]:
        return None
    year = int(found[2]) if len(found[2]) == 4 else (1900 if int(found[2]) > 30 else 2000) + int(found[2])
    return "year of birth", f"year {year}"


def _is_now_and_his(found: re.Match[str], clause: str) -> bool:
    """Whether a place is said of now, and of somebody who is named or of the speaker: not 我同学在上海, 我在上海工作过."""
    if _WAS.search(clause):
        return False
    return found[1] is not None or _LEADS_IN.fullmatch(clause, 0, found.start()) is not None


def _place(name: str) -> Callable[[re.Match[str], str], Said | None]:
    says = place_after(name)
    return lambda found, clause: says(found, clause) if _is_now_and_his(found, clause) else None


def _whereabouts(found: re.Match[str], clause: str) -> Said | None:
    place = place_at_start(clause[found.end() :])
    if place is None or not _is_now_and_his(found, clause):
        return None
    rest = clause[found.end() + place[1] :]
    stays = not rest.strip("了的啊呀呢哦市这边") or _STAYS.match(rest)
    return ("whereabouts", place[0]) if stays else None


def _is_from(found: re.Match[str], clause: str) -> Said | None:
    place = place_at_start(clause[found.end() :])
    if place is None or "是" not in found[0] or _SCHOOLS.search(clause, found.end()):
        return None
    if not _FROM_THERE.match(clause, found.end() + place[1]):
        return None
    return "origin", place[0]


def _counted(found: re.Match[str], _clause: str) -> Said | None:
    # 一只 is nearly "a": who has a cat may have two.
    value = value_of(found[2]) if found[2] != "一" and _COUNTED.fullmatch(found[3]) else None
    return None if value is None else (f"number of {_alike().get(found[3], found[3])}", f"count {value:g}")


def _measured(found: re.Match[str], _clause: str) -> Said | None:
    value = value_of(found[3])
    return None if value is None else (found[2], f"{found[4] or 'number'} {value:g}")


def _day(found: re.Match[str], _clause: str) -> Said | None:
    """生日是5月3号."""
    month, day = value_of(found[2]), value_of(found[3])
    return None if month is None or day is None else ("day", f"day {month:g}-{day:g}")


def _weekday(found: re.Match[str], _clause: str) -> Said:
    """会议改到星期五."""
    return "weekday", f"weekday {found[2].replace('天', '日')}"


def _clock(found: re.Match[str], _clause: str) -> Said | None:
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


CHINESE = SlotLanguage(
    longest=150,
    unsure=_UNSURE,
    rules=(
        SlotRule(_AGE, _age),
        SlotRule(_BORN, _born),
        SlotRule(_HOME, _place("home")),
        SlotRule(_ORIGIN, _place("origin")),
        SlotRule(_AT, _whereabouts),
        SlotRule(_IS_FROM, _is_from),
        SlotRule(_COUNT, _counted),
        SlotRule(_MEASURE, _measured),
        SlotRule(_DAY, _day, of_thing=True),
        SlotRule(_WEEKDAY, _weekday, of_thing=True),
        SlotRule(_CLOCK, _clock, of_thing=True),
    ),
    whose=_whose,
    thing=lambda thing: re.sub("^(?:我|我们|咱们)的?", "", thing),
)
