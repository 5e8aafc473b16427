"""Vectors without what those of one owner have in common: then no model has a floor. Pure."""

from __future__ import annotations

import numpy as np

from engramlog_server.projections.embedding.meaning import Vectors

_SHRINK = 10
"""Vectors of which the mean counts half: a handful have in common what they are about."""


def centred(wholes: Vectors) -> Vectors:
    """Vectors without n / (n + 10) of their mean, of length 1; one that is nothing else stays as it is. Shape (n, d)."""
    mean = wholes.mean(axis=0) * (len(wholes) / (len(wholes) + _SHRINK))
    apart = wholes - mean
    length = np.linalg.norm(apart, axis=1, keepdims=True)
    found: Vectors = np.where(length > 1e-6, apart / np.maximum(length, 1e-6), wholes).astype(np.float32)
    return found
