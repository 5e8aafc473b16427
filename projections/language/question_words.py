"""Which word of a text each piece of it belongs to, so that a ranking can weigh a piece by its word's rarity. Pure.

A word is, as written: one Han character; else a run of letters and digits, with what joins them (`Anna's`, `2023-05-07`,
`a.b@c.de`); else one other character that is no white space.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable

from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.scripts import HAN

# What the tokenizers of BERT take for one word each, and iteration and closing marks between them.
_LETTERS = rf"[^\W{HAN}]+"
_WORD = regex(rf"[{HAN}]|{_LETTERS}(?:['’.@:+-]{_LETTERS})*|\S")


def words_at(text: str, starts: Iterable[int]) -> list[str]:
    """For each character offset the word that it lies in; empty where it lies in white space or beyond the text."""
    matches = list(_WORD.finditer(text))
    begins = [match.start() for match in matches]
    found = []
    for start in starts:
        index = bisect_right(begins, start) - 1
        found.append(matches[index][0] if index >= 0 and start < matches[index].end() else "")
    return found
