"""How alike two texts are, and all pairs of texts that are alike; no model needed.

    similarity(a, b) = 2 * weight of the shared tokens / (weight of a's tokens + weight of b's tokens)

A Dice coefficient over the sets of `projections.language.text.tokens`. A token weighs 3, or 1 where it says little about the
topic: I, you, like, want, 我, 喜欢 and Han bigrams of nothing but grammar; otherwise every "I like ..." would be
related to every other. Han characters count beside their bigrams, so a character put in does not cost two bigrams alone.
Over 65 hand-made pairs in both languages near-duplicates came to 0.84 to 1, pairs on one topic to 0.35 to 0.81, strangers
to 0 to 0.24. Of the 20 on one topic 15 reach 0.5, where links begin; Jaccard, which ranks alike, has 6 of them reach it,
and without the single characters 1 of the 10 Chinese ones does instead of 6.

All pairs are found without comparing each with each: prefix filtering (Bayardo et al. 2007, "Scaling up all pairs
similarity search"), length and position filters (Xiao et al. 2008, PPJoin), and bit signatures of the sets. Exact.
"""

from __future__ import annotations

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import combinations, product
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from engramlog_server.projections.checks import Check, counted, unchecked
from engramlog_server.projections.language.polarity import plain
from engramlog_server.projections.language.text import function_characters, tokens

_CONTENT_WEIGHT = 3
_LIGHT_TEXT = "i my we our you your me us user like love want prefer enjoy"
_LIGHT_WORDS = frozenset(_LIGHT_TEXT.split())


@cache
def _light_characters() -> frozenset[str]:
    """Characters that say little of what a text is about."""
    return frozenset("我你您喜欢爱想用户") | function_characters()


_ROUNDING = 1e-9
_CHUNK = 1 << 20
"""Candidate pairs looked at in one go: bounds the memory used, to less than 100 MB."""
_BITS = 128

Integers = npt.NDArray[np.int32]


class SimilarPair(NamedTuple):
    """Two alike texts, by their places in the sequence, a < b; similarity in (0, 1]."""

    a: int
    b: int
    similarity: float


class Bag(NamedTuple):
    """The tokens of a text as sets: those that weigh 3 and those that weigh 1."""

    content: frozenset[str]
    light: frozenset[str]

    @property
    def weight(self) -> int:
        return _CONTENT_WEIGHT * len(self.content) + len(self.light)


def bag_of(text: str) -> Bag:
    """What of a text counts when it is compared."""
    written = plain(text)
    # Punctuation alone says as little as nothing; other symbols ("→") are like themselves.
    found = frozenset(tokens(written) or ["".join(one for one in written if unicodedata.category(one)[0] not in "PZC")])
    light = frozenset(token for token in found if token in _LIGHT_WORDS or _light_characters().issuperset(token))
    return Bag(found - light, light)


MOST_RELATED = 0.8
"""Similarity up to which two texts are related; beyond it they say about the same."""


def alike(a: Bag, b: Bag) -> float:
    """The similarity of two texts by their bags: 0 to 1."""
    shared = _CONTENT_WEIGHT * len(a.content & b.content) + len(a.light & b.light)
    return 2 * shared / (a.weight + b.weight)


def similarity(a: str, b: str) -> float:
    """How alike two texts are: 0 (no token shared) to 1 (equal up to case, width, punctuation, order). Symmetric."""
    return alike(bag_of(a), bag_of(b))


def similar_pairs(
    texts: Sequence[str], least: float, most: float = 1.0, *, enough: int | None = None, check: Check = unchecked
) -> list[SimilarPair]:
    """All pairs of texts that share a token and are alike by `least` to `most`, ascending by place.

    Equal texts are compared once, but all their pairs are told: with many copies ask for a `most` below 1. Ten thousand
    texts from one template are fifty million pairs: with `enough`, candidates beyond so many (those that share the rarest
    tokens first) are not looked at, and the last of equal texts stands for all of them.
    """
    places: dict[Bag, list[int]] = defaultdict(list)
    for place, text in enumerate(counted(texts, check, len(texts))):
        places[bag_of(text)].append(place)
    held = list(places.values())
    found = [SimilarPair(*pair, 1.0) for same in held for pair in combinations(same, 2)] if least <= 1 <= most else []
    for one, other, similar in _joined(list(places), least, enough, check):
        if similar <= most and enough is not None:
            found.append(SimilarPair(min(held[one][-1], held[other][-1]), max(held[one][-1], held[other][-1]), similar))
        elif similar <= most:
            found += [SimilarPair(min(pair), max(pair), similar) for pair in product(held[one], held[other])]
    return _ascending(found)


def _ascending(found: list[SimilarPair]) -> list[SimilarPair]:
    """By place; a million pairs sorted in one call of Python's would keep every other thread waiting for a second."""
    places = np.array([(pair.a, pair.b) for pair in found], dtype=np.int64).reshape(-1, 2)
    return [found[at] for at in np.lexsort((places[:, 1], places[:, 0])).tolist()]


