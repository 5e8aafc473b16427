"""Memories in the order of their creation, and which of them are nearest to one: what derived associations rest on."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable
from itertools import chain, zip_longest

Entry = tuple[int, str, int]
"""created_at (microseconds), id, row: entries compare in the order in which memories came to be."""


class Timeline:
    """Entries in order. New ones wait until somebody asks: many are sorted at once, a few put in their places."""

    __slots__ = ("_late", "_ordered")

    def __init__(self, *entries: Entry) -> None:
        self._ordered: list[Entry] = []
        self._late = [*entries]

    def add(self, entry: Entry) -> None:
        """Take in an entry that is not there yet."""
        self._late.append(entry)

    def remove(self, entry: Entry) -> None:
        """Take out an entry that is there."""
        self._settle()
        del self._ordered[bisect_left(self._ordered, entry)]

    def around(self, entry: Entry, most: int) -> list[Entry]:
        """The `most` entries before one, which need not be there, and the `most` after it."""
        if self._late:
            self._settle()
        ordered = self._ordered
        before = after = bisect_left(ordered, entry)
        if after < len(ordered) and ordered[after] == entry:
            after += 1
        return ordered[max(0, before - most) : before] + ordered[after : after + most]

    def _settle(self) -> None:
        if len(self._late) * 32 < len(self._ordered):
            for entry in self._late:
                insort(self._ordered, entry)
        else:
            self._ordered += self._late
            self._ordered.sort()
        self._late = []

    def __len__(self) -> int:
        return len(self._ordered) + len(self._late)


def best_of(mine: Entry, candidates: Iterable[tuple[float, Entry]], most: int) -> dict[int, float]:
    """Base by row of the `most` best of (base, entry): the higher base, then the nearer in time.

    Of those that tie with the last of these: the nearest in order, before and after in turn, before first.
    """
    ranked = sorted((-base, abs(entry[0] - mine[0]), entry) for base, entry in candidates)
    if len(ranked) > most:
        last = ranked[most - 1][:2]
        surely = [one for one in ranked[:most] if one[:2] < last]
        tied = [one for one in ranked if one[:2] == last]
        before = [one for one in reversed(tied) if one[2] < mine]
        after = [one for one in tied if one[2] > mine]
        in_turn = [one for one in chain.from_iterable(zip_longest(before, after)) if one is not None]
        ranked = surely + in_turn[: most - len(surely)]
    return {entry[2]: -base for base, _, entry in ranked}
