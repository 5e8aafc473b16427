"""Bytes with a sum before them, so that an accident in them is seen by whoever reads them. Pure."""

from __future__ import annotations

from zlib import crc32

_BYTES = 4


def with_sum(raw: bytes) -> bytes:
    """The bytes behind their sum."""
    return crc32(raw).to_bytes(_BYTES, "big") + raw


def without_sum(raw: bytes) -> bytes:
    """The bytes. Raises ValueError where the sum is another one."""
    told = raw[_BYTES:]
    if len(raw) < _BYTES or with_sum(told) != raw:
        raise ValueError("its sum is another")
    return told
