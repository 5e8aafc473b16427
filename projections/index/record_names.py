"""What lists filter by and no column has: who said a memory, where, and what it may contradict; kept level with a view. Pure.

Of a secret memory no name is known here, as none is told of it.
"""

from __future__ import annotations

from typing import Final, get_args

import numpy as np
import numpy.typing as npt

from engramlog_server.events.vocabulary import Source
from engramlog_server.projections.memory.columns import Columns, Flags, Rows
from engramlog_server.projections.memory.record import SECRET, Memory

SOURCES: Final[tuple[str, ...]] = get_args(Source)
NAMES: Final = ("session", "project", "speaker")
"""Fields of a record with one name each; a speaker's whatever its case."""
_NONE = -1
_BYTES_A_ROW = 60
_BYTES_A_CONFLICT = 120
Numbers = npt.NDArray[np.int32]


class _Named:
    """One name or none a row, as numbers."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._rows: list[int] = []
        self._column: Numbers | None = None

    def put(self, row: int, name: str | None) -> None:
        number = _NONE if name is None else self._numbers.setdefault(name, len(self._numbers))
        if row == len(self._rows):
            self._rows.append(number)
        elif self._rows[row] != number:
            self._rows[row] = number
        else:
            return
        self._column = None

    def having(self, name: str) -> Flags:
        if self._column is None:
            self._column = np.array(self._rows, dtype=np.int32)
        found: Flags = self._column == self._numbers.get(name, _NONE - 1)
        return found


class RecordNames:
    """Of each row its source, session, project and speaker. Rows are put in their order, and any of them again."""

    def __init__(self) -> None:
        self._named = {name: _Named() for name in NAMES}
        self._sources = np.zeros(16, dtype=np.int8)
        self._rejected = np.zeros(16, dtype=bool)
        self._length = 0
        self._conflicts: dict[int, tuple[str, ...]] = {}

    def put(self, row: int, memory: Memory) -> None:
        """Take in a row that is new or has changed."""
        if row >= self._sources.size:
            room = max(2 * self._sources.size, row + 1)
            self._sources, self._rejected = np.resize(self._sources, room), np.resize(self._rejected, room)
        self._length = max(self._length, row + 1)
        self._sources[row] = SOURCES.index(memory.source)
        self._rejected[row] = memory.rejected_seq is not None
        if memory.conflicts:
            self._conflicts[row] = memory.conflicts
        else:
            self._conflicts.pop(row, None)
        hidden = memory.sensitivity >= SECRET
        for name, column in self._named.items():
            told: str | None = None if hidden else getattr(memory, name)
            column.put(row, told if told is None or name != "speaker" else told.casefold())

    def having(self, field: str, name: str) -> Flags:
        """Rows whose session, project or speaker this is, shape (rows,)."""
        return self._named[field].having(name.casefold() if field == "speaker" else name)

    @property
    def sources(self) -> npt.NDArray[np.int8]:
        """Of each row its source, as `SOURCES` number it."""
        return self._sources[: self._length]

    @property
    def rejected(self) -> Flags:
        """Rows of which what they say is rejected, deleted ones too."""
        return self._rejected[: self._length]

    def conflicting(self, columns: Columns) -> Flags:
        """Rows that may contradict one that stands, as answers tell it beside them."""
        found = np.zeros(len(columns), dtype=bool)
        for row, others in self._conflicts.items():
            rows: Rows = columns.rows(others)
            found[row] = bool((columns.state[rows[rows >= 0]] == Columns.LIVE).any())
        return found

    def bytes_used(self) -> int:
        """About how much it takes."""
        return _BYTES_A_ROW * self._length + _BYTES_A_CONFLICT * len(self._conflicts)
