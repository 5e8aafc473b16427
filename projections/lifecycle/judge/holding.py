"""What has one value at a time, a home or an age: whether a new value replaces a known one, may do so, or stands beside it.

A home replaces another only where both are places of one grade, told apart for certain, and the new one is said of now and
not for a while; "a flat in Berlin", "the fifth floor" or a district refines a home (memory.md, section 4).
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from engramlog_server.projections.language.contradiction.slots import (
    different_places,
    lies_in,
    place_at_start,
    value_of,
)
from engramlog_server.projections.language.extraction.fleeting import for_a_time, of_earlier
from engramlog_server.projections.language.extraction.instructing import WISHES
from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.scripts import HAN, begins_with_han
from engramlog_server.projections.language.times.names import MONTH, month_number

Outcome = Literal["replaces", "may", "stands"]
HOMES = frozenset({"lives in", "住在"})
AGES = frozenset({"is aged", "年龄"})
ORIGINS = frozenset({"is from", "来自"})
HOLDS_ONCE = HOMES | AGES | WISHES
"""Predicates that have one object at a time, and a new one is the ordinary case."""
BIRTHS = frozenset({"was born", "出生"})
HOLDS_ALWAYS = frozenset({"is called", "名字"}) | BIRTHS | ORIGINS
"""Predicates that have one object: a new one is a correction if said to be one, else a possible conflict."""
_LED = regex(
    r"(?:the (?:city|town|village|state) of |the |downtown |central |greater |upstate |(?:north|south|east|west)(?:ern)? )"
)
_WITHIN = regex(r"\b(?:in|of|near|outside) (?:the )?")
_NEXT = regex(r",? (?:in )?(?:the )?|市?省?")
_ENDS = regex(
    r"(?:[,.]? ?(?:now|again|city|proper|with|for|because|since|to|near|where|after|as|by|just|recently|last|this|on"
    r"|and(?= [a-z])(?! the ))\b|\s*\(|\s*$)"
)
_ENDS_CHINESE = regex(
    "(?:市区?|[区县省]|城里|市里)?(?:$|[了的，,]|已经|很久|多年|[\\d一二两三四五六七八九十几好多]+年|工作|生活|上学|读书|发展)"
)
_DISTRICT = regex(f"[{HAN}]{{2,4}}(?<![小郊市校社景])区")
_TOWN_CHINESE = regex(f"[{HAN}]{{1,5}}[市县]")
_PROVINCE = regex(f"[{HAN}]{{2,3}}省")
_PART_CHINESE = regex(
    "[楼层路街巷弄号室房栋村镇乡区]|公寓|宿舍|花园|附近|旁边|单元|酒店|公司|学校|市中心|城里|乡下|父母|爸|妈|亲戚|朋友|家里?$|[里边]$"
)
_NAME = regex(r"[A-Z][\w'.-]*(?: (?:of |on |upon |de |la )?[A-Z][\w'.-]*)*")
_PART = regex(
    r"\b(?:Street|St|Road|Rd|Avenue|Ave|Lane|Drive|District|Quarter|Heights|Square|Court|Apartments?|House|Building|Tower"
    r"|Park|Hall|Close|Terrace|Place|Dorm\w*|Residences?|Gardens|Hotel|Block|Floor|Campus|University|College)$"
)
_TOWN = regex(r" (?:City|Town)$")


_BIRTH_YEAR = regex(r"(?<!\d)((?:19|20)\d\d)(?!\d)")
_BIRTH_MONTH = regex(rf"(?<![a-z])(?:{MONTH})(?![a-z])|([\d一二三四五六七八九十]{{1,2}})月")
_BIRTH_DAY = regex(
    rf"(?:{MONTH})\.? (?:the )?(\d{{1,2}})|(\d{{1,2}})(?:st|nd|rd|th)?(?: of)? (?:{MONTH})|月([\d一二三四五六七八九十]{{1,3}})"
)


class _Home(NamedTuple):
    """A home as said: the known place it lies in, or how its name reads."""

    place: str | None
    sure: bool
    """Nothing that follows the place may change what it is: "Paris, Texas", "Boston Road"."""
    grade: str
    """place, town, province, district, name, or part: what lies within a town."""
    words: str


def outcome(predicate: str, said: tuple[str, str], known: tuple[str, str], year: int | None, corrects: bool) -> Outcome:
    """What a statement means for a known one of the same predicate, each as (content, object).

    `year` is that in which the statement was made; `corrects`: its speaker says that something was wrong before.
    """
    (content, value), (known_content, known_value) = said, known
    if predicate in AGES:
        return _age(content, value, known_value, year, corrects)
    if predicate in ORIGINS:
        return _origin(value, known_value, corrects)
    if predicate in WISHES or (predicate in HOLDS_ALWAYS and corrects):
        return "replaces"
    if predicate in HOLDS_ALWAYS:
        return "stands" if predicate in BIRTHS and _agree(value, known_value) else "may"
    if predicate not in HOMES or for_a_time(content) or for_a_time(known_content):
        return "stands"
    found = _homes(_home(value), _home(known_value), corrects)
    return "may" if found == "replaces" and of_earlier(content, year) else found


def _age(content: str, value: str, known: str, year: int | None, corrects: bool) -> Outcome:
    """One grows older: an age below the known one is of another time, or one of the two is wrong."""
    new, old = _years(value), _years(known)
    if for_a_time(content) or of_earlier(content, year) or new == old:
        return "stands"
    return "replaces" if corrects or (new is not None and old is not None and new > old) else "may"


def _years(value: str) -> float | None:
    found = re.match(r"\d{1,3}|[一二三四五六七八九十两]{1,4}", value)
    return None if found is None else value_of(found[0])


def _agree(value: str, known: str) -> bool:
    """Whether two birthdays name a year, a month or a day, and none that differs: "3 May" and "May 3rd, 1990"."""
    new, old = _born(value), _born(known)
    both = new.keys() & old.keys()
    return bool(both) and all(new[part] == old[part] for part in both)


def _born(value: str) -> dict[str, int]:
    """Year, month and day as far as they are named."""
    found: dict[str, int] = {}
    text = value.casefold()
    if (year := _BIRTH_YEAR.search(text)) is not None:
        found["year"] = int(year[1])
    if (month := _BIRTH_MONTH.search(text)) is not None:
        found["month"] = month_number(month[0]) if month[1] is None else int(value_of(month[1]) or 0)
    if "month" in found and (day := _BIRTH_DAY.search(text.replace(str(found.get("year", "-")), ""))) is not None:
        found["day"] = int(value_of(day[1] or day[2] or day[3]) or 0)
    return found


def _origin(value: str, known: str, corrects: bool) -> Outcome:
    """A country and a town in it do not contradict each other."""
    new, old = _home(value.removesuffix("人")), _home(known.removesuffix("人"))
    if new.place is not None and old.place is not None and not different_places(new.place, old.place):
        return "stands"
    return "replaces" if corrects else "may"


def _homes(new: _Home, old: _Home, corrects: bool) -> Outcome:
    if new.place is not None and old.place is not None:
        if not different_places(new.place, old.place):
            return "stands"
        return "replaces" if new.sure and old.sure else "may"
    grades = {new.grade, old.grade}
    if "part" in grades or new.words.startswith(old.words) or old.words.startswith(new.words):
        return "stands"
    if len(grades) == 1 and ("name" not in grades or corrects):
        return "replaces"
    return "stands" if "district" in grades else "may"


def _home(value: str) -> _Home:
    """A home read from what somebody lives in; an object of a triple."""
    said = " ".join(value.replace("’", "'").split())
    led = _LED.match(said)
    for start in (0, led.end() if led is not None else 0):
        found = _known(said, start)
        if found is not None:
            return found
    if begins_with_han(said):
        return _Home(None, True, _grade_chinese(said), said)
    name = _NAME.match(said, led.end() if led is not None else 0)
    if name is None:
        lies = (_known(said, one.end()) for one in _WITHIN.finditer(said))
        return next((one for one in lies if one is not None), _Home(None, True, "part", said.casefold()))
    return _Home(None, True, _grade(said, name), said[name.start() :].casefold())


def _known(said: str, start: int) -> _Home | None:
    """The known place that is named from `start` on, the innermost where several follow each other."""
    lower = said.casefold()
    found = place_at_start(lower[start:]) if len(lower) == len(said) else None
    if found is None:
        return None
    place, end = found[0], start + found[1]
    while (more := _NEXT.match(said, end)) is not None:
        outer = place_at_start(lower[more.end() :])
        if outer is None:
            break
        if different_places(place, outer[0]):
            return _Home(None, False, "name", lower[start:])
        end = more.end() + outer[1]
        place = outer[0] if lies_in(outer[0], place) else place
    ends = _ENDS_CHINESE if begins_with_han(said[start:]) else _ENDS
    return _Home(place, ends.match(said, end) is not None, "place", lower[start:])


def _grade_chinese(said: str) -> str:
    for grade, pattern in (("district", _DISTRICT), ("town", _TOWN_CHINESE), ("province", _PROVINCE)):
        if pattern.fullmatch(said):
            return grade
    return "part" if _PART_CHINESE.search(said) else "name"


def _grade(said: str, name: re.Match[str]) -> str:
    """Of a capitalised name: part of a town, a town ("Springfield, Illinois", "Iowa City"), or any name."""
    if _PART.search(name[0]):
        return "part"
    tail = said[name.end() :].casefold()
    outer = tail.startswith(", ") and place_at_start(tail.removeprefix(", ")) is not None
    return "town" if outer or _TOWN.search(name[0]) or said.startswith(("the city of", "the town of")) else "name"
