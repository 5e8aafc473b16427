"""Vectors as somebody else's code gives them, checked and made of length 1. Pure."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from engramlog_server.events.errors import EmbedderFailed
from engramlog_server.projections.embedding.meaning import Vectors

_Wide = npt.NDArray[np.float64]
MOST_DIMENSIONS = 0xFFFF
"""What the header of a stored vector has room for."""
MOST_PIECES = 4_096
"""Of one text or question."""


def whole_in(got: Any, whose: str, dimensions: int | None) -> Vectors:
    """A whole vector of length 1, shape (d,). Raises EmbedderFailed where it is none: its shape, not finite, zero."""
    numbers = _numbers(got, whose)
    if numbers.ndim != 1 or not 0 < numbers.size <= MOST_DIMENSIONS or dimensions not in (None, numbers.size):
        raise _none(whose, f"of the shape {numbers.shape}, not ({dimensions or 'd'},)")
    whole: Vectors = _units(numbers[None], whose)[0]
    return whole


def pieces_in(got: Any, whose: str, dimensions: int) -> Vectors:
    """Pieces of length 1, shape (pieces, d); any empty array is (0, d). Raises EmbedderFailed where they are none."""
    numbers = _numbers(got, whose)
    if not numbers.size:
        return np.zeros((0, dimensions), np.float32)
    if numbers.ndim != 2 or numbers.shape[1] != dimensions or len(numbers) > MOST_PIECES:
        raise _none(whose, f"pieces of the shape {numbers.shape}, not (up to {MOST_PIECES}, {dimensions})")
    return _units(numbers, whose)


def _numbers(got: Any, whose: str) -> _Wide:
    try:
        numbers = np.asarray(got, np.float64)
    except (ValueError, TypeError, OverflowError):
        raise _none(whose, f"of the kind {type(got).__name__}, not numbers") from None
    if not np.isfinite(numbers).all():
        raise _none(whose, "that is not finite")
    return numbers


def _units(numbers: _Wide, whose: str) -> Vectors:
    largest = np.abs(numbers).max(axis=1, keepdims=True)
    if not largest.all():
        raise _none(whose, "that is zero")
    scaled = numbers / largest  # so that squares of very large or small components stay finite
    units: Vectors = (scaled / np.linalg.norm(scaled, axis=1, keepdims=True)).astype(np.float32)
    return units


def _none(whose: str, what: str) -> EmbedderFailed:
    return EmbedderFailed(f"{whose} gave a vector {what}", down=False)
