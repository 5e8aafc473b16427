"""Entries of a partition whose words were erased, by the table of what is left of them."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256

from consumers.verify.scan import pairs
from events.partitions import LogKeys, position_text
from events.redis.wire import Wire
from events.redis.wordless import read_left


def wiped_by(wire: Wire, tag: str) -> dict[str, list[int]]:
    """Erasure -> the seqs of the entries that lost their words by it, in order; under "" what no erasure wrote, with 0 for what is
    no seq. Raises StoreError."""
    found = dict[str, set[int]]()
    for field, value in pairs(wire, LogKeys(tag).wordless):
        left, seq = read_left(value), int(field) if field.isdigit() else 0
        found.setdefault(left.erasure if left is not None and seq else "", set()).add(seq)
    return {erasure: sorted(seqs) for erasure, seqs in found.items()}


def positions_digest(partition: int, seqs: Iterable[int]) -> str:
    """SHA-256 of the positions of entries, one a line, in the order of the log; 64 hexadecimal digits."""
    return sha256("".join(f"{position_text(partition, seq)}\n" for seq in sorted(seqs)).encode()).hexdigest()
