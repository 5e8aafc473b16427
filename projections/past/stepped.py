"""Columns of whole numbers as they are stored: steps from one row to the next, like bytes beside each other, behind a sum. Pure."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from projections.past.summed import with_sum, without_sum

Integers = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]
_WIDTH = 8
_LEVEL = 6


def stored_columns(columns: Sequence[Integers], small: Bytes) -> bytes:
    """Columns of as many rows, and one of numbers from 0 to 255, as they are stored."""
    steps = [np.diff(one, prepend=np.int64(0)).astype("<i8") for one in columns]
    planes = b"".join(one.view(np.uint8).reshape(-1, _WIDTH).T.tobytes() for one in steps)
    return with_sum(zlib.compress(planes + small.tobytes(), _LEVEL))


def read_columns(raw: bytes, columns: int, rows: int) -> tuple[list[Integers], Bytes]:
    """So many columns and the one of small numbers, their first rows. Raises ValueError where they cannot be read, or lack rows."""
    try:
        told = zlib.decompress(without_sum(raw))
    except zlib.error as error:
        raise ValueError(f"a block of times that is damaged: {error}") from error
    there, rest = divmod(len(told), _WIDTH * columns + 1)
    if rest or there < rows:  # more are there where somebody went on since it was told how many
        raise ValueError(f"a block of times of {len(told)} bytes for {rows} events")
    planes = np.frombuffer(told, np.uint8, _WIDTH * columns * there).reshape(columns, _WIDTH, there)
    found = [np.ascontiguousarray(one.T).view("<i8").ravel().cumsum()[:rows] for one in planes]
    return found, np.frombuffer(told, np.uint8, rows, _WIDTH * columns * there)
