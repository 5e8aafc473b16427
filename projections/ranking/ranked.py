"""What a ranking gives: rows with scores that add up from named parts, and which of them are best. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from projections.laws.law import Floats
from projections.memory.columns import Rows
from projections.ranking.spreading import Activated


class Ranked(NamedTuple):
    """Results before they are cut, aligned."""

    rows: Rows
    scores: Floats
    parts: Mapping[str, Floats]
    """What adds up to the scores, by name."""
    ways: Mapping[int, Activated]
    """How activation came there, by row."""


def added(parts: Mapping[str, Floats], size: int) -> Floats:
    """The sum of the parts, shape (size,)."""
    total = np.zeros(size)
    for part in parts.values():
        total += part
    return total


def best(scores: Floats, rows: Rows, limit: int) -> Rows:
    """Places of the `limit` highest scores, best first; of equal ones the newer row first."""
    if scores.size > limit:
        least = np.partition(scores, scores.size - limit)[scores.size - limit]
        places = np.flatnonzero(scores >= least)
    else:
        places = np.arange(scores.size)
    return places[np.lexsort((-rows[places], -scores[places]))][:limit]
