"""How an owner's records read beside each other: twins of what was negated or rejected, and what is set aside. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence

import numpy as np

from projections.fold.owner import OwnerState
from projections.memory.columns import Columns
from projections.memory.record import Memory
from projections.memory.rejection import TURN_BYTES
from projections.memory.twins import Twins, is_decisive
from projections.views.set_aside import SetAside


class ReadBeside:
    """Records stay as they were folded; what is held of an owner is how they read."""

    def __init__(self, columns: Callable[[], Columns]) -> None:
        """`columns`: those in which the owner's records stand now, as they read."""
        self._columns = columns
        self._set_aside = SetAside()
        self._twins = Twins(self._get)

    def read(self, state: OwnerState, changed: Sequence[Memory], *, talk: bool) -> Sequence[Memory]:
        """How changed records, and others for their sake, read at this state. `talk`: as `Twins.follow` takes it."""
        folded = (self._twins.as_folded(one) for one in self._columns())
        changed = self._set_aside.follow(state.asides, changed, folded)
        return self._twins.follow(state.rejections, changed, self._watchable, talk=talk)

    def decisive(self, state: OwnerState) -> list[Memory]:
        """The records that decide how others read, where none was read yet and all columns are there."""
        columns = self._columns()
        if state.rejections:
            return [one for one in columns if is_decisive(one, state.rejections)]
        found = (columns.memories[row] for row in np.flatnonzero(columns.conflict >= Columns.KEEP).tolist())
        return [one for one in found if is_decisive(one, ())]

    def as_folded(self, memory: Memory) -> Memory:
        """A record as it was folded."""
        return self._set_aside.as_folded(self._twins.as_folded(memory))

    @property
    def said_again(self) -> Collection[str]:
        """As `Twins.said_again`."""
        return self._twins.said_again

    @property
    def read_otherwise(self) -> set[str]:
        """Ids of what reads otherwise than it was folded."""
        return {*self._twins.read_otherwise, *self._set_aside.read_otherwise}

    @property
    def counts(self) -> bool:
        """Whether anything is looked at beside others."""
        return self._twins.watches or self._set_aside.sets_aside

    def _watchable(self, keys: set[bytes]) -> Iterable[Memory]:
        """All records that may be watched under these keys."""
        columns = self._columns()
        if any(len(one) == TURN_BYTES for one in keys):
            return columns
        return (columns.memories[row] for row in columns.saying(keys).tolist())

    def _get(self, memory_id: str) -> Memory | None:
        columns = self._columns()
        row = columns.row(memory_id)
        return None if row is None else columns.memories[row]
