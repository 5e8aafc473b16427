"""Facts that a clause mentions while it states or asks something else, and birthdays of the speaker and their people.

"How do I tell my boss, Greg, that I'm leaving?" contains the name of the boss, and
"I'm nervous about my upcoming trip to Rome on May 3" contains a plan.

Birthdays are read in English and Chinese. "My birthday is on 3 May" is a rule of its language as well; here are the other forms,
and relative days: "tomorrow is my mother's birthday" on 2 May means the third, if the day of the turn is known.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, timedelta
from functools import cache
from re import IGNORECASE, Match, Pattern
from typing import NamedTuple

from engramlog_server.projections.language import kin
from engramlog_server.projections.language.extraction.english import ASKS, MOST_LETTERS, english_statement
from engramlog_server.projections.language.extraction.english_rules import ADVERB, DAY, OWN, PAST, PEOPLE, pets, workers
from engramlog_server.projections.language.extraction.shape import Clause, ExtractedStatement, StatedTriple, TurnText
from engramlog_server.projections.language.lexicon import either, words
from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.times.calendar import MONTH, MONTHS, WEEKDAY, WEEKDAYS

MOST = 3
"""Of one clause."""
_WHOM = regex(
    lambda: (
        rf"\b(?P<led>(?:\w+ )?\w+ )?[Mm]y (?P<who>(?:(?!name\b)[\w-]+ )?(?:{kin.english()}|{pets()}|{PEOPLE}"
        rf"|{workers()})(?<![a-rt-z]s))"
        r"(?P<comma>,?) (?P<name>[A-Z][a-z]+(?: [A-Z][a-z]+)?)(?P<next>'s\b|(?=$|[ ,.!?;)]))"
    )
)
_BEHIND_A_COMMA = regex(r", (?:that|who|whom|about|to|is|has|was|wants)\b")
"""Words that go on about the named person: a name at the end, or before *and*, may be the listener's."""
_BEHIND_A_NAME = regex(
    r"$|[.!?;)]|,(?! [A-Z])| (?:and|or|for|to|in|on|at|from|about|who|that|when|because|but|so|as|this|next|last|if)\b"
)
_BEFORE_MY = regex(r"(?:^|\s)(?<!explain )(?:with|from|about|of|by|for|to|than|like|this is)\s$", re.IGNORECASE)
"""A word before *my* after which a name follows: "with my friend Tom", but not "give my dog Advil"."""
_HANDS_OVER = regex(
    r"\b(?:give|gave|teach|taught|show|send|sent|buy|bought|feed|fed|take|took|bring|brought|recommend|get|got|ask|name|call|help"
    r"|make|made|explain|introduce|order|read|cook|play|speak|tell)\w*\b",
    re.IGNORECASE,
)
_COMING = regex(
    rf"\bmy (?P<what>upcoming (?:[\w'&-]+ ){{1,6}}?(?:to|with|at|on|in|for) [^,;]{{0,60}}?{DAY}\w*)", re.IGNORECASE
)
_GONE = regex(
    r"\bmy (?P<what>(?!last\b|next\b|first\b)(?:[\w-]+ ){0,3}?(?:trip|walk|hike|vacation|wedding|birthday|party|graduation"
    r"|visit|holiday|tour"
    r"|concert|game|race|marathon|exhibition|performance|surgery|interview|presentation)s?(?: (?:to|in|at|with|around)"
    r" [^,.;:!?]{2,40}?)? (?:last (?:\w+)|yesterday|(?:an? |two |three |\d+ |a few )\w+ ago))\b",
    re.IGNORECASE,
)
_OWNED = regex(
    rf"(?<!: )\b[Mm]y (?P<what>{OWN}(?=[^,;:.?!]*(?:\d|[A-Z]|ing\b))(?:[^,;:.?!]|[.,:](?=\d)){{3,60}}?)"
    r"(?=$|[,;:?!]|\.(?!\d)| (?:with my|that|which|who|and|but|so|because|can|could|is|are|was|were|would|has|have|when"
    r"|while|if|do|does|did)\b)"
)
_IS_IT = regex(r"\W*(?:\w+,? )?(?:is|are|was|were|isn't|wasn't) my\b", re.IGNORECASE)
"""A question about the thing itself: "Is my appointment on the 5th?"."""
_RAISED = regex(r" to (?=[$£€\d])")
"""What became of a budget that was changed: "I've increased my budget to $75"."""
_AS = regex(
    lambda: (
        rf"^\W*(?:and |but |so )?as an? (?P<who>(?!child|kid|teen)(?:(?!child|kid|teen)[\w-]+ ){{0,4}}?(?:{workers()}"
        rf"|{kin.english()}|\d+-year-old))\W*$"
    ),
    re.IGNORECASE,
)
_GOES_ON_AS_I = regex(
    rf"\W*I(?:'m|'ve)?\b(?!'d|'ll)(?! (?:would|could|might|can|will|should|want|was|had|used to)\b)(?! {ADVERB}{PAST})"
)
"""A statement about today: a past may belong to a past role, and anybody "would" or "wants to", as in a user story."""
_WHO_IS = regex(
    lambda: (
        rf"\b[Mm]y (?P<who>(?:(?!name\b)[\w-]+ )?(?:{kin.english()}|{pets()}|{PEOPLE})(?<![a-rt-z]s)(?:,? [A-Z][a-z]+)?),"
        rf" who(?:'s| is) "
        r"(?P<what>\d{1,3}(?=[,.?! ]|$)|an? (?!bit\b|little\b|lot\b)[^,.;?!]{3,50}?(?=$|[,.;?!]| (?:who|that|and|but)\b))"
    )
)
_SEVERAL = regex(
    lambda: (
        rf"\b[Mm]y (?P<what>(?:two|three|four|five|[2-9]) (?:(?:older|younger|little|big|young) )?(?:{kin.english()}"
        rf"|{pets()})(?<=s|n))\b"
    )
)
_UNSURE = regex(
    r":\s|\b(?:say(?:s|ing)?|said|tells|told|ask(?:s|ed)|writes|wrote|whether|thinks?|claims?|wish\w*|never|no|dream\w*|dreamt"
    r"|might|may have|supposed|planned|assume|forget|missed|skipped|e\.g|example|instance)\b"
    r"|\b(?:gave|given|giv(?:e|ing)|sold|sell(?:ing)?|lost|died|put down)\b.*\bmy (?:two|three|four|five|\d)\b"
    r"|\b(?:get|earn|obtain|finish|will be|had) my\b",
    re.IGNORECASE,
)
"""Other people's words, wishes and what is over: their clauses have no incidental facts."""
_AS_AN_EXAMPLE = regex(r"\b(?:for example|for instance|no such thing)\W*$", re.IGNORECASE)
_TONGUES = frozenset(
    {"english", "french", "german", "dutch", "greek", "latin", "hindi", "urdu", "thai", "czech", "arab", "arabic", "hebrew",
     "korean", "swiss", "welsh", "python", "java", "rust", "go", "muslim", "hindu", "sikh", "catholic", "christian", "protestant",
     "asian", "african", "european"}
)  # fmt: skip
"""Languages and peoples; most others have a known ending (`_OF_A_PEOPLE`)."""
_NOT_CALLED = "i christmas easter just and but so claude chatgpt gpt alexa siri gemini copilot assistant"
_NO_NAME = _TONGUES.union(MONTHS, WEEKDAYS, _NOT_CALLED.split())
_OF_A_PEOPLE = regex(
    r"(?:[a-z]{2,}ese|[a-z]{2,}(?:ic|ish|ist)|[a-z]+(?:rsian|ican|alian|ssian|dian|panian|mian|nian|gian|vian|rkish|raeli"
    r"|tani|raqi))$"
)
"""Endings of peoples, languages and faiths, which are no names: Japanese, Jewish, Buddhist, Persian."""
_OPEN = regex(
    r"\b(?:if|unless|suppose|supposing|imagine|pretend|assuming|say|novel|story|character|dream|would|not|no longer"
    r"|fictional|fictitious|imaginary|invented|my (?:\w+ )?(?:future|late))\b|n't\b|[\"“”«]",
    re.IGNORECASE,
)
_CALLED_OFF = regex(
    r"\b(?:cancel\w*|call(?:ed|ing) off|postpon\w*|fell through|fallen through|scrapped|reschedul\w*|delayed|pushed back"
    r"|off the table"
    r"|no longer|not (?:happening|going)|(?:is|are|was|were|be|been|it's|that's|now) (?:now |all )?off)\b(?! to\b)|\b(?:isn"
    r"|won|aren)'t (?:happening|going)",
    re.IGNORECASE,
)


