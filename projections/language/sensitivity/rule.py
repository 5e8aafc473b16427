"""What a sensitivity rule is: what a text must hold for it to be asked at all, and what it asks then."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.sensitivity.reading import (
    AFTER,
    BEFORE,
    NO_CUES,
    NO_SIGN,
    Cues,
    Piece,
    Sign,
    TextReading,
    Words,
    positions,
)


@dataclass(frozen=True, slots=True)
class Rule:
    """`matches` is asked only of texts with one of the cues or signs, and with one of the signs that it needs, if any.

    Every regular expression behind a rule is bounded, so that time grows in step with the length of the text, and starts with what
    is rare, so that it skips most of it.
    """

    name: str
    level: int
    matches: Callable[[TextReading], bool]
    cues: Cues = NO_CUES
    signs: Sign = NO_SIGN
    needs: Sign = NO_SIGN


def about(
    name: str,
    cues: Cues,
    matches: Callable[[Piece], object],
    *,
    level: int = 3,
    before: int = BEFORE,
    after: int = AFTER,
    needs: Sign = NO_SIGN,
) -> Rule:
    """A rule that is asked of each piece of a text about one of its cues."""
    return Rule(name, level, lambda read: any(map(matches, read.pieces(cues, before, after))), cues, needs=needs)


def found_in_text(*patterns: re.Pattern[str] | Begun) -> Callable[[TextReading], bool]:
    """A rule's `matches`: any of the patterns, in the text as written."""
    return lambda read: any(pattern.search(read.text) for pattern in patterns)


def found_in_lower(*patterns: re.Pattern[str] | Begun) -> Callable[[TextReading], bool]:
    """A rule's `matches`: any of the patterns, in the text in lower case."""
    return lambda read: any(pattern.search(read.lower) for pattern in patterns)


def listed(text: str) -> tuple[str, ...]:
    """The entries of a list that is written with commas and line breaks."""
    return tuple(entry for entry in (part.strip() for part in re.split(r"[,\n]", text)) if entry)


def either(text: str) -> str:
    """A listed text as alternatives of a regular expression, each a whole word where it begins and ends in a Latin letter."""
    return _whole(listed(text))


def one_of(name: str, *others: str) -> str:
    """The words of a list and other alternatives, as `either` has them. The list is read: hand `regex` a function."""
    return _whole([*map(re.escape, Words(name)), *others])


def _whole(alternatives: Iterable[str]) -> str:
    return rf"(?<![a-z])(?:{'|'.join(alternatives)})(?![a-z])"


class Begun:
    """Alternatives of a regular expression that each begin with fixed characters: they are tried only where those stand.

    `then` follows all of them. The engine tries every alternative at each character that one of them begins with; looking for a few
    letters in a text is many times faster.
    """

    def __init__(self, *alternatives: str, then: str = "") -> None:
        self.pattern = regex(f"(?:{'|'.join(alternatives)}){then}")
        heads = set(map(_head, alternatives))
        self._heads = tuple(
            head for head in heads if not any(head != other and head.startswith(other) for other in heads)
        )

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """The matches in reading order, none of which overlap."""
        end = 0
        for at in sorted({at for head in self._heads for at in positions(text, head)}):
            if at >= end and (match := self.pattern.match(text, at)):
                end = match.end()
                yield match

    def search(self, text: str) -> re.Match[str] | None:
        """A match, if there is any: not always the first."""
        matches = (self.pattern.match(text, at) for head in self._heads for at in positions(text, head))
        return next(filter(None, matches), None)


_HEAD = re.compile(r"(?:[\w@!%~ -]|\\\W)+(?![?*{+|])")


def _head(alternative: str) -> str:
    """The characters that an alternative begins with."""
    head = _HEAD.match(alternative)
    if head is None:
        raise ValueError(f"{alternative!r} must begin with characters that stand in whatever it matches")
    return re.sub(r"\\(\W)", r"\1", head[0])
