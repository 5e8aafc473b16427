"""Which memories share most of their keywords: an incremental index that answers exactly.

Most entries stand on shelves by their number of words, in the order of creation; those that came later are compared one
by one, until they are so many that the shelves are made anew, which also forgets the words that nobody has any more.
The answer is the one that comparing with every memory would give; how the shelves get there is told in their module.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable

import numpy as np

from engramlog_server.projections.index.keyword_postings import Integers, KeywordPostings, Latecomers, Search
from engramlog_server.projections.index.timeline import Entry


def overlap(a: Iterable[str], b: Iterable[str]) -> float:
    """Jaccard overlap of two keyword lists in [0, 1], whatever their case; 0 if both are empty (seed 004, 5.1.1)."""
    one, other = {word.casefold() for word in a}, {word.casefold() for word in b}
    shared = len(one & other)
    return shared / (len(one) + len(other) - shared) if shared else 0.0


class KeywordIndex:
    """Entries by their keywords, which are lower-cased, each once, as in records. Not for two threads at once.

    `late`: how many latecomers are borne with at least; `long`: the length from which postings are read piece by piece.
    Neither changes an answer.
    """

    def __init__(self, late: int = 256, long: int = 1024) -> None:
        self._borne = late
        self._long = long
        self._held: dict[Entry, tuple[str, ...]] = {}
        self._waiting: dict[Entry, tuple[str, ...]] = {}
        """Those of them that were put since somebody last asked."""
        self._late = Latecomers()
        self._shelves: dict[int, KeywordPostings] = {}
        self._shelved = self._buried = 0
        """How many entries were put on the shelves, and how many of these are gone."""
        self._vocabulary = _Vocabulary()

    def put(self, entry: Entry, keywords: tuple[str, ...]) -> None:
        """Take in an entry that is not there yet. One without keywords is like none, and is not held."""
        if keywords:
            self._held[entry] = self._waiting[entry] = keywords

    def drop(self, entry: Entry) -> None:
        """Take out an entry; one that is not there is left so."""
        keywords = self._held.pop(entry, ())
        if entry in self._waiting:
            del self._waiting[entry]
        elif entry in self._late:
            self._late.bury(entry)
        elif keywords:
            self._shelves[len(keywords)].bury(entry)
            self._buried += 1

    def alike(self, entry: Entry, least: float, most: int) -> list[tuple[float, Entry]]:
        """Overlap and entry of those that overlap with one by `least` > 0: the `most` best, and what ties with them.

        Best is the larger overlap, then the nearer in time. Empty for an entry that is not there.
        """
        keywords = self._held.get(entry)
        if keywords is None:
            return []
        self._settle()
        words = [self._vocabulary[word] for word in keywords]
        search = Search(entry, words, len(self._vocabulary), least, most)
        self._late.read(search)
        long: list[tuple[float, KeywordPostings, Integers]] = []
        for shelf in sorted(self._shelves.values(), key=lambda one: -one.reach(len(words))):
            if shelf.reach(len(words)) < search.least:
                break
            postings = shelf.postings(words)
            shelf.read_short(search, postings, self._long)
            long += [
                (shelf.bound(search, postings, number), shelf, held)
                for number, held in enumerate(postings)
                if held.size > self._long
            ]
        for bound, shelf, held in sorted(long, key=lambda one: -one[0]):
            shelf.read_long(search, held, bound, step=max(1, self._long // 32))
        return search.found()

    def _settle(self) -> None:
        """Take in those that wait."""
        late = len(self._late) + len(self._waiting)
        if late > max(self._borne, self._shelved // 64) or 2 * self._buried > max(self._borne, self._shelved):
            self._shelve()
        else:
            for entry, keywords in self._waiting.items():
                self._late.add(entry, [self._vocabulary[word] for word in keywords])
        self._waiting.clear()

    def _shelve(self) -> None:
        """Put all entries on new shelves."""
        number = self._vocabulary = _Vocabulary()
        entries: dict[int, list[Entry]] = {}
        words: dict[int, array[int]] = {}
        for entry in sorted(self._held):
            keywords = self._held[entry]
            size = len(keywords)
            if size not in entries:
                entries[size], words[size] = [], array("i")
            entries[size].append(entry)
            words[size].extend([number[word] for word in keywords])
        self._shelves = {
            size: KeywordPostings(size, entries[size], np.frombuffer(words[size], np.int32)) for size in entries
        }
        self._late = Latecomers()
        self._shelved, self._buried = len(self._held), 0


class _Vocabulary(dict[str, int]):
    """Numbers of words, given as they are first met."""

    def __missing__(self, word: str) -> int:
        number = self[word] = len(self)
        return number
