"""The numerals of both languages, said once for whoever reads numbers: as months are, they are no list that grows."""

from __future__ import annotations

_SMALL = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen
nineteen
"""
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
ENGLISH = {word: value for value, word in enumerate(_SMALL.split())}
"""zero to nineteen."""
TENS = {word: 10 * value for value, word in enumerate(_TENS.split(), 2)}
"""twenty to ninety."""
TWELVE = tuple(word for word, value in ENGLISH.items() if 1 <= value <= 12)
"""one to twelve, in order."""
HAN_DIGITS = {digit: value for value, digit in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
HAN_UNITS = {"十": 10, "百": 100, "千": 1000}
