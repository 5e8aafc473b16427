"""The file in which the seals of a store are kept apart from it: what it holds, how it is laid and read.

    ENGSEAL1 | length of the header, 4 bytes, big-endian | the header, JSON | a block for each partition | a block of what is common

A block is its length, 8 bytes, and what it holds (MessagePack) under AES-256-GCM, bound to the header and to its number. Its key is
drawn for the file and lies in the header, wrapped under the store's master key. So a byte that was changed, a block that lacks and
one too many are told, and without the master key the header alone can be read: which store, when, how far.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from binascii import Error as NotBase64
from collections.abc import Iterable, Iterator
from typing import IO, Annotated, NamedTuple, TypeVar

import msgspec
from msgspec import Meta

from engramlog_server.events.partitions import MAX_PARTITIONS
from engramlog_server.events.sealing.blocks import HEAD_BYTES, SealedBlock, open_block
from engramlog_server.events.sealing.cipher import NotOpened
from engramlog_server.events.text.unreadable import UNREADABLE

MARK = b"ENGSEAL1"
BLOCK_MARK = b"ENGSEALB"
MOST_HEADER = 1 << 20
_LENGTH, _SIZE, _FILL = 4, 8, 4
_T = TypeVar("_T")
_Save = Annotated[str, Meta(pattern=r"\A[0-9a-f]{16}\Z")]
_Event = Annotated[str, Meta(pattern=r"\A([0-9a-f]{32})?\Z")]
_When = Annotated[str, Meta(pattern=r"\A[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?Z\Z")]
_Seq = Annotated[int, Meta(ge=0, le=(1 << 63) - 1)]


class DamagedSeals(ValueError):
    """What was read is no file of seals, or a part of it is not what was written: a sentence without its subject."""


class SealsHeader(msgspec.Struct, frozen=True, kw_only=True):
    """What can be read of it by whoever may read the file."""

    save: _Save
    """16 hexadecimal digits by which this save is known."""
    store_id: str
    saved_at: _When
    """RFC 3339, UTC: taken before the first seal was read. What was erased before is not in it."""
    heads: tuple[_Seq, ...]
    """By partition up to which seq it covers, 0 and more."""
    events: tuple[_Event, ...]
    """By partition the id of the event there, 32 hexadecimal digits; empty where there is none."""
    key: str
    """The file's key, wrapped under the master key, in base64."""

    @property
    def wrapped(self) -> bytes:
        """The line of the file's key. Raises DamagedSeals."""
        try:
            return b64decode(self.key, validate=True)
        except (NotBase64, ValueError):
            raise DamagedSeals("is damaged: its header holds no key") from None


class PartitionSeals(msgspec.Struct, frozen=True, kw_only=True):
    """What opens the entries of one partition, and what says which of them nothing opens."""

    tag: str
    head: int
    folded: int = 0
    """Up to where it was folded."""
    chain: bytes = b""
    """The log's chain there."""
    lines: dict[bytes, bytes]
    """Owner -> the name of its key, or a tombstone."""
    keys: dict[bytes, bytes] = {}
    """Name -> the key, wrapped."""
    readmitted: dict[bytes, bytes]
    wordless: dict[int, bytes]
    """Seq -> what is left of the entry, sealed under its owner's key."""
    gone: list[bytes]
    """Keyed digests of erased ids."""
    salts: bytes
    """16 bytes a seq, from 0 to the head; of entries whose words were erased they are zero."""


class CommonSeals(msgspec.Struct, frozen=True, kw_only=True):
    """What is of no partition."""

    check: bytes
    """The line by which the store's master key is known."""
    listed: list[bytes]
    """Lines of the fence list, as they lie there, without their ends."""


def about_key(store_id: str, save: str) -> bytes:
    """What a file's key is bound to: no owner's name begins with a colon that is followed by a space."""
    return store_id.encode() + b"\0: seals of " + save.encode()


class SavedReach(NamedTuple):
    """How far a save goes."""

    heads: tuple[int, ...]
    events: tuple[str, ...]


