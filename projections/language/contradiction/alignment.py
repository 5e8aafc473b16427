"""Two readings word by word: what both affirm or deny, what one affirms and the other denies, opposites, what is left."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain

from engramlog_server.projections.language.contradiction.reading import (
    ParsedText,
    attributes,
    cores,
    kinds,
    opposite_parts,
    opposites,
)

Match = tuple[str, str, float]
"""A word of each side and how well one stands for the other, 0.5 or 1."""
MOST_BY_PARTS = 12
"""Words left of a side up to which they are compared part by part, each with each."""
Sides = tuple[tuple[Counter[str], Counter[str], bool], ...]


@dataclass(slots=True)
class Alignment:
    """How the words of two readings, `a` and `b`, stand to each other. Linear in their number."""

    agree: list[Match] = field(default_factory=list)
    clash: list[Match] = field(default_factory=list)
    """Affirmed on one side and denied on the other."""
    reverse: list[Match] = field(default_factory=list)
    """Opposites, both affirmed or both denied."""
    left_a: Counter[str] = field(default_factory=Counter)
    left_b: Counter[str] = field(default_factory=Counter)
    left_denied_a: int = 0
    left_denied_b: int = 0

    @property
    def lost(self) -> float:
        """By how much the matches fall short of whole ones."""
        return sum(1 - weight for _, _, weight in self.agree + self.clash)

    @property
    def left(self) -> int:
        return self.left_a.total() + self.left_b.total()


def align(a: ParsedText, b: ParsedText) -> Alignment:
    """Equal words first, then opposites, then kinds of things ("no drink" speaks of coffee too)."""
    found = Alignment()
    affirmed_a, denied_a, affirmed_b, denied_b = (
        Counter(words) for words in (a.affirmed, a.denied, b.affirmed, b.denied)
    )
    sides: Sides = (
        (affirmed_a, affirmed_b, True),
        (denied_a, denied_b, True),
        (affirmed_a, denied_b, False),
        (denied_a, affirmed_b, False),
    )
    for one, other, alike in sides:
        for word in [word for word in one if word in other]:
            times = min(one[word], other[word])
            (found.agree if alike else found.clash).extend([(word, word, 1.0)] * times)
            _take(one, word, times)
            _take(other, word, times)
    restored = False
    for one, other, alike in sides:
        for x, y in chain(_pairs(one, other, opposites()), _by_parts(one, other)):
            counts = x not in attributes() or (x in a.predicates and y in b.predicates)
            if counts:
                (found.reverse if alike else found.agree).append((x, y, 1.0))
                _take(one, x, 1)
                _take(other, y, 1)
                restored |= not alike
    if restored:  # "I do not hate coffee" denies nothing of what "I like coffee" says of coffee
        found.agree += found.clash
        found.clash = []
    for one, other, alike in sides:
        for x, y in _pairs(one, other, kinds()):
            _kind(found, (one, other), (x, y), alike or other is denied_b, alike)
        for y, x in _pairs(other, one, kinds()):
            _kind(found, (one, other), (x, y), alike or one is denied_a, alike)
    found.left_a, found.left_b = affirmed_a + denied_a, affirmed_b + denied_b
    found.left_denied_a, found.left_denied_b = denied_a.total(), denied_b.total()
    return found


def _kind(
    found: Alignment, sides: tuple[Counter[str], Counter[str]], pair: tuple[str, str], whole: bool, alike: bool
) -> None:
    """To deny the kind is to deny each of it; to deny one of it says less about the kind."""
    (found.agree if alike else found.clash).append((*pair, 1.0 if whole else 0.5))
    for side, word in zip(sides, pair, strict=True):
        _take(side, word, 1)


def _pairs(one: Counter[str], other: Counter[str], table: Mapping[str, frozenset[str]]) -> Iterable[tuple[str, str]]:
    """Pairs of a word of `one` and a word of `other` that the table joins; no word twice."""
    taken: set[str] = set()
    for x in list(one):
        y = min((y for y in table.get(x, ()) if y in other and y not in taken), default=None)
        if y is not None:
            taken.add(y)
            yield x, y


def _by_parts(one: Counter[str], other: Counter[str]) -> Iterable[tuple[str, str]]:
    """Pairs of Chinese words of one length that differ only by parts that are opposites: 早睡, 晚睡; no word twice."""
    if len(one) > MOST_BY_PARTS or len(other) > MOST_BY_PARTS:
        return
    taken: set[str] = set()
    for x in sorted(one):
        alike = (y for y in sorted(other) if y not in taken and 1 < len(x) == len(y) and not (x + y).isascii())
        y = next((y for y in alike if cores(x, y) in opposite_parts()), None)
        if y is not None:
            taken.add(y)
            yield x, y


def _take(words: Counter[str], word: str, times: int) -> None:
    words[word] -= times
    if words[word] <= 0:
        del words[word]
