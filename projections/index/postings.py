"""Texts by document number: which terms each holds how often, and in which order it says them. What an index stands on.

A **term** has a number as long as some text holds it; a **posting** is `document << 20 | occurrences`, ascending by
document. Documents are numbered as they come; those that the index no longer wants stay until `compact`. Of each text one
stretch can be read again in order, as numbers of terms. An index is kept, and made smaller, as arrays alone (`KeptTexts`).

Search reads a memory's speaker, content, summary and keywords as terms, and where its content stands among them.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from engramlog_server.projections.language.text import kept_tokens, tokens
from engramlog_server.projections.memory.record import SECRET, Memory


def indexed_text(memory: Memory) -> str:
    """What search reads: speaker, content, summary and keywords; nothing of what is purged or secret."""
    if memory.sensitivity >= SECRET or memory.purged_at is not None:
        return ""
    parts = (memory.speaker, memory.content, memory.summary, *memory.keywords)
    return "\n".join(part for part in parts if part)


def has_text(memory: Memory) -> bool:
    """Whether `indexed_text` has any."""
    told = memory.content or memory.speaker or memory.summary or any(memory.keywords)
    return bool(told) and memory.sensitivity < SECRET and memory.purged_at is None


def indexed_terms(memory: Memory, text: str) -> TermSequence:
    """The terms of `text`, the lines of the memory that search reads ("" for none); its content is what is read in order.

    Line by line the terms are those of the text as a whole, since no token reaches over a line's end. Where the content has
    nothing but stop words beside other lines, it is not found by them, yet they are read.
    """
    if not text:
        return whole(())
    if text == memory.content:
        return whole(tokens(text))
    before, said = _of_name(memory.speaker or ""), kept_tokens(memory.content)
    after = [term for line in (memory.summary, *memory.keywords) if line for term in kept_tokens(line)]
    counted = [*before, *said, *after] or tokens(text)
    if said:
        return TermSequence(counted, len(counted), len(before), len(before) + len(said))
    alone = tokens(memory.content)
    return TermSequence([*counted, *alone], len(counted), len(counted), len(counted) + len(alone))


@lru_cache(maxsize=1024)
def _of_name(name: str) -> tuple[str, ...]:
    return tuple(kept_tokens(name))


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


# Bytes beside the postings, measured with tracemalloc: a term's array, text and dict entry.
_BYTES_A_TERM = 170
_WINDOW = 32
"""Terms read in one go: cheaper than to find the exact stretch of each text."""
_MANY = 32
"""Texts from which on postings are sorted in one go."""


class _Vocabulary(dict[str, int]):
    """Numbers of terms; a term that is asked for and not there gets the next."""

    def __missing__(self, term: str) -> int:
        number = self[term] = len(self)
        return number


class TermSequence(NamedTuple):
    """A text as terms: the first `counted` are what it is found by, those from `begin` to `end` are read in order."""

    terms: Sequence[str]
    counted: int
    begin: int
    end: int


def whole(terms: Sequence[str]) -> TermSequence:
    """A text all of which is counted, and read."""
    return TermSequence(terms, len(terms), 0, len(terms))


class Occurrences(NamedTuple):
    """Where terms stand in documents' stretches, in reading order; aligned."""

    at: Integers
    """Ascending; side by side in one document are those that differ by one."""
    places: Integers
    """Of the terms asked for."""
    columns: Integers
    """Which document, as a place among those asked about."""


