"""Where a text is worth reading closely: pieces about the words that go with a secret. Pure.

A piece has an end and pieces are at most one for each `SPACING` characters and a few, so all of them together are a few times
as long as the text, however often a word stands in it: time grows in step with the length of the text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

BEFORE, AFTER = 56, 96
"""Characters that are read before a word and after it, within its lines."""
FREE, SPACING = 16, 32
"""Where more words stand than `FREE` and one for each `SPACING` characters, the last of those that crowd is read."""


class Piece(NamedTuple):
    """A part of a folded text about a word: as written, in lower case, and where the word stands in it."""

    text: str
    lower: str
    at: int
    end: int

    @property
    def before(self) -> str:
        """What stands before the word, in lower case."""
        return self.lower[: self.at]

    @property
    def after(self) -> str:
        """What stands after the word, in lower case."""
        return self.lower[self.end :]

    @property
    def word(self) -> str:
        """The word itself, in lower case."""
        return self.lower[self.at : self.end]


def pieces(
    text: str, lower: str, found: Iterable[tuple[int, int]], before: int = BEFORE, after: int = AFTER
) -> Iterator[Piece]:
    """About each of the places, in their order; of pieces that are alike the first: a text may repeat a word thousands of times."""
    seen: set[Piece] = set()
    for start, end in found:
        first = max(0, start - before, lower.rfind("\n", max(0, start - before), start) + 1)
        last = _line_end(lower, end, min(len(lower), end + after))
        piece = Piece(text[first:last], lower[first:last], start - first, end - first)
        if piece not in seen:
            seen.add(piece)
            yield piece


def places(lower: str, words: Iterable[str]) -> list[tuple[int, int]]:
    """Where the words stand, in reading order: (start, end). Of words that end in one place the longest counts.

    A Latin word counts only where no letter stands beside it.
    """
    return spaced(lower, with_others(lower, {}, words))


def with_others(lower: str, found: dict[int, int], words: Iterable[str]) -> dict[int, int]:
    """Places that are known, each end with its start, and those of words to be looked for."""
    for word in words:
        at = lower.find(word)
        while at >= 0:
            end = at + len(word)
            if not word.isascii() or not within(lower, at, end):
                found[end] = min(at, found.get(end, at))
            at = lower.find(word, end)
    return found


def spaced(lower: str, found: dict[int, int]) -> list[tuple[int, int]]:
    """The places in reading order: (start, end). Of those that crowd the last."""
    if len(found) > FREE + len(lower) // SPACING:
        found = dict({end // SPACING: (end, found[end]) for end in sorted(found)}.values())
    return [(found[end], end) for end in sorted(found)]


def joined(windows: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Windows in reading order, those as one that meet: however many there are, no character is read twice."""
    first = last = -1
    for start, end in windows:
        if start > last:
            if last >= 0:
                yield first, last
            first = start
        last = max(last, end)
    if last >= 0:
        yield first, last


def stands(lower: str, word: str, at: int) -> bool:
    """Whether a word begins there and is not part of a longer one."""
    return at >= 0 and lower.startswith(word, at) and not within(lower, at, at + len(word))


def within(lower: str, start: int, end: int) -> bool:
    """Whether small Latin letters continue this word; digits continue one that begins with a digit: `2fa` in a hash."""
    if letter_at(lower, start - 1) or letter_at(lower, end):
        return True
    return lower[start].isdecimal() and (lower[start - 1 : start].isdecimal() or lower[end : end + 1].isdecimal())


def letter_at(lower: str, at: int) -> bool:
    """Whether a small Latin letter stands there."""
    return 0 <= at < len(lower) and "a" <= lower[at] <= "z"


def _line_end(lower: str, start: int, limit: int) -> int:
    """The end of the line, or of the next one where nothing but signs stand on the rest of this."""
    end = lower.find("\n", start, limit)
    if end >= 0 and not lower[start:end].strip(' :=->\u2192.*`\r"'):
        end = lower.find("\n", end + 1, limit)
    return limit if end < 0 else end
