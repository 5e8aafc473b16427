"""What a model's proposal rests on: whether words were said, and whether somebody took something back. Pure, and no model's word.

A model may be wrong, or be talked into something by what it reads. So nothing it proposes is done that the turns themselves
do not bear out: its quotation must stand in a turn, its numbers and most of its words too, and only a turn that takes
something back can take something back.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from projections.text import kept_tokens

LEAST_SHARE = 0.5
"""Of the words of a content that must have been said."""
LEAST_QUOTED = 2
"""Letters and digits of a quotation."""
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_NOT_LETTERS = re.compile(r"[\W_]+")
_ABOUT = frozenset({"user", "said", "on", "用户", "说", "用", "户"})
"""Words of a content that need not have been said."""
_TAKES_BACK = re.compile(
    r"\b(?:not|no|never|nothing|none|neither|nor|cannot|any ?more|no longer|longer|instead|actually|wrong|incorrect|mistaken?|false"
    r"|untrue|correct(?:ion)?|stopp?(?:ed|ing)?|quit|gave up|given up|used to|switch(?:ed)?|changed?|moved?|left|sold|lost|broke"
    r"|hate|dislike|former(?:ly)?|ex|now|forget|delete|remove|erase|scratch)\b|n['’]t\b"
    "|不|没|别|无|错|改|换|搬|辞|离|卖|丢|戒|停|退|删|忘|其实|而是|现在|曾经|以前|讨厌|更正|纠正",
    re.IGNORECASE,
)
_FORGET = re.compile(
    r"\b(?:forget|delete|remove|erase|scratch that|(?:don['’]?t|do not) (?:remember|store|save|keep|note))\b"
    "|忘(?:了|掉|记)|删(?:除|掉|了)?|别记|不要记|不用记|抹掉|清除",
    re.IGNORECASE,
)


def plain(text: str) -> str:
    """Letters and digits only, compatibility forms and case folded: how quotations are compared."""
    return _NOT_LETTERS.sub("", unicodedata.normalize("NFKC", text).casefold())


def is_quoted(quote: str, text: str) -> bool:
    """Whether the words stand in the text, white space, punctuation and case aside."""
    wanted = plain(quote)
    return len(wanted) >= LEAST_QUOTED and wanted in plain(text)


def unsaid(content: str, said: Iterable[str], name: str | None = None) -> str | None:
    """What speaks against a content as drawn from these texts: a number that nobody said, or mostly other words; None if nothing.

    The name of who speaks, and dates written YYYY-MM-DD, need not have been said.
    """
    heard = " ".join(said)
    told = _DATE.sub(" ", unicodedata.normalize("NFKC", content))
    numbers = set(_NUMBER.findall(unicodedata.normalize("NFKC", heard)))
    for number in _NUMBER.findall(told):
        if number not in numbers:
            return f"nobody said {number}"
    free = _ABOUT | set(kept_tokens(name or ""))
    words = {word for word in kept_tokens(told) if word not in free}
    if not words:
        return "it says nothing"
    missing = words - set(kept_tokens(heard))
    return "mostly words that nobody said" if len(words) - len(missing) < LEAST_SHARE * len(words) else None


def shares_words(known: str, told: str, name: str | None = None, besides: str = "") -> bool:
    """Whether a text shares a word with what is known, names and function words aside, that `besides` has not."""
    free = _ABOUT | set(kept_tokens(name or "")) | set(kept_tokens(besides))
    return not (set(kept_tokens(known)) & set(kept_tokens(told))) <= free


def takes_back(text: str) -> bool:
    """Whether a turn may take something back: it denies, corrects, or tells of a change."""
    return _TAKES_BACK.search(text) is not None


def asks_to_forget(text: str) -> bool:
    """Whether a turn asks for something to be forgotten."""
    return _FORGET.search(text) is not None
