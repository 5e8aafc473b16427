"""What a sensitivity rule is, and the cheap signs in a text that make it worth asking."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntFlag


class Sign(IntFlag):
    """What a text must hold for some rules to be able to match: looked for in every text, so each must be cheap."""

    DIGIT = 1
    """At least one ASCII digit."""
    SEVEN_DIGITS = 2
    """At least seven in one run, with what may stand between them: a telephone or card number needs them."""
    AT = 4
    """The character @."""
    LONG = 8
    """At least `LONG` characters without white space: an issued key or a token is that long."""
    ZH_DIGIT = 16
    """At least one digit in a text that is not all ASCII."""
    IS_A = 32
    """What may be "am a", "is an", "as a"."""
    # Words of a kind; which ones is told by the rules themselves (`WORDS` and cues).
    PASSWORD = 64
    LOGIN = 128
    CODE = 256
    PAPER = 512
    KEY = 1024
    SEED = 2048
    QUESTION = 4096
    PLACE = 1 << 13
    CONTACT = 1 << 14
    WORK = 1 << 15
    STUDY = 1 << 16
    HEALTH = 1 << 17
    ORIENTATION = 1 << 18
    PAY = 1 << 19
    BIRTH = 1 << 20
    WIRELESS = 1 << 21
    NUMBER = 1 << 22
    """A number of at least four digits, with what may stand between them."""
    KEPT = 1 << 23
    GIVEN = 1 << 24
    ZH_SECRET = 1 << 25
    ZH_PLACE = 1 << 26
    ZH_BACKGROUND = 1 << 27
    ZH_PRIVATE = 1 << 28
    OPENING = 1 << 29
    TONGUE = 1 << 30
    LOGGED = 1 << 31


LONG = 17
"""Characters: no shorter run is an issued key."""


@dataclass(frozen=True, slots=True)
class Rule:
    """`matches(text, lower)` is asked only of folded texts (`sensitivity_fold`) with one of the signs.

    `lower` is the text in lower case, character by character. Every regular expression behind a rule is bounded, so
    that time grows in step with the length of the text, and starts with what is rare, so that it skips most of it.
    """

    name: str
    level: int
    sign: Sign
    matches: Callable[[str, str], bool]


def found_in_text(*patterns: re.Pattern[str]) -> Callable[[str, str], bool]:
    """A rule's `matches`: any of the patterns, in the text as written."""
    return lambda text, _lower: any(pattern.search(text) for pattern in patterns)


def found_in_lower(*patterns: re.Pattern[str]) -> Callable[[str, str], bool]:
    """A rule's `matches`: any of the patterns, in the text in lower case."""
    return lambda _text, lower: any(pattern.search(lower) for pattern in patterns)


def word_of(cue: str) -> str:
    """The Latin word of a cue by which texts are looked through: its longest, the first of equals; empty where it has none."""
    return max(re.findall("[a-z]+", cue), key=len, default="")


def listed(text: str) -> tuple[str, ...]:
    """The entries of a list that is written with commas and line breaks."""
    return tuple(entry for entry in (part.strip() for part in re.split(r"[,\n]", text)) if entry)


def either(text: str) -> str:
    """A listed text as alternatives of a regular expression, each a whole word where it begins and ends in a Latin letter."""
    return rf"(?<![a-z])(?:{'|'.join(listed(text))})(?![a-z])"
