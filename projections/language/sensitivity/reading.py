"""A folded text as the rules ask it: its words for things are found once, for all rules together. Pure.

Cutting a text into words and looking all of them up in one set costs less than one search for each of a few words. So rules name
the words and phrases they go by (`Cues`), and about those alone, as far as they stand in the text, is it read closely.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, KeysView, Mapping, Sequence
from functools import cached_property
from itertools import chain

from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.sensitivity.beside import (
    AFTER,
    BEFORE,
    Piece,
    letter_at,
    pieces,
    spaced,
    stands,
    with_others,
)
from engramlog_server.projections.language.sensitivity.numbers import regions
from engramlog_server.projections.language.sensitivity.sign import LONG

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


class Cues:
    """Words and phrases, in lower case, by which a rule goes: none of it can match a text that holds none of them.

    `by_word`: it also goes by one word of a phrase, or by a phrase that ends a longer word.
    """

    def __init__(self, *lists: Iterable[str], by_word: bool = False) -> None:
        self._by_key: dict[str, tuple[str, ...]] = {}
        for cue in dict.fromkeys(chain(*lists)):
            key = key_of(cue, by_word=by_word)
            self._by_key[key] = (*self._by_key.get(key, ()), cue)
        self._before = {cue: _before(cue, key) for key, cues in self._by_key.items() for cue in cues}

    @property
    def keys(self) -> KeysView[str]:
        """What the cues are looked up by: whole Latin words, and parts of texts in other scripts."""
        return self._by_key.keys()

    def __iter__(self) -> Iterator[str]:
        return chain.from_iterable(self._by_key.values())

    def among(self, keys: Iterable[str]) -> list[str]:
        """The cues that can stand in a text which holds these keys."""
        return [cue for key in keys for cue in self._by_key.get(key, ())]

    def ends(self, lower: str, at: Mapping[str, Sequence[int]]) -> dict[int, int]:
        """Where the cues stand in a text by where the keys begin: each end with its start, as `beside.places` counts them."""
        ends: dict[int, int] = {}
        others: list[str] = []
        for key in self._by_key.keys() & at.keys():
            for cue in self._by_key[key]:
                before = self._before[cue]
                if before is None:
                    others.append(cue)
                    continue
                word = cue == key and cue.isalpha()
                for place in at[key]:
                    start = place - before
                    end = start + len(cue)
                    if start <= ends.get(end, start) and (word or stands(lower, cue, start)):
                        ends[end] = start
        return with_others(lower, ends, others) if others else ends


def _before(cue: str, key: str) -> int | None:
    """How many characters of a cue stand before its key; None where that does not tell where the cue stands.

    So it is with cues in other scripts, which also count within words, and with `social's`, of which the next may begin with the
    end of the one before.
    """
    if not cue.isascii():
        return None
    if not cue.isalpha() and any(
        cue.endswith(cue[:n]) and not letter_at(cue, len(cue) - n - 1) for n in range(1, len(cue))
    ):
        return None
    at = cue.find(key)
    while at >= 0 and not stands(cue, key, at):
        at = cue.find(key, at + 1)
    return at if at >= 0 else None


NO_CUES = Cues()


class TextReading:
    """A folded text (`fold`), the same in lower case character by character, and which keys of cues stand in it: the Latin ones
    with where they begin."""

    def __init__(self, text: str, lower: str, at: Mapping[str, Sequence[int]]) -> None:
        self.text = text
        self.lower = lower
        self.at = at

    def cues(self, cues: Cues) -> list[str]:
        """Those of the cues that stand in the text, alone or in longer words."""
        return [cue for cue in cues.among(self.at) if cue in self.lower]

    def pieces(self, cues: Cues, before: int = BEFORE, after: int = AFTER) -> Iterator[Piece]:
        """About each place of the cues, in reading order."""
        return pieces(self.text, self.lower, self.places(cues), before, after)

    def places(self, cues: Cues) -> list[tuple[int, int]]:
        """Where the cues stand with no Latin letter beside them, in reading order: (start, end). Not all where they crowd."""
        return spaced(self.lower, self.ends(cues))

    def ends(self, cues: Cues) -> dict[int, int]:
        """The same of all of them: each end with its start."""
        return cues.ends(self.lower, self.at)

    def starts(self, cues: Cues) -> Iterator[int]:
        """Where the Latin words of which each is a cue begin, in no order."""
        return chain.from_iterable(self.at[key] for key in cues.keys & self.at.keys())

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
