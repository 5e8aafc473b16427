"""The values of slots, in English and Chinese: exact numbers as people write them (23, 3.5, 1,200, twenty-three, 二十三, 两),
places that a person may live in or come from, and how rules read slots out of a clause, one after the other.

Only two places that are both known here, neither within the other, are certain to be different.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import NamedTuple

from engramlog_server.projections.language.lexicon import rows
from engramlog_server.projections.language.scripts import begins_with_han
from engramlog_server.projections.language.times.names import ENGLISH, HAN_DIGITS, HAN_UNITS, TENS

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


Said = tuple[str, str]
"""Of what, and the value."""


class SlotRule(NamedTuple):
    """One way to give a value. Group 1 of the pattern is whose it is; without it the value is the speaker's."""

    pattern: re.Pattern[str]
    says: Callable[[re.Match[str], str], Said | None]
    """Of a match and its clause; None where it says nothing certain."""
    of_thing: bool = False
    """Group 1 is a thing (a meeting), not somebody."""


class SlotLanguage(NamedTuple):
    """How one language gives values."""

    longest: int
    """Characters of a clause beyond which nothing is read."""
    unsure: re.Pattern[str]
    """Where a clause asks, supposes, denies, estimates or tells of the past: then it gives no value."""
    rules: tuple[SlotRule, ...]
    whose: Callable[[str | None], str]
    """Somebody, as it is compared."""
    thing: Callable[[str], str] = str
    cleaned: Callable[[str], str] = str
    """The clause without words that only look unsure."""


def read_slots(clause: str, language: SlotLanguage) -> Iterator[tuple[str, str, str]]:
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


def place_after(name: str) -> Callable[[re.Match[str], str], Said | None]:
    """The place right behind a match: somebody's home, or origin."""

    def says(found: re.Match[str], clause: str) -> Said | None:
        place = place_at_start(clause[found.end() :])
        return None if place is None else (name, place[0])

    return says
