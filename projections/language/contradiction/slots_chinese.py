"""Slots of a Chinese clause (of any clause that is not all ASCII), in one writing. Values are "type value" or a place."""

from __future__ import annotations

import re
from collections.abc import Iterator

from projections.language import kin
from projections.language.contradiction.numbers import NUMBER_CHINESE as NUMBER
from projections.language.contradiction.numbers import value_of
from projections.language.contradiction.places import place_at_start
from projections.language.patterns import regex
from projections.language.scripts import HAN

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
_STAYS = regex(rf"(?:市|省|这边|那边|的)?[{HAN}]{{0,4}}?(?:工作|上班|上学|读书|念书|读大学|上大学|生活|定居|打工|当兵)")
_FROM_THERE = regex(rf"(?:市|省|县)?[{HAN}]{{0,5}}?(?:的|人)[啊呀呢哦了]?$")
_COUNT = regex(
    lambda: (
        rf"({_who()})?{_ADVERBS}(?:有|养着?了?|生了|育有)(?:了)?({NUMBER})"
        rf"[个只条匹辆套名位台间]([{HAN}]{{1,4}}?)(?:$|了$|[啊呀呢哦]$)"
    )
)
_COUNTED = regex(lambda: f"{kin.chinese()}|猫咪?|小猫|狗狗?|小狗|宠物|车|房子?|兔子?|鸟|手机|电脑|员工")
_ALIKE = {
    "小孩": "孩子",
    "娃": "孩子",
    "猫咪": "猫",
    "小猫": "猫",
    "狗狗": "狗",
    "小狗": "狗",
    "闺女": "女儿",
    "哥": "哥哥",
    "姐": "姐姐",
    "弟": "弟弟",
    "妹": "妹妹",
    "房": "房子",
    "兔": "兔子",
}
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


def slots_chinese(clause: str) -> Iterator[tuple[str, str, str]]:
    """Whose (我 where nobody is named), of what, value; nothing where the clause asks, supposes, denies or estimates."""
    if len(clause) > 150 or _UNSURE.search(clause):
        return
    yield from _ages(clause)
    yield from _places(clause)
    for counted in _COUNT.finditer(clause):
        # 一只 is nearly "a": who has a cat may have two.
        if counted[2] != "一" and _COUNTED.fullmatch(counted[3]) and (value := value_of(counted[2])) is not None:
            yield _whose(counted[1]), f"number of {_ALIKE.get(counted[3], counted[3])}", f"count {value:g}"
    for found in _MEASURE.finditer(clause):
        if (value := value_of(found[3])) is not None:
            yield _whose(found[1]), found[2], f"{found[4] or 'number'} {value:g}"
    yield from _times(clause)


def _whose(subject: str | None) -> str:
    if subject is None or subject in ("我", "俺", "咱", "用户"):
        return _SPEAKER
    return re.sub("^(?:我|俺|咱)(?:们)?(?:的|家|家里)?(?=.)", "", subject) or _SPEAKER


def _ages(clause: str) -> Iterator[tuple[str, str, str]]:
    if found := _AGE.match(clause):
        value = value_of(found[2])
        named = "岁" in found[0] or (value is not None and value >= 10 and (found[1] or "了" in found[0]))
        if value is not None and value <= 120 and named:
            yield _whose(found[1]), "age", f"years {value:g}"
    if (found := _BORN.match(clause)) and "年" in found[0]:
        year = int(found[2]) if len(found[2]) == 4 else (1900 if int(found[2]) > 30 else 2000) + int(found[2])
        yield _whose(found[1]), "year of birth", f"year {year}"


def _places(clause: str) -> Iterator[tuple[str, str, str]]:
    for pattern, name in ((_HOME, "home"), (_ORIGIN, "origin")):
        for found in pattern.finditer(clause):
            if (place := place_at_start(clause[found.end() :])) is not None:
                yield _whose(found[1]), name, place[0]
    for found in _AT.finditer(clause):
        if (place := place_at_start(clause[found.end() :])) is not None:
            rest = clause[found.end() + place[1] :]
            if not rest.strip("了的啊呀呢哦市这边") or _STAYS.match(rest):
                yield _whose(found[1]), "whereabouts", place[0]
    if named := _IS_FROM.match(clause):
        place = place_at_start(clause[named.end() :])
        if place is not None and "是" in named[0] and _FROM_THERE.match(clause, named.end() + place[1]):
            yield _whose(named[1]), "origin", place[0]


def _times(clause: str) -> Iterator[tuple[str, str, str]]:
    """生日是5月3号, 会议改到星期五, 课在下午3点开始."""
    for found in _DAY.finditer(clause):
        month, day = value_of(found[2]), value_of(found[3])
        if month is not None and day is not None:
            yield _whose_thing(found[1]), "day", f"day {month:g}-{day:g}"
    for found in _WEEKDAY.finditer(clause):
        yield _whose_thing(found[1]), "weekday", f"weekday {found[2].replace('天', '日')}"
    for found in _CLOCK.finditer(clause):
        hour = value_of(found[3])
        if hour is not None and hour <= 24:
            hour += 12 if found[2] in _LATE and hour < 12 else 0
            minute = (
                30
                if found[4] == "半"
                else value_of(found[4][:-1])
                if found[4] and found[4] != "整"
                else float(found[5] or 0)
            )
            yield _whose_thing(found[1]), "time", f"time {hour:g}:{minute or 0:02g}"


def _whose_thing(thing: str) -> str:
    return re.sub("^(?:我|我们|咱们)的?", "", thing)