class Postings:
    """Grows by `add_all`. The arrays it gives are copies but for `packed`, which must not outlive the call."""

    def __init__(self) -> None:
        self.documents = 0
        """How many there are, wanted or not."""
        self.lengths = np.zeros(64, dtype=np.int64)
        """By document, in tokens that count; has room to grow, as the other three."""
        self._starts = np.zeros(64, dtype=np.int64)
        """By document: where its terms start in `_told`; then where the stretch that is read begins, and how long it is."""
        self._begins = np.zeros(64, dtype=np.int64)
        self._read = np.zeros(64, dtype=np.int64)
        self._told: array[int] = array("i")
        """The terms of all documents in reading order, laid end to end."""
        self._vocabulary = _Vocabulary()
        self._of_term: list[array[int] | None] = []
        """None where postings stand in `_kept` alone."""
        self._kept, self._ends = NOTHING, list[int]()
        """Postings as they were kept, read only, and where those of each term end."""
        self._held = 0

    @classmethod
    def of(cls, kept: KeptTexts) -> Postings:
        """Postings of texts that were read before. Raises ValueError where their parts do not fit each other."""
        found, sizes = cls(), {column.size for column in kept[2:6]}
        found._vocabulary.update(zip(kept.terms, range(len(kept.terms)), strict=True))
        found._ends = kept.ends.tolist()
        ends = kept.starts + kept.lengths, kept.begins + kept.read
        fits = (
            len(sizes) == 1
            and len(found._vocabulary) == len(found._ends)
            and kept.postings.size == max(found._ends, default=0)
        )
        if (
            not fits
            or any(one.max(initial=0) > kept.said.size for one in ends)
            or kept.said.max(initial=-1) >= len(kept.terms)
        ):
            raise ValueError("the postings do not fit each other")
        found._of_term, found._kept, found._held = [None] * len(found._ends), kept.postings, kept.postings.size
        found._told.frombytes(kept.said.tobytes())
        found.lengths, found._starts, found._begins, found._read = kept[2:6]
        found.documents = sizes.pop()
        return found

    def copied(self) -> Postings:
        """The same, to go another way from here on. A block that postings were kept in is not held by it."""
        found, size = Postings(), self.documents
        found.documents, found._held, found._ends = size, self._held, self._ends
        found._kept = self._kept.copy()
        for name in ("lengths", "_starts", "_begins", "_read"):
            setattr(found, name, getattr(self, name)[:size].copy())
        found._told, found._vocabulary = self._told[:], _Vocabulary(self._vocabulary)
        found._of_term = [None if one is None else one[:] for one in self._of_term]
        return found

    def taken(self) -> TakenTexts:
        """A copy of what was told, of all documents."""
        columns = (column[: self.documents].copy() for column in (self.lengths, self._starts, self._begins, self._read))
        return TakenTexts(list(self._vocabulary), np.array(self._told, dtype=np.int32), *columns)

    def add_all(self, texts: Iterable[TermSequence]) -> Integers:
        """Take in texts in order; their documents."""
        start, spans = len(self._told), list[tuple[int, int, int, int]]()
        number_of, told = self._vocabulary.__getitem__, self._told
        for terms, counted, begin, end in texts:
            told.extend(map(number_of, terms))
            spans.append((len(terms), counted, begin, end))
        self._make_terms()
        first = self._begin(len(spans))
        here = slice(first, self.documents)
        sizes, counts, begins, ends = np.array(spans, dtype=np.int64).reshape(-1, 4).T
        starts = start + np.cumsum(sizes) - sizes
        self.lengths[here], self._starts[here] = counts, starts
        self._begins[here], self._read[here] = starts + begins, ends - begins
        if len(spans) < _MANY:
            for document, at, count in zip(range(first, self.documents), starts.tolist(), counts.tolist(), strict=True):
                self._post_one(document, told[at : at + count])
        else:
            documents = np.repeat(np.arange(first, self.documents), counts)
            whole_texts = len(told) - start == documents.size
            ours = self._stretches(starts, counts) if not whole_texts else np.frombuffer(told, dtype=np.int32)[start:]
            self._post(ours.astype(np.int64), documents)
        return np.arange(first, self.documents)

    def _post_one(self, document: int, numbers: Iterable[int]) -> None:
        counts, base = Counter(numbers), document << COUNT_BITS
        for number, count in counts.items():
            self._posts(number).append(base | min(count, COUNT_MAX))
        self._held += len(counts)

    def _post(self, said: Integers, documents: Integers) -> None:
        """The same for terms said in many documents, one pair a token: they are many."""
        if not said.size:
            return
        numbers, packed, at = posted(said, documents)
        raw, size = packed.tobytes(), packed.itemsize
        for number, (start, end) in zip(numbers.tolist(), pairwise([*at.tolist(), packed.size]), strict=True):
            self._posts(number).frombytes(raw[start * size : end * size])
        self._held += packed.size

    def _posts(self, number: int) -> array[int]:
        """The postings of a term, to be added to."""
        found = self._of_term[number]
        if found is None:
            found = self._of_term[number] = array("q", self._kept_of(number).tobytes())
        return found

    def _kept_of(self, number: int) -> Integers:
        return self._kept[self._ends[number - 1] if number else 0 : self._ends[number]]

    def packed(self, term: str) -> Integers:
        """The postings of a term, read only; while this is alive, nothing may be added."""
        number = self._vocabulary.get(term)
        if number is None:
            return NOTHING
        found = self._of_term[number]
        return self._kept_of(number) if found is None else np.frombuffer(found, dtype=np.int64)

    def numbers(self, terms: Iterable[str]) -> list[int]:
        """The numbers of terms, NONE where no text ever had one."""
        return [self._vocabulary.get(term, NONE) for term in terms]

    def beginning(self, prefix: str) -> list[str]:
        """The terms that begin so, in alphabetical order, those of unwanted documents too; takes time by the number of all."""
        return sorted(term for term in self._vocabulary if term.startswith(prefix))

    @property
    def terms(self) -> int:
        """One more than the largest number of a term."""
        return len(self._vocabulary)

    def counted(self, documents: Integers) -> tuple[Numbers, Integers]:
        """The terms that count of documents, as numbers, laid end to end, and how many each has."""
        lengths = self.lengths[documents]
        return self._stretches(self._starts[documents], lengths), lengths

    def found(self, documents: Integers, place_of: Integers) -> Occurrences:
        """Where terms stand in the stretches of documents: those whose number has a place in `place_of`, not NONE."""
        lengths = self._read[documents]
        windows = (lengths + _WINDOW - 1) // _WINDOW
        column = np.repeat(np.arange(documents.size), windows)
        within = (np.arange(column.size) - (np.cumsum(windows) - windows)[column]) * _WINDOW
        starts = self._begins[documents][column] + within
        told = np.frombuffer(self._told, dtype=np.int32)
        if not starts.size or not told.size:
            return Occurrences(NOTHING, NOTHING, NOTHING)
        # Clipped, though no number is out of range: numpy then checks none.
        places = place_of.take(told.take(starts[:, None] + np.arange(_WINDOW), mode="clip"), mode="clip").ravel()
        at = np.flatnonzero(places != NONE)
        window, offset = np.divmod(at, _WINDOW)
        at = at[within[window] + offset < lengths[column[window]]]  # a last window reaches into what follows
        return Occurrences(at, places[at], column[at // _WINDOW])

    def compact(self, living: npt.NDArray[np.bool_]) -> None:
        """Keep only the living documents, numbered anew from 0 in their order, and the terms that they hold."""
        self.__dict__.update(Postings.of(self.taken().kept(np.flatnonzero(living))).__dict__)

    def _stretches(self, starts: Integers, lengths: Integers) -> Numbers:
        return stretches(np.frombuffer(self._told, dtype=np.int32), starts, lengths)

    def bytes_used(self) -> int:
        """Estimate of the memory held, in bytes, from counts alone."""
        # array.array grows by an eighth at a time.
        grown = self._held * 17 // 2 + len(self._told) * 17 // 4
        return grown + 4 * self.lengths.nbytes + _BYTES_A_TERM * len(self._of_term)

    def _begin(self, count: int) -> int:
        """Room for so many more documents; the number of the first."""
        first, self.documents = self.documents, self.documents + count
        if self.documents > self.lengths.size:
            room = np.zeros(max(self.documents, 2 * self.lengths.size) - self.lengths.size, dtype=np.int64)
            for name in ("lengths", "_starts", "_begins", "_read"):
                setattr(self, name, np.concatenate([getattr(self, name), room]))
        return first

    def _make_terms(self) -> None:
        self._of_term += [array("q") for _ in range(len(self._vocabulary) - len(self._of_term))]
