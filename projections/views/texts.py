"""The index by which the rows of a view are found, and what is hidden of any past because it is purged or secret today. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from engramlog_server.projections.index.postings import TermSequence
from engramlog_server.projections.index.search_index import Bm25Index, Scores
from engramlog_server.projections.laws.law import Floats
from engramlog_server.projections.memory.columns import Columns, Flags, Rows
from engramlog_server.projections.memory.record import SECRET, Memory, with_changes, without_content


def hidden_in(memories: Iterable[Memory]) -> dict[str, Memory]:
    """Those of these records of which no past may show the content either: purged ones and secrets."""
    return {memory.id: memory for memory in memories if memory.purged_at is not None or memory.sensitivity >= SECRET}


def hides_today(columns: Columns) -> Flags:
    """By row: whether no past may show the content."""
    hides: Flags = (columns.sensitivity >= SECRET) | (columns.state == Columns.PURGED)
    return hides


def hidden_ids(columns: Columns) -> list[str]:
    """Ids of these, in the order of rows; of a view, without reading the other records."""
    return _ids(columns, hides_today(columns))


def purged_ids(columns: Columns) -> list[str]:
    """The same of those that are purged."""
    return _ids(columns, columns.state == Columns.PURGED)


def _ids(columns: Columns, which: Flags) -> list[str]:
    rows: Rows = np.flatnonzero(which)
    return [columns.memories[row].id for row in rows.tolist()]


def as_hidden_today(memory: Memory, today: Memory) -> Memory:
    """A record of the past, of which today's record hides the content: a secret, or a tombstone where it was purged."""
    if today.purged_at is None:
        return with_changes(memory, sensitivity=SECRET)
    gone = {"deleted_at": today.deleted_at, "purged_at": today.purged_at}
    return with_changes(memory, **without_content(memory), **gone)


Unsaid = Callable[[], Iterable[tuple[str, TermSequence]]]


class Weighing(NamedTuple):
    """The parameters of BM25."""

    k1: float = 1.2
    b: float = 0.75


PLAIN_WEIGHING = Weighing()


class SearchedTexts:
    """The texts of rows of columns. Not for two threads at once."""

    columns: Columns

    def __init__(self) -> None:
        self._texts = Bm25Index()
        self._unsaid: Unsaid | None = None
        """What of a past is to be put into the index yet."""

    @property
    def _index(self) -> Bm25Index:
        """The index; what is not in it yet is read when it is first asked."""
        if self._unsaid is not None:
            unsaid, self._unsaid = self._unsaid, None
            self._texts.put_said(unsaid())
        return self._texts

    def coverage(self, query: str, rows: Rows) -> Floats:
        """Share in [0, 1] of the query's different terms that each of these rows holds, shape (len(rows),)."""
        return self._index.coverage(query, [self.columns.memories[int(row)].id for row in rows])

    def matches(self, query: str) -> Scores:
        """Rows that share a term with the query, with their BM25 scores."""
        self._index.weigh(*PLAIN_WEIGHING)
        return self._index.scores(query)

    def explain(self, query: str, memory_ids: Sequence[str]) -> list[dict[str, float]]:
        """What each term of the query brought to each memory's BM25 score; the values add up to it."""
        self._index.weigh(*PLAIN_WEIGHING)
        return self._index.explain_all(query, memory_ids)

    def matches_of(self, terms: Mapping[str, float], weighing: Weighing) -> Scores:
        """`matches` of a query that has each term so many times, under parameters of its own."""
        self._index.weigh(*weighing)
        return self._index.scores_of(terms)

    def explain_of(
        self, terms: Mapping[str, float], memory_ids: Sequence[str], weighing: Weighing
    ) -> list[dict[str, float]]:
        """`explain` of such a query."""
        self._index.weigh(*weighing)
        return self._index.explain_of(terms, memory_ids)

    def terms_beginning(self, prefix: str, most: int) -> list[str]:
        """Terms of what search reads that begin so, at most so many."""
        return self._index.terms_beginning(prefix, most)

    def idf(self, term: str) -> float:
        """How rare a term is in what search reads, above 0."""
        return self._index.idf(term)

    @property
    def mean_length(self) -> float:
        """Mean length, in tokens, of what search reads."""
        return self._index.mean_length
