"""Rows of keys: a key keeps its number while it is there, and a number that became free goes to the next new key."""

from __future__ import annotations

from collections.abc import Sequence


class KeyRows:
    """Numbers from 0, each of one key at a time."""

    def __init__(self) -> None:
        self._row_of: dict[str, int] = {}
        self._key_of: list[str | None] = []
        self._free: list[int] = []

    @classmethod
    def of(cls, keys: Sequence[str]) -> KeyRows:
        """Each key under its place; they are different ones."""
        found = cls()
        found._key_of = list[str | None](keys)
        found._row_of = {key: row for row, key in enumerate(keys)}
        return found

    def __len__(self) -> int:
        return len(self._row_of)

    def __contains__(self, key: object) -> bool:
        return key in self._row_of

    @property
    def count(self) -> int:
        """One more than the highest row ever given."""
        return len(self._key_of)

    def row(self, key: str) -> int:
        """The key's row, or KeyError."""
        return self._row_of[key]

    def key(self, row: int) -> str:
        """The key of a row; KeyError if no key has it now."""
        found = self._key_of[row] if 0 <= row < len(self._key_of) else None
        if found is None:
            raise KeyError(row)
        return found

    def take(self, key: str) -> int:
        """A row for a key that has none."""
        if self._free:
            row = self._free.pop()
            self._key_of[row] = key
        else:
            row = len(self._key_of)
            self._key_of.append(key)
        self._row_of[key] = row
        return row

    def free(self, key: str) -> int | None:
        """Take a key out; the row it had, or None."""
        row = self._row_of.pop(key, None)
        if row is not None:
            self._key_of[row] = None
            self._free.append(row)
        return row