def incidental(clause: Clause, turn: TurnText, stated: ExtractedStatement | None) -> Iterator[ExtractedStatement]:
    """What a clause presupposes about its speaker's people and dates, if its own statement (`stated`) does not contain it."""
    if len(clause.text) > MOST_LETTERS:
        return
    text = clause.text.replace("’", "'")
    asks = clause.question and ASKS.match(text.strip(" ,-–—")) is not None
    if not (clause.asserted or asks) or _OPEN.search(text):
        return
    content = "" if stated is None or not stated.asserted else stated.content
    for match in list(_WHOM.finditer(text))[:MOST]:
        if match["name"] not in content and _is_name(match):
            yield from _read(clause, turn, f"My {match['who']} is called {match['name']}")
    coming = _COMING.search(text)
    if coming is not None and coming["what"] not in content and not _CALLED_OFF.search(clause.around or text):
        yield from _read(clause, turn, f"I have an {coming['what']}")
    yield from _presupposed(clause, turn, text, content)


def _presupposed(clause: Clause, turn: TurnText, text: str, stated: str) -> Iterator[ExtractedStatement]:
    """Who a relative is, what the speaker owns or had, and the role in which they speak."""
    if _UNSURE.search(text) is not None or _AS_AN_EXAMPLE.search(clause.before) is not None:
        return
    if (person := _WHO_IS.search(text)) is not None and person["what"] not in stated:
        yield from _read(clause, turn, f"My {person['who']} is {person['what']}")
    if (past := _GONE.search(text)) is not None and not stated and not _CALLED_OFF.search(clause.around):
        yield from _read(clause, turn, f"I had {_article(past['what'])}{past['what']}")
    owned = None if stated or (clause.question and _IS_IT.match(text)) else _OWNED.search(text)
    if owned is not None:
        what = _RAISED.sub(" of ", owned["what"])
        yield from _read(clause, turn, f"I have {_article(what)}{what}")
    if (several := _SEVERAL.search(text)) is not None and several["what"] not in stated:
        yield from _read(clause, turn, f"I have {several['what']}")
    if (speaks := _AS.match(text)) is not None and _GOES_ON_AS_I.match(clause.after):
        yield from _read(clause, turn, f"I'm {_article(speaks['who'])}{speaks['who']}")


