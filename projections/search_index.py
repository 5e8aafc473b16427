"""An incremental Okapi BM25 index in memory (Robertson and Zaragoza 2009; idf as in Lucene, always above zero).

    score(q, d) = sum over the terms of q of  n_q * idf * tf * (k1 + 1) / (tf + k1 * (1 - b + b * length / mean length))
    idf = ln(1 + (N - n + 0.5) / (n + 0.5))

`n_q` is how often the query has the term, `n` how many texts hold it, `N` how many texts there are, `length` in tokens.

A **row** is the caller's number for a key: it stays the same while the key is in the index, replaced or not, and is
given to another key after a drop, so that numpy columns aligned to rows never need renumbering. Inside, each put takes
a fresh **document** number, so a term's postings always ascend; those of replaced or dropped documents stay as
tombstones until they are more than half of all. Nothing about them shows: the same texts give the same scores to the
last bit, whatever was put, replaced or dropped before.

Not for use by two threads at once: whoever shares an index guards it with a lock.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from math import log
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from projections.text import tokens

_TF_BITS = 20
_TF_MAX = (1 << _TF_BITS) - 1
_DEAD = -1
_SMALLEST_COMPACTION = 64
# Bytes beside the postings, measured with tracemalloc: a term's array, text and dict entry; a key's entries.
_BYTES_A_TERM = 160
_BYTES_A_KEY = 130

Rows = npt.NDArray[np.int64]
Values = npt.NDArray[np.float64]


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
        self.weigh(k1, b)
        self._analyse = analyse
        self._postings: dict[str, array[int]] = {}
        """By term, ascending: document number << 20 | occurrences."""
        self._postings_held = 0
        self._row_of: dict[str, int] = {}
        self._key_of: list[str | None] = []
        self._free_rows: list[int] = []
        self._document_of: array[int] = array("q")
        """By row."""
        self._documents = 0
        self._rows = np.full(64, _DEAD, dtype=np.int64)
        """By document: its row, or dead."""
        self._lengths = np.zeros(64, dtype=np.int64)
        """By document, in tokens."""
        self._total_length = 0

    def weigh(self, k1: float, b: float) -> None:
        """Use these parameters from the next query on."""
        if not (0 <= k1 < float("inf") and 0 <= b <= 1):
            raise ValueError(f"BM25 parameters: got k1 {k1}, b {b}; allowed: k1 >= 0 and finite, b in [0, 1]")
        self.k1, self.b = k1, b

    def __len__(self) -> int:
        return len(self._row_of)

    def __contains__(self, key: object) -> bool:
        return key in self._row_of

    @property
    def row_count(self) -> int:
        """One more than the highest row ever given: how long a column aligned to rows must be."""
        return len(self._key_of)

    @property
    def mean_length(self) -> float:
        """Mean length of the texts in tokens; 0 if there are none."""
        return self._total_length / len(self._row_of) if self._row_of else 0.0

    def row(self, key: str) -> int:
        """The key's row; KeyError if the key is not in the index."""
        return self._row_of[key]

    def key(self, row: int) -> str:
        """The key of a row; KeyError if no key has it now."""
        found = self._key_of[row] if 0 <= row < len(self._key_of) else None
        if found is None:
            raise KeyError(row)
        return found

    def put(self, key: str, text: str) -> None:
        """Add the text under the key, or replace the one there; the key keeps its row."""
        row = self._row_of.get(key)
        if row is None:
            row = self._take_row(key)
        else:
            self._bury(row)
        self._write(row, self._analyse(text))
        self._compact_if_due()

    def put_many(self, items: Iterable[tuple[str, str]]) -> None:
        """`put` for each (key, text), in order."""
        for item in items:
            self.put(*item)

    def drop(self, key: str) -> None:
        """Take the key out and free its row; a key that is not there is left so, as events may be delivered twice."""
        row = self._row_of.pop(key, None)
        if row is None:
            return
        self._bury(row)
        self._key_of[row] = None
        self._free_rows.append(row)
        self._compact_if_due()

    def scores(self, query: str) -> Scores:
        """The BM25 score of every text that shares a term with the query, and of no other."""
        return self.scores_of(Counter(self._analyse(query)))

    def scores_of(self, terms: Mapping[str, int]) -> Scores:
        """`scores` of a query that has each term so many times."""
        sums = np.zeros(self._documents)
        matched = []
        for term, times in terms.items():
            documents, counts = self._live_postings(term)
            if documents.size:
                matched.append(term)
                sums[documents] += self._contributions(times, documents.size, documents, counts)
        hits = np.flatnonzero(sums)
        return Scores(self._rows[hits], sums[hits], matched)

    def explain(self, query: str, key: str) -> dict[str, float]:
        """What each term adds to the key's score, in the order of the query; added up in it, exactly the score.

        Empty if the text shares no term with the query. KeyError if the key is not in the index.
        """
        return self.explain_all(query, [key])[0]

    def explain_all(self, query: str, keys: Sequence[str]) -> list[dict[str, float]]:
        """`explain` for each key, each term's postings read once."""
        return self.explain_of(Counter(self._analyse(query)), keys)

    def explain_of(self, terms: Mapping[str, int], keys: Sequence[str]) -> list[dict[str, float]]:
        """`explain_all` of a query that has each term so many times."""
        wanted = np.array([self._document_of[self._row_of[key]] for key in keys], dtype=np.int64)
        parts: list[dict[str, float]] = [{} for _ in keys]
        for term, times in terms.items():
            documents, counts = self._live_postings(term)
            if not documents.size:
                continue
            places = np.minimum(np.searchsorted(documents, wanted), documents.size - 1)
            holders = np.flatnonzero(documents[places] == wanted)
            at = places[holders]
            added = self._contributions(times, documents.size, documents[at], counts[at])
            for holder, value in zip(holders.tolist(), added.tolist(), strict=True):
                parts[holder][term] = value
        return parts

    def coverage(self, query: str, keys: Sequence[str]) -> Values:
        """Share in [0, 1] of the query's different terms that each key's text holds, shape (len(keys),)."""
        wanted = np.array([self._document_of[self._row_of[key]] for key in keys], dtype=np.int64)
        counts = np.zeros(len(keys))
        terms = dict.fromkeys(self._analyse(query))
        for term in terms:
            documents, _ = self._live_postings(term)
            if documents.size:
                places = np.minimum(np.searchsorted(documents, wanted), documents.size - 1)
                counts += documents[places] == wanted
        return counts / max(len(terms), 1)

    def bytes_used(self) -> int:
        """Estimate of the memory held, in bytes, from counts alone: within about a quarter of what tracemalloc sees."""
        columns = self._rows.nbytes + self._lengths.nbytes + self._document_of.itemsize * len(self._document_of)
        # array.array grows by an eighth at a time.
        return columns + self._postings_held * 17 // 2 + _BYTES_A_TERM * len(self._postings) + _BYTES_A_KEY * len(self)

    def idf(self, term: str) -> float:
        """How rare a term is: above 0, and highest where no text holds it."""
        holding = self._live_postings(term)[0].size
        return log(1 + (len(self) - holding + 0.5) / (holding + 0.5))

    def length(self, key: str) -> int:
        """Tokens of the key's text; KeyError if the key is not in the index."""
        return int(self._lengths[self._document_of[self._row_of[key]]])

    def _contributions(self, times: int, holding: int, documents: Rows, counts: Rows) -> Values:
        """What a term that `holding` texts hold adds to the score of these."""
        idf = log(1 + (len(self) - holding + 0.5) / (holding + 0.5))
        norms = self.k1 * (1 - self.b + self.b * self._lengths[documents] / self.mean_length)
        contributions: Values = times * idf * (counts * (self.k1 + 1) / (counts + norms))
        return contributions

    def _live_postings(self, term: str) -> tuple[Rows, Rows]:
        """The documents that hold the term and are not dead, ascending, and how often each holds it."""
        # A copy, not a view: an array cannot grow while a view of it is alive.
        packed = np.frombuffer(self._postings.get(term, _NOTHING).tobytes(), dtype=np.int64)
        documents, counts = packed >> _TF_BITS, packed & _TF_MAX
        if self._documents == len(self):
            return documents, counts
        living = self._rows[documents] != _DEAD
        return documents[living], counts[living]

    def _take_row(self, key: str) -> int:
        if self._free_rows:
            row = self._free_rows.pop()
            self._key_of[row] = key
        else:
            row = len(self._key_of)
            self._key_of.append(key)
            self._document_of.append(_DEAD)
        self._row_of[key] = row
        return row

    def _write(self, row: int, terms: list[str]) -> None:
        document = self._documents
        if document == self._rows.size:
            self._rows = np.concatenate([self._rows, np.full(document, _DEAD, dtype=np.int64)])
            self._lengths = np.concatenate([self._lengths, np.zeros(document, dtype=np.int64)])
        counts = Counter(terms)
        postings, base = self._postings, document << _TF_BITS
        for term, count in counts.items():
            packed = base | min(count, _TF_MAX)
            held = postings.get(term)
            if held is None:
                postings[term] = array("q", (packed,))
            else:
                held.append(packed)
        self._postings_held += len(counts)
        self._rows[document], self._lengths[document] = row, len(terms)
        self._document_of[row] = document
        self._total_length += len(terms)
        self._documents += 1

    def _bury(self, row: int) -> None:
        document = self._document_of[row]
        self._rows[document] = _DEAD
        self._total_length -= int(self._lengths[document])

    def _compact_if_due(self) -> None:
        if self._documents > max(2 * len(self), _SMALLEST_COMPACTION):
            self._compact()

    def _compact(self) -> None:
        """Renumber the living documents from 0, in their order, and rewrite every term's postings in one pass."""
        living = self._rows[: self._documents] != _DEAD
        renumbered = np.cumsum(living) - 1
        ends = np.cumsum([len(held) for held in self._postings.values()], dtype=np.int64)
        packed = np.frombuffer(b"".join([held.tobytes() for held in self._postings.values()]), dtype=np.int64)
        documents = packed >> _TF_BITS
        kept = living[documents]
        bounds = [0, *np.concatenate([[0], np.cumsum(kept)])[ends].tolist()]
        packed = (renumbered[documents[kept]] << _TF_BITS) | (packed[kept] & _TF_MAX)
        raw, size = packed.tobytes(), packed.itemsize
        self._postings = {
            term: array("q", raw[start * size : end * size])
            for term, (start, end) in zip(self._postings, pairwise(bounds), strict=True)
            if end > start
        }
        self._postings_held = packed.size
        self._documents = int(living.sum())
        capacity = max(64, 2 * self._documents)
        rows, lengths = self._rows[: living.size][living], self._lengths[: living.size][living]
        self._rows = np.full(capacity, _DEAD, dtype=np.int64)
        self._lengths = np.zeros(capacity, dtype=np.int64)
        self._rows[: rows.size], self._lengths[: rows.size] = rows, lengths
        documents_by_row = np.full(len(self._key_of), _DEAD, dtype=np.int64)
        documents_by_row[rows] = np.arange(rows.size)
        self._document_of = array("q", documents_by_row.tobytes())


_NOTHING: array[int] = array("q")
