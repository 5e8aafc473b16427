"""Synonyms: what else a question's words are looked for by. Pure.

Two words are compared without case, width and, in English, ending: "Cars" is "car". A pair holds both ways. What the owner
defined goes before what is known to all (`lexicon/synonyms.tsv`); a similarity of 0 says that two words are no synonyms here.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from itertools import permutations
from typing import NamedTuple

from engramlog_server.projections.language.lexicon import rows
from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.text import stem

Pair = tuple[str, str, float]
"""Two words, the smaller first, and how alike they are, from 0 to 1."""
MOST_PAIRS = 256
"""Pairs an owner may define."""
MOST_SILENCED = 64
"""Pairs beside these that an owner keeps as no synonyms."""
MOST_EXPANDED = 8
"""Synonyms of one word that a search looks for, the most alike."""
MOST_RELATED = 8
"""Related words of one word, the most alike."""
LEAST_RELATED = 0.5
"""Least product of similarities over two steps."""
_WORD = regex(r"[^\s]+")
Alike = Mapping[str, Mapping[str, float]]
"""By key: synonyms as written, with their similarity."""


class Expansion(NamedTuple):
    """What a question is looked for by, each part told apart."""

    original: tuple[str, ...]
    """The question's own words."""
    synonyms: dict[str, dict[str, float]]
    """By original word: its synonyms with their similarity, most alike first; words without any are left out."""
    related: dict[str, dict[str, float]]
    """By original word: synonyms of its synonyms, with the product of both similarities. Told, never matched."""


@lru_cache(maxsize=1 << 14)
def word_key(word: str) -> str:
    """What the forms of a word or phrase have in common: case-folded, each English word without its ending."""
    folded = word.lower() if word.isascii() else unicodedata.normalize("NFKC", word).casefold()
    return " ".join([stem(one) for one in _WORD.findall(folded)])


def _written(word: str) -> str:
    """A word as pairs keep it: NFKC, case-folded, single spaces, at most 100 characters."""
    return " ".join(unicodedata.normalize("NFKC", word).casefold().split())[:100]


def paired(one: str, other: str, similarity: float) -> Pair | None:
    """The pair as it is kept; None where there are no two different words."""
    first, second = sorted((_written(one), _written(other)))
    if not first or first == second:
        return None
    return first, second, similarity


def with_pair(pairs: tuple[Pair, ...], pair: Pair) -> tuple[Pair, ...] | str:
    """The owner's pairs, ascending, after one more definition; or why it changes nothing."""
    words, kept = pair[:2], tuple(one for one in pairs if one[:2] != pair[:2])
    if pair in pairs:
        return "the two words are as alike as that already"
    told = sum(one[2] > 0 for one in kept)
    if pair[2] > 0 and told >= MOST_PAIRS:
        return f"an owner has at most {MOST_PAIRS} pairs of synonyms: take one out with a similarity of 0"
    if pair[2] == 0 and len(kept) - told >= MOST_SILENCED:
        was_told = any(one[:2] == words for one in pairs)
        return kept if was_told else f"an owner keeps at most {MOST_SILENCED} pairs as no synonyms"
    return tuple(sorted((*kept, pair)))


def expand(words: Iterable[str], owner_pairs: tuple[Pair, ...] = ()) -> Expansion:
    """Synonyms of each word, and what is related to these. Symmetric; the owner's pairs go before the known ones."""
    original, own = tuple(dict.fromkeys(words)), _indexed(owner_pairs)
    keys = {word_key(word) for word in original}
    synonyms: dict[str, dict[str, float]] = {}
    related: dict[str, dict[str, float]] = {}
    for word in original:
        alike = _synonyms_of(word, own)
        if not alike:
            continue
        synonyms[word] = alike
        near = keys | set(map(word_key, alike))
        farther: dict[str, float] = {}
        for middle, similarity in alike.items():
            for end, second in _synonyms_of(middle, own).items():
                product = round(similarity * second, 6)
                if product >= LEAST_RELATED and word_key(end) not in near:
                    farther[end] = max(product, farther.get(end, 0.0))
        if farther:
            related[word] = _best(farther, MOST_RELATED)
    return Expansion(original, synonyms, related)


def synonyms_of(word: str, owner_pairs: tuple[Pair, ...] = ()) -> dict[str, float]:
    """The most alike synonyms of one word or phrase, with their similarity above 0."""
    return _synonyms_of(word, _indexed(owner_pairs))


def _synonyms_of(word: str, defined: Alike) -> dict[str, float]:
    key = word_key(word)
    mine, own = _known().get(key, {}), defined.get(key, {})
    if own:
        told = set(map(word_key, own))
        mine = {one: similarity for one, similarity in mine.items() if word_key(one) not in told} | dict(own)
    return _best({one: similarity for one, similarity in mine.items() if similarity > 0}, MOST_EXPANDED)


def with_synonyms(keys: Iterable[str], owner_pairs: tuple[Pair, ...] = ()) -> set[str]:
    """Those of the keys about which anything is known or defined."""
    known, own = _known(), _indexed(owner_pairs)
    return {key for key in keys if key in known or key in own}


def known_pairs(word: str) -> dict[str, float]:
    """What is known to all about a word, whatever owners define."""
    return dict(_known().get(word_key(word), {}))


def _best(alike: Mapping[str, float], most: int) -> dict[str, float]:
    return dict(sorted(alike.items(), key=lambda one: (-one[1], one[0]))[:most])


@cache
def _known() -> Alike:
    alike: dict[str, dict[str, float]] = {}
    for row in rows("synonyms"):
        for one, other in permutations(row["english"] + row["chinese"], 2):
            _join(alike, one, other, float(row["similarity"][0]))
    return alike


@lru_cache(maxsize=256)
def _indexed(pairs: tuple[Pair, ...]) -> Alike:
    alike: dict[str, dict[str, float]] = {}
    for one, other, similarity in pairs:
        _join(alike, one, other, similarity)
        _join(alike, other, one, similarity)
    return alike


def _join(alike: dict[str, dict[str, float]], one: str, other: str, similarity: float) -> None:
    if word_key(one) != word_key(other):
        found = alike.setdefault(word_key(one), {})
        found[other] = max(similarity, found.get(other, 0.0))
