"""Keywords that a text tells by itself, without model or corpus (memory.md, section 11). Pure.

A text is read alone, so what other memories say changes nothing; it takes time linear in what it reads, and reads no more than
`MOST_READ` characters.
"""

from __future__ import annotations

import unicodedata
from typing import Literal, NamedTuple

from engramlog_server.projections.language.keywords.chinese import read_chinese
from engramlog_server.projections.language.keywords.english import read_words
from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.scripts import HAN, holds_han

Source = Literal["llm", "user_tag", "system"]
MOST_KEYWORDS = 5
MOST_LETTERS = 100
"""Longest keyword, in characters."""
MOST_READ = 4_000
"""Characters of a text that are read."""
LEAST_WEIGHT = 0.3
_FEW = 2
"""Keywords of a text that says nothing in particular."""
_OTHER = regex(rf"[^\W{HAN}]")
"""A letter or digit that is not Han."""
_HAN_RUN = regex(rf"[{HAN}]+[,!?;:。、…]*")
_SPACES = regex(r"\s+")


class Keyword(NamedTuple):
    """One keyword: lower-cased, unique in its memory, at most 100 characters."""

    word: str
    weight: float
    """From 0.3 to 1."""
    source: Source
    """`user_tag`: given by the user; `llm`: given by whoever extracted the memory; `system`: found here."""


def extracted(text: str, most: int = MOST_KEYWORDS) -> list[Keyword]:
    """The `most` best keywords of a text, best first; of equals, the one that stands first. Any text; never raises."""
    text = text[:MOST_READ]
    if text.isascii():
        found = read_words(text)
    else:
        text = unicodedata.normalize("NFKC", text)
        if holds_han(text):
            found = read_chinese(text)
            if _OTHER.search(text):
                # Between Han, capitals begin no sentence: a word that is never a keyword stands for each run.
                found += read_words("the " + _HAN_RUN.sub(" the ", text))
        else:
            found = read_words(text)
    found.sort()
    strong = [one for one in found if not one[3]]
    chosen: dict[str, Keyword] = {}
    for worth, _, word, _ in strong or found[:_FEW]:
        told = word[:MOST_LETTERS]
        if told not in chosen and not any(f" {told} " in f" {one} " for one in chosen if " " in one):
            chosen[told] = Keyword(told, min(1.0, max(LEAST_WEIGHT, round(-worth, 2))), "system")
            if len(chosen) == most:
                break
    return list(chosen.values())


def folded(word: str) -> str:
    """A word as keywords and synonyms are compared: NFKC, case-folded, single spaces, at most 100 characters."""
    if word.isascii():
        return " ".join(word.lower().split())[:MOST_LETTERS]
    return _SPACES.sub(" ", unicodedata.normalize("NFKC", word).casefold()).strip()[:MOST_LETTERS]
