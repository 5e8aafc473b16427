"""Records by row, each decoded when somebody first reads it: an answer reads a few hundred of an owner's hundred thousand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, SupportsIndex, cast, overload

from projections.memory.record import Memory, decode_memory


class KeptRecords(list[Memory]):
    """A list of records that stand encoded in a block, end to end. Rows that hold no bytes are to be set before they are read."""

    def __init__(self, block: memoryview, ends: Sequence[int]) -> None:
        """Raises ValueError where the block is not as long as told, or the ends do not ascend."""
        super().__init__(cast("list[Memory]", [None] * len(ends)))
        self._block = block
        self._ends = [0, *ends]
        if self._ends[-1] != len(block) or any(a > b for a, b in zip(self._ends, ends, strict=False)):
            raise ValueError("the records do not fill their block")

    @overload
    def __getitem__(self, at: SupportsIndex, /) -> Memory: ...
    @overload
    def __getitem__(self, at: slice, /) -> list[Memory]: ...
    def __getitem__(self, at: Any, /) -> Any:
        found = super().__getitem__(at)
        if isinstance(at, slice):
            return [self[row] for row in range(*at.indices(len(self)))]
        if found is None:
            row = at if at >= 0 else at + len(self)
            found = decode_memory(self._block[self._ends[row] : self._ends[row + 1]])
            super().__setitem__(row, found)
        return found

    def raw(self) -> list[Memory | memoryview]:
        """The records that somebody read, and the bytes of the others."""
        block, ends = self._block, self._ends
        rows = enumerate(super().__iter__())
        return [one or block[ends[row] : ends[row + 1]] for row, one in rows]

    def __iter__(self) -> Iterator[Memory]:
        return map(self.__getitem__, range(len(self)))


def raw_records(memories: list[Memory]) -> Sequence[Memory | memoryview]:
    """A copy of the list, without decoding what nobody read."""
    return memories.raw() if isinstance(memories, KeptRecords) else [*memories]
