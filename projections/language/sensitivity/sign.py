"""The cheap signs in a text that make rules worth asking; what words stand in it is told by its cues."""

from __future__ import annotations

from enum import IntFlag

LONG = 17
"""Characters: no shorter run is an issued key."""


class Sign(IntFlag):
    """What a text must hold for some rules to be able to match: looked for in every text, so each must be cheap."""

    DIGIT = 1
    """At least one ASCII digit."""
    FIVE_DIGITS = 2
    """At least five in one run, with nothing but blanks and ( ) . - between them: an account's or a paper's number."""
    SEVEN_DIGITS = 4
    """At least seven, so: a telephone or card number needs them."""
    AT = 8
    """The character @."""
    LONG = 16
    """At least `LONG` bytes without white space, in a text with a digit: an issued key or a token is that long."""
    SPOKEN = 32
    """A word for a number."""
    WIDE = 64
    """A character that is not ASCII."""
    WIDE_DIGIT = 128
    """Both a digit and a character that is not ASCII."""


NO_SIGN = Sign(0)
