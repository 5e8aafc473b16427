"""An incremental Okapi BM25 index in memory (Robertson and Zaragoza 2009; idf as in Lucene, always above zero).

    score(q, d) = sum over the terms of q of  n_q * idf * tf * (k1 + 1) / (tf + k1 * (1 - b + b * length / mean length))
    idf = ln(1 + (N - n + 0.5) / (n + 0.5))

`n_q` is how often the query has the term, `n` how many texts hold it, `N` how many texts there are, `length` in tokens. Search
reads a memory's speaker, content, summary and keywords as terms, and where its content stands among them.

A **row** is the caller's number for a key: it stays the same while the key is in the index, replaced or not, and is given to
another key after a drop, so that numpy columns aligned to rows never need renumbering. Each put takes a fresh **document** number,
so a term's postings always ascend; those of replaced or dropped documents stay until they are more than half of all (in an index
of some texts of another, three quarters). Nothing about them shows: the same texts give the same scores to the last bit, whatever
was put, replaced or dropped before.

A **term** has a number as long as some text holds it; a **posting** is `document << 20 | occurrences`. Of each text one stretch can
be read again in order, as numbers of terms. An index is kept, and made smaller, as arrays alone (`KeptTexts`).

Not for use by two threads at once: whoever shares an index guards it with a lock.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice, pairwise
from math import log
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from engramlog_server.projections.language.text import kept_tokens, tokens
from engramlog_server.projections.memory.columns import Rows
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


class KeyRows:
    """Numbers from 0, each of one key at a time."""

    def __init__(self) -> None:
        self._row_of: dict[str, int] = {}
        self._key_of: list[str | None] = []
        self._free: list[int] = []

    @classmethod
    def of(cls, keys: Sequence[str]) -> KeyRows:
        """Each key under its place; they are different ones."""
        found = cls()
        found._key_of = list[str | None](keys)
        found._row_of = {key: row for row, key in enumerate(keys)}
        return found

    def __len__(self) -> int:
        return len(self._row_of)

    def __contains__(self, key: object) -> bool:
        return key in self._row_of

    @property
    def count(self) -> int:
        """One more than the highest row ever given."""
        return len(self._key_of)

    def row(self, key: str) -> int:
        """The key's row, or KeyError."""
        return self._row_of[key]

    def key(self, row: int) -> str:
        """The key of a row; KeyError if no key has it now."""
        found = self._key_of[row] if 0 <= row < len(self._key_of) else None
        if found is None:
            raise KeyError(row)
        return found

    def take(self, key: str) -> int:
        """A row for a key that has none."""
        if self._free:
            row = self._free.pop()
            self._key_of[row] = key
        else:
            row = len(self._key_of)
            self._key_of.append(key)
        self._row_of[key] = row
        return row

    def free(self, key: str) -> int | None:
        """Take a key out; the row it had, or None."""
        row = self._row_of.pop(key, None)
        if row is not None:
            self._key_of[row] = None
            self._free.append(row)
        return row


Values = npt.NDArray[np.float64]
_MOST_KEPT = 4096
"""Terms whose idf is kept between two questions."""
_NO_LENGTHS: Integers = np.zeros(0, dtype=np.int64)


class Bm25:
    """k1 >= 0: how soon repetition stops to count; b in [0, 1]: how much length counts."""

    def __init__(self, k1: float, b: float) -> None:
        self._texts, self._mean, self._lengths = 0, 0.0, _NO_LENGTHS
        self._norms: dict[tuple[float, float], Values] = {}
        """By k1 and b, then by document."""
        self._idfs: dict[str, float] = {}
        self.weigh(k1, b)

    def weigh(self, k1: float, b: float) -> None:
        """Use these parameters from now on. Raises ValueError if out of range."""
        if not (0 <= k1 < float("inf") and 0 <= b <= 1):
            raise ValueError(f"BM25 parameters: got k1 {k1}, b {b}; allowed: k1 >= 0 and finite, b in [0, 1]")
        self.k1, self.b = k1, b

    def over(self, texts: int, mean_length: float, lengths: Integers) -> None:
        """So many texts from now on, of this mean length; lengths in tokens, by document."""
        self._texts, self._mean, self._lengths = texts, mean_length, lengths
        self._norms.clear()
        self._idfs.clear()

    def known_idf(self, term: str) -> float | None:
        """The idf of a term that was asked for since the texts changed."""
        return self._idfs.get(term)

    def idf(self, term: str, holding: int) -> float:
        """ln(1 + (N - n + 0.5) / (n + 0.5)) of a term that `holding` texts hold."""
        if len(self._idfs) >= _MOST_KEPT:
            self._idfs.clear()
        found = self._idfs[term] = log(1 + (self._texts - holding + 0.5) / (holding + 0.5))
        return found

    def contributions(self, factors: Values | float, documents: Integers, counts: Integers) -> Values:
        """What terms, of times * idf `factors`, add to the score of documents that hold them so many times."""
        contributions: Values = factors * (counts * (self.k1 + 1) / (counts + self._norm(documents)))
        return contributions

    def bytes_used(self) -> int:
        """What is kept, in bytes."""
        return sum(one.nbytes for one in self._norms.values()) + 100 * len(self._idfs)

    def _norm(self, documents: Integers) -> Values | float:
        """k1 * (1 - b + b * length / mean length); of all documents at once where many are asked for."""
        if self.b == 0:
            return self.k1
        known = self._norms.get((self.k1, self.b))
        if known is None:
            if 4 * documents.size < self._lengths.size:
                return self._normed(self._lengths[documents])
            known = self._norms[self.k1, self.b] = self._normed(self._lengths)
        gathered: Values = known[documents]
        return gathered

    def _normed(self, lengths: Integers) -> Values:
        normed: Values = np.asarray(self.k1 * (1 - self.b + self.b * lengths / self._mean), dtype=np.float64)
        return normed