def _joined(bags: Sequence[Bag], least: float, enough: int | None, check: Check) -> Iterator[tuple[int, int, float]]:
    """All pairs of different bags that are alike by at least `least`, each once."""
    ranked = sorted(range(len(bags)), key=lambda place: bags[place].weight)
    bags = [bags[place] for place in ranked]
    count, candidates = _candidates(bags, least, enough, check)
    for one, other in counted(candidates, check, count):
        similar = alike(bags[one], bags[other])
        if similar >= least and similar > 0:
            yield ranked[one], ranked[other], similar


def _candidates(
    bags: Sequence[Bag], least: float, enough: int | None, check: Check
) -> tuple[int, Iterable[tuple[int, int]]]:
    """How many, and pairs (each once) that may be alike by `least`, and all that are. The bags ascend by weight.

    Of two sets alike by `least`, each shares at least `_need(least)` of its own weight. So the rarest token they share
    stands in either's prefix: the tokens, rarest first, from which on that much weight is left.
    """
    if len(bags) < 2 or least > 1:
        return 0, []
    weights = np.array([bag.weight for bag in bags], dtype=np.int32)
    signatures, token, bag, rest = _prefixes(bags, weights, least)
    # Partners of an entry: the following ones of its token whose bag is not too heavy to be alike.
    step = int(weights[-1]) + 1
    heaviest = np.minimum(weights[bag] / max(_need(least), 1 / step) + _ROUNDING, step - 1)
    reach = np.searchsorted(token * step + weights[bag], token * step + heaviest.astype(np.int64), side="right")
    ends = np.cumsum(reach - np.arange(len(bag)) - 1)
    found: list[Integers] = []
    start, done, chunk = 0, 0, _CHUNK if enough is None else min(_CHUNK, enough)
    while start < len(bag) and (enough is None or sum(part.size for part in found) < enough):
        check(start, len(bag))
        stop = max(start + 1, int(np.searchsorted(ends, done + chunk, side="right")))
        entries = np.arange(start, stop, dtype=np.int32)
        counts = np.diff(ends[start:stop], prepend=done)
        first = np.repeat(entries, counts)
        second = np.arange(len(first)) - np.repeat(ends[start:stop] - counts - done, counts) + first + 1
        needed = least * (weights[bag[first]] + weights[bag[second]]) - _ROUNDING
        kept = 2 * np.minimum(rest[first], rest[second]) >= needed
        one, other = bag[first[kept]], bag[second[kept]]
        apart = np.bitwise_count(signatures[one] ^ signatures[other]).sum(axis=1, dtype=np.int32)
        kept = weights[one] + weights[other] - _CONTENT_WEIGHT * apart >= needed[kept]
        found.append(one[kept].astype(np.int64) * len(bags) + other[kept])
        start, done = stop, int(ends[stop - 1])
    pairs = np.sort(np.concatenate(found))  # unlike np.unique it lets other threads go on
    pairs = pairs[np.diff(pairs, prepend=-1) != 0]
    return pairs.size, zip((pairs // len(bags)).tolist(), (pairs % len(bags)).tolist(), strict=True)


def _need(least: float) -> float:
    """The share of its own weight that a set shares with any that is alike by `least`."""
    return least / (2 - least)


def _prefixes(
    bags: Sequence[Bag], weights: Integers, least: float
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.int64], Integers, Integers]:
    """Bit signatures of the bags' content, and all entries of all prefixes: token, bag, weight from this token on.

    Entries ascend by token and bag; tokens are numbers, rarer ones lower and light ones highest.
    """
    content = Counter(token for bag in bags for token in bag.content)
    light = Counter(token for bag in bags for token in bag.light)
    by_rarity = [token for held in (content, light) for token, _ in sorted(held.items(), key=lambda item: item[::-1])]
    number = {token: place for place, token in enumerate(by_rarity)}
    sizes = [len(bag.content) + len(bag.light) for bag in bags]
    token = np.fromiter((number[t] for bag in bags for part in bag for t in part), dtype=np.int64, count=sum(sizes))
    owner = np.repeat(np.arange(len(bags), dtype=np.int32), sizes)
    token = token[np.lexsort((token, owner))]
    heavy = token < len(content)
    weight = np.where(heavy, _CONTENT_WEIGHT, 1)
    upto = np.cumsum(weight)
    rest = (np.cumsum(weights, dtype=np.int64)[owner] - upto + weight).astype(np.int32)
    signatures = np.zeros((len(bags), _BITS // 64), dtype=np.uint64)
    bit = token[heavy] % _BITS
    np.bitwise_or.at(signatures, (owner[heavy], bit // 64), np.left_shift(np.uint64(1), (bit % 64).astype(np.uint64)))
    prefix = rest >= _need(least) * weights[owner] - _ROUNDING
    token, owner, rest = token[prefix], owner[prefix], rest[prefix]
    order = np.lexsort((owner, token))
    return signatures, token[order], owner[order], rest[order]
