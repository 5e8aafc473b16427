"""Names that numbers have in dates and counts: months and weekdays in English, numerals in both languages; said once.

They are no word list that grows, so they stand here and not in the lexicon.
"""

from __future__ import annotations

_MONTH_TEXT = "january february march april may june july august september october november december"
_WEEKDAY_TEXT = "monday tuesday wednesday thursday friday saturday sunday"

MONTHS = tuple(_MONTH_TEXT.split())
SHORT_MONTHS = (*dict.fromkeys(name[:3] for name in MONTHS if name != "may"), "sept")
"""jan, feb and so on; may is not shortened."""
WEEKDAYS = tuple(_WEEKDAY_TEXT.split())
MONTH = "|".join((*MONTHS, *sorted(SHORT_MONTHS, key=len, reverse=True)))
"""Alternatives of a regular expression, without a group: a full name before its short form."""
MONTH_STARTS = "|".join(name[:3] for name in MONTHS)
"""Alternatives: the first three letters of each."""
WEEKDAY = "|".join(WEEKDAYS)
"""Alternatives of a regular expression, without a group."""


def month_number(written: str) -> int:
    """1 to 12, of a full or a short name. Raises ValueError for any other word."""
    return 1 + [name[:3] for name in MONTHS].index(written[:3])


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
