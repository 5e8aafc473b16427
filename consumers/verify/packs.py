"""An owner's packed change log, read strictly: every byte must be one that a commit writes. Pure.

Which commits there were cannot be known from the log, but from the chunks they can: how chunks are laid into packs, and what
packs are called, follows from their sizes and seqs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import accumulate
from typing import NamedTuple

import msgspec

from consumers.verify.oracle import mark, mark_of
from consumers.verify.verdict import LIES_OPEN
from events.sealing.cipher import ValueCipher
from events.sealing.compression import VALUES, expanded
from projections.fold.changelog import FIRST_LINK, laid, link, pack, unpack
from projections.redis.sealed import CHANGES, open_pack, place, seal_chunk
from projections.redis.store import lay

SIZE_BYTES = 4


class KnownLog(NamedTuple):
    """What an owner's change log should hold."""

    marks: bytearray
    chain: bytes


@dataclass(slots=True)
class PackedLog:
    """What an owner's packs hold."""

    seqs: list[int] = field(default_factory=list)
    entries: list[tuple[int, str]] = field(default_factory=list)
    """Seq and memory id of each entry."""
    marks: bytearray = field(default_factory=bytearray)
    chain: bytes = FIRST_LINK
    newest: int = 0
    """Name that the newest pack must have."""
    problems: list[str] = field(default_factory=list)
    """Names of packs, and bytes in them, that no commit writes."""


Take = Callable[[PackedLog, int, bytes], bytes]
"""Adds a chunk, of which the first event has this number, to what was read; gives it as a commit writes it."""


def read_packs(
    packs: Sequence[tuple[bytes, bytes]],
    tail: bytes = b"",
    known: KnownLog | None = None,
    sealing: tuple[ValueCipher | None, str] = (None, ""),
) -> PackedLog:
    """The packs by name, and what is none yet. Raises ValueError or a MsgspecError where they cannot be read.

    `known`: what they should hold. Where each entry's bytes are those, none is decoded. `sealing`: what seals the chunks in a
    sealed store, and the owner they are of.
    """
    chunks = [
        chunk
        for raw in (*(raw for _, raw in sorted((int(name), raw) for name, raw in packs)), tail)
        for chunk in _chunks(raw)
    ]
    if known is not None:
        as_known = PackedLog(chain=known.chain)
        with suppress(*UNREADABLE):  # what is wrong is told by reading it
            as_laid = _laid(chunks, as_known, _sealed(_unread, *sealing))
            if as_known.marks == known.marks:
                return _told(as_known, as_laid, packs, tail)
    log = PackedLog()
    return _told(log, _laid(chunks, log, _sealed(_read, *sealing)), packs, tail)


def opened_packs(
    owner: str, packs: Sequence[tuple[bytes, bytes]], cipher: ValueCipher | None
) -> Sequence[tuple[bytes, bytes]]:
    """Packs that can be read, with their chunks open."""
    return packs if cipher is None else [(name, open_pack(cipher, owner, raw)) for name, raw in packs]


def _sealed(take: Take, cipher: ValueCipher | None, owner: str) -> Take:
    """The same of sealed chunks. Raises NotOpened, a ValueError."""
    if cipher is None:
        return take
    where = place(CHANGES, owner)

    def taken(log: PackedLog, first: int, chunk: bytes) -> bytes:
        stored = chunk[SIZE_BYTES:]
        opened = cipher.open(where, stored)
        lies_open = opened == stored
        if lies_open:
            log.problems.append(f"the chunk of event {first} {LIES_OPEN}")
        found = laid(expanded(opened, VALUES))
        written = take(log, first, found)
        # Compressed bytes depend on zlib's version: a chunk that holds what a commit writes is taken as it is.
        return chunk if written == found and not lies_open else seal_chunk(cipher, owner, written)

    return taken


def _laid(chunks: Sequence[bytes], log: PackedLog, take: Take) -> tuple[dict[int, bytes], bytes]:
    """The packs that commits make of these chunks, by name, and the tail."""
    expected, left = dict[int, bytes](), b""
    for chunk in chunks:
        left = _lay(expected, log, left, chunk, take)
    return expected, left


def _told(
    log: PackedLog, laid: tuple[dict[int, bytes], bytes], packs: Sequence[tuple[bytes, bytes]], tail: bytes
) -> PackedLog:
    """With what is stored otherwise than it would be laid."""
    expected, left = laid
    found = dict(packs)
    for name in sorted({b"%d" % one for one in expected} | found.keys()):
        if found.get(name) != (expected.get(int(name)) if name == b"%d" % int(name) else None):
            log.problems.append(name.decode())
    if left != tail:
        log.problems.append("the tail")
    return log


def _chunks(raw: bytes) -> list[bytes]:
    chunks, at = [], 0
    while at < len(raw):
        end = at + SIZE_BYTES + int.from_bytes(raw[at : at + SIZE_BYTES], "big")
        if end > len(raw):
            raise ValueError(f"a chunk of {end - at} bytes where {len(raw) - at} are left")
        chunks.append(raw[at:end])
        at = end
    return chunks


def _lay(expected: dict[int, bytes], log: PackedLog, tail: bytes, chunk: bytes, take: Take) -> bytes:
    """As a commit lays a chunk behind the tail (`projections.redis.store`); gives the tail after it."""
    first = len(log.seqs) + 1
    written = take(log, first, chunk)
    if len(log.seqs) < first:
        raise ValueError("a chunk without events")
    closes, left = lay(len(tail), len(written))
    if closes:
        expected[log.newest] = tail
    if left <= len(written):
        log.newest = first
    if not left:
        expected[first] = written
    return b"" if not left else written if closes else tail + written


def _read(log: PackedLog, first: int, chunk: bytes) -> bytes:
    """Take a chunk, every entry read; gives it as a commit writes it."""
    seqs, entries = unpack(chunk)
    log.seqs += seqs
    for entry in entries:
        log.chain = link(log.chain, entry)
        log.marks += mark(entry)
        log.entries.append((entry.seq, entry.memory_id))
    return pack(first, seqs, entries)


def _unread(log: PackedLog, first: int, chunk: bytes) -> bytes:
    """The same with entries in their bytes, of which nothing is known but their marks."""
    steps, raws, _ = _UNREAD.decode(chunk[SIZE_BYTES:])
    log.seqs += accumulate(steps)
    for raw in raws:
        log.marks += mark_of(raw)
    written: bytes = _WRITE.encode((steps, raws, first))
    return len(written).to_bytes(SIZE_BYTES, "big") + written


_UNREAD = msgspec.msgpack.Decoder(tuple[tuple[int, ...], tuple[msgspec.Raw, ...], int])
_WRITE = msgspec.msgpack.Encoder()


UNREADABLE = (ValueError, msgspec.MsgspecError, OverflowError, TypeError, RecursionError)
"""What reading damaged bytes raises."""
