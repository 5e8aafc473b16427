"""Numbers as people write them: 23, 3.5, 1,200, twenty-three, 二十三, 两; exact ones only."""

from __future__ import annotations

import re

_UNITS_TEXT = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen
nineteen
"""
_TENS_TEXT = "twenty thirty forty fifty sixty seventy eighty ninety"
_ENGLISH = {word: value for value, word in enumerate(_UNITS_TEXT.split())}
_TENS = {word: 10 * value for value, word in enumerate(_TENS_TEXT.split(), 2)}
_HAN = {digit: value for value, digit in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_HAN_UNITS = {"十": 10, "百": 100, "千": 1000}

NUMBER_ENGLISH = (
    r"(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,9}(?:\.[0-9]{1,4})?|(?:"
    + "|".join(_TENS)
    + r")(?:[- ](?:one|two|three|four|five|six|seven|eight|nine))?|"
    + "|".join(sorted(_ENGLISH, key=len, reverse=True))
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
        return float(_TENS[tens] + _ENGLISH.get(units, 0)) if tens in _TENS else float(_ENGLISH[tens])
    return _han_value(text)


def _han_value(text: str) -> float | None:
    if all(one in _HAN for one in text):
        return float("".join(str(_HAN[one]) for one in text)) if len(text) != 2 else None
    if re.search("[百千][一二两三四五六七八九]$", text) or re.search("[十百千]{2}|[一二两三四五六七八九]{2}", text):
        return None
    total, digit = 0, 0
    for one in text:
        if one in _HAN:
            digit = _HAN[one]
        else:
            total, digit = total + (digit or 1) * _HAN_UNITS[one], 0
    return float(total + digit)
