"""Birthdays of the speaker and their people. English and Chinese, a clause at a time.

"My birthday is on 3 May" is a rule of its language as well; here are the other forms, and relative days: "tomorrow is my
mother's birthday" on 2 May means the third, if the day of the turn is known.
"""

from __future__ import annotations

from datetime import date, timedelta
from functools import cache
from re import IGNORECASE, Match, Pattern
from typing import NamedTuple

from engramlog_server.projections.language import kin
from engramlog_server.projections.language.extraction.english_rules import pets
from engramlog_server.projections.language.extraction.shape import Clause, ExtractedStatement, StatedTriple, TurnText
from engramlog_server.projections.language.lexicon import either, words
from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.times.names import MONTH, MONTHS, WEEKDAY

_AWAY = {"today": 0, "tonight": 0, "tomorrow": 1, "yesterday": -1, "the day after tomorrow": 2, "the day before yesterday": -2,
         "今天": 0, "今日": 0, "明天": 1, "明日": 1, "昨天": -1, "昨日": -1, "后天": 2, "前天": -2, "大后天": 3}  # fmt: skip
_DAY_ENGLISH = (
    rf"(?:(?:{MONTH})\.? (?:the )?\d{{1,2}}(?:st|nd|rd|th)?"
    rf"|(?:the )?\d{{1,2}}(?:st|nd|rd|th)?(?: of)? (?:{MONTH}))(?:,? \d{{4}})?"
)
_NEAR_ENGLISH = "(?:the day (?:after tomorrow|before yesterday)|today|tonight|tomorrow|yesterday)"
_WHEN_ENGLISH = (
    rf"(?:{_DAY_ENGLISH}|{_NEAR_ENGLISH}|(?:this |next |last |this coming )?(?:{WEEKDAY})|(?:next|this|last) (?:week|month|weekend)"
    rf"|in (?:early |late |mid-?)?(?:{MONTH}))"
)
_WHEN_CHINESE = (
    "(?:(?:农历|阴历|阳历|公历|每年)?(?:\\d{4}年)?(?:的)?(?:\\d{1,2}|[一二三四五六七八九十正腊冬]{1,3})月(?:初)?(?:\\d{1,2}|[一二三四五六七八九十廿]{1,3})[日号]?"
    "|[今明昨后前]天|大后天|[今明昨]日|[这下上]个?(?:周|星期|礼拜)[一二三四五六日天末])"
)
_DENIED = regex(
    r"\b(?:not|never|isn't|wasn't|if|when|until|before|after|maybe|perhaps)\b|不是|没有|如果|要是|可能|好像|大概",
    IGNORECASE,
)
_LED = regex(
    r"(?:(?:oh|hey|hi|and|so|but|well|by the way|btw|also|actually|guess what|yes|yeah|ok|please note(?: that)?)\b[,!:.]* )+",
    IGNORECASE,
)
_LED_CHINESE = regex("^(?:对了|另外|还有|其实|那个|哦|嗯|你好|朋友|记住|而且|因为|所以|我跟你说)+[，,：: ]*")


class _Birthday(NamedTuple):
    """A birthday in the words of the clause."""

    whose: str
    """Whose it is, in the words of the language; empty for the speaker's own."""
    when: str


@cache
def _english() -> Pattern[str]:
    people = f"{kin.english()}|{pets()}"
    who = (
        rf"(?:(?P<who{{n}}>(?:[a-z-]+ )?(?:{people}|best friend|close friend|friend|boss|teacher|mentor|colleague)"
        r"(?: [A-Z]\w+)?)'s )?"
    )
    whose = [rf"my {who.format(n=n)}(?:\d{{1,3}}(?:st|nd|rd|th) )?birthday" for n in range(3)]
    turning = who.format(n=3).replace("'s )?", ")")
    return regex(
        rf"(?:{whose[0]}(?: party)?(?:'s| is| falls| was| will be| comes)(?: on)?(?: the)? (?P<when0>{_WHEN_ENGLISH})"
        rf"|(?P<when1>{_WHEN_ENGLISH})(?:'s| is| was| will be) {whose[1]}"
        rf"|it(?:'s| is| was| will be) {whose[2]}(?:,? (?:on )?(?P<when2>{_WHEN_ENGLISH}))?"
        rf"|my {turning} (?:turns|is turning|will turn|turned|will be|is going to be|is) \d{{1,3}}(?: years old)?"
        rf",? (?:on )?(?P<when3>{_WHEN_ENGLISH})"
        r")(?=$|[ ,.!])",
        IGNORECASE,
    )


