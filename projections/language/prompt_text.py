"""Recorded texts as a prompt may hold them: one harmless line each, how many tokens that takes, and tools' answers in short. Pure.

What a tool answered is context and no memory: nobody stated it, so it is never stored as fact.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from html import unescape
from typing import Any

import orjson

from engramlog_server.events.text import without_hidden
from engramlog_server.projections.language.keywords import chosen, content_words, joined, sentences
from engramlog_server.projections.language.patterns import HAN, count_of_han, regex

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


MOST_SENTENCES = 2
MOST_CHARACTERS = 160
"""Of one sentence."""
MOST_FIELDS = 6
"""Fields of a JSON answer that are told."""
MOST_PIECES = 400
"""Sentences or fields that are looked at, the first."""

_TAG = regex(r"<(script|style)\b.{0,20000}?</\1\s*>|<[!/a-zA-Z][^<>]{0,2000}>", re.DOTALL | re.IGNORECASE)
_MARKS = regex(r"^[#>*\-+|=\s]+|[*_`|]{1,3}(?=\s|$)|(?<=\s)[*_`|]{1,3}", re.MULTILINE)
_TRACE = "Traceback (most recent call last)"


def prepared(text: str, about: str = "") -> str:
    """The one or two sentences of a tool's answer that say most, for a conversation `about` this; empty where none says anything.

    JSON is told by its fields, `name: value`; of HTML the tags are left out; of a Python traceback its last line is told.
    """
    document = _json(text)
    if document is not None:
        return _told(document, about)
    if _TRACE in text:
        return _shortened(text.strip().splitlines()[-1])
    plain = _MARKS.sub("", unescape(_TAG.sub(" ", text)))
    found = [one for one in map(one_line, sentences(plain)[:MOST_PIECES]) if one]
    return joined([_shortened(found[at]) for at in chosen(found, MOST_SENTENCES, about)])


def _json(text: str) -> Any:
    """The object or list that a text is, or None."""
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return None


def _told(document: Any, about: str) -> str:
    """The fields that share words with what it is about, else the first, in their order."""
    fields = [one for one, _ in zip(_fields(document), range(MOST_PIECES), strict=False)]
    asked = content_words(about)
    shared = [at for at, field in enumerate(fields) if content_words(field) & asked]
    first = [at for at in range(len(fields)) if at not in shared]
    kept = sorted([*shared, *first][:MOST_FIELDS])
    told = "; ".join(_shortened(fields[at]) for at in kept)
    return _shortened(told, MOST_SENTENCES * MOST_CHARACTERS)


def _fields(document: Any) -> Iterator[str]:
    """`name: value` of every value that says something, outermost first. A queue, not recursion: answers may be deep."""
    waiting: list[tuple[str, Any]] = [("", document)]
    for name, value in waiting:
        if isinstance(value, dict):
            waiting.extend((str(key), item) for key, item in value.items())
        elif isinstance(value, list):
            waiting.extend((name, item) for item in value[:MOST_PIECES])
        elif value is not None and (
            told := one_line(value if isinstance(value, str) else orjson.dumps(value).decode())
        ):
            yield f"{one_line(name)}: {told}" if name else told


def _shortened(text: str, most: int = MOST_CHARACTERS) -> str:
    text = one_line(text)
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"
