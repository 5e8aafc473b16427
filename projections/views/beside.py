"""How an owner's records read beside each other: twins of what was negated or rejected, what is set aside, and words of others'
that may not be told. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence

import numpy as np
import numpy.typing as npt

from engramlog_server.projections.fold.owner import OwnerState
from engramlog_server.projections.memory.columns import Columns
from engramlog_server.projections.memory.record import Memory
from engramlog_server.projections.memory.rejection import TURN_BYTES
from engramlog_server.projections.memory.twins import Twins, is_decisive
from engramlog_server.projections.views.quoting import Quoting
from engramlog_server.projections.views.set_aside import SetAside


class ReadBeside:
    """Records stay as they were folded; what is held of an owner is how they read."""

    def __init__(self, columns: Callable[[], Columns]) -> None:
        """`columns`: those in which the owner's records stand now, as they read."""
        self._columns = columns
        self._set_aside = SetAside()
        self._twins = Twins(self._get)
        self._quoting = Quoting(self._read_now, self._hiding)

    def read(self, state: OwnerState, changed: Sequence[Memory], *, talk: bool) -> Sequence[Memory]:
        """How changed records, and others for their sake, read at this state. `talk`: as `Twins.follow` takes it."""
        folded = (self._twins.as_folded(self._quoting.as_given(one)) for one in self._columns())
        changed = self._set_aside.follow(state.asides, changed, folded)
        return self._quoting.follow(self._twins.follow(state.rejections, changed, self._watchable, talk=talk))

    def decisive(self, state: OwnerState) -> list[Memory]:
        """The records that decide how others read, or are decided by them, where none was read yet and all columns are there."""
        columns = self._columns()
        wanted = (columns.conflict >= Columns.KEEP) | (columns.quotes > 0)
        if columns.quotes.any():
            wanted |= _hiding(columns)
        if state.rejections:
            said = (is_decisive(one, state.rejections) for one in columns)
            wanted |= np.fromiter(said, dtype=np.bool_, count=len(wanted))
        return [columns.memories[row] for row in np.flatnonzero(wanted).tolist()]

    def as_folded(self, memory: Memory) -> Memory:
        """A record as it was folded."""
        return self._set_aside.as_folded(self._twins.as_folded(self._quoting.as_given(memory)))

    @property
    def said_again(self) -> Collection[str]:
        """As `Twins.said_again`."""
        return self._twins.said_again

    @property
    def read_otherwise(self) -> set[str]:
        """Ids of what reads otherwise than it was folded."""
        return {*self._twins.read_otherwise, *self._set_aside.read_otherwise, *self._quoting.read_otherwise}

    @property
    def counts(self) -> bool:
        """Whether anything is looked at beside others."""
        return self._twins.watches or self._set_aside.sets_aside or self._quoting.quotes

    def _watchable(self, keys: set[bytes]) -> Iterable[Memory]:
        """All records that may be watched under these keys."""
        columns = self._columns()
        every = any(len(one) == TURN_BYTES for one in keys)
        found = columns if every else (columns.memories[row] for row in columns.saying(keys).tolist())
        return map(self._quoting.as_given, found)

    def _hiding(self) -> Iterable[Memory]:
        columns = self._columns()
        return (columns.memories[row] for row in np.flatnonzero(_hiding(columns)).tolist())

    def _get(self, memory_id: str) -> Memory | None:
        memory = self._read_now(memory_id)
        return None if memory is None else self._quoting.as_given(memory)

    def _read_now(self, memory_id: str) -> Memory | None:
        columns = self._columns()
        row = columns.row(memory_id)
        return None if row is None else columns.memories[row]


def _hiding(columns: Columns) -> npt.NDArray[np.bool_]:
    """Rows of what hides its words: it decides about those that have them."""
    hiding: npt.NDArray[np.bool_] = (columns.sensitivity > 0) | (columns.state >= Columns.REJECTED)
    return hiding
