"""Recorded texts as a prompt may hold them: one harmless line each, and how many tokens that takes. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

from engramlog_server.events.text.invisible import without_hidden
from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.scripts import HAN, count_of_han

TokenCount = Callable[[str], int]
"""How many tokens a text takes. A model's own tokenizer may stand here; it need not be additive."""
MOST_READ = 8_000
"""Characters of a text that are looked at: a prompt takes far fewer."""

_CHEAP = regex(r"[A-Za-z ]+")
_HALF = regex(r"[\x00-\x1f!-@\[-`{-\x7f]")
_BEYOND = regex(f"[^\u0000-\uffff{HAN}]")
"""A character beyond the basic plane that is no Han."""
_BRACKETS = str.maketrans({"<": "‹", ">": "›", "＜": "‹", "＞": "›"})


def estimated_tokens(text: str) -> int:
    """Tokens that a text takes, estimated without a model's tokenizer, rounded up.

    Four ASCII letters or spaces are one token, two ASCII digits or signs one (ids and code are cut finer than prose), each
    character of any other script one (Han among them), and one beyond the basic plane that is no Han, such as an emoji, two.
    """
    quarters = 4 * len(text) - 3 * sum(len(run) for run in _CHEAP.findall(text)) - 2 * len(_HALF.findall(text))
    if not text.isascii():
        quarters += 4 * len(_BEYOND.findall(text))
    return -(-quarters // 4)


def one_line(text: str) -> str:
    """The text as one line that can neither end nor imitate the block it stands in.

    Line breaks and other controls become spaces; what shows nothing (bidirectional controls, zero-width characters, tags,
    variation selectors but an emoji's own, blank fillers) goes; angle brackets become `‹` and `›`, so that no tag is left. Only
    the first `MOST_READ` characters are read.
    """
    text = without_hidden(text[:MOST_READ])
    if not text.isprintable():
        text = "".join(map(_plain, text))
    return " ".join(text.translate(_BRACKETS).split())


def _plain(character: str) -> str:
    category = unicodedata.category(character)
    if category == "Cf":
        return ""
    return " " if category[0] in "CZ" else character


def cut(text: str, most: int, count: TokenCount = estimated_tokens) -> str:
    """The text, or as much of its beginning as fits in `most` tokens with an ellipsis; empty where not even that fits."""
    if count(text) <= most:
        return text
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if count(_ended(text, middle)) <= most:
            low = middle
        else:
            high = middle - 1
    return _ended(text, low) if low else ""


def _ended(text: str, length: int) -> str:
    return text[:length].rstrip() + "…"


def is_chinese(text: str) -> bool:
    """Whether a text is Chinese rather than English: at least as many Han characters as runs of Latin letters."""
    han = count_of_han(text)
    return han > 0 and han >= len(re.findall(r"[A-Za-z]+", text))
