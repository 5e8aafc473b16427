"""A moment of an owner's past beside the present: what of a view that is held serves for a view of then. Pure.

Most memories that there were then say the same words today: their terms, their place in the talk and, where nothing touched them
since, their records and columns are those of today. Only the others are read. Nothing is shared that a view changes when it goes
on, so the moment outlives the present that it was made of.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from engramlog_server.projections.checks import Bounds, Check, counted
from engramlog_server.projections.index.conversation_index import NONE, KeptConversation
from engramlog_server.projections.index.postings import TermSequence, has_text, indexed_terms, indexed_text
from engramlog_server.projections.index.search_index import Bm25Index
from engramlog_server.projections.index.talk_then import talk_then
from engramlog_server.projections.memory.columns import Columns, Flags, Rows
from engramlog_server.projections.memory.record import Memory, decode_memory, encode_memory, words_of
from engramlog_server.projections.past.moments import KeptMemories
from engramlog_server.projections.views.texts import Unsaid, as_hidden_today, hides_today

_PAGE = 1_000
_READ_FOR_A_FOLDED = 3
"""Records that are decoded and read into columns in the time in which an event is folded."""


class Present(NamedTuple):
    """What a view of today tells of itself; by its rows."""

    columns: Columns
    read_otherwise: Collection[str]
    """Ids of records that read otherwise than they were folded."""
    texts: Bm25Index
    talk: KeptConversation | None
    """A copy; None where the talk was never asked for."""
    bearing: Sequence[int] | None
    """Rows that decide what is corrected; None where that was never asked."""


class Moment:
    """The records of a moment, by row in their order, and what stands of them as today. Asked before the present moves on."""

    def __init__(self, memories: Mapping[str, Memory], present: Present, bounds: Bounds) -> None:
        self.ids = list(memories)
        now = self._now = present
        self._rows: Rows = now.columns.rows(self.ids)
        """By row: that of today, or NONE."""
        self._hidden: Flags = np.append(hides_today(now.columns), False)[self._rows]
        """By row: whether today hides the content."""
        differing = self._differing(memories, bounds.check)
        bounds.weigh(len(differing) // _READ_FOR_A_FOLDED)
        passed = counted(differing, bounds.check, len(differing))
        self._others = {row: _record(memories, self.ids[row]) for row in passed}
        """The records of rows that do not stand as today."""
        today = now.columns.memories
        self.records = [
            self._others[row] if row in self._others else today[at] for row, at in enumerate(self._rows.tolist())
        ]
        for row in np.flatnonzero(self._hidden).tolist():
            self.records[row] = self._others[row] = as_hidden_today(self._others[row], today[self._rows[row]])

    def _differing(self, then: Mapping[str, Memory], check: Check) -> list[int]:
        """Rows whose record is another than today's, is hidden today, or reads otherwise today than it was folded."""
        columns = self._now.columns
        apart = np.zeros(len(columns) + 1, dtype=bool)
        apart[columns.rows(self._now.read_otherwise)] = apart[NONE] = True
        beside = apart[self._rows] | self._hidden
        told, found = zip(self.ids, self._rows.tolist(), beside.tolist(), strict=True), list[int]()
        for row, (memory_id, at, other) in enumerate(told):
            if row % _PAGE == 0:
                check(row, len(self.ids))
            if other or not _is(then, memory_id, columns.memories[at]):
                found.append(row)
        return found

    def columns(self) -> Columns:
        """Columns of the records as they were folded."""
        found = Columns.of_others(self.ids, self.records, self._now.columns, self._rows)
        found.fill_rows(self._others)
        return found

    def read(self, columns: Columns, memories: Iterable[Memory]) -> None:
        """How some of the records read beside others then."""
        read = dict[int, Memory]()
        for memory in memories:
            row = columns.row(memory.id)
            if row is not None and memory != self.records[row]:
                read[row] = self.records[row] = memory
        columns.fill_rows(read)
        self._others |= read

    def worded(self) -> Rows:
        """Those of the other rows that say the same words as today."""
        memories, others = self._now.columns.memories, list(self._others)
        may = (~self._hidden & (self._rows != NONE))[others].tolist()
        told = zip(others, self._others.values(), may, self._rows[others].tolist(), strict=True)
        found = [
            row for row, then, may, at in told if may and has_text(then) and words_of(then) == words_of(memories[at])
        ]
        return np.array(found, dtype=np.int64)

    def texts(self, worded: Rows) -> tuple[Bm25Index, Unsaid]:
        """The index, and what is to be put into it before it is asked: other texts than today's."""
        unsaid = np.setdiff1d(np.array(list(self._others), dtype=np.int64), worded)
        rows, records = self._rows.copy(), self.records
        rows[unsaid] = NONE
        return self._now.texts.among(self.ids, rows), lambda: _said(records, unsaid.tolist())

    def talk(self, worded: Rows) -> KeptConversation | None:
        """The shape of the talk; None where that of today was never asked for."""
        now = self._now.talk
        return None if now is None else talk_then(now, self._rows, self._others, worded)

    def bearing(self) -> dict[int, Memory] | None:
        """Records that may decide what is corrected, by row; None where those of today are not known."""
        if self._now.bearing is None:
            return None
        bears = np.zeros(len(self._now.columns) + 1, dtype=bool)
        bears[list(self._now.bearing)] = True
        return {row: self.records[row] for row in np.flatnonzero(bears[self._rows]).tolist()} | self._others


def _record(memories: Mapping[str, Memory], memory_id: str) -> Memory:
    """A record of then; of one that was kept, whether or not its content is kept too."""
    raw = memories.raw(memory_id) if isinstance(memories, KeptMemories) else None
    return memories[memory_id] if raw is None else decode_memory(raw)


def _is(memories: Mapping[str, Memory], memory_id: str, today: Memory) -> bool:
    """Whether the record of then is that of today; one that nobody read is not decoded for it."""
    raw = memories.raw(memory_id) if isinstance(memories, KeptMemories) else None
    return memories[memory_id] == today if raw is None else encode_memory(today) == raw


def _said(records: Sequence[Memory], rows: Iterable[int]) -> Iterator[tuple[str, TermSequence]]:
    """What search reads of some records."""
    for row in rows:
        memory = records[row]
        yield memory.id, indexed_terms(memory, indexed_text(memory))
