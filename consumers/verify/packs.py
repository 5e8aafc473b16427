"""An owner's packed change log, read strictly: every byte must be one that a commit writes. Pure.

Which commits there were cannot be known from the log, but from the chunks they can: how chunks are laid into packs, and what
packs are called, follows from their sizes and seqs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import msgspec

from consumers.verify.oracle import mark
from projections.fold.changelog import FIRST_LINK, Entry, link, pack, unpack
from projections.redis.store import lay

SIZE_BYTES = 4


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


def read_packs(packs: Sequence[tuple[bytes, bytes]], tail: bytes = b"") -> PackedLog:
    """The packs by name, and what is none yet. Raises ValueError or a MsgspecError where they cannot be read."""
    log, expected, left = PackedLog(), dict[int, bytes](), b""
    for raw in (*(raw for _, raw in sorted((int(name), raw) for name, raw in packs)), tail):
        for chunk in _chunks(raw):
            left = _lay(expected, log, left, chunk)
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


def _lay(expected: dict[int, bytes], log: PackedLog, tail: bytes, chunk: bytes) -> bytes:
    """As a commit lays a chunk behind the tail (`projections.redis.store`); gives the tail after it."""
    seqs, entries = unpack(chunk)
    if not seqs:
        raise ValueError("a chunk without events")
    first = len(log.seqs) + 1
    written = pack(first, seqs, entries)
    closes, left = lay(len(tail), len(written))
    if closes:
        expected[log.newest] = tail
    if left <= len(written):
        log.newest = first
    if not left:
        expected[first] = written
    log.seqs += seqs
    for entry in entries:
        _take(log, entry)
    return b"" if not left else written if closes else tail + written


def _take(log: PackedLog, entry: Entry) -> None:
    log.chain = link(log.chain, entry)
    log.marks += mark(entry)
    log.entries.append((entry.seq, entry.memory_id))


UNREADABLE = (ValueError, msgspec.MsgspecError, OverflowError, TypeError, RecursionError)
"""What reading damaged bytes raises."""
