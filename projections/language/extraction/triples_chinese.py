"""Chinese clauses in the first person as triples, beyond those whose rule names a predicate: who, does or did what, to what.

Only what is plain: a verb and a thing that stands by itself, without times, companions and purposes. How often or how much, and
when, are kept next to it (seed 003, "LPMM").
"""

from __future__ import annotations

import re

from engramlog_server.projections.language import kin
from engramlog_server.projections.language.extraction.shape import StatedTriple
from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.scripts import HAN

MOST_LETTERS, MOST_LETTERS_TO_DO = 16, 24
"""Of an object that is a thing, and of one that is something to be done."""
_OFTEN = "(?:每天|天天|经常|常常?|时常|平时|通常|一般|总是|一直|有时候?|偶尔|每周|每个?月|每年|周末|晚上|早上|睡前)"
_TIME = (
    "(?:今天|昨天|前天|明天|后天|最近|近来|上周末?|上个?月|去年|今年|明年|下周末?|下个?月|这周末?|周末|周[一二三四五六日]|晚上|早上|今晚"
    "|昨晚|刚才|刚刚|刚(?!刚)|现在|目前|已经|之前|以前|曾经|终于|正在|也|还|又|都|就|才|真的|其实|上午|下午|中午|傍晚|\\d+月\\d+[日号])"
)
_WITH = "(?:(?:和|跟|与|同)[^，。了]{1,10}?(?:一起|一块儿?)|独自|一个人|自己)?"
_I = f"^(?:{_TIME}){{0,4}}我?(?:们家)?(?:{_TIME}){{0,4}}{_WITH}(?:{_TIME}){{0,4}}"
_DONE = (
    "参观|参加|买|看|读|吃|做|完成|报名|收养|领养|养|尝试|认识|加入|获得|收到|画|写|拍|听|玩|爬|订|预订|拜访|游览|品尝|举办|发表|创作|制作"
    "|通过|考上|学会|取得|送|赢得|拿到"
)
_WISH = _I + (
    "(?:一直|很|特别|非常)?(?:想要?|希望|梦想)(?:能)?(?P<todo>(?:去|学|学习|买|成为|当|考|开|养|写)(?!的|了)[^，。]{2,25})$"
)
_HABIT = (
    f"^我(?P<often>{_OFTEN}){{1,3}}(?:都|会|也){{0,3}}{_WITH}(?P<does>做|看|听|吃|喝|打|玩|读|弹|练|写|画|学|跑|用)"
    "(?P<object>[^，。]{1,12})$"
)
_PLAIN: tuple[tuple[str, str], ...] = (
    (_I + "去(?:过|了)(?P<place>[^，。]{2,20})$", "去"),
    (_I + f"(?P<verb>{_DONE})(?:过|了)(?P<object>[^，。]{{1,20}})$", ""),
    (_I + "(?:开始|正在|在|正)?(?P<verb>学习|学)(?:如何|怎么)?(?P<object>[^，。会了过]{1,16})$", "学习"),
    (_I + "(?:开始)?(?:正在|在|正)(?P<verb>读|看|写|准备|研究|找|练习|练|追)(?:一[本部篇场份个])?(?P<object>[^，。]{2,20})$", ""),
    (_I + "(?:打算|计划|准备|预计|决定)(?:了|要|在)?(?P<todo>[^，。]{2,30})$", "计划"),
    (_WISH, "想"),
    (_I + "(?:从来没有?|从没|没有?)(?P<never>去|看|吃|学|养|玩|喝|读|参加|做)过(?P<object>[^，。]{1,15})$", ""),
    (_HABIT, ""),
    (_I + "戒(?:了|掉了?)?(?P<object>[^，。了]{1,8})了?$", "戒了"),
    (_I + "(?P<verb>毕业于)(?P<object>[^，。]{2,16})$", ""),
)  # fmt: skip
_RULES = tuple((regex(pattern), predicate) for pattern, predicate in _PLAIN)
_OF_KIN = regex(
    lambda: (
        f"^我的?(?P<who>(?:小|大)?(?:{kin.chinese()}|猫|狗|老师|朋友|同事|老板))(?:今年|现在|最近|目前|也|都|刚)*"
        "(?P<verb>叫|住在|喜欢|爱|考上了?|是|在)(?P<object>[^，。]{1,15})$"
    )
)
_KIN_VERBS = {"叫": "名字", "爱": "喜欢", "考上了": "考上"}
_AGED = regex(
    lambda: (
        f"^我的?(?P<who>{kin.chinese()})(?:今年|现在|已经|刚)*(?P<object>[\\d一二三四五六七八九十]{{1,3}}岁)(?:了|半)*$"
    )
)
_NAME = regex(rf"(?!我)[{HAN}]{{1,4}}(?<!人)|[A-Za-z][\w·. -]{{0,14}}")
_PURPOSE = regex(
    "(?:散步|游泳|玩耍?|吃饭|购物|锻炼|跑步|逛街?|旅游|旅行|看电影|学习|参观|写生|工作|上班|买[^，。]{1,8}|吃[^，。]{1,8}|看[^，。]{1,8}"
    "|观看[^，。]{1,8}|欣赏[^，。]{1,8}|参加[^，。]{1,8}|喝[^，。]{1,6}|玩了?[^，。]{1,8}|和[^，。]{1,10}|跟[^，。]{1,10}|拍照|运动|健身|度假|降温|放松|休息)$"
)
_TITLE = regex("《[^》]{1,30}》")
_COUNTED = regex(
    "^(?:一|这|那)?(?:一|几|两|些|点)?(?:家|个|部|本|场|道|只|条|次|张|首|份|种|件|门|些|位|款|幅|篇|座|趟|下)"
)
_POINTS = regex(
    "^(?:快?[一二两三四五六七八九十几半\\d]+(?:多|个)*(?:年|天|月|周|小时|口|遍|回|场|半)|好几|好多|人|一些其他|其他|的|了|过|着|得|这|那|它|他|她|你|您|什么|怎么|自己$|一下|一些$|东西|事情|问题|很多|很久|好久)|[你您它就却]|^\\W*$"
)
_VAGUE = regex(
    "(?:东西|事情?|问题|方面|时候|感觉|方法|建议|内容|的人|一下|一会儿?|一点|有关|之类|等等|好多|不少|地方|活动)$"
)
_ONE_CHARACTER = frozenset("饭菜茶酒烟肉鱼书歌画琴棋猫狗")
"""Things that one character names."""
_HOW_MUCH: tuple[tuple[str, float], ...] = (
    ("每天|天天|总是|一直|向来|从小", 1.0),
    ("最(?:喜欢|爱|怕|讨厌)|极了", 1.0),
    ("非常|特别|十分|超级|热爱|酷爱|尤其|情有独钟|着迷|迷上", 0.9),
    ("很|相当|真的|讨厌|厌恶|受不了", 0.8),
    ("通常|一般|平时", 0.8),
    ("经常|常常?|时常", 0.7),
    ("比较|挺|蛮|还算", 0.6),
    ("有时候?|有点", 0.4),
    ("偶尔", 0.3),
    ("很少|不怎么|不太", 0.2),
)
_DEGREES = tuple((regex(pattern), degree) for pattern, degree in _HOW_MUCH)
_WHEN = regex(
    "(?P<when>(?:每天|每周|每个?月|每年|每个?周末|周末|周[一二三四五六日]|早上|晚上|下午|中午|夜里|睡前|饭后|睡觉前|下班后|放学后|雨天|夏天|冬天"
    "|春天|秋天|(?:在)?[^，。我]{1,10}?(?:的时候|时候?|之余|以后|之后|之前)){1,4})"
)


