"""What a sensitivity rule is, and the cheap signs in a text that make it worth asking."""

from __future__ import annotations

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
    """A word for a password or a recovery phrase, in English or Chinese."""
    PLACE = 16
    """A Chinese word for an address."""
    BACKGROUND = 32
    """A word that often goes with occupation or education, in English or Chinese."""


@dataclass(frozen=True, slots=True)
class Rule:
    """`matches` is asked only of texts with one of `signs`; full-width letters and digits are ASCII by then.

    Every regular expression behind it is bounded, so that time grows in step with the length of the text.
    """

    name: str
    level: int
    signs: Sign
    matches: Callable[[str], bool]