@cache
def _chinese() -> Pattern[str]:
    who = f"(?P<who{{n}}>{kin.chinese()}|(?:好|男|女)?朋友|同学|同事|老师|老板|室友|闺蜜|{either(words('pets', 'chinese'))})"
    whose = [f"我(?:家)?的?(?:{who.format(n=n)})?的?" for n in range(4)]
    is_on = "(?:刚好|正好|恰好|就|也|才)?(?:是|在|就是|就在)?"
    return regex(
        f"(?:{whose[0]}(?:\\d{{1,3}}岁)?生日{is_on}(?P<when0>{_WHEN_CHINESE})"
        f"|(?P<when1>{_WHEN_CHINESE}){is_on}{whose[1]}(?:\\d{{1,3}}岁)?(?:大)?生日"
        f"|{whose[2]}(?P<when2>{_WHEN_CHINESE})(?:要|会|刚)?过?(?:生日|(?:就|要)?满[\\d一二两三四五六七八九十百]{{1,4}}岁)"
        f"|{whose[3]}(?:是|生于|出生于|出生在)(?P<when3>{_WHEN_CHINESE})(?:出生)?的生日"
        ")(?:了|啊|哦|呢|啦|哈|的)*$"
    )


def english_birthday(clause: Clause, turn: TurnText) -> ExtractedStatement | None:
    """The birthday in an English clause, or None."""
    text = " ".join(clause.text.replace("’", "'").split()).strip(" ,.!;:)(-–—*#>")
    text = _LED.sub("", text, count=1) if _LED.match(text) else text
    return _stated(clause, turn, _birthday_in(_english().match(text), text), han=False)


def chinese_birthday(clause: Clause, turn: TurnText) -> ExtractedStatement | None:
    """The birthday in a Chinese clause, or None."""
    text = _LED_CHINESE.sub("", "".join(clause.text.split()).strip("，。！？!?；;…~ 、:："), count=1)
    return _stated(clause, turn, _birthday_in(_chinese().match(text), text), han=True)


def _birthday_in(match: Match[str] | None, said: str) -> _Birthday | None:
    if match is None or _DENIED.search(said):
        return None
    groups = match.groupdict()
    whose = next((groups[f"who{n}"] for n in range(4) if groups.get(f"who{n}")), "")
    when = next((groups[f"when{n}"] for n in range(4) if groups.get(f"when{n}")), None)
    return _Birthday(whose, when or "today")


def _stated(clause: Clause, turn: TurnText, birthday: _Birthday | None, *, han: bool) -> ExtractedStatement | None:
    if birthday is None:
        return None
    whose, when = turn.called(han=han), birthday.when
    if birthday.whose:
        whose += f"的{birthday.whose}" if han else f"'s {birthday.whose}"
    day = when if ("月" in when if han else any(map(str.isdigit, when))) else None
    away = _AWAY.get(when.casefold())
    if away is not None and turn.day is not None:
        near = date.fromisoformat(turn.day) + timedelta(days=away)
        day = f"{near.month}月{near.day}日" if han else f"{MONTHS[near.month - 1].capitalize()} {near.day}"
    named = day or turn.dated(when if han else when.casefold(), han=han)
    content = f"{whose}的生日是{named}" if han else f"{whose}'s birthday is {'on ' if day else ''}{named}"
    triple = None if day is None else StatedTriple(whose, "出生" if han else "was born", day)
    span = (clause.start, clause.end)
    return ExtractedStatement(content, "identity", "fact", 1, clause.asserted, 0.85, span, (), triple)
