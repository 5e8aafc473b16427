"""Arrays and small values as one block of bytes, without pickle: a head that says what lies where, then the arrays as they are.

    length of the head (8 bytes, little-endian) | head (MessagePack) | arrays, each from a multiple of 8 bytes on

Whoever reads a block proves first that its maker was who he should be; here is only looked at whether it is whole.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
KINDS = ("<i8", "<i4", "|i1", "|u1", "<f8", "|b1")
"""What an array may hold."""
_STEP = 8


class Packed(NamedTuple):
    """What is packed: facts of MessagePack's own kinds, by name, and arrays of one dimension."""

    facts: Mapping[str, Any]
    arrays: Mapping[str, Array]


class _Head(msgspec.Struct, array_like=True):
    facts: dict[str, Any]
    arrays: list[tuple[str, str, int, int]]
    """Name, kind, where it begins after the head, and how many values it has."""


_ENCODE, _DECODE = msgspec.msgpack.Encoder(), msgspec.msgpack.Decoder(_Head)


def packed(told: Packed) -> list[bytes | memoryview]:
    """The block in pieces. Raises ValueError for an array of a kind that is not packed."""
    at, places, pieces = 0, list[tuple[str, str, int, int]](), list[bytes | memoryview]()
    for name, array in told.arrays.items():
        if array.dtype.str not in KINDS or array.ndim != 1:
            raise ValueError(f"{name}: {array.dtype.str} of {array.ndim} dimensions is not packed")
        places.append((name, array.dtype.str, at, array.size))
        gap = -array.nbytes % _STEP
        pieces += [np.ascontiguousarray(array).data.cast("B") if array.size else b"", bytes(gap)]
        at += array.nbytes + gap
    head = _ENCODE.encode(_Head(dict(told.facts), places))
    return [len(head).to_bytes(_STEP, "little"), head, bytes(-len(head) % _STEP), *pieces]


def unpacked(block: memoryview) -> Packed:
    """What a block holds; its arrays are windows on it. Raises ValueError where it is not whole."""
    size = int.from_bytes(block[:_STEP], "little")
    if not 0 < size <= len(block) - _STEP:
        raise ValueError("the block is shorter than its head")
    try:
        head = _DECODE.decode(block[_STEP : _STEP + size])
    except msgspec.DecodeError as error:
        raise ValueError(f"the head cannot be read: {error}") from error
    body, arrays = block[_STEP + size + -size % _STEP :], dict[str, Array]()
    for name, kind, at, count in head.arrays:
        if kind not in KINDS or min(at, count) < 0 or at + count * np.dtype(kind).itemsize > len(body):
            raise ValueError(f"the block has no room for {name}")
        arrays[name] = np.frombuffer(body, dtype=kind, count=count, offset=at)
    return Packed(head.facts, arrays)
