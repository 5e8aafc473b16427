"""An owner's memories as numpy columns: what laws and modes need of every row at once.

Rows are kept by id, and a memory put again takes its own row. Times are int64 microseconds; absent ones are `NEVER`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from projections.memory import CATEGORIES, Memory

NEVER = np.iinfo(np.int64).min // 4
"""Stands for "no such time"; far enough from the edge that differences do not overflow."""
_CATEGORY = {name: number for number, name in enumerate(CATEGORIES)}
_FIELDS: tuple[tuple[str, type[np.generic], int], ...] = (
    ("category", np.int8, 0),
    ("level", np.int8, 0),
    ("sensitivity", np.int8, 0),
    ("state", np.int8, 0),
    ("conflict", np.int8, 0),
    ("core", np.int8, 0),
    ("created_at", np.int64, 0),
    ("last_activated_at", np.int64, 0),
    ("last_mentioned_at", np.int64, NEVER),
    ("negated_at", np.int64, NEVER),
    ("mention_boost", np.float64, 0),
    ("access_count", np.int64, 0),
)


class Columns:
    """Columns with one row a memory. `state`: what hides it; `conflict`: which curve C follows."""

    HELD, FADE, KEEP, SUPERSEDED = 0, 1, 2, 3
    """conflict: not negated, weight_balance, version_keep, latest_wins."""
    LIVE, MERGED, RETIRED, DELETED, PURGED = 0, 1, 2, 3, 4

    category: np.ndarray
    level: np.ndarray
    sensitivity: np.ndarray
    state: np.ndarray
    conflict: np.ndarray
    core: np.ndarray
    created_at: np.ndarray
    last_activated_at: np.ndarray
    last_mentioned_at: np.ndarray
    negated_at: np.ndarray
    mention_boost: np.ndarray
    access_count: np.ndarray

    def __init__(self) -> None:
        self.memories: list[Memory] = []
        self._rows: dict[str, int] = {}
        self._held: dict[str, np.ndarray] = {}
        """The columns with room to grow; the attributes are what is filled of them."""
        self._capacity = 0
        self._grow(16)
        self._trim()

    def _grow(self, capacity: int) -> None:
        for name, kind, empty in _FIELDS:
            column = np.full(capacity, empty, dtype=kind)
            if self._capacity:
                column[: self._capacity] = self._held[name]
            self._held[name] = column
        self._capacity = capacity

    def _trim(self) -> None:
        for name, _, _ in _FIELDS:
            setattr(self, name, self._held[name][: len(self.memories)])

    def put(self, memory: Memory) -> int:
        """Add or replace a memory; gives its row."""
        row = self._put(memory)
        self._trim()
        return row

    def put_all(self, memories: Iterable[Memory]) -> None:
        """`put` for each, in order."""
        for memory in memories:
            self._put(memory)
        self._trim()

    def _put(self, memory: Memory) -> int:
        row = self._rows.get(memory.id)
        if row is None:
            row = self._rows[memory.id] = len(self.memories)
            self.memories.append(memory)
            if len(self.memories) > self._capacity:
                self._grow(2 * self._capacity)
        else:
            self.memories[row] = memory
        held = self._held
        held["category"][row] = _CATEGORY[memory.category]
        held["level"][row] = memory.level
        held["sensitivity"][row] = memory.sensitivity
        held["state"][row] = state_of(memory)
        held["conflict"][row] = conflict_of(memory)
        held["core"][row] = memory.tier in ("core", "system")
        held["created_at"][row] = memory.created_at
        held["last_activated_at"][row] = memory.last_activated_at
        held["last_mentioned_at"][row] = memory.mentions[-1] if memory.mentions else NEVER
        held["negated_at"][row] = NEVER if memory.negated_at is None else memory.negated_at
        held["mention_boost"][row] = memory.mention_boost if memory.mentions else 0.0
        held["access_count"][row] = memory.access_count
        return row

    def standing(self) -> np.ndarray:
        """`state` of every row, where a merged memory whose merge was deleted counts as deleted too, shape (rows,)."""
        merged = np.flatnonzero(self.state == self.MERGED)
        if not merged.size or not (self.state >= self.DELETED).any():
            return self.state
        states = self.state.copy()
        for row in merged:
            into = self.memories[row].merged_into
            following = self._rows.get(into) if into else None
            while following is not None and self.state[following] == self.MERGED:
                following = self._rows.get(self.memories[following].merged_into or "")
            if following is not None and self.state[following] >= self.DELETED:
                states[row] = self.DELETED
        return states

    def row(self, memory_id: str) -> int | None:
        """The row of a memory, or None."""
        return self._rows.get(memory_id)

    def mentions(self, row: int) -> tuple[int, ...]:
        """Mention times of a row, ascending."""
        return self.memories[row].mentions

    def __len__(self) -> int:
        return len(self.memories)

    def __iter__(self) -> Iterator[Memory]:
        return iter(self.memories)


def state_of(memory: Memory) -> int:
    """What hides a memory from recall by itself, strongest first."""
    if memory.purged_at is not None:
        return Columns.PURGED
    if memory.deleted_at is not None:
        return Columns.DELETED
    if memory.retired_at is not None:
        return Columns.RETIRED
    return Columns.MERGED if memory.merged_into is not None else Columns.LIVE


def conflict_of(memory: Memory) -> int:
    """Which curve C follows: the resolution of the negation that holds."""
    if memory.negated_at is None:
        return Columns.HELD
    return {"weight_balance": Columns.FADE, "version_keep": Columns.KEEP}.get(
        memory.resolution or "", Columns.SUPERSEDED
    )