_DEAD = -1
_SMALLEST_COMPACTION = 64
_ROOM, _ROOM_AMONG = 2, 4
"""Documents a living one from which on the living are numbered anew; later where an index was made of some texts of another, for
that costs more than its first questions."""
_TOGETHER = 1 << 14
"""Postings that are scored in one go: terms of few texts together, one of many by itself."""
# Bytes beside the postings, measured with tracemalloc: a key's entries.
_BYTES_A_KEY = 130


class Scores(NamedTuple):
    """What a query matches: `scores[i]` > 0 belongs to `rows[i]`, in no promised order: the caller orders ties."""

    rows: Rows
    scores: Values
    matched_terms: list[str]
    """The query's terms that some text holds, each once, in the order of the query."""


class Bm25Index:
    """BM25 over texts by key. `k1` >= 0: how soon repetition stops to count; `b` in [0, 1]: how much length counts.

    Neither is baked into what is stored, so both may be changed between two queries. Raises ValueError if out of range.
    """

    def __init__(self, k1: float = 1.2, b: float = 0.75, analyse: Callable[[str], list[str]] = tokens) -> None:
        self._formula = Bm25(k1, b)
        self._analyse = analyse
        self._postings = Postings()
        self._keys = KeyRows()
        self._document_of: array[int] = array("q")
        """By row."""
        self._rows = np.full(64, _DEAD, dtype=np.int64)
        """By document: its row, or dead."""
        self._total_length = 0
        self._room = _ROOM
        self._place_of = self._placed = np.zeros(0, dtype=np.int64)
        """By number of a term: its place among those asked for last; and which have one."""

    def among(self, keys: Sequence[str], rows: Rows) -> Bm25Index:
        """An index of its own of some of these texts: each key has that of one row, none yet where that is NONE.

        Before it is asked, the keys without are to be put. What it holds of other texts shows in nothing that it answers.
        """
        found = Bm25Index(self._formula.k1, self._formula.b, self._analyse)
        found._postings, found._keys = self._postings.copied(), KeyRows.of(keys)
        here, documents = np.flatnonzero(rows != NONE), np.full(len(keys), _DEAD, dtype=np.int64)
        documents[here] = np.frombuffer(self._document_of, dtype=np.int64)[rows[here]]
        found._document_of = array("q", documents.tobytes())
        found._rows = np.full(max(64, found._postings.documents), _DEAD, dtype=np.int64)
        found._rows[documents[here]] = here
        found._total_length = int(found._postings.lengths[documents[here]].sum())
        found._room = _ROOM_AMONG
        found._change()
        return found

    def weigh(self, k1: float, b: float) -> None:
        """Use these parameters from the next query on."""
        self._formula.weigh(k1, b)

    def __len__(self) -> int:
        return len(self._keys)

    def __contains__(self, key: object) -> bool:
        return key in self._keys

    @property
    def mean_length(self) -> float:
        """Mean length of the texts in tokens; 0 if there are none."""
        return self._total_length / len(self._keys) if len(self._keys) else 0.0

    def row(self, key: str) -> int:
        """The key's row; KeyError if the key is not in the index."""
        return self._keys.row(key)

    def key(self, row: int) -> str:
        """The key of a row; KeyError if no key has it now."""
        return self._keys.key(row)

    def put(self, key: str, text: str) -> None:
        """Add the text under the key, or replace the one there; the key keeps its row."""
        self.put_said([(key, whole(self._analyse(text)))])

    def put_said(self, items: Iterable[tuple[str, TermSequence]]) -> None:
        """`put` of texts that are read into terms already, each under a key of its own; taken one by one."""
        rows: list[int] = []

        def texts() -> Iterator[TermSequence]:
            for key, said in items:
                rows.append(self._row_for(key))
                yield said

        documents = self._postings.add_all(texts())
        self._settle(np.array(rows, dtype=np.int64), documents)

    def drop(self, key: str) -> None:
        """Take the key out and free its row; a key that is not there is left so, as events may be delivered twice."""
        row = self._keys.free(key)
        if row is not None:
            self._bury(row)
            self._compact_if_due()

    def scores(self, query: str) -> Scores:
        """The BM25 score of every text that shares a term with the query, and of no other."""
        return self.scores_of(Counter(self._analyse(query)))

    def scores_of(self, terms: Mapping[str, float]) -> Scores:
        """`scores` of a query that has each term so many times; a synonym, a share of a time."""
        sums = np.zeros(self._postings.documents)
        matched, factors, together, size = list[str](), list[float](), list[Integers](), 0
        for term, factor, packed in self._weighed(terms):
            matched.append(term)
            if together and size + packed.size > _TOGETHER:
                self._add(sums, factors, together)
                factors, together, size = [], [], 0
            factors.append(factor)
            together.append(packed)
            size += packed.size
        if together:
            self._add(sums, factors, together)
        hits = np.flatnonzero(sums)
        return Scores(self._rows[hits], sums[hits], matched)

    def explain(self, query: str, key: str) -> dict[str, float]:
        """What each term adds to the key's score, in the order of the query; added up in it, exactly the score.

        Empty if the text shares no term with the query. KeyError if the key is not in the index.
        """
        return self.explain_all(query, [key])[0]

    def explain_all(self, query: str, keys: Sequence[str]) -> list[dict[str, float]]:
        """`explain` for each key, each text read once."""
        return self.explain_of(Counter(self._analyse(query)), keys)

    def explain_of(self, terms: Mapping[str, float], keys: Sequence[str]) -> list[dict[str, float]]:
        """`explain_all` of a query that has each term so many times."""
        documents, parts = self._documents(keys), [dict[str, float]() for _ in keys]
        names = list(terms)
        if not names or not parts:
            return parts
        numbers, lengths = self._postings.counted(documents)
        place = self._places(names)[numbers]
        column, said = np.repeat(np.arange(len(keys)), lengths), place != NONE
        counted = np.bincount(column[said] * len(names) + place[said], minlength=len(keys) * len(names))
        cells = np.flatnonzero(counted)
        columns, places = np.divmod(cells, len(names))
        counts, factors = np.minimum(counted[cells], COUNT_MAX), np.zeros(len(names))
        for at in np.flatnonzero(np.bincount(places)).tolist():  # a question has many more terms than these texts hold
            factors[at] = terms[names[at]] * self.idf(names[at])
        values = self._formula.contributions(factors[places], documents[columns], counts)
        for at, number, value in zip(columns.tolist(), places.tolist(), values.tolist(), strict=True):
            parts[at][names[number]] = value
        return parts

    def coverage(self, query: str, keys: Sequence[str]) -> Values:
        """Share in [0, 1] of the query's different terms that each key's text holds, shape (len(keys),)."""
        wanted, counts = self._documents(keys), np.zeros(len(keys))
        terms = dict.fromkeys(self._analyse(query))
        for _, _, packed in self._weighed(dict.fromkeys(terms, 1)):
            documents = packed >> COUNT_BITS
            places = np.minimum(np.searchsorted(documents, wanted), documents.size - 1)
            counts += documents[places] == wanted
        return counts / max(len(terms), 1)

    def found(self, rows: Rows, terms: Sequence[str]) -> Occurrences:
        """Where these different terms stand in what is read in order of rows; `places` are those among the terms."""
        documents = np.frombuffer(self._document_of, dtype=np.int64)[rows]
        return self._postings.found(documents, self._places(terms))

    def _places(self, terms: Sequence[str]) -> Integers:
        """By number of a term: its place among these different terms, or NONE. Holds until the next call and the next put."""
        numbers = np.array(self._postings.numbers(terms), dtype=np.int64)
        here = np.flatnonzero(numbers != NONE)
        if self._place_of.size < self._postings.terms:
            self._place_of, self._placed = np.full(self._postings.terms, NONE, dtype=np.int64), here[:0]
        self._place_of[self._placed] = NONE  # of the last question: all others are so already
        self._placed = numbers[here]
        self._place_of[self._placed] = here
        return self._place_of

    def bytes_used(self) -> int:
        """Estimate of the memory held, in bytes, from counts alone: within about a quarter of what tracemalloc sees."""
        columns = self._rows.nbytes + self._place_of.nbytes + self._document_of.itemsize * len(self._document_of)
        return columns + self._formula.bytes_used() + self._postings.bytes_used() + _BYTES_A_KEY * len(self)

    def terms_beginning(self, prefix: str, most: int) -> list[str]:
        """The first `most` terms that begin so, in alphabetical order."""
        living = (one for one in self._postings.beginning(prefix) if self._living(self._postings.packed(one)).size)
        return list(islice(living, most))

    def idf(self, term: str) -> float:
        """How rare a term is: above 0, and highest where no text holds it."""
        known = self._formula.known_idf(term)
        return known if known is not None else self._formula.idf(term, self._living(self._postings.packed(term)).size)

    def length(self, key: str) -> int:
        """Tokens of the key's text; KeyError if the key is not in the index."""
        return int(self._postings.lengths[self._document_of[self._keys.row(key)]])

    def lengths(self) -> Integers:
        """Tokens of the text of each row ever given; of a row that no key has, of any text."""
        found: Integers = self._postings.lengths[np.frombuffer(self._document_of, dtype=np.int64)]
        return found

    def _weighed(self, terms: Mapping[str, float]) -> Iterator[tuple[str, float, Integers]]:
        """The terms that some text holds, in order: each with its times and idf, and its living postings."""
        for term, times in terms.items():
            packed = self._living(self._postings.packed(term))
            if packed.size:
                yield term, times * self._formula.idf(term, packed.size), packed

    def _living(self, packed: Integers) -> Integers:
        if self._postings.documents == len(self):
            return packed
        living: Integers = packed[self._rows[packed >> COUNT_BITS] != _DEAD]
        return living

    def _add(self, sums: Values, factors: list[float], together: list[Integers]) -> None:
        """Add what terms bring, term by term: in that order, so that explanations add up to the last bit."""
        if len(together) == 1:
            documents = together[0] >> COUNT_BITS
            sums[documents] += self._formula.contributions(factors[0], documents, together[0] & COUNT_MAX)
            return
        packed = np.concatenate(together)
        documents = packed >> COUNT_BITS
        each = np.repeat(factors, [one.size for one in together])
        np.add.at(sums, documents, self._formula.contributions(each, documents, packed & COUNT_MAX))

    def _change(self) -> None:
        documents = self._postings.documents
        self._formula.over(len(self), self.mean_length, self._postings.lengths[:documents])

    def _documents(self, keys: Sequence[str]) -> Rows:
        return np.array([self._document_of[self._keys.row(key)] for key in keys], dtype=np.int64)

    def _row_for(self, key: str) -> int:
        """The key's row, its text buried; a free or new one where it has none."""
        if key in self._keys:
            row = self._keys.row(key)
            self._bury(row)
            return row
        row = self._keys.take(key)
        if row == len(self._document_of):
            self._document_of.append(_DEAD)
        return row

    def _settle(self, rows: Rows, documents: Rows) -> None:
        """Tell rows and their new documents of each other."""
        if self._postings.documents > self._rows.size:
            room = np.full(max(self._postings.documents, 2 * self._rows.size) - self._rows.size, _DEAD)
            self._rows = np.concatenate([self._rows, room])
        self._rows[documents] = rows
        np.frombuffer(self._document_of, dtype=np.int64)[rows] = documents
        self._total_length += int(self._postings.lengths[documents].sum())
        self._change()
        self._compact_if_due()

    def _bury(self, row: int) -> None:
        document = self._document_of[row]
        if document == _DEAD:
            return
        self._rows[document] = _DEAD
        self._total_length -= int(self._postings.lengths[document])
        self._change()

    def _compact_if_due(self) -> None:
        if self._postings.documents > max(self._room * len(self), _SMALLEST_COMPACTION):
            self._compact()

    def _compact(self) -> None:
        """Renumber the living documents from 0, in their order."""
        living = self._rows[: self._postings.documents] != _DEAD
        rows = self._rows[: living.size][living]
        self._postings.compact(living)
        self._rows = np.full(max(64, 2 * rows.size), _DEAD, dtype=np.int64)
        self._rows[: rows.size] = rows
        documents_by_row = np.full(self._keys.count, _DEAD, dtype=np.int64)
        documents_by_row[rows] = np.arange(rows.size)
        self._document_of = array("q", documents_by_row.tobytes())
        self._change()
