"""The weighted law (seed 002): W(t) = w_time(t) * S(t) * C(t) * I * U * M(t).

Windows are half-open: the start is outside, the end inside. An elapsed time below zero counts as zero.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from functools import lru_cache
from math import exp
from typing import TYPE_CHECKING, NamedTuple

from engramlog_server.events.parameters import Parameters
from engramlog_server.projections.laws.arrays import np
from engramlog_server.projections.laws.law import Ends, Floats, Instants, Reading, never
from engramlog_server.projections.memory.record import CATEGORIES, DAY, Memory

if TYPE_CHECKING:
    from engramlog_server.projections.memory.columns import Columns


class Factors(NamedTuple):
    """The six factors of a weight, in the order of the change log."""

    time_weight: float
    semantic_boost: float
    conflict_penalty: float
    importance: float
    user_factor: float
    momentum: float

    @property
    def product(self) -> float:
        """The unclipped weight."""
        return (
            self.time_weight
            * self.semantic_boost
            * self.conflict_penalty
            * self.importance
            * self.user_factor
            * self.momentum
        )


_FACTORS = tuple.__new__
"""Half the time of calling a named tuple; every event needs one or two of them."""


def time_weight(days: float, importance: float, parameters: Parameters) -> float:
    """w_time in (0, 1], `days` since the last activation; category_factor = 1 / I (seed 002, section 1)."""
    return 1.0 / (1.0 + parameters.alpha_base * parameters.user_factor * max(days, 0.0) / importance)


def active_at(memory: Memory, parameters: Parameters) -> int:
    """The last activation: creation, a mention, and where the parameters have it so, a use that went well."""
    used_at = memory.used_at if parameters.use_activates else None
    return memory.last_activated_at if used_at is None else max(memory.last_activated_at, used_at)


def activations(columns: Columns, parameters: Parameters) -> Instants:
    """`active_at` of every row, shape (rows,)."""
    found: Instants = columns.last_activated_at
    return np.maximum(found, columns.used_at) if parameters.use_activates else found


def semantic_boost(days: float, boost: float, parameters: Parameters) -> float:
    """S in [1, 1 + s], `days` since the newest mention (seed 002, section 2)."""
    return 1.0 + boost * exp(-parameters.lambda_s * max(days, 0.0))


def drop_curve(days: float, parameters: Parameters) -> float:
    """C of `latest_wins` and `version_keep`: c_min at once, recovering towards 1 (seed 002, section 3, its prose)."""
    return 1.0 - (1.0 - parameters.c_min) * exp(-parameters.lambda_c * max(days, 0.0))


def fade_curve(days: float, parameters: Parameters) -> float:
    """C of `weight_balance`: from 1 towards c_min (seed 002, section 3, its table)."""
    return parameters.c_min + (1.0 - parameters.c_min) * exp(-parameters.lambda_c * max(days, 0.0))


def frequent_boost(days: float, boost: float, parameters: Parameters) -> float:
    """s of a frequent mention, `days` after a mention that set `boost`.

    With `frequent_rule=keep` at least what is left of `boost`, so that a mention never lowers S.
    """
    if parameters.frequent_rule == "replace":
        return parameters.frequent_boost
    return max(parameters.frequent_boost, boost * exp(-parameters.lambda_s * days))


def momentum(mentions: int, parameters: Parameters) -> float:
    """M in [1, 1 + m) for the mentions within the window (seed 002, section 4)."""
    return 1.0 + parameters.momentum * (1.0 - exp(-parameters.lambda_m * mentions))


def importance_of(category: str, parameters: Parameters) -> float:
    """I of a category."""
    value: float = getattr(parameters, _IMPORTANCE[category])
    return value


_IMPORTANCE = {category: f"importance_{category}" for category in CATEGORIES}


def factors(memory: Memory, now: int, parameters: Parameters) -> Factors:
    """The six factors at `now` (microseconds since 1970)."""
    importance: float = getattr(parameters, _IMPORTANCE[memory.category])  # as `importance_of`; every event needs it
    user = parameters.user_factor if parameters.user_factor_scope == "both" else 1.0
    active = memory.last_activated_at if memory.used_at is None else active_at(memory, parameters)
    idle = now - active
    if idle <= 0 and not memory.mentions and memory.negated_at is None:
        return _at_once(importance, user)
    boost = penalty = drive = 1.0
    if memory.mentions:
        boost = semantic_boost((now - memory.mentions[-1]) / DAY, memory.mention_boost, parameters)
        start = now - int(parameters.momentum_window_days * DAY)
        recent = bisect_right(memory.mentions, now) - bisect_right(memory.mentions, start)
        drive = momentum(recent, parameters)
    if memory.negated_at is not None:
        curve = fade_curve if memory.resolution == "weight_balance" else drop_curve
        penalty = curve((now - memory.negated_at) / DAY, parameters)
    time = time_weight(idle / DAY, importance, parameters) if idle > 0 else 1.0
    return _FACTORS(Factors, (time, boost, penalty, importance, user, drive))


@lru_cache(maxsize=256)
def _at_once(importance: float, user: float) -> Factors:
    """The factors of a memory at its creation: most changes are one."""
    return Factors(1.0, 1.0, 1.0, importance, user, 1.0)


def clip(weight: float, parameters: Parameters) -> float:
    """The weight as reported, within [weight_min, weight_max]."""
    return min(max(weight, parameters.weight_min), parameters.weight_max)


_TOLD: Mapping[str, str] = {
    "time_weight": "(0, 1]: falls with the days since the last activation, or the last use that went well",
    "semantic_boost": "1 to 1.5: what the newest mention adds, fading with its age",
    "conflict_penalty": "0.3 to 1: what a negation leaves",
    "importance": "0.8 to 1.5: by category",
    "user_factor": "the owner's factor, where it acts in the product",
    "momentum": "1 to 1.3: mentions of the last three days",
}


class WeightedLaw:
    """The default profile."""

    name = "weighted"
    source = "the published weighted model: core parameters, sections 1 to 4"
    formula = "weight = time_weight * semantic_boost * conflict_penalty * importance * user_factor * momentum"
    factors = _TOLD

    def read(self, memory: Memory, now: int, parameters: Parameters) -> Reading:
        """See `Law.read`."""
        found = factors(memory, now, parameters)
        return Reading(clip(found.product, parameters), found.product, found._asdict())

    def weights(self, columns: Columns, now: int | Instants, parameters: Parameters) -> Floats:
        """See `Law.weights`."""
        importance = np.array([importance_of(category, parameters) for category in CATEGORIES])[columns.category]
        moments = np.broadcast_to(np.asarray(now), len(columns))
        idle = np.maximum(moments - activations(columns, parameters), 0) / DAY
        weights: Floats = importance / (1.0 + parameters.alpha_base * parameters.user_factor * idle / importance)
        mentioned = np.flatnonzero(columns.mention_boost)
        if mentioned.size:
            since = np.maximum(moments[mentioned] - columns.last_mentioned_at[mentioned], 0) / DAY
            weights[mentioned] *= 1.0 + columns.mention_boost[mentioned] * np.exp(-parameters.lambda_s * since)
        negated = np.flatnonzero(columns.conflict)
        if negated.size:
            fall = (1.0 - parameters.c_min) * np.exp(
                -parameters.lambda_c * np.maximum(moments[negated] - columns.negated_at[negated], 0) / DAY
            )
            weights[negated] *= np.where(columns.conflict[negated] == columns.FADE, parameters.c_min + fall, 1.0 - fall)
        starts = moments - int(parameters.momentum_window_days * DAY)
        for row in np.flatnonzero(columns.last_mentioned_at > starts):
            mentions = columns.mentions(int(row))
            lately = bisect_right(mentions, moments[row]) - bisect_right(mentions, starts[row])
            weights[row] *= momentum(lately, parameters)
        if parameters.user_factor_scope == "both":
            weights *= parameters.user_factor
        return weights

    def ends(self, columns: Columns, parameters: Parameters) -> Ends:  # noqa: ARG002 - a law that ends nothing asks nothing
        """None: idle time and `archive_weight` archive (projections.laws.modes), and nothing is deleted by weight."""
        return never(columns)

    def normal_threshold(self, parameters: Parameters) -> float:
        """0.3 by default (seed 002, query modes)."""
        return parameters.weighted_normal_threshold

    def review_threshold(self, parameters: Parameters) -> float:
        """0.01 by default (seed 002, query modes)."""
        return parameters.weighted_review_threshold


LAW = WeightedLaw()
