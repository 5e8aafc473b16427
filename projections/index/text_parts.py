"""What memories say, written as parts of it are looked for: one text a row, with its id. Pure.

Of a secret memory there is its id alone: no question finds, or counts, what it says.
"""

from __future__ import annotations

from sys import getsizeof

import numpy as np

from engramlog_server.projections.language.traditional import part_folded
from engramlog_server.projections.memory.columns import Flags
from engramlog_server.projections.memory.record import SECRET, Memory

_BETWEEN = "\ud800"
"""Stands in no text: a part never reaches over it."""


class TextParts:
    """Of each row what a part is looked for in. Rows are put in their order, and any of them again."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._bytes = 0

    def put(self, row: int, memory: Memory) -> None:
        """Take in a row that is new or has changed."""
        text = parts_of(memory)
        if row == len(self._texts):
            self._texts.append(text)
        else:
            self._bytes -= getsizeof(self._texts[row])
            self._texts[row] = text
        self._bytes += getsizeof(text)

    def holding(self, part: str) -> Flags:
        """Rows that hold a part, which is folded already, shape (rows,)."""
        return np.fromiter((part in text for text in self._texts), bool, len(self._texts))

    def bytes_used(self) -> int:
        """About how much it takes."""
        return self._bytes + 8 * len(self._texts)


def parts_of(memory: Memory) -> str:
    """The id of a memory and, unless it is secret, what it says: its content, its summary, and what a sweep shortened it to."""
    if memory.sensitivity >= SECRET:
        return part_folded(memory.id)
    texts = (memory.id, memory.content, memory.summary, memory.compressed)
    return _BETWEEN.join(part_folded(text) for text in texts if text)
