"""What a law is, and the four published ones: weighted, consolidating, Ebbinghaus and tiered.

A law is a weight with its factors, for one memory or for many at once, and the thresholds of the modes. Each section begins with
its functions for one memory.

Weighted (seed 002): W(t) = w_time(t) * S(t) * C(t) * I * U * M(t). Windows are half-open: the start is outside, the end inside. An
elapsed time below zero counts as zero.

Consolidating (seed 000): what is often accessed, long kept and lately updated decays more slowly.
consolidation = 0.5 * min(ln(1 + n) / ln(100), 1) + 0.2 * min(age_days / 365, 1) + 0.3 * recency
weight = 0.5 ** (days since updated_at / (base half-life * (1 + 2 * consolidation)))

Ebbinghaus (seed 004): R = exp(-hours / (S / decay_rate)), strength = round(100 R), renewed by reinforcement. S is where R = 1/e
(FSRS means R = 0.9). Reinforcements multiply S and begin the clock again; both are folded.

Tiered (seed 003): importance that falls in steps, by tier, since the memory was last looked at.
Effective importance = importance * f ** floor(days / period): facts 0.85 per 5 days, episodes 0.6 per 3 days and gone after
a week; system and core never fall. Steps are counted in whole microseconds, so no rounding moves one.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from math import exp, log
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from engramlog_server.events.parameters import Parameters, half_lives
from engramlog_server.projections.memory.record import CATEGORIES, DAY, HOUR, Memory

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from engramlog_server.projections.memory.columns import Columns

    Floats = npt.NDArray[np.float64]
    Instants = npt.NDArray[np.int64]
else:
    Floats = Instants = Any  # named in annotations alone, which nothing evaluates

    class _Numpy:
        """numpy, imported when a law first computes many weights: laws are named and described without it."""

        def __getattr__(self, name: str) -> Any:
            found = getattr(import_module("numpy"), name)
            setattr(self, name, found)
            return found

    np = _Numpy()

FOREVER = (2**63 - 1) // 4
"""Stands for an instant that does not come."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A weight under a law: as reported (`weight`, clipped), as thresholds read it (`unclipped`), and its factors."""

    weight: float
    unclipped: float
    factors: dict[str, float]


class Ends(NamedTuple):
    """When the law itself, with no further event, archives and deletes each row; FOREVER where it does not. Shape (rows,)."""

    archived: Instants
    deleted: Instants


class Law(Protocol):
    """A pure reading of a memory at an instant; `now` in microseconds since 1970."""

    name: str
    source: str
    """The published design it comes from."""
    formula: str
    factors: Mapping[str, str]
    """Every factor of a reading by name, with its unit and what it says."""

    def read(self, memory: Memory, now: int, parameters: Parameters) -> Reading:
        """The weight of one memory with every factor by name."""
        ...

    def weights(self, columns: Columns, now: int | Instants, parameters: Parameters) -> Floats:
        """Unclipped weights of all rows, shape (rows,), at one instant or at one each; equal to `read` within 1e-12 relative."""
        ...

    def ends(self, columns: Columns, parameters: Parameters) -> Ends:
        """When the law archives and deletes what no event touches any more."""
        ...

    def normal_threshold(self, parameters: Parameters) -> float:
        """Least unclipped weight shown in normal mode."""
        ...

    def review_threshold(self, parameters: Parameters) -> float:
        """Least unclipped weight shown in review mode."""
        ...


def never(columns: Columns) -> Ends:
    """No ends: nothing is archived or deleted by such a law itself."""
    return Ends(np.full(len(columns), FOREVER), np.full(len(columns), FOREVER))


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


_FACTORS_WEIGHTED: Mapping[str, str] = {
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
    factors = _FACTORS_WEIGHTED

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


WEIGHTED = WeightedLaw()


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


_FACTORS_CONSOLIDATING: Mapping[str, str] = {
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
    factors = _FACTORS_CONSOLIDATING

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


CONSOLIDATING = ConsolidatingLaw()


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


_FACTORS_EBBINGHAUS: Mapping[str, str] = {
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
    factors = _FACTORS_EBBINGHAUS

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


EBBINGHAUS = EbbinghausLaw()


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


_FACTORS_TIERED: Mapping[str, str] = {
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
    factors = _FACTORS_TIERED

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


TIERED = TieredLaw()
