"""Which pieces of an owner's words are looked for: few, spread over all that was said, and long enough to be nobody else's. Pure.

A piece has 12 to 64 bytes of UTF-8. It begins and ends where a word does; Chinese and other scripts without spaces may be cut
between any two characters. It holds no quote, backslash, angle bracket or control character, so it stands in JSON as it stands in
the text; where it is not all ASCII it is looked for in escapes too. Some 36 bytes are aimed at: six English words, or twelve
Chinese characters. That is long enough to be no turn of speech, and short enough to be found in a copy that was cut off. What is
shorter than 20 bytes is taken only where a whole text is so short.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, Generic, TypeVar

LEAST_BYTES, MOST_BYTES = 12, 64
AIMED_BYTES = 36
GOOD_BYTES = 20
"""Pieces of a longer text have at least so many."""
A_TEXT = 3
"""Pieces of one text at most: of its beginning, its middle and its end."""
WORDS = frozenset(
    [
        "because",
        "condition",
        "content",
        "correction",
        "keyword",
        "keywords",
        "metadata",
        "object",
        "predicate",
        "project",
        "query",
        "reason",
        "speaker",
        "subject",
        "summary",
        "synonym",
        "tags",
        "task",
        "text",
        "uri",
    ]
)
"""Fields of an event's data in which words stand, on whatever level; what lies below them counts too."""
_APART = re.compile(r'[\x00-\x1f\x7f-\x9f"\'\\<>&\u2028\u2029\ud800-\udfff]+')
_WIDE = 0x0E00
"""From Thai on scripts are counted as written without spaces between words: a cut within a word costs nothing there."""
T = TypeVar("T")


class Evenly(Generic[T]):
    """At most so many of a number that is not known before, spread evenly over them; less than twice as many are held meanwhile."""

    def __init__(self, most: int) -> None:
        """`most`: from 1 on."""
        self._most = most
        self._stride, self._seen = 1, 0
        self._held = list[T]()

    def add(self, one: T) -> None:
        """One more."""
        if self._seen % self._stride == 0:
            self._held.append(one)
            if len(self._held) >= 2 * self._most:
                del self._held[1::2]
                self._stride *= 2
        self._seen += 1

    @property
    def chosen(self) -> list[T]:
        """Those that were chosen, in their order."""
        return spread(self._held, self._most)


def spread(some: list[T], most: int) -> list[T]:
    """At most so many of some, spread evenly, in their order."""
    if len(some) <= most:
        return list(some)
    return [some[at * len(some) // most] for at in range(most)]


def texts_of(told: Any, *, within: bool = False) -> Iterator[str]:
    """Every text in an event's data as JSON has it that stands in a field of words, or below one."""
    if isinstance(told, str):
        if within:
            yield told
    elif isinstance(told, dict):
        for name, value in told.items():
            yield from texts_of(value, within=within or name in WORDS)
    elif isinstance(told, list):
        for one in told:
            yield from texts_of(one, within=within)


def pieces_of(text: str, most: int = A_TEXT) -> list[str]:
    """Pieces of a text, spread over it; none where nothing in it is long enough."""
    lines = [one.strip() for one in _APART.split(text)]
    made = list(dict.fromkeys(piece for line in lines for piece in _cut(line)))
    good = [one for one in made if len(one.encode()) >= GOOD_BYTES]
    some = good or made
    return some if len(some) <= most else [some[at * (len(some) - 1) // max(most - 1, 1)] for at in range(most)]


def forms_of_piece(piece: str) -> list[bytes]:
    """How a piece may stand: in UTF-8, and in JSON that is all ASCII."""
    plain = piece.encode()
    return [plain] if piece.isascii() else [plain, json.dumps(piece)[1:-1].encode()]


def distinct(pieces: Iterable[str], owner: str) -> Iterator[str]:
    """Each once, without those that are part of the owner's name, which stays where it is."""
    for piece in dict.fromkeys(pieces):
        if piece not in owner:
            yield piece


def _cut(line: str) -> Iterator[str]:
    """A line in pieces one behind another; the last may reach back into the one before, so that it is as long."""
    if len(line.encode()) < LEAST_BYTES:
        return
    at = 0
    while at < len(line):
        end = _end(line, at)
        piece = line[at:end].strip()
        if len(piece.encode()) >= LEAST_BYTES:
            yield piece
        at = end
        while at < len(line) and line[at].isspace():
            at += 1


def _end(line: str, start: int) -> int:
    """Where the piece ends that begins here: behind a word, once it has as many bytes as are aimed at, or there are no more."""
    size, end = 0, start
    for at in range(start, len(line)):
        size += len(line[at].encode())
        if size > MOST_BYTES:
            break
        if _may_cut(line, at + 1):
            end = at + 1
            if size >= AIMED_BYTES:
                return end
    if end > start:
        return end
    size = 0  # one word that is longer than a piece may be
    for at in range(start, len(line)):
        size += len(line[at].encode())
        if size > MOST_BYTES:
            return at
    return len(line)


def _may_cut(line: str, at: int) -> bool:
    if at >= len(line):
        return True
    before, after = line[at - 1], line[at]
    return not (before.isalnum() and after.isalnum() and ord(before) < _WIDE and ord(after) < _WIDE)
