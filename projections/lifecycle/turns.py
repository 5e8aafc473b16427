"""An owner's turns in the order of the log, found by id and by position; kept level with a view, whatever its size. Pure."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator

from engramlog_server.projections.memory.kind import is_turn
from engramlog_server.projections.memory.record import Memory

_BYTES_A_TURN = 250


class TurnIndex:
    """The rows of a view that are turns. Of several memories of one turn the first is the turn; nothing is ever taken out."""

    def __init__(self) -> None:
        self._places: list[tuple[int, int]] = []
        """(Position of creation, row), ascending."""
        self._first: dict[str, tuple[int, int]] = {}

    def put(self, row: int, memory: Memory) -> None:
        """Take in a row; one that is known changes nothing."""
        if not is_turn(memory):
            return
        turn_id, place = memory.source_turns[0], (memory.created_seq, row)
        if turn_id not in self._first:
            self._first[turn_id] = place
            insort(self._places, place)  # at the end: rows come in the order of the log

    def __contains__(self, turn_id: object) -> bool:
        return turn_id in self._first

    def after(self, turn_id: str) -> int:
        """Position from which turns come after this one; 0 where it is not known."""
        place = self._first.get(turn_id)
        return 0 if place is None else place[0] + 1

    def rows(self, first: int = 0) -> Iterator[int]:
        """Rows of the turns from a position on, one by one."""
        return (self._places[at][1] for at in range(bisect_left(self._places, (first, -1)), len(self._places)))

    def rows_before(self, position: int, most: int) -> list[int]:
        """Rows of the newest `most` turns before a position."""
        end = bisect_left(self._places, (position, -1))
        return [row for _, row in self._places[max(end - most, 0) : end]]

    def bytes_used(self) -> int:
        """About how much it takes."""
        return _BYTES_A_TURN * len(self._places)
