"""Records by row, each decoded when somebody reads it: an answer reads a few hundred of an owner's hundred thousand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol, SupportsIndex, cast, overload, runtime_checkable

from projections.memory.record import Memory, decode_memory, encode_memory

Raw = bytes | memoryview
MOST_READ = 20_000
"""Records that were decoded and stay so; when there are more, all of them are decoded again."""
_BYTES_READ = 1_500
_BYTES_A_SLOT = 60
"""Beside a record's bytes: its places in two lists, and what Python adds to a string of bytes."""


class Block(Sequence[memoryview]):
    """Encoded records that stand end to end in one block."""

    def __init__(self, block: memoryview, ends: Sequence[int]) -> None:
        """Raises ValueError where the block is not as long as told, or the ends do not ascend."""
        self._block = block
        self._ends = [0, *ends]
        if self._ends[-1] != len(block) or any(a > b for a, b in zip(self._ends, ends, strict=False)):
            raise ValueError("the records do not fill their block")

    @overload
    def __getitem__(self, at: int) -> memoryview: ...
    @overload
    def __getitem__(self, at: slice) -> list[memoryview]: ...
    def __getitem__(self, at: Any) -> Any:
        if type(at) is slice:
            return [self[row] for row in range(*at.indices(len(self)))]
        return self._block[self._ends[at] : self._ends[at + 1]]

    def bytes_of(self, rows: Iterable[int]) -> list[bytes]:
        """The same of many, as bytes of their own."""
        block, ends = self._block, self._ends
        return [block[ends[at] : ends[at + 1]].tobytes() for at in rows]

    def __len__(self) -> int:
        return len(self._ends) - 1


class EncodedRows(list[Memory]):
    """A list of records that stand encoded until they are read. Rows that hold no bytes are to be set before that.

    What is set or appended stays as it is; what was decoded may be let go, and is decoded again: another object, and equal.
    """

    def __init__(self, encoded: Sequence[Raw], held: int) -> None:
        """`held`: how many bytes they take together."""
        super().__init__(cast("list[Memory]", [None] * len(encoded)))
        self._encoded = encoded
        self._held = held
        self._read: dict[int, Memory] = {}
        self._set = 0

    @overload
    def __getitem__(self, at: SupportsIndex, /) -> Memory: ...
    @overload
    def __getitem__(self, at: slice, /) -> list[Memory]: ...
    def __getitem__(self, at: Any, /) -> Any:
        found = super().__getitem__(at)
        if isinstance(at, slice):
            return [self[row] for row in range(*at.indices(len(self)))]
        if found is None:
            row = int(at) if at >= 0 else int(at) + len(self)
            found = self._read.get(row)
            if found is None:
                found = decode_memory(self._encoded[row])
                if len(self._read) >= MOST_READ:
                    self._read.clear()
                self._read[row] = found
        return found

    @overload
    def __setitem__(self, at: SupportsIndex, memory: Memory, /) -> None: ...
    @overload
    def __setitem__(self, at: slice, memory: Any, /) -> None: ...
    def __setitem__(self, at: Any, memory: Any, /) -> None:
        self._set += super().__getitem__(at) is None
        super().__setitem__(at, memory)
        self._read.pop(at, None)

    def append(self, memory: Memory, /) -> None:
        """Add a row that is read."""
        super().append(memory)
        self._set += 1

    def read_as(self, rows: Mapping[int, int], others: list[Memory]) -> None:
        """What others read already need not be decoded again: their rows, and the rows here that hold the same."""
        if isinstance(others, EncodedRows):
            self._read |= {rows[row]: one for row, one in others._read.items() if row in rows}

    def passing(self, start: int, end: int) -> list[Memory]:
        """The records of these rows, which are not kept decoded for it."""
        read, encoded, some = self._read, self._encoded, super().__getitem__(slice(start, end))
        return [one or read.get(row) or decode_memory(encoded[row]) for row, one in enumerate(some, start)]

    def raw(self) -> list[Memory | Raw]:
        """The records that somebody set, and the bytes of the others."""
        encoded = self._encoded
        return [encoded[row] if one is None else one for row, one in enumerate(super().__iter__())]

    def raw_at(self, row: int) -> Memory | Raw:
        """The same of one row."""
        one = super().__getitem__(row)
        return self._encoded[row] if one is None else one

    def encoded(self, rows: Sequence[int]) -> list[bytes]:
        """The bytes of the records of these rows."""
        told, plain = self._encoded, [*super().__iter__()]
        if isinstance(told, Block):
            found = told.bytes_of(rows)
        else:
            found = [bytes(told[row]) if plain[row] is None else b"" for row in rows]
        for at, row in enumerate(rows):
            if plain[row] is not None:
                found[at] = encode_memory(plain[row])
        return found

    def bytes_used(self) -> int:
        """About how much memory they take."""
        return self._held + _BYTES_A_SLOT * len(self) + _BYTES_READ * (len(self._read) + self._set)

    def __iter__(self) -> Iterator[Memory]:
        """All of them, one by one; nothing more is decoded afterwards than before."""
        read, encoded = self._read, self._encoded
        for row, one in enumerate(super().__iter__()):
            yield one or read.get(row) or decode_memory(encoded[row])


@runtime_checkable
class Encoded(Protocol):
    """A mapping of records that holds the bytes of some."""

    def raw(self, memory_id: str) -> bytes | None:
        """The bytes of a record; None where only the record is known."""


def encoded_of(memories: Mapping[str, Memory]) -> EncodedRows:
    """The records of a mapping, in its order, as rows; nothing is decoded for it."""
    if isinstance(memories, Encoded):
        told = zip(memories, map(memories.raw, memories), strict=True)
        encoded = [encode_memory(memories[one]) if raw is None else raw for one, raw in told]
    else:
        encoded = [*map(encode_memory, memories.values())]
    return EncodedRows(encoded, sum(map(len, encoded)))


def encoded_at(memories: list[Memory], rows: Sequence[int]) -> list[bytes]:
    """The bytes of records by their rows; -1 stands for none: what is told of it is nothing to go by."""
    if isinstance(memories, EncodedRows):
        return memories.encoded(rows)
    return [encode_memory(memories[row]) for row in rows]


def raw_records(memories: list[Memory]) -> list[Memory | Raw]:
    """A copy of the list, without decoding what nobody read."""
    return memories.raw() if isinstance(memories, EncodedRows) else [*memories]
