"""Numbers said digit by digit, read as digits: `four four one nine` is `4419`, `double seven oh two` is `7702`. Pure.

The words are looked up with the rules' cues (`index`), so a text is read again only where a row of them stands in it,
and every rule about digits profits.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.sensitivity.rule import listed

_WORDS = dict(zip(listed("zero, one, two, three, four, five, six, seven, eight, nine"), "0123456789", strict=True))
_VALUES = _WORDS | {"oh": "0", "nought": "0", "naught": "0", "niner": "9"}
_TIMES = {"double": 2, "triple": 3}
STARTING = frozenset(_VALUES) | frozenset(_TIMES)
"""What a row may begin with."""
OF_A_ROW = STARTING - {"one", "two"}
"""Of these one must stand in a row: the two others are in too many texts."""
_WORD = f"(?:{'|'.join(sorted(STARTING, key=len, reverse=True))})"
_ROW = regex(rf"{_WORD}(?:(?:, |[ ,-]){_WORD}){{2,15}}(?![a-z-])")
_COUNTED = "01234567890", "9876543210"
"""In this order digits are counted aloud, not told."""
_LEAST = 4
"""Digits: fewer are said of amounts, scores and times."""


def in_digits(text: str, lower: str, keys: Collection[str]) -> tuple[str, str] | None:
    """A folded text and the same in lower case with its rows of words for digits as digits; None where there is no such row.

    `keys` are the words looked up that stand in the text. A row of nothing but ones and twos is not looked for: both stand in
    too many texts.
    """
    words = STARTING.intersection(keys)
    if len(words) < 2 or OF_A_ROW.isdisjoint(words):
        return None
    parts, done = [], 0
    for start in sorted(_starts(lower, words)):
        if start < done or not (row := _ROW.match(lower, start)):
            continue
        digits = _digits(row[0])
        if len(digits) >= _LEAST and len(set(digits)) > 1 and not any(digits in counted for counted in _COUNTED):
            parts.append((start, row.end(), digits))
            done = row.end()
    return (_with(text, parts), _with(lower, parts)) if parts else None


def _starts(lower: str, words: Collection[str]) -> list[int]:
    """Where one of the words begins."""
    found = []
    for word in words:
        at = lower.find(word)
        while at >= 0:
            if at == 0 or not lower[at - 1].isalnum():
                found.append(at)
            at = lower.find(word, at + len(word))
    return found


def _digits(row: str) -> str:
    digits, times = "", 1
    for word in re.split("[ ,-]+", row):
        if word in _TIMES:
            times = _TIMES[word]
        else:
            digits, times = digits + _VALUES[word] * times, 1
    return digits


def _with(text: str, parts: list[tuple[int, int, str]]) -> str:
    pieces, done = [], 0
    for start, end, digits in parts:
        pieces += [text[done:start], digits]
        done = end
    return "".join([*pieces, text[done:]])
