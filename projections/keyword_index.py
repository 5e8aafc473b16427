"""An incremental index of keyword sets that finds the most alike without comparing every pair.

Likeness is the Jaccard overlap of lower-cased keywords. Memories are kept by how many keywords they have. For an asked
overlap t and sets of k and n keywords, at least `t * (k + n) / (1 + t)` must be shared, s of them; so whoever shares s
of k keywords holds at least one of any k - s + 1, and only those postings are read: the rarest (prefix filtering,
Chaudhuri et al. 2006). t rises to the worst overlap among the best found so far. Nothing is estimated: the answer is
the one that comparing with every memory gives.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]
Values = npt.NDArray[np.float64]

_DEAD = -1
_SMALLEST_COMPACTION = 64


def overlap(a: Iterable[str], b: Iterable[str]) -> float:
    """Jaccard overlap of two keyword lists in [0, 1], whatever their case; 0 if both are empty (seed 004, 5.1.1)."""
    one, other = {word.casefold() for word in a}, {word.casefold() for word in b}
    shared = len(one & other)
    return shared / (len(one) + len(other) - shared) if shared else 0.0


def least_shared(mine: int, theirs: int, least: float) -> int:
    """How many keywords sets of these sizes must share to overlap by `least`; more than either has if they cannot."""
    most = min(mine, theirs)
    return next((n for n in range(1, most + 1) if n / (mine + theirs - n) >= least), most + 1)


class Alike(NamedTuple):
    """Rows with their overlaps and their distances in time (microseconds), aligned, in no promised order."""

    rows: Integers
    overlaps: Values
    gaps: Integers


class KeywordIndex:
    """Keyword sets by row, with the times by which equal overlaps are told apart. Not for two threads at once."""

    def __init__(self) -> None:
        self._words = _Vocabulary()
        self._sets: dict[int, frozenset[int]] = {}
        self._slots: dict[int, int] = {}
        self._shelves: dict[int, _Shelf] = {}

    def put(self, row: int, keywords: Iterable[str], at: int) -> None:
        """Hold the keywords of a row that is not there yet; one without keywords is like none and is not held."""
        words = frozenset(map(self._words.__getitem__, keywords))
        if words:
            self._sets[row] = words
            shelf = self._shelves.get(len(words))
            if shelf is None:
                shelf = self._shelves[len(words)] = _Shelf(len(words))
            self._slots[row] = shelf.add(row, words, at)

    def drop(self, row: int) -> None:
        """Take a row out; one that is not there is left so."""
        words = self._sets.pop(row, None)
        if words is None:
            return
        shelf = self._shelves[len(words)]
        shelf.bury(self._slots.pop(row))
        if 2 * shelf.dead > max(len(shelf.rows), _SMALLEST_COMPACTION):
            shelf = self._shelves[len(words)] = shelf.living()
            self._slots.update((row, slot) for slot, row in enumerate(shelf.rows))

    def overlap(self, row: int, other: int) -> float:
        """Overlap of two rows in [0, 1]; 0 if either has no keywords."""
        nothing: frozenset[int] = frozenset()
        one, two = self._sets.get(row, nothing), self._sets.get(other, nothing)
        shared = len(one & two)
        return shared / (len(one) + len(two) - shared) if shared else 0.0

    def nearest(self, row: int, least: float, most: int) -> Alike:
        """The `most` rows most alike, of equals those nearest in time, and all that tie with the last of these.

        Only those with an overlap of at least `least`, which is above 0; never the row itself.
        """
        words = self._sets.get(row)
        if words is None:
            return _NONE
        size, at = len(words), self._shelves[len(words)].times[self._slots[row]]
        asked = np.zeros(len(self._words), dtype=np.bool_)
        asked[list(words)] = True
        best = _NONE
        for reach, other in sorted(((min(size, n) / max(size, n), n) for n in self._shelves), reverse=True):
            if reach < least:
                break
            found = self._shelves[other].alike(row, words, asked, at, least)
            if found.rows.size:
                best = _best(Alike(*map(np.concatenate, zip(best, found, strict=True))), most)
                if best.rows.size >= most:
                    least = max(least, float(best.overlaps.min()))
        return best

    def __len__(self) -> int:
        return len(self._sets)


class _Vocabulary(dict[str, int]):
    """Numbers of words, whatever their case, given as they are first met."""

    def __missing__(self, word: str) -> int:
        folded = word.casefold()
        # A spelling takes a number of its own only if it is the lower-cased one; others borrow that one's.
        number = self[word] = len(self) if folded == word else self[folded]
        return number


class _Shelf:
    """Memories with the same number of keywords, by slot. Slots are given in order of arrival; dropped ones stay dead."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.rows = array("q")
        self.times = array("q")
        self.dead = 0
        self._words = array("i")
        """`size` words a slot."""
        self._postings: dict[int, array[int]] = {}
        """By word, the slots that hold it, dead ones too."""

    def add(self, row: int, words: Iterable[int], at: int) -> int:
        slot = len(self.rows)
        self.rows.append(row)
        self.times.append(at)
        self._words.extend(words)
        postings = self._postings
        for word in words:
            held = postings.get(word)
            if held is None:
                postings[word] = array("i", (slot,))
            else:
                held.append(slot)
        return slot

    def bury(self, slot: int) -> None:
        self.rows[slot] = _DEAD
        self.dead += 1

    def living(self) -> _Shelf:
        """The same without the dead."""
        fresh = _Shelf(self.size)
        for slot, row in enumerate(self.rows):
            if row != _DEAD:
                fresh.add(row, self._words[slot * self.size : (slot + 1) * self.size], self.times[slot])
        return fresh

    def alike(self, row: int, words: frozenset[int], asked: npt.NDArray[np.bool_], at: int, least: float) -> Alike:
        """All here that overlap with `words` by `least`, but the row itself; `asked` flags the words by number."""
        shared = least_shared(len(words), self.size, least)
        postings = sorted((self._postings.get(word, _NOTHING) for word in words), key=len)
        read = [held for held in postings[: max(0, len(words) - shared + 1)] if held]
        if not read:
            return _NONE
        slots = np.concatenate(read)
        # Views of arrays that grow: none may outlive this call, and indexing copies.
        table = np.frombuffer(self._words, dtype=np.int32).reshape(-1, self.size)
        counts = asked[table[slots]] @ np.ones(self.size)
        kept = counts >= shared
        slots, counts = slots[kept], counts[kept]
        if len(read) > 1:
            slots, first = np.unique(slots, return_index=True)
            counts = counts[first]
        rows = np.frombuffer(self.rows, dtype=np.int64)[slots]
        kept = (rows != _DEAD) & (rows != row)
        rows, slots, counts = rows[kept], slots[kept], counts[kept]
        gaps = np.abs(np.frombuffer(self.times, dtype=np.int64)[slots] - at)
        return Alike(rows, counts / (len(words) + self.size - counts), gaps)


def _best(found: Alike, most: int) -> Alike:
    """The `most` with the largest overlaps, of equals the smallest gaps, and all that tie with the last of these."""
    if found.rows.size <= most:
        return found
    worst = np.partition(found.overlaps, -most)[-most]
    surely, tied = found.overlaps > worst, found.overlaps == worst
    wanted = most - int(surely.sum())
    widest = np.partition(found.gaps[tied], wanted - 1)[wanted - 1]
    kept = surely | (tied & (found.gaps <= widest))
    return Alike(found.rows[kept], found.overlaps[kept], found.gaps[kept])


_NOTHING: array[int] = array("i")
_NONE = Alike(np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0, dtype=np.int64))