def _article(what: str) -> str:
    first = what.split(" ", 1)[0]
    if first == "experience" or first.endswith("s"):
        return ""
    return "an " if first[0] in "aeiouAEIOU" else "a "


def _is_name(match: re.Match[str]) -> bool:
    """Whether the words behind "my brother" are his name: they may also be a vocative, a gift or an adjective."""
    text, name, led = match.string, match["name"], match["led"] or ""
    if any(word.casefold() in _NO_NAME or _OF_A_PEOPLE.search(word) for word in name.split()):
        return False
    if match["comma"]:
        return match["next"] != "'s" and _BEHIND_A_COMMA.match(text, match.end()) is not None
    if match["next"] == "'s":
        return True
    if _HANDS_OVER.search(led) or not _BEFORE_MY.search(led):
        return False
    return _BEHIND_A_NAME.match(text, match.end()) is not None


def _read(clause: Clause, turn: TurnText, sentence: str) -> Iterator[ExtractedStatement]:
    plain = clause._replace(
        text=re.sub(r"\s+", " ", sentence), asserted=True, question=False, before="", after="", around=""
    )
    statement = english_statement(plain, turn)
    if statement is not None and statement.asserted:
        yield statement


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
def _english_birthdays() -> Pattern[str]:
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
def _chinese_birthdays() -> Pattern[str]:
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
    return _stated(clause, turn, _birthday_in(_english_birthdays().match(text), text), han=False)


def chinese_birthday(clause: Clause, turn: TurnText) -> ExtractedStatement | None:
    """The birthday in a Chinese clause, or None."""
    text = _LED_CHINESE.sub("", "".join(clause.text.split()).strip("，。！？!?；;…~ 、:："), count=1)
    return _stated(clause, turn, _birthday_in(_chinese_birthdays().match(text), text), han=True)


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
