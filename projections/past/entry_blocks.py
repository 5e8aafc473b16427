"""Which packs of an owner's change log have a memory: blocks of about 4,096 entries. Pure.

A block holds a sum of each memory id with the name of the pack. Packs never change; builds of before version 9 wrote the newest
anew under a higher name, so an entry is in the first pack whose name is at least the one noted. A sum that two ids share costs
a pack that is read for nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple
from zlib import crc32

import msgspec
import numpy as np

from engramlog_server.projections.fold.changelog import Entry
from engramlog_server.projections.past.events import with_sum, without_sum

BLOCK_ENTRIES = 4_096
"""A block ends with the pack that reaches this many entries."""


class EntryHead(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """How far the blocks reach into an owner's change log."""

    last: int = 0
    """Name of the last pack in the blocks; 0 before the first."""
    entries: int = 0
    """How many entries are in the blocks."""
    blocks: int = 0


class EntryBlock(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Sums of memory ids, ascending, and for each the number of its pack among `packs`; all little-endian."""

    packs: bytes
    """Names, 8 bytes each, ascending."""
    sums: bytes
    """4 bytes each."""
    numbers: bytes
    """2 bytes each."""

    def pairs(self) -> Iterable[tuple[int, int]]:
        """Each sum with the name of its pack."""
        names = np.frombuffer(self.packs, "<u8")
        return zip(np.frombuffer(self.sums, "<u4").tolist(), names[self._numbers()].tolist(), strict=True)

    def packs_of(self, sums: Collection[int]) -> set[int]:
        """Names of the packs that have ids with these sums."""
        known, names = np.frombuffer(self.sums, "<u4"), np.frombuffer(self.packs, "<u8")
        wanted = np.fromiter(sums, "<u4", len(sums))
        starts, ends = known.searchsorted(wanted, "left").tolist(), known.searchsorted(wanted, "right").tolist()
        numbers = self._numbers()
        spans = [numbers[start:end] for start, end in zip(starts, ends, strict=True) if start < end]
        return set(names[np.concatenate(spans)].tolist()) if spans else set()

    def _numbers(self) -> np.ndarray[tuple[int], np.dtype[np.uint16]]:
        return np.frombuffer(self.numbers, "<u2")


_DECODE = msgspec.msgpack.Decoder(EntryBlock)
_DECODE_HEAD = msgspec.msgpack.Decoder(EntryHead)


def read_block(raw: bytes) -> EntryBlock:
    """A block in its stored bytes. Raises MsgspecError, or ValueError if its parts do not fit."""
    block = _DECODE.decode(without_sum(raw))
    many, names = len(block.numbers) // 2, len(block.packs) // 8
    numbers = np.frombuffer(block.numbers, "<u2")
    if len(block.sums) != 4 * many or (many and int(numbers.max()) >= names):
        raise ValueError("a block of entries whose parts do not fit each other")
    return block


def read_head(raw: bytes | None) -> EntryHead:
    """How far the blocks reach; nothing stored is before the first."""
    return EntryHead() if raw is None else _DECODE_HEAD.decode(without_sum(raw))


def stored_head(head: EntryHead) -> bytes:
    """The same as it is stored: nothing before the first."""
    return with_sum(msgspec.msgpack.encode(head)) if head.blocks else b""


def sum_of(memory_id: str) -> int:
    """Four bytes that distinguish memory ids, with rare collisions."""
    return crc32(memory_id.encode())


class Blocked(NamedTuple):
    """A block that is to be stored, and how far all of them reach with it."""

    head: EntryHead
    block: bytes


class BlockMaker:
    """Makes blocks of packs that come in order."""

    def __init__(self, head: EntryHead) -> None:
        self.head = head
        self._names: list[int] = []
        self._told: set[tuple[int, int]] = set()
        self._entries = self._last = 0

    def put(self, name: int, entries: Sequence[Entry]) -> Blocked | None:
        """Take a pack in; the block that it fills, if it does."""
        if entries:
            number = len(self._names)
            self._names.append(name)
            self._told.update((sum_of(entry.memory_id), number) for entry in entries)
        self._entries, self._last = self._entries + len(entries), name
        return self.block() if self._entries >= BLOCK_ENTRIES else None

    def block(self) -> Blocked | None:
        """What was taken in since the last block, as one; None where nothing was."""
        if not self._last:
            return None
        told = sorted(self._told)
        block = EntryBlock(
            np.array(self._names, "<u8").tobytes(),
            np.array([one for one, _ in told], "<u4").tobytes(),
            np.array([number for _, number in told], "<u2").tobytes(),
        )
        self.head = EntryHead(self._last, self.head.entries + self._entries, self.head.blocks + 1)
        self._names, self._told, self._entries, self._last = [], set(), 0, 0
        return Blocked(self.head, with_sum(msgspec.msgpack.encode(block)))


def standing_in(names: Sequence[int], told: Collection[int]) -> list[int]:
    """The packs, of those with these ascending names, that now contain the packs noted earlier."""
    there = np.array(names, "<u8")
    at = np.unique(there.searchsorted(np.fromiter(told, "<u8", len(told))))
    found: list[int] = there[at[at < len(there)]].tolist()
    return found
