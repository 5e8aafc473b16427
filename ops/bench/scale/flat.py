"""Whether a cost stays what it is: a ratio of medians against the spread of the rounds that it was measured in. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Any

LEAST = 0.1
"""A ratio within a tenth counts as flat however close the rounds lie: so much does one machine differ from itself."""


def spread(costs: Sequence[float]) -> float:
    """How far rounds lie from their median at most, as a share of it; 0 of one round."""
    middle = median(costs)
    return max(abs(one - middle) for one in costs) / middle if middle else 0.0


def compared(what: str, of: str, before: Sequence[float], after: Sequence[float]) -> dict[str, Any]:
    """A row: the ratio of the medians, the bound, and the verdict. Each sequence holds the cost of each round, at least one.

    The bound is the spread of `before` and that of `after` together, a tenth at least. What became cheaper is flat too.
    """
    ratio = median(after) / median(before) if median(before) else 1.0
    bound = 1 + max(LEAST, spread(before) + spread(after))
    return {
        "what": what,
        "of": of,
        "before": round(median(before), 2),
        "after": round(median(after), 2),
        "rounds": [len(before), len(after)],
        "ratio": round(ratio, 3),
        "flat_up_to": round(bound, 3),
        "verdict": "flat" if ratio <= bound else "not flat",
    }
