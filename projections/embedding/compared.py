"""What a job that compares vectors looked at, and what it left out and why."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple, TypedDict

import numpy as np
import numpy.typing as npt

from engramlog_server.projections.embedding.meaning import KnownVectors
from engramlog_server.projections.memory.columns import Rows
from engramlog_server.projections.shapes import ComparedByVectors, LookedAt

KINDS: Final[tuple[Literal["statements"], Literal["turns"]]] = ("statements", "turns")
NAMES: Final[tuple[Literal["compared"], Literal["without_vector"], Literal["unread"], Literal["older"]]] = (
    "compared",
    "without_vector",
    "unread",
    "older",
)


class RowsLookedAt(NamedTuple):
    """Rows that were looked at, and how many were not, by reason."""

    rows: Rows
    without_vector: int = 0
    """They have no vector under the model: the job `embed` computes it."""
    unread: int = 0
    """The model reads their language not at all, whatever vector it gives them."""
    older: int = 0
    """They came before the newest that are looked at."""

    def told(self) -> LookedAt:
        """JSON-ready, without rows."""
        return {
            "compared": int(self.rows.size),
            "without_vector": self.without_vector,
            "unread": self.unread,
            "older": self.older,
        }


_NOTHING = RowsLookedAt(np.zeros(0, dtype=np.int64))


class VectorsCompared(NamedTuple):
    """What a run looked at, of one owner."""

    model: str
    statements: RowsLookedAt
    turns: RowsLookedAt
    full: bool
    """Whether there was no room for what was found, or for anything: it is suggested once some that wait are answered."""

    def told(self) -> ComparedByVectors:
        """JSON-ready."""
        return {
            "model": self.model,
            "statements": self.statements.told(),
            "turns": self.turns.told(),
            "full": self.full,
        }


class OwnersComparedTold(TypedDict):
    """Sums over owners: how many there were, how many were not compared whole, and how many have no room for more."""

    owners: int
    in_part: int
    statements: LookedAt
    turns: LookedAt
    full: int


class ComparedOfAll:
    """Sums of what was told of owners, one after the other."""

    def __init__(self) -> None:
        self._told: OwnersComparedTold = {
            "owners": 0,
            "in_part": 0,
            "statements": _NOTHING.told(),
            "turns": _NOTHING.told(),
            "full": 0,
        }

    def add(self, one: ComparedByVectors | None) -> None:
        """Take in an owner's; None where nothing of his was compared."""
        if one is None:
            return
        sums = self._told
        sums["owners"] += 1
        sums["in_part"] += left_out(one) > 0
        sums["full"] += one["full"]
        for kind in KINDS:
            for name in NAMES:
                sums[kind][name] += one[kind][name]

    def told(self) -> OwnersComparedTold:
        """JSON-ready."""
        return self._told


def left_out(told: ComparedByVectors) -> int:
    """How many statements and turns were not compared, for whatever reason."""
    return sum(told[kind][name] for kind in KINDS for name in NAMES if name != "compared")


def looked_at(fit: npt.NDArray[np.bool_], vectors: KnownVectors, most: int) -> RowsLookedAt:
    """Of the rows that are fit the newest `most` that have a vector, oldest first, and why the others are not among them."""
    size = min(fit.size, vectors.known.size)
    fit_rows = np.flatnonzero(fit)
    has = fit_rows[fit_rows < size]
    rows = has[vectors.known[has]]
    unread = 0 if vectors.unread is None else int(vectors.unread[has].sum())
    return RowsLookedAt(rows[-most:], fit_rows.size - rows.size - unread, unread, max(rows.size - most, 0))
