"""The formula of BM25 over texts of known lengths; what it needs of all of them is kept until they change. See search_index."""

from __future__ import annotations

from math import log

import numpy as np
import numpy.typing as npt

from engramlog_server.projections.index.kept_texts import Integers

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
