"""Which word of a text each piece of it belongs to, so that a ranking can weigh a piece by its word's rarity. Pure.

A word is, as written: one Han character; else a run of letters and digits, with what joins them (`Anna's`, `2023-05-07`,
`a.b@c.de`); else one other character that is no white space.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable

# What the tokenizers of BERT take for one word each, and iteration and closing marks between them.
_HAN = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_LETTERS = rf"[^\W{_HAN}]+"
_WORD = re.compile(rf"[{_HAN}]|{_LETTERS}(?:['’.@:+-]{_LETTERS})*|\S")


def words_at(text: str, starts: Iterable[int]) -> list[str]:
    """For each character offset the word that it lies in; empty where it lies in white space or beyond the text."""
    matches = list(_WORD.finditer(text))
    begins = [match.start() for match in matches]
    found = []
    for start in starts:
        index = bisect_right(begins, start) - 1
        found.append(matches[index][0] if index >= 0 and start < matches[index].end() else "")
    return found