def chinese_fact(said: str, name: str) -> StatedTriple | None:
    """The triple of a clause in the first person; None where it is not plain."""
    if (found := _AGED.match(said)) is not None:
        return StatedTriple(f"{name}的{found['who']}", "年龄", found["object"])
    if (found := _OF_KIN.match(said)) is not None:
        thing = _called(found["object"]) if found["verb"] == "叫" else _object(found["object"])
        verb = _KIN_VERBS.get(found["verb"], found["verb"])
        return None if thing is None else StatedTriple(f"{name}的{found['who']}", verb, thing)
    for pattern, predicate in _RULES:
        found = pattern.match(said)
        if found is not None:
            return _fact(found, predicate, name)
    return None


def degree_of(said: str) -> float | None:
    """How often or how much, from 0 to 1; None where nothing is said of it."""
    return next((degree for pattern, degree in _DEGREES if pattern.search(said)), None)


def parted(thing: str) -> tuple[str, str | None]:
    """An object without the condition in which it holds, and that condition: 晚上听音乐."""
    found = _WHEN.match(thing)
    if found is None or len(thing) - found.end() < 2:
        return thing, None
    return thing[found.end() :], found["when"]


def named(thing: str, name: str) -> str:
    """The thing with its speaker by name; a title stays as it is."""
    return thing if _TITLE.search(thing) else thing.replace("我", name)


def _fact(found: re.Match[str], predicate: str, name: str) -> StatedTriple | None:
    groups = found.groupdict()
    verb = groups.get("verb") or groups.get("does") or groups.get("never") or ""
    if groups.get("todo"):
        thing = _to_do(str(groups["todo"]))
    elif groups.get("place"):
        thing = _object(_PURPOSE.sub("", str(groups["place"])))
    else:
        thing = _object(str(groups["object"]))
    if thing is None:
        return None
    often = groups.get("often") is not None
    return StatedTriple(name, predicate or verb, named(thing, name), bool(groups.get("never")),
                degree_of(found.string) if often else None)  # fmt: skip


def _called(text: str) -> str | None:
    """A name such as 张志强 (张 is no measure word there); None if it is none."""
    return text if _NAME.fullmatch(text) and not _POINTS.search(text) else None


def _object(text: str) -> str | None:
    """A thing by itself: a title where there is one, without measure words; None where it says nothing."""
    title = _TITLE.search(text)
    thing = title[0] if title else _COUNTED.sub("", text.strip()).removesuffix("了")
    if not thing or len(thing) > MOST_LETTERS + 14 * bool(title) or _POINTS.search(thing) or _VAGUE.search(thing):
        return None
    return thing if len(thing) > 1 or thing in _ONE_CHARACTER else None


def _to_do(text: str) -> str | None:
    thing = text.strip().removesuffix("了")
    if not 2 <= len(thing) <= MOST_LETTERS_TO_DO or _POINTS.search(thing) or _VAGUE.search(thing):
        return None
    return thing
