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
    """At least seven, anywhere: a telephone, card or account number needs them."""
    AT = 4
    """The character @."""
    PASSWORD = 8
    """An English word for a password or a recovery phrase."""
    IS_A = 16
    """What may be "am a", "is an", "as a"."""
    ZH_DIGIT = 32
    """At least one digit in a text that is not all ASCII."""
    ZH_PASSWORD = 64
    ZH_PLACE = 128
    ZH_BACKGROUND = 256
    WORK = 512
    """An English word that often goes with occupation."""
    STUDY = 1024
    """An English word that often goes with education."""


@dataclass(frozen=True, slots=True)
class Rule:
    """`matches(text, lower)` is asked only of texts with the sign; full-width letters and digits are ASCII by then.

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
