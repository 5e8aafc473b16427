"""The consolidating law (seed 000): what is often accessed, long kept and lately updated decays more slowly.

consolidation = 0.5 * min(ln(1 + n) / ln(100), 1) + 0.2 * min(age_days / 365, 1) + 0.3 * recency
weight = 0.5 ** (days since updated_at / (base half-life * (1 + 2 * consolidation)))
"""

from __future__ import annotations

from collections.abc import Mapping
from math import log
from typing import TYPE_CHECKING

from engramlog_server.events.parameters import Parameters, half_lives
from engramlog_server.projections.laws.arrays import np
from engramlog_server.projections.laws.law import Ends, Floats, Instants, Reading, never
from engramlog_server.projections.memory.record import DAY, Memory

if TYPE_CHECKING:
    from engramlog_server.projections.memory.columns import Columns

FULL_ACCESSES = 100
"""1 + accesses at which the frequency is full."""
FULL_DAYS = 365.0
"""Age at which the longevity is full."""


def base_half_life(kind: str, parameters: Parameters) -> float:
    """Days in which a memory of this kind halves before anything consolidates it."""
    return half_lives(parameters.half_life_by_kind).get(kind, parameters.half_life_days)


def consolidation(accesses: int, age_days: float, recency: float, parameters: Parameters) -> float:
    """How settled a memory is, in [0, 1] at the published shares (seed 000, section 1.3)."""
    frequency = min(log(1 + accesses) / log(FULL_ACCESSES), 1.0)
    longevity = min(max(age_days, 0.0) / FULL_DAYS, 1.0)
    return (
        parameters.frequency_share * frequency
        + parameters.longevity_share * longevity
        + parameters.recency_share * recency
    )


def adaptive_half_life(base: float, consolidated: float, parameters: Parameters) -> float:
    """Days: up to three times the base (seed 000, section 1.4)."""
    return base * (1.0 + parameters.half_life_gain * consolidated)


_TOLD: Mapping[str, str] = {
    "consolidation": "0 to 1: how settled it is",
    "frequency": "0 to 1: accesses, on a logarithmic scale that ends at 100",
    "longevity": "0 to 1: age, up to a year",
    "recency": "0 to 1: halves with every base half-life since the last update",
    "half_life": "days, stretched by the consolidation",
    "days": "days since the last update",
}


class ConsolidatingLaw:
    """Half-lives that grow with use."""

    name = "consolidating"
    source = "the published consolidating model: sections 1.3 and 1.4"
    formula = "weight = 0.5 ** (days / half_life), half_life = base * (1 + 2 * consolidation)"
    factors = _TOLD

    def read(self, memory: Memory, now: int, parameters: Parameters) -> Reading:
        """See `Law.read`."""
        days = max(now - memory.updated_at, 0) / DAY
        age = max(now - memory.created_at, 0) / DAY
        base = base_half_life(memory.kind, parameters)
        recency = 0.5 ** (days / base)
        settled = consolidation(memory.access_count, age, recency, parameters)
        half_life = adaptive_half_life(base, settled, parameters)
        found = {
            "consolidation": settled,
            "frequency": min(log(1 + memory.access_count) / log(FULL_ACCESSES), 1.0),
            "longevity": min(age / FULL_DAYS, 1.0),
            "recency": recency,
            "half_life": half_life,
            "days": days,
        }
        weight = 0.5 ** (days / half_life)
        return Reading(weight, weight, found)

    def weights(self, columns: Columns, now: int | Instants, parameters: Parameters) -> Floats:
        """See `Law.weights`."""
        days = np.maximum(now - columns.updated_at, 0) / DAY
        base = _base_half_lives(columns, parameters)
        half_life = base * (1.0 + parameters.half_life_gain * consolidations(columns, now, parameters))
        weights: Floats = np.exp2(-days / half_life)
        return weights

    def ends(self, columns: Columns, parameters: Parameters) -> Ends:  # noqa: ARG002 - a law that ends nothing asks nothing
        """None: the published design removes nothing by its score."""
        return never(columns)

    def normal_threshold(self, parameters: Parameters) -> float:
        """0.3 by default."""
        return parameters.consolidating_normal_threshold

    def review_threshold(self, parameters: Parameters) -> float:
        """0 by default."""
        return parameters.consolidating_review_threshold


def recencies(columns: Columns, now: int | Instants, parameters: Parameters) -> Floats:
    """Recency of every row at `now`: halves with each base half-life since the last update, shape (rows,)."""
    days = np.maximum(now - columns.updated_at, 0) / DAY
    found: Floats = np.exp2(-days / _base_half_lives(columns, parameters))
    return found


def consolidations(columns: Columns, now: int | Instants, parameters: Parameters) -> Floats:
    """`consolidation` of every row at `now`, shape (rows,)."""
    age = np.maximum(now - columns.created_at, 0) / DAY
    frequency = np.minimum(np.log1p(columns.access_count) / log(FULL_ACCESSES), 1.0)
    longevity = np.minimum(age / FULL_DAYS, 1.0)
    found: Floats = (
        parameters.frequency_share * frequency
        + parameters.longevity_share * longevity
        + parameters.recency_share * recencies(columns, now, parameters)
    )
    return found


def _base_half_lives(columns: Columns, parameters: Parameters) -> Floats:
    by_kind = np.array([base_half_life(kind, parameters) for kind in columns.kinds] or [parameters.half_life_days])
    found: Floats = by_kind[columns.kind]
    return found


LAW = ConsolidatingLaw()
