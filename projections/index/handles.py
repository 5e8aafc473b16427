"""Which rows of a view have which handle; kept level with the view. Pure."""

from __future__ import annotations

from engramlog_server.projections.memory.record import Memory, handle_of

_BYTES_A_ROW = 150


class Handles:
    """The ids of an owner's memories by handle. Not for two threads at once."""

    def __init__(self) -> None:
        self._ids: dict[str, tuple[str, ...]] = {}
        self._rows = 0

    def put(self, row: int, memory: Memory) -> None:
        """Take in a row that is new; the handle of a row never changes."""
        if row < self._rows:
            return
        self._rows = row + 1
        handle = handle_of(memory.id)
        self._ids[handle] = (*self._ids.get(handle, ()), memory.id)

    def ids(self, handle: str) -> tuple[str, ...]:
        """The ids of the memories that have a handle, oldest first."""
        return self._ids.get(handle, ())

    def bytes_used(self) -> int:
        """About how much memory this index takes."""
        return _BYTES_A_ROW * self._rows
