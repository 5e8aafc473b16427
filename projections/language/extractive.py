"""The sentences of a text that say most of it, without a model: cut in English and Chinese, chosen by the words they share.

Sentences are chosen one after the other as SumBasic does (Nenkova and Vanderwende, 2005): the one whose words are the most
frequent, those said already counting less. What a caller is about counts more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache, lru_cache

from engramlog_server.projections.language.keywords.words import never, never_chinese, weak, weak_chinese
from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.scripts import HAN, begins_with_han
from engramlog_server.projections.language.text import kept_tokens, stem

ABOUT = 8.0
"""How much more often a word that was asked about counts."""
COMMON = 0.25
"""How much less a common verb, adjective or greeting counts."""
LEAST_WORDS = 3
"""Different words from which a sentence says something by itself."""

_ENDS = regex(rf"(?<=[。！？；])[”’」』）]*|(?<=[!?…])[\"'”’)]*\s+|(?<=[.])[\"'”’)]*\s+(?=[\"'“‘(]?[A-Z0-9{HAN}])|\n+")
_SHORT_FORM = regex(r"(?:^|[\s(])(?:[A-Z]|Dr|Mr|Mrs|Ms|Prof|St|No|vs|e\.g|i\.e|etc|approx|Inc|Ltd|Co)\.$")


@cache
def _common() -> frozenset[str]:
    """Words that stand in texts on anything."""
    return (
        frozenset(map(stem, never())) | weak() | {word for word in never_chinese() | weak_chinese() if len(word) == 2}
    )


def sentences(text: str) -> list[str]:
    """The sentences of a text in order, white space at their ends cut off; a line break ends one too."""
    found: list[str] = []
    start = 0
    for match in _ENDS.finditer(text):
        piece = text[start : match.end()].strip()
        if piece and not (match[0].startswith((" ", "\t")) and _SHORT_FORM.search(text[start : match.start()])):
            found.append(piece)
            start = match.end()
    return [*found, rest] if (rest := text[start:].strip()) else found


@lru_cache(maxsize=4_096)
def words(sentence: str) -> frozenset[str]:
    """The different words of a sentence by which it is compared: Han by pairs; none where it has only function words."""
    return frozenset(
        one for one in kept_tokens(sentence) if len(one) > 1 or (one.isalnum() and not begins_with_han(one))
    )


def chosen(pieces: Sequence[str], most: int, about: str = "") -> list[int]:
    """Indices, ascending, of at most `most` pieces that say most of all of them.

    `about`: a text whose words count more. A piece of fewer than three different words is only chosen where it shares one
    with `about`; so nothing may be chosen at all.
    """
    asked = words(about)
    held = [words(piece) for piece in pieces]
    counts = Counter(word for one in held for word in one)
    weights = {
        word: count * (ABOUT if word in asked else COMMON if word in _common() else 1.0)
        for word, count in counts.items()
    }
    left = [at for at, one in enumerate(held) if len(one) >= LEAST_WORDS or one & asked]
    found: list[int] = []
    while left and len(found) < most:
        best = max(left, key=lambda at: (sum(weights[word] for word in held[at]) / len(held[at]) ** 0.5, -at))
        found.append(best)
        left = [at for at in left if at != best and not held[at] <= held[best]]
        for word in held[best]:
            weights[word] /= 2.0
    return sorted(found)


def joined(pieces: Sequence[str]) -> str:
    """Sentences one after the other: with a space between, but not after Chinese punctuation."""
    told = ""
    for piece in pieces:
        told += piece if not told or told[-1] in "。！？；…”』」" else f" {piece}"
    return told
