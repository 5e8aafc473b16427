"""Which row of a view has which vector, under one model. Pure: vectors are told, and what is missing is asked for.

A vector belongs to a content, not to a memory: rows of the same content share it, and a row whose content changed forgets
it. What is purged or secret has no content here, and so no vector.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import numpy.typing as npt

from engramlog_server.projections.embedding.meaning import IdleScores, Vectors, content_key, embedded_text
from engramlog_server.projections.memory.record import Memory

_FIRST = 16
_BYTES_A_ROW = 250
"""Of the bookkeeping, measured with tracemalloc; the vectors are counted by themselves."""


class MeaningIndex:
    """The whole vectors of one owner's rows under one model, named under its secret. Not for two threads at once."""

    def __init__(self, model: str, secret: bytes) -> None:
        self.model = model
        self.secret = secret
        self._keys: list[bytes] = []
        """By row; empty where a row has no text."""
        self._rows: dict[bytes, dict[int, None]] = {}
        self._missing: dict[bytes, None] = {}
        self._unasked: dict[bytes, None] = {}
        """What of it came since the store was asked, when it stood at `_level`."""
        self._level: int | None = None
        self.idle: tuple[int, IdleScores] | None = None
        """Scores of idle messages, as of so many vectors."""
        self.wanted = 0
        """How many rows hold text."""
        self._wholes = np.zeros((0, 0), np.float32)
        self._known = np.zeros(0, np.bool_)

    def put(self, row: int, memory: Memory) -> None:
        """Take in a memory, new or changed: it keeps its vector only where its content is the same."""
        while len(self._keys) <= row:
            self._keys.append(b"")
        text = embedded_text(memory)
        key, old = content_key(self.secret, text) if text else b"", self._keys[row]
        if key == old:
            return
        self._grow()
        if old:
            self._leave(row, old)
        self._keys[row] = key
        self._wholes[row] = 0
        self._known[row] = False
        if key:
            self._join(row, key)

    def _leave(self, row: int, key: bytes) -> None:
        rows = self._rows[key]
        del rows[row]
        self.wanted -= 1
        if not rows:
            del self._rows[key]
            self._missing.pop(key, None)
            self._unasked.pop(key, None)

    def _join(self, row: int, key: bytes) -> None:
        rows = self._rows.setdefault(key, {})
        alike = next(iter(rows), None)
        if alike is not None and self._known[alike]:
            self._wholes[row] = self._wholes[alike]
            self._known[row] = True
        else:
            self._missing[key] = self._unasked[key] = None
        rows[row] = None
        self.wanted += 1

    def _grow(self) -> None:
        """Room for all rows, twice as much as there was."""
        if len(self._keys) <= len(self._known):
            return
        room = max(_FIRST, 2 * len(self._known), len(self._keys))
        wholes, known = np.zeros((room, self.dimensions), np.float32), np.zeros(room, np.bool_)
        wholes[: len(self._wholes)], known[: len(self._known)] = self._wholes, self._known
        self._wholes, self._known = wholes, known

    @property
    def dimensions(self) -> int:
        """Dimensions of the model's vectors; 0 before any is known."""
        return self._wholes.shape[1]

    def fit(self, dimensions: int) -> None:
        """Hold vectors of so many dimensions; those of others were another model's, whatever its name, and are forgotten."""
        if dimensions == self.dimensions:
            return
        if self.dimensions:
            self._known[:] = False
            self._missing = dict.fromkeys(self._rows)
            self._level = None
        self._wholes = np.zeros((len(self._known), dimensions), np.float32)

    def missing(self) -> list[bytes]:
        """Content keys that rows want and whose vectors are not known, in the order of rows."""
        return list(self._missing)

    @property
    def lacks(self) -> int:
        """How many content keys have no known vector."""
        return len(self._missing)

    def wants(self, key: bytes) -> bool:
        """Whether a row has a text with this content key."""
        return key in self._rows

    def first_row(self, key: bytes) -> int:
        """A row whose text has this content key."""
        return next(iter(self._rows[key]))

    @property
    def level(self) -> int | None:
        """At which count of changes the store was asked last; None where it must be asked for all."""
        return self._level

    def to_ask(self, level: int) -> list[bytes]:
        """What to look for in the store, which counts its changes: all that is missing after a change, else what is new."""
        return list(self._unasked if level == self._level else self._missing)

    def answered(self, level: int, asked: Iterable[bytes], found: Mapping[bytes, Vectors]) -> None:
        """What the store gave at this level: the rest is not asked for again before the store has changed."""
        self._level = level
        for key in asked:
            self._unasked.pop(key, None)
        self.take(found)

    def take(self, found: Mapping[bytes, Vectors]) -> None:
        """Vectors by content key; those that no row wants, and those of other dimensions, are passed over."""
        if not self.dimensions and found:
            self.fit(next(iter(found.values())).size)
        fitting = {key: whole for key, whole in found.items() if key in self._rows and whole.size == self.dimensions}
        pairs = [(row, whole) for key, whole in fitting.items() for row in self._rows[key]]
        if not pairs:
            return
        rows = [row for row, _ in pairs]
        self._wholes[rows] = np.stack([whole for _, whole in pairs])
        self._known[rows] = True
        for key in fitting:
            self._missing.pop(key, None)
            self._unasked.pop(key, None)

    def key(self, row: int) -> bytes:
        """The content key of a row; empty where it has no text."""
        return self._keys[row]

    @property
    def wholes(self) -> Vectors:
        """By row, shape (rows, dimensions); zeros where a row has none. Holds until the next change."""
        self._grow()
        return self._wholes[: len(self._keys)]

    @property
    def known(self) -> npt.NDArray[np.bool_]:
        """Which rows have a vector, shape (rows,). Holds until the next change."""
        self._grow()
        return self._known[: len(self._keys)]

    def bytes_used(self) -> int:
        """About how much memory this index takes."""
        return self._wholes.nbytes + self._known.nbytes + _BYTES_A_ROW * len(self._keys)

    def __len__(self) -> int:
        return len(self._keys)
