"""Which of an owner's records may read as more sensitive for the sake of what they have words of, found by numbers alone.

An account is not held for it: 16 bytes for each memory that it names, and some for each that hides its words. What is found is
whatever may be reached, and never too little; how sensitive each is, `projections.views.word_levels` says of these.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable

import numpy as np
import numpy.typing as npt

from projections.memory.kind import is_turn
from projections.memory.record import SECRET, Memory
from projections.views.word_levels import turns_told, words_named

Ids = npt.NDArray[np.uint64]


class Named:
    """What accounts name, and what hides its words, by short ids. Of one id all that was put counts."""

    def __init__(self, short: Callable[[str], int]) -> None:
        self._short = short
        self._words, self._turns = _Names(), _Names()
        """By id; and turns that a summary tells, by the turn."""
        self._hiding, self._secret, self._as_turns = array("Q"), array("Q"), array("Q")
        """Ids of what hides its words; of those that hide them wholly; and of those that hide them as turns too."""
        self._turn_of = _Names()
        """A turn, by the id of its memory where that is another."""

    def put(self, memory: Memory) -> None:
        """Take in a record: what it names, and whether it hides its words."""
        short = self._short(memory.id)
        if is_turn(memory) and memory.source_turns[0] != memory.id:
            self._turn_of.put(short, self._short(memory.source_turns[0]))
        for name in turns_told(memory):
            self._turns.put(self._short(name), short)
        for name in words_named(memory):
            self._words.put(self._short(name), short)
        gone = memory.purged_at is not None or memory.rejected_seq is not None
        taken = memory.deleted_at is not None and memory.deletion == "user_delete"
        if memory.sensitivity or gone or taken:
            self._hiding.append(short)
            if memory.sensitivity >= SECRET or gone or taken:
                self._secret.append(short)
            if memory.sensitivity_set_at is not None or memory.purged_at is not None or taken:
                self._as_turns.append(short)

    def ids_of_accounts(self, *, secret: bool = False, rejected: Iterable[str] = ()) -> Ids:
        """Accounts that may be reached from what hides its words, or hides them wholly (`secret`); sorted."""
        sources = np.union1d(_ids(self._secret if secret else self._hiding), self._shorts(rejected))
        return self._reached(sources)

    def deciding(self, rejected: Iterable[str]) -> Ids:
        """These accounts, and what hides its words and is named; sorted. Nothing where no account is reached."""
        more = self._shorts(rejected)
        accounts = self._reached(np.union1d(_ids(self._hiding), more))
        return np.union1d(accounts, np.union1d(_ids(self._hiding), more)) if len(accounts) else accounts

    def _shorts(self, names: Iterable[str]) -> Ids:
        return np.array([self._short(name) for name in names], dtype=np.uint64)

    def _reached(self, sources: Ids) -> Ids:
        accounts = np.union1d(self._words.values, self._turns.values)
        met, as_turns = np.zeros(len(accounts), dtype=np.bool_), np.intersect1d(sources, _ids(self._as_turns))
        while len(sources):
            turns = np.union1d(as_turns, self._turn_of.of(as_turns))
            found = np.searchsorted(accounts, np.union1d(self._words.of(sources), self._turns.of(turns)))
            found = found[~met[found]]
            met[found] = True
            sources = as_turns = accounts[found]
        return accounts[met]


class _Names:
    """Pairs of numbers, looked up by the first."""

    def __init__(self) -> None:
        self._keys, self._values = array("Q"), array("Q")
        self._sorted: tuple[Ids, Ids] | None = None

    def put(self, key: int, value: int) -> None:
        self._keys.append(key)
        self._values.append(value)
        self._sorted = None

    @property
    def values(self) -> Ids:
        """The second of each."""
        return _ids(self._values)

    def of(self, keys: Ids) -> Ids:
        """All that stands under any of these."""
        if self._sorted is None:
            own, order = _ids(self._keys), np.argsort(_ids(self._keys), kind="stable")
            self._sorted = own[order], _ids(self._values)[order]
        own, values = self._sorted
        first, end = np.searchsorted(own, keys, "left"), np.searchsorted(own, keys, "right")
        many = end - first
        starts = np.repeat(first - np.concatenate(([0], np.cumsum(many)[:-1])), many) if len(keys) else many
        return np.unique(values[starts + np.arange(int(many.sum()))])


def _ids(held: array[int]) -> Ids:
    return np.array(held, dtype=np.uint64)
