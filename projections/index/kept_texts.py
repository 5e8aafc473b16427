"""What texts say as arrays alone: how an index is kept, and how it is made smaller. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

COUNT_BITS = 20
COUNT_MAX = (1 << COUNT_BITS) - 1
NONE = -1
"""No such term, no such document."""
_DOCUMENT_BITS = 32
Integers = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.int32]
NOTHING: Integers = np.zeros(0, dtype=np.int64)


class KeptTexts(NamedTuple):
    """What texts say, numbered anew from 0: what `Postings` are made of."""

    terms: Sequence[str]
    """By number; each is said by some text."""
    said: Numbers
    """The terms of all texts in reading order, laid end to end."""
    lengths: Integers
    """By text, aligned with the next three: how many terms count, where they start in `said`, where what is read begins, and
    how long that is."""
    starts: Integers
    begins: Integers
    read: Integers
    postings: Integers
    """Laid end to end, by term."""
    ends: Integers
    """By term: where its postings end."""


class TakenTexts(NamedTuple):
    """A copy of what `KeptTexts` are made of, to be worked on while the postings go on."""

    terms: list[str]
    said: Numbers
    lengths: Integers
    starts: Integers
    begins: Integers
    read: Integers

    def kept(self, documents: Integers) -> KeptTexts:
        """These documents in this order, and the terms that they say; NONE stands for a text that says nothing."""
        some = documents != NONE
        counted, starts, begins, read = (
            np.where(some, column[documents], 0) for column in (self.lengths, self.starts, self.begins, self.read)
        )
        sizes = np.maximum(counted, begins + read - starts)
        moved = np.cumsum(sizes) - sizes
        said = stretches(self.said, starts, sizes)
        numbers = np.flatnonzero(np.bincount(said, minlength=len(self.terms)))
        anew = np.zeros(len(self.terms), dtype=np.int32)
        anew[numbers] = np.arange(numbers.size)
        said = anew[said]
        ours = stretches(said, moved, counted).astype(np.int64)
        holders, postings, at = posted(ours, np.repeat(np.arange(documents.size), counted))
        ends = np.zeros(numbers.size, dtype=np.int64)
        ends[holders] = [*at[1:].tolist(), postings.size] if at.size else []
        terms = [self.terms[number] for number in numbers.tolist()]
        return KeptTexts(
            terms, said, counted, moved, begins - starts + moved, read, postings, np.maximum.accumulate(ends)
        )


def stretches(told: Numbers, starts: Integers, lengths: Integers) -> Numbers:
    """Stretches of what was told, laid end to end."""
    total = int(lengths.sum())
    at = np.arange(total) + np.repeat(starts - (np.cumsum(lengths) - lengths), lengths)
    found: Numbers = told[at] if total else np.zeros(0, dtype=np.int32)
    return found


def posted(said: Integers, documents: Integers) -> tuple[Integers, Integers, Integers]:
    """Terms said in documents, one pair a token, sorted in one go and in place: the different terms ascending, postings end to
    end, and where those of each term start."""
    said <<= _DOCUMENT_BITS
    said |= documents
    said.sort()
    firsts = np.flatnonzero(_differs(said)) if said.size else NOTHING
    counts = np.minimum(np.diff(firsts, append=said.size), COUNT_MAX)
    packed = said[firsts]
    numbers = packed >> _DOCUMENT_BITS
    packed &= (1 << _DOCUMENT_BITS) - 1
    packed <<= COUNT_BITS
    packed |= counts
    at = np.flatnonzero(_differs(numbers)) if numbers.size else NOTHING
    return numbers[at], packed, at


def _differs(ordered: Integers) -> npt.NDArray[np.bool_]:
    """Whether each differs from the one before it."""
    found = np.ones(ordered.size, dtype=np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=found[1:])
    return found
