"""The context tags of all rows at once, as far as they are told: of a secret memory those of its time alone. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from engramlog_server.projections.checks import Check, counted, unchecked
from engramlog_server.projections.memory.columns import Columns, Flags, Rows
from engramlog_server.projections.memory.record import Memory
from engramlog_server.projections.memory.tags import TAGS, TIME_TAGS, came_in, time_tags, timeless_tags

_BYTES_A_ROW = 90
_BYTES_A_PAIR = 12
_SECOND = 1_000_000
Numbers = npt.NDArray[np.int32]


class Tagged(NamedTuple):
    """Pairs of a row and a tag that it has, each once."""

    rows: Rows
    tags: Numbers
    """As `ToldTags.names` number them."""


class ToldTags:
    """Of each row its tags, whatever their case. Rows are put in their order, and any of them again."""

    def __init__(self) -> None:
        self.names: list[str] = [*TAGS]
        """Case-folded."""
        self._numbers = {name: number for number, name in enumerate(TAGS)}
        self._timeless: list[tuple[int, ...]] = []
        self._timed: list[tuple[bool, bool]] = []
        """By row: whether it also has tags of its time, and whether it was imported."""
        self._of_time: dict[tuple[bool, int], tuple[int, ...]] = {}
        """In the zone: (whether it was imported, second) -> tags."""
        self._zone = ""
        self._pairs: Tagged | None = None

    def put(self, row: int, memory: Memory) -> None:
        """Take in a row that is new or has changed."""
        tags, derived = timeless_tags(memory)
        timed = derived, came_in(memory)
        numbers = tuple(dict.fromkeys(map(self._number, tags)))
        if row == len(self._timeless):
            self._timeless.append(numbers)
            self._timed.append(timed)
        elif (self._timeless[row], self._timed[row]) != (numbers, timed):
            self._timeless[row], self._timed[row] = numbers, timed
        else:
            return
        self._pairs = None

    def _number(self, tag: str) -> int:
        name = tag.casefold()
        number = self._numbers.setdefault(name, len(self.names))
        if number == len(self.names):
            self.names.append(name)
        return number

    def pairs(self, columns: Columns, zone: str, check: Check = unchecked) -> Tagged:
        """Every row with every tag that it has, where its owner's clocks show this zone."""
        if self._pairs is None or self._zone != zone:
            if self._zone != zone:
                self._of_time.clear()
            self._pairs, self._zone = self._paired(columns, zone, check), zone
        return self._pairs

    def _paired(self, columns: Columns, zone: str, check: Check) -> Tagged:
        rows, tags = list[int](), list[int]()
        seconds = (columns.created_at // _SECOND).tolist()
        for row, (told, (timed, imported)) in enumerate(
            zip(counted(self._timeless, check, len(seconds)), self._timed, strict=True)
        ):
            found = told
            if timed:
                second = seconds[row]
                beside = self._of_time.get((imported, second))
                if beside is None:
                    named = time_tags(second * _SECOND, zone, came_in=imported)
                    beside = self._of_time[imported, second] = tuple(map(TIME_TAGS.index, named))
                found = (*told, *(one for one in beside if one not in told))
            rows += [row] * len(found)
            tags += found
        return Tagged(np.array(rows, dtype=np.int64), np.array(tags, dtype=np.int32))

    def having(self, pairs: Tagged, asked: Iterable[str], size: int) -> Flags:
        """Rows that have any of these tags, shape (size,)."""
        wanted = [number for tag in asked if (number := self._numbers.get(tag.casefold())) is not None]
        found = np.zeros(size, dtype=bool)
        found[pairs.rows[np.isin(pairs.tags, wanted)]] = True
        return found

    def bytes_used(self) -> int:
        """About how much it takes."""
        pairs = 0 if self._pairs is None else self._pairs.rows.size
        return _BYTES_A_ROW * (len(self._timeless) + len(self._of_time)) + _BYTES_A_PAIR * pairs
