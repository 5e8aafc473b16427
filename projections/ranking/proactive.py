"""What to search for before a turn is answered, though nobody asked for a search (seed 001, section 3.4). Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from math import sqrt
from typing import Any

import numpy as np

from projections.choices import MOST_SEARCHES
from projections.language.extractive import sentences, words
from projections.language.keywords.words import never, never_chinese
from projections.language.lexicon import either
from projections.language.patterns import regex
from projections.language.scripts import begins_with_han, holds_han
from projections.language.text import stem
from projections.views.view import OwnerView

MOST_RESULTS = 5
LONGEST = 1_000
"""Characters of a turn that are searched for as one: of a longer one its last, where people ask."""

_ASKED_HAN = regex(
    "为什么|什么时候|什么样|什么|怎么样|怎么办|怎么|怎样|如何|哪里|哪儿|哪些|哪个|哪家|哪天|哪|谁|几点|几个|多少|多久|是不是|有没有|吗|呢"
)
"""Chinese question words: an answer need not hold them, as it need not hold English ones, which are stop words."""
_CHAT_TEXT = """
thanks thank great good nice cool awesome perfect wonderful amazing lovely welcome cheers congratulations congrats luck bye
goodbye morning afternoon evening night sounds glad please agree agreed
"""


@cache
def _chat() -> frozenset[str]:
    """Stems of words of greeting and thanks, which nobody searches for."""
    return frozenset(stem(word) for word in never() | set(_CHAT_TEXT.split()))


_CHAT_HAN = regex(
    lambda: either(word for word in never_chinese() if len(word) > 1) + "|[我你您他她它的了是在好啊吧呀哦嗯]"
)


def says_something(text: str) -> bool:
    """Whether a text has a word that one can search for: greetings, thanks and question words are none."""
    if holds_han(_CHAT_HAN.sub(" ", _ASKED_HAN.sub(" ", text))):
        return True
    return any(word not in _chat() and not begins_with_han(word) for word in words(text))


def searches(text: str, most: int = MOST_SEARCHES) -> list[str]:
    """At most `most` queries: the turn as a whole, then its sentences, questions first, those with more words before others.

    None for what only greets or thanks.
    """
    whole = text.strip()[-LONGEST:].strip()
    parts = [one for one in sentences(whole) if one != whole and says_something(one)]
    parts.sort(key=lambda one: (not one.rstrip("\"'”’」』)）").endswith(("?", "？")), -len(words(one))))
    return list(dict.fromkeys([whole, *parts]))[:most] if says_something(whole) else []


def closeness(relevance: float, coverage: float, score: float, best: float) -> float:
    """How close a search result is to the turn, 0 to 1: what the threshold is compared with.

    The greater of the published relevance (memory.md, section 11) and sqrt(coverage * score / best): how many of the turn's
    words it holds, and how near it stands to the best result. The published relevance alone hardly ever reaches 0.7 for turns
    as people say them (docs/adr, context).
    """
    standing = min(max(score / best, 0.0), 1.0) if best > 0 else 0.0
    return min(1.0, max(relevance, sqrt(min(max(coverage, 0.0), 1.0) * standing)))


def closenesses(view: OwnerView, query: str, results: Sequence[Mapping[str, Any]]) -> list[float]:
    """`closeness` of each result of a search, best first as it answered; 0 for what the view knows no more."""
    rows = [view.columns.row(result["id"]) for result in results]
    known = [row for row in rows if row is not None]
    wanted = _ASKED_HAN.sub(" ", query)
    held = iter(
        view.coverage(wanted, np.array(known, dtype=np.int64)) if known and wanted.strip() else [0.0] * len(known)
    )
    best = results[0]["score"] if results else 0.0
    return [
        0.0 if row is None else closeness(result["relevance"], float(next(held)), result["score"], best)
        for result, row in zip(results, rows, strict=True)
    ]
