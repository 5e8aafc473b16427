"""The Ebbinghaus law (seed 004): R = exp(-hours / (S / decay_rate)), strength = round(100 R), renewed by reinforcement.

S is where R = 1/e (FSRS, beside it, means R = 0.9). Reinforcements multiply S and begin the clock anew; both are folded.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import exp, log
from typing import TYPE_CHECKING

from engramlog_server.events.parameters import Parameters
from engramlog_server.projections.laws.arrays import np
from engramlog_server.projections.laws.law import FOREVER, Ends, Floats, Instants, Reading
from engramlog_server.projections.memory.record import HOUR, Memory

if TYPE_CHECKING:
    from engramlog_server.projections.memory.columns import Columns

PITFALL = "pitfall"
"""The kind that fades more slowly: a lesson from what went wrong."""


def retention(hours: float, stability: float, rate: float) -> float:
    """R in (0, 1], `hours` since the last reinforcement (seed 004, sections 2.1 and 4.3)."""
    return exp(-max(hours, 0.0) * rate / stability)


def strength(retained: float) -> int:
    """Strength in percent, 0 to 100: what thresholds, health and cleaning read."""
    return round(100.0 * retained)


def decay_rate(memory: Memory, parameters: Parameters) -> float:
    """How much faster than S says it fades: as an older record brought it, else slower with confidence, use and pitfalls."""
    if memory.decay_rate is not None:
        return memory.decay_rate
    rate = 1.0
    if memory.confidence >= parameters.confident_from:
        rate *= parameters.confident_decay
    if memory.reinforce_count >= parameters.reinforced_from:
        rate *= parameters.reinforced_decay
    if memory.kind == PITFALL:
        rate *= parameters.pitfall_decay
    return max(rate, parameters.min_decay)


_TOLD: Mapping[str, str] = {
    "retention": "share in (0, 1] that is still there",
    "strength": "percent, 0 to 100: the retention rounded",
    "stability": "hours after which 1/e is left at decay rate 1",
    "decay_rate": "factor on the speed of fading",
    "hours": "hours since the last reinforcement",
}


def strength_at(memory: Memory, now: int, parameters: Parameters) -> int:
    """Strength of a memory at `now`, microseconds since 1970; percent."""
    hours = max(now - memory.last_reinforced_at, 0) / HOUR
    return strength(retention(hours, memory.stability, decay_rate(memory, parameters)))


class EbbinghausLaw:
    """Forgetting by hours, as people forget syllables."""

    name = "ebbinghaus"
    source = "the published Ebbinghaus model: sections 2.1 and 4"
    formula = "weight = round(100 * exp(-hours * decay_rate / stability)) / 100"
    factors = _TOLD

    def read(self, memory: Memory, now: int, parameters: Parameters) -> Reading:
        """See `Law.read`."""
        hours = max(now - memory.last_reinforced_at, 0) / HOUR
        rate = decay_rate(memory, parameters)
        retained = retention(hours, memory.stability, rate)
        found = {
            "retention": retained,
            "strength": float(strength(retained)),
            "stability": memory.stability,
            "decay_rate": rate,
            "hours": hours,
        }
        weight = strength(retained) / 100
        return Reading(weight, weight, found)

    def weights(self, columns: Columns, now: int | Instants, parameters: Parameters) -> Floats:
        """See `Law.weights`."""
        hours = np.maximum(now - columns.last_reinforced_at, 0) / HOUR
        weights: Floats = np.rint(100.0 * np.exp(-hours * _rates(columns, parameters) / columns.stability)) / 100
        return weights

    def ends(self, columns: Columns, parameters: Parameters) -> Ends:
        """Archived and deleted as soon as the rounded strength is under the profile's limits: 56.5 h and 74.4 h at first."""
        stretch = columns.stability / _rates(columns, parameters) * HOUR
        moments = []
        for limit in (parameters.archive_strength, parameters.delete_strength):
            # Rounded strength is under the limit once 100 R < ceil(limit) - 0.5; a limit of 0 is never passed.
            most = float(np.ceil(limit)) - 0.5
            hours = stretch * log(100.0 / most) if most > 0 else np.full(len(columns), np.inf)
            ends = np.where(hours < FOREVER, np.ceil(hours) + 1, 0).astype(np.int64) + columns.last_reinforced_at
            moments.append(np.where(hours < FOREVER, ends, FOREVER))
        return Ends(*moments)

    def normal_threshold(self, parameters: Parameters) -> float:
        """0.1 by default: what is due to be archived is withheld."""
        return parameters.ebbinghaus_normal_threshold

    def review_threshold(self, parameters: Parameters) -> float:
        """0 by default."""
        return parameters.ebbinghaus_review_threshold


def _rates(columns: Columns, parameters: Parameters) -> Floats:
    """`decay_rate` of every row."""
    rates = np.where(columns.confidence >= parameters.confident_from, parameters.confident_decay, 1.0)
    rates *= np.where(columns.reinforce_count >= parameters.reinforced_from, parameters.reinforced_decay, 1.0)
    rates *= np.where(columns.kind == columns.kind_number(PITFALL), parameters.pitfall_decay, 1.0)
    computed = np.maximum(rates, parameters.min_decay)
    found: Floats = np.where(np.isnan(columns.decay_rate), computed, columns.decay_rate)
    return found


LAW = EbbinghausLaw()
