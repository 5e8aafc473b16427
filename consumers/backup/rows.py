"""Rows of a backup's files: what an entry, or a field of a table, is as bytes. Pure.

A row is 4 bytes of length, big-endian, a byte that tells what it is, and a MessagePack array of byte strings. All but the array is
the same for every row, so files are read in a bounded memory whoever wrote them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import IntEnum
from struct import Struct
from typing import NamedTuple, Protocol

import msgspec

from engramlog_server.events.text import UNREADABLE

MOST_ROW = 64 << 20
"""Bytes of a row. An entry is far smaller; what the sweep knows of one owner's deletions may be long."""
CHUNK = 1 << 20
"""Bytes that are read at once."""
_HEAD = Struct(">IB")
_PARTS = msgspec.msgpack.Decoder(list[bytes])
_ENCODE = msgspec.msgpack.Encoder().encode


class RowKind(IntEnum):
    """What a row is."""

    ABOUT = 0
    """Of which backup, store and part a file is: the first row of each."""
    ENTRY = 1
    """Fingerprint of dedupe, then fields and values in turn, as Redis has them."""
    SECRET = 3
    """An owner, and its line: its secret, in a sealed store the name of its key, or a tombstone."""
    DELETION = 4
    """Number of the partition, an owner, since when each of its deletions is known."""
    STORE = 5
    """A field of the store, and its value."""
    ACCEPTED = 6
    """Position and time, and why a log that did not meet a kept head was accepted."""
    MODELS = 7
    """A day or nothing, a field, a count: what asking models took."""
    READMITTED = 8
    """An owner who was erased and readmitted, up to which seq and by which erasure."""
    GONE = 9
    """A keyed digest of an id that was erased."""


class BackupRow(NamedTuple):
    """One row."""

    kind: RowKind
    parts: list[bytes]


class DamagedRows(Exception):
    """Rows cannot be read; a sentence without its subject."""


class Bytes(Protocol):
    """What rows are read of."""

    def read(self, size: int, /) -> bytes:
        """So many bytes at most; fewer only at the end."""


def frame(kind: RowKind, parts: Sequence[bytes]) -> bytes:
    """A row as bytes."""
    raw = _ENCODE(parts)
    return _HEAD.pack(len(raw), kind) + raw


def rows(file: Bytes) -> Iterator[tuple[BackupRow, bytes]]:
    """Each row, and its bytes, until the end. Raises DamagedRows, and what reading raises."""
    held, at = b"", 0
    while True:
        if len(held) - at < _HEAD.size:
            held, at = held[at:] + file.read(CHUNK), 0
            if not held:
                return
            if len(held) < _HEAD.size:
                raise DamagedRows("breaks off within a row")
        size, number = _HEAD.unpack_from(held, at)
        if size > MOST_ROW:
            raise DamagedRows(f"has a row of {size:,} bytes; {MOST_ROW:,} are allowed")
        end = at + _HEAD.size + size
        if end > len(held):
            held, end, at = held[at:] + file.read(max(end - len(held), CHUNK)), end - at, 0
            if end > len(held):
                raise DamagedRows("breaks off within a row")
        raw, at = held[at:end], end
        try:
            yield BackupRow(RowKind(number), _PARTS.decode(raw[_HEAD.size :])), raw
        except (ValueError, *UNREADABLE):
            raise DamagedRows("has a row that no backup of this format has") from None
