"""What a ranking gives: rows with scores that add up from named parts, and how a question was taken apart. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from engramlog_server.projections.laws.law import Floats
from engramlog_server.projections.laws.modes import Flags
from engramlog_server.projections.memory.columns import Rows
from engramlog_server.projections.ranking.associations import Activated


class Ranked(NamedTuple):
    """Results before they are cut, aligned."""

    rows: Rows
    scores: Floats
    parts: Mapping[str, Floats]
    """What adds up to the scores, by name."""
    ways: Mapping[int, Activated]
    """How activation came there, by row."""

    def only(self, kept: Rows | Flags) -> Ranked:
        """The results at these places."""
        return Ranked(
            self.rows[kept], self.scores[kept], {name: part[kept] for name, part in self.parts.items()}, self.ways
        )


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


@dataclass(frozen=True, slots=True)
class Plan:
    """How a question was taken apart."""

    way: str = "whole"
    """`whole`, `several`, `compared`, `named`: said with a name for a role, or a role for a name."""
    parts: tuple[str, ...] = ()
    many: bool = False
    """Whether several things answer it together."""
    ordered: bool = False
    """Whether they are asked for in the order of time."""
    brought: Mapping[int, Sequence[int]] = field(default_factory=dict)
    """Row -> what brought it in, by number from 0 of `parts`."""
