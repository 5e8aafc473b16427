"""The tiered law (seed 003): importance that falls in steps, by tier, since the memory was last looked at.

Effective importance = importance * f ** floor(days / period): facts 0.85 per 5 days, episodes 0.6 per 3 days and gone after
a week; system and core never fall. Steps are counted in whole microseconds, so no rounding moves one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from engramlog_server.events.parameters import Parameters
from engramlog_server.projections.laws.arrays import np
from engramlog_server.projections.laws.law import FOREVER, Ends, Floats, Instants, Reading
from engramlog_server.projections.memory.record import DAY, Memory

if TYPE_CHECKING:
    from engramlog_server.projections.memory.columns import Columns


def anchor(memory: Memory) -> int:
    """The instant it decays from, microseconds: the last access (else creation), or the last boost or keeping if later."""
    looked = memory.created_at if memory.last_accessed_at is None else memory.last_accessed_at
    set_at = memory.upkeep.set_at if memory.upkeep is not None else None
    return looked if set_at is None else max(looked, set_at)


def step_of(tier: str, parameters: Parameters) -> tuple[float, int] | None:
    """Factor and period (microseconds) of a tier's steps; None for tiers that never fall."""
    if tier == "fact":
        return parameters.fact_decay, int(parameters.fact_decay_days * DAY)
    if tier == "episode":
        return parameters.episode_decay, int(parameters.episode_decay_days * DAY)
    return None


def effective_importance(memory: Memory, now: int, parameters: Parameters) -> float:
    """Importance at `now`, from 0; an episode is gone `episode_kept_days` after its creation."""
    step = step_of(memory.tier, parameters)
    if step is None:
        return memory.importance
    if _gone(memory, now, parameters):
        return 0.0
    factor, period = step
    steps = max(now - anchor(memory), 0) // period
    return float(memory.importance * factor**steps)


def _gone(memory: Memory, now: int, parameters: Parameters) -> bool:
    return memory.tier == "episode" and now - memory.created_at >= int(parameters.episode_kept_days * DAY)


def review_threshold_of(memory: Memory, parameters: Parameters) -> float:
    """Importance under which a reviewer is asked whether it may go: lower once it was kept."""
    kept = memory.upkeep is not None and memory.upkeep.kept
    return lower_threshold(parameters) if kept else parameters.decay_review_importance


def lower_threshold(parameters: Parameters) -> float:
    """Under which a kept memory is asked about again: never above the first, or it would be asked about without end."""
    return min(parameters.kept_review_importance, parameters.decay_review_importance)


_TOLD: Mapping[str, str] = {
    "importance": "0 and up: as last boosted or kept",
    "factor": "what each step leaves",
    "period": "days a step takes",
    "steps": "whole steps taken",
    "present": "1; 0 for an episode that is gone",
    "days": "days since it was last looked at, boosted or kept",
}


class TieredLaw:
    """Importance in steps, by tier."""

    name = "tiered"
    source = "the published tiered model: later decay table, boost limits and reviewer"
    formula = "weight = importance * factor ** floor(days / period)"
    factors = _TOLD

    def read(self, memory: Memory, now: int, parameters: Parameters) -> Reading:
        """See `Law.read`."""
        weight = effective_importance(memory, now, parameters)
        factor, period = step_of(memory.tier, parameters) or (1.0, 0)
        since = max(now - anchor(memory), 0)
        found = {
            "importance": memory.importance,
            "factor": factor,
            "period": period / DAY,
            "steps": float(since // period) if period else 0.0,
            "present": float(not _gone(memory, now, parameters)),
            "days": since / DAY,
        }
        return Reading(weight, weight, found)

    def weights(self, columns: Columns, now: int | Instants, parameters: Parameters) -> Floats:
        """See `Law.weights`."""
        weights = columns.importance.copy()
        since = np.maximum(now - anchors(columns), 0)
        for tier, code in (("fact", columns.FACT), ("episode", columns.EPISODE)):
            step = step_of(tier, parameters)
            rows = np.flatnonzero(columns.tier == code)
            if step is not None and rows.size:
                weights[rows] *= step[0] ** (since[rows] // step[1])
        gone = (columns.tier == columns.EPISODE) & (now - columns.created_at >= int(parameters.episode_kept_days * DAY))
        weights[gone] = 0.0
        return weights

    def ends(self, columns: Columns, parameters: Parameters) -> Ends:
        """Episodes are deleted when they are gone; whether anything else may go is for a reviewer to say."""
        gone = columns.created_at + int(parameters.episode_kept_days * DAY)
        deleted = np.where(columns.tier == columns.EPISODE, gone, FOREVER)
        return Ends(np.full(len(columns), FOREVER), deleted)

    def normal_threshold(self, parameters: Parameters) -> float:
        """0.2 by default."""
        return parameters.tiered_normal_threshold

    def review_threshold(self, parameters: Parameters) -> float:
        """0 by default."""
        return parameters.tiered_review_threshold


def anchors(columns: Columns) -> Instants:
    """`anchor` of every row."""
    looked = np.where(columns.last_accessed_at == columns.NEVER, columns.created_at, columns.last_accessed_at)
    found: Instants = np.maximum(looked, columns.set_at)
    return found


def fallen_at(columns: Columns, least: Floats, parameters: Parameters) -> Instants:
    """When the effective importance of each row first lies under `least`, with no further event; FOREVER for never."""
    found = np.full(len(columns), FOREVER)
    start = anchors(columns)
    for tier, code in (("fact", columns.FACT), ("episode", columns.EPISODE)):
        step = step_of(tier, parameters)
        rows = np.flatnonzero(columns.tier == code)
        if step is None or not rows.size:
            continue
        factor, period = step
        importance, floor = columns.importance[rows], least[rows]
        steps = _steps_under(importance, floor, factor)
        comes = steps * period < FOREVER
        found[rows] = np.where(comes, start[rows] + np.where(comes, steps, 0).astype(np.int64) * period, FOREVER)
    episodes = columns.tier == columns.EPISODE
    gone = columns.created_at + int(parameters.episode_kept_days * DAY)
    return np.where(episodes & (least > 0), np.minimum(found, gone), found)


def _steps_under(importance: Floats, floor: Floats, factor: float) -> Floats:
    """The fewest whole steps after which importance * factor ** steps < floor; infinity where there are none."""
    under = importance < floor
    if factor >= 1.0:
        return np.where(under, 0.0, np.inf)
    if factor <= 0.0:
        return np.where(under, 0.0, np.where(floor > 0, 1.0, np.inf))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
        steps = np.ceil(np.log(floor / importance) / np.log(factor))
    steps = np.where(np.isfinite(steps) & (floor > 0), np.maximum(steps, 0), np.inf)
    for _ in range(2):  # the logarithm may be off by one step at either side
        steps = np.where((steps > 0) & (importance * factor ** (steps - 1) < floor), steps - 1, steps)
        steps = np.where(importance * factor**steps >= floor, steps + 1, steps)
    found: Floats = np.where(under, 0.0, steps)
    return found


LAW = TieredLaw()
