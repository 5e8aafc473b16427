"""Up to which of what was erased a partition was looked through, noted in the partition itself.

A store on one Redis comes back as a whole: its log then lacks what the list of erasures tells. Of a Cluster one node alone may come
back with an older copy, or a replica take its place that lacked the last writes, while the log of `:erasures` lies elsewhere and is
whole. The note is written after the fences, on the same node: where it stands, they do.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

from engramlog_server.events.partitions import FENCED_META, LogKeys
from engramlog_server.events.redis.wire import Wire

Steps = Sequence[tuple[str, str]]
"""Of what is listed the erasure, and its step."""
_DIGITS = 16


def _mark(listed: Steps) -> bytes:
    lines = sorted(f"{erasure} {step}" for erasure, step in listed)
    return sha256("\n".join(lines).encode()).hexdigest()[:_DIGITS].encode()


def unlooked(wire: Wire, tags: Sequence[str], listed: Steps, kind: str) -> list[str]:
    """The partitions of a Cluster that were not looked through for all that is listed; none of one server. Raises StoreError.

    `kind`: of what, and by which machine: each has a list of its own.
    """
    if not wire.many:
        return []
    found = wire.answers([["HGET", LogKeys(tag).meta, f"{FENCED_META}{kind}"] for tag in tags])
    return [tag for tag, mark in zip(tags, found, strict=True) if mark != _mark(listed)]


def note_looked(wire: Wire, tags: Sequence[str], listed: Steps, kind: str) -> None:
    """Note that these were. Raises StoreError."""
    wire.answers([["HSET", LogKeys(tag).meta, f"{FENCED_META}{kind}", _mark(listed)] for tag in tags])
