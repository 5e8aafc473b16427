"""Numbers as people write them: 23, 3.5, 1,200, twenty-three, 二十三, 两; exact ones only."""

from __future__ import annotations

import re

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
