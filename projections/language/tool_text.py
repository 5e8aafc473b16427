"""What a tool answered, as one or two sentences for the next turn. Pure, without a model.

It is context and no memory: nobody stated it, so it is never stored as fact.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from typing import Any

import orjson

from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.prompt_text import one_line
from engramlog_server.projections.language.sentences import chosen, joined, sentences, words

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
    asked = words(about)
    shared = [at for at, field in enumerate(fields) if words(field) & asked]
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
