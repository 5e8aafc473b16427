"""What a sensitivity rule is: what a text must hold for it to be asked at all, and what it asks then.

A folded text's words for things are found once, for all rules together: cutting a text into words and looking all of them up in
one set costs less than one search for each of a few words. So rules name the words and phrases they go by (`Cues`), and about
those alone, as far as they stand in the text, is it read closely.
Pieces are at most one for each `SPACING` characters and a few, so all of them together are a few times as long as the text: time
grows in step with its length. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, KeysView
from dataclasses import dataclass
from enum import IntFlag
from functools import cache, cached_property
from itertools import chain
from typing import NamedTuple

from engramlog_server.projections.language.lexicon import rows
from engramlog_server.projections.language.patterns import regex

LONG = 17
"""Characters: no shorter run is an issued key."""


class Sign(IntFlag):
    """What a text must hold for some rules to be able to match: looked for in every text, so each must be cheap."""

    DIGIT = 1
    """At least one ASCII digit."""
    FIVE_DIGITS = 2
    """At least five in one run, with nothing but blanks and ( ) . - between them: an account's or a paper's number."""
    SEVEN_DIGITS = 4
    """At least seven, so: a telephone or card number needs them."""
    AT = 8
    """The character @."""
    LONG = 16
    """At least `LONG` bytes without white space, in a text with a digit: an issued key or a token is that long."""
    SPOKEN = 32
    """A word for a number."""
    WIDE = 64
    """A character that is not ASCII."""
    WIDE_DIGIT = 128
    """Both a digit and a character that is not ASCII."""


NO_SIGN = Sign(0)

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


def ends_of(lower: str, words: Iterable[str]) -> dict[int, int]:
    """Where the words stand, crowded or not: each end with its start. Of words that end in one place the longest counts.

    A Latin word counts only where no letter stands beside it.
    """
    starts: dict[int, int] = {}
    for word in words:
        at = lower.find(word)
        while at >= 0:
            end = at + len(word)
            if not word.isascii() or not within(lower, at, end):
                starts[end] = min(at, starts.get(end, at))
            at = lower.find(word, end)
    return starts


def positions(text: str, part: str) -> Iterator[int]:
    """Where a part begins in a text, in order."""
    at = text.find(part)
    while at >= 0:
        yield at
        at = text.find(part, at + 1)


def spaced(lower: str, starts: dict[int, int]) -> list[tuple[int, int]]:
    """The places in reading order: (start, end). Of those that crowd the last."""
    if len(starts) > FREE + len(lower) // SPACING:
        starts = dict({end // SPACING: (end, starts[end]) for end in sorted(starts)}.values())
    return [(starts[end], end) for end in sorted(starts)]


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


_TELLING = regex("[0-9]|[Ww][Ii][Ff][Ii]:")


_FREQUENT = frozenset(["code", "file", "first", "number", "people", "company", "collection", "screen"])


def key_of(cue: str, *, by_word: bool = False) -> str:
    """By what a cue is looked up: words one blank apart are by all of them, unless by one word; any other by its longest Latin
    word, the first of equals, of those that are not in every other text.

    Of words of one letter it is the last; a cue without Latin words is looked up as it is.
    """
    if not by_word and " " in cue and cue.isascii() and cue.replace(" ", "").isalpha():
        return cue
    words = re.findall("[a-z]{2,}", cue) or re.findall("[a-z]", cue)[-1:]
    return max([word for word in words if word not in _FREQUENT] or words, key=len, default=cue)


@cache
def _lists() -> dict[str, tuple[str, ...]]:
    lists: dict[str, tuple[str, ...]] = {}
    for row in rows("sensitivity"):
        (name,) = row["list"]
        lists[name] = lists.get(name, ()) + row["english"] + row["chinese"]
    return lists


class Words:
    """The words of one list in `lexicon/sensitivity.tsv`, read at first use. Raises KeyError if there is no such list."""

    def __init__(self, name: str) -> None:
        self._name = name

    @cached_property
    def _words(self) -> frozenset[str]:
        return frozenset(self)

    def __iter__(self) -> Iterator[str]:
        return iter(_lists()[self._name])

    def __contains__(self, word: str) -> bool:
        return word in self._words

    def isdisjoint(self, words: Iterable[str]) -> bool:
        """Whether none of the words is in the list."""
        return self._words.isdisjoint(words)


class Cues:
    """Words and phrases, in lower case, by which a rule goes: none of it can match a text that holds none of them.

    `by_word`: it also goes by one word of a phrase, or by a phrase that ends a longer word.
    """

    def __init__(self, *lists: Iterable[str], by_word: bool = False) -> None:
        self._lists, self._by_word = lists, by_word

    @cached_property
    def _by_key(self) -> dict[str, tuple[str, ...]]:
        by_key: dict[str, tuple[str, ...]] = {}
        for cue in dict.fromkeys(chain(*self._lists)):
            key = key_of(cue, by_word=self._by_word)
            by_key[key] = (*by_key.get(key, ()), cue)
        return by_key

    @property
    def keys(self) -> KeysView[str]:
        """What the cues are looked up by: whole Latin words, and parts of texts in other scripts."""
        return self._by_key.keys()

    def __iter__(self) -> Iterator[str]:
        return chain.from_iterable(self._by_key.values())

    def among(self, keys: Iterable[str]) -> list[str]:
        """The cues that can stand in a text which holds these keys."""
        return [cue for key in keys for cue in self._by_key.get(key, ())]


NO_CUES = Cues()


_RUN = regex(r"[0-9][0-9 ().-]{6,}")


def regions(text: str) -> list[tuple[int, int]]:
    """Where long numbers may be: (start, end) about each run of digits, blanks and ( ) . - with at least 7 digits.

    A few characters more on both sides, as patterns look beside the number.
    """
    return [
        (max(0, run.start() - 6), run.end() + 2)
        for run in _RUN.finditer(text)
        if sum(character.isdigit() for character in run[0]) >= 7
    ]


class TextReading:
    """A folded text (`fold`), the same in lower case character by character, and which keys of cues stand in it."""

    def __init__(self, text: str, lower: str, keys: Iterable[str]) -> None:
        self.text = text
        self.lower = lower
        self.keys = keys

    def cues(self, cues: Cues) -> list[str]:
        """Those of the cues that stand in the text, alone or in longer words."""
        return [cue for cue in cues.among(self.keys) if cue in self.lower]

    def pieces(self, cues: Cues, before: int = BEFORE, after: int = AFTER) -> Iterator[Piece]:
        """About each place of the cues, in reading order."""
        return pieces(self.text, self.lower, self.places(cues), before, after)

    def places(self, cues: Cues) -> list[tuple[int, int]]:
        """Where the cues stand with no Latin letter beside them, in reading order: (start, end). Not all where they crowd."""
        return spaced(self.lower, self.ends(cues))

    def ends(self, cues: Cues) -> dict[int, int]:
        """The same of all of them: each end with its start."""
        return ends_of(self.lower, cues.among(self.keys))

    @cached_property
    def numbers(self) -> list[tuple[int, int]]:
        """Where long numbers may be (`numbers.regions`)."""
        return regions(self.text)

    @cached_property
    def kinds(self) -> bytes:
        """The text in one byte a character: `a` for a letter, `0` for a digit, `-` for a sign within a word, else a blank."""
        return self.text.encode("ascii", "replace").translate(_KINDS)

    @cached_property
    def long_runs(self) -> str:
        """The runs without white space that are as long as a key and hold a digit, or a network's name, with blanks between."""
        return " ".join(run for run in long_runs(self.text) if _TELLING.search(run))


_WHITE = bytes(32 if byte in b" \t\n\r\v\f" else 120 for byte in range(256))
_KINDS = bytes(
    97 if bytes([byte]).isalpha() else 48 if byte in b"0123456789" else 45 if byte in b"._-&@#!$*+'%^~" else 32
    for byte in range(256)
)
_LONG = b"x" * LONG


def holds_a_long_run(data: bytes) -> bool:
    """Whether `LONG` bytes of a text stand together without white space; many times faster than cutting it into runs."""
    return _LONG in data.translate(_WHITE)


def long_runs(text: str) -> Iterator[str]:
    """The runs of at least `LONG` characters without white space."""
    data = text.encode("utf-8", "replace")
    kinds = data.translate(_WHITE)
    start = kinds.find(_LONG)
    while start >= 0:
        end = kinds.find(b" ", start)
        end = len(kinds) if end < 0 else end
        run = data[start:end].decode()
        if len(run) >= LONG:
            yield run
        start = kinds.find(_LONG, end)


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