def new_header(save: str, store_id: str, saved_at: str, reach: SavedReach, line: bytes) -> SealsHeader:
    """The header of a file whose key was wrapped as this line."""
    return SealsHeader(
        save=save,
        store_id=store_id,
        saved_at=saved_at,
        heads=reach.heads,
        events=reach.events,
        key=b64encode(line).decode(),
    )


def write_seals(
    file: IO[bytes],
    header: SealsHeader,
    key: bytes,
    partitions: Iterable[PartitionSeals],
    common: Iterable[CommonSeals],
) -> None:
    """Write it whole, a partition at a time. `common`: one, asked for when all partitions were. Raises OSError."""
    told = msgspec.json.encode(header)
    file.write(MARK + len(told).to_bytes(_LENGTH, "big") + told)
    number = 0
    for number, one in enumerate(partitions, 1):
        _write_block(file, told, key, number, msgspec.msgpack.encode(one))
    for last in common:
        _write_block(file, told, key, number + 1, msgspec.msgpack.encode(last))


def read_header(file: IO[bytes]) -> tuple[SealsHeader, bytes]:
    """The header, and its bytes, which the blocks are bound to; the file stands behind it then. Raises DamagedSeals, OSError."""
    start = file.read(len(MARK) + _LENGTH)
    if start[: len(MARK)] != MARK:
        raise DamagedSeals("holds no seals: it does not begin as such a file does")
    length = int.from_bytes(start[len(MARK) :], "big")
    raw = file.read(length) if length <= MOST_HEADER else b""
    try:
        header = msgspec.json.decode(raw, type=SealsHeader)
    except UNREADABLE:
        raise DamagedSeals("is damaged: its header cannot be read") from None
    many = len(header.heads)
    if not 1 <= many <= MAX_PARTITIONS or len(header.events) != many or not header.store_id.isprintable():
        raise DamagedSeals("is damaged: its header tells no partitions")
    return header, raw


def read_partitions(file: IO[bytes], header: SealsHeader, raw: bytes, key: bytes) -> Iterator[PartitionSeals]:
    """Each partition's seals, in their order. Raises DamagedSeals, OSError."""
    for number, head in enumerate(header.heads, 1):
        one = _read_block(file, raw, key, number, PartitionSeals)
        if one.head != head:
            raise DamagedSeals(f"is damaged: partition {number - 1} is not the one that its header tells")
        yield one


def read_common(file: IO[bytes], header: SealsHeader, raw: bytes, key: bytes) -> CommonSeals:
    """What comes behind the partitions, and nothing after it. Raises DamagedSeals, OSError."""
    found = _read_block(file, raw, key, len(header.heads) + 1, CommonSeals)
    if file.read(1):
        raise DamagedSeals("is damaged: something follows on its end")
    return found


def _about(header: bytes, number: int) -> bytes:
    return header + b"\0%d" % number


def _write_block(file: IO[bytes], header: bytes, key: bytes, number: int, body: bytes) -> None:
    block = SealedBlock(BLOCK_MARK, key, _about(header, number), [body])
    file.write(block.size.to_bytes(_SIZE, "big"))
    end = file.tell() + block.size
    block.write(file)
    file.seek(end)


def _read_block(file: IO[bytes], header: bytes, key: bytes, number: int, kind: type[_T]) -> _T:
    size = int.from_bytes(file.read(_SIZE), "big")
    at = file.tell()
    there = file.seek(0, 2) - at
    file.seek(at)
    if not HEAD_BYTES <= size <= there:
        raise DamagedSeals("is damaged: it breaks off")
    block = bytearray(size)
    file.readinto(block)  # type: ignore[attr-defined]
    wrong = DamagedSeals(f"is damaged: its part {number} is not what was written")
    if block[HEAD_BYTES - _FILL : HEAD_BYTES].strip(b"\0"):
        raise wrong
    try:
        return msgspec.msgpack.decode(open_block(BLOCK_MARK, key, _about(header, number), block), type=kind)
    except (NotOpened, *UNREADABLE):
        raise wrong from None
