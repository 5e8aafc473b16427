"""Which memories of an owner say the same letter by letter: rows by the digest of what they say, kept level with a view. Pure."""

from __future__ import annotations

from engramlog_server.projections.memory.record import Memory

_BYTES_A_ROW = 250


class SaidIndex:
    """Rows by `Memory.stated`; a row without a digest is not in it."""

    def __init__(self) -> None:
        self._rows: dict[bytes, tuple[int, ...]] = {}
        self._of: dict[int, bytes] = {}

    def put(self, row: int, memory: Memory) -> None:
        """Take in a row that is new or has changed."""
        before = self._of.get(row, b"")
        if before == memory.stated:
            return
        if before:
            left = tuple(one for one in self._rows[before] if one != row)
            if left:
                self._rows[before] = left
            else:
                del self._rows[before]
            del self._of[row]
        if memory.stated:
            self._of[row] = memory.stated
            self._rows[memory.stated] = (*self._rows.get(memory.stated, ()), row)

    def rows(self, digest: bytes) -> tuple[int, ...]:
        """Rows that say it, the oldest first; none for an empty digest."""
        return self._rows.get(digest, ())

    def bytes_used(self) -> int:
        """About how much it takes."""
        return _BYTES_A_ROW * len(self._of)
