"""What is kept of a past as bytes: behind their sum, so that damage is seen, with a head that says how far it reaches. Pure."""

from __future__ import annotations

from typing import TypeVar
from zlib import crc32

import msgspec

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


H = TypeVar("H", bound=msgspec.Struct)


def read_head(kind: type[H], raw: bytes | None) -> H:
    """What is kept, in its stored bytes; nothing stored is before the first. Raises MsgspecError, ValueError for damaged ones."""
    return kind() if raw is None else msgspec.msgpack.decode(without_sum(raw), type=kind)


def stored_head(head: msgspec.Struct) -> bytes:
    """The same as it is stored: nothing before the first."""
    return b"" if head == type(head)() else with_sum(msgspec.msgpack.encode(head))
