"""The parameters of the laws and modes: names, defaults, bounds. The vocabulary of `ParametersChanged`.

They are an immutable named set: a change of a default is a new set, recorded in the store, so that an old log
keeps its meaning. Figures from seed 002 ("core parameters") and memory.md sections 3, 4, 6 and 7.
"""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Annotated, Any, Literal, get_type_hints
from zoneinfo import available_timezones

from pydantic import AfterValidator, ConfigDict, Field, TypeAdapter, ValidationError, WithJsonSchema
from pydantic_core import PydanticCustomError

Profile = Literal["weighted", "ebbinghaus", "consolidating", "tiered"]
ParameterValue = float | int | str | bool
PARAMETER_SET = "2026-11.2"
"""Name of the set of defaults below, and of the log's format: 0.2.0 looks at it, and refuses any but its own, `2026-11`."""

_Rate = Annotated[float, Field(ge=0, le=10)]
_Factor = Annotated[float, Field(gt=0, le=10)]
_Share = Annotated[float, Field(ge=0, le=1)]
_Days = Annotated[float, Field(gt=0, le=36_500)]
_Step = Annotated[float, Field(ge=0.001, le=36_500)]
_Stability = Annotated[float, Field(gt=0, le=8_760)]
_Percent = Annotated[float, Field(ge=0, le=100)]


def _known_zone(name: str) -> str:
    if name not in available_timezones():
        raise PydanticCustomError("unknown_zone", "an IANA time zone such as UTC or Asia/Shanghai")
    return name


_PAIR = r"[\w\-./:+]{1,64}=[1-9][0-9]{0,3}(?:\.[0-9]{1,6})?"
_HALF_LIVES = rf"^(?:{_PAIR}(?:,{_PAIR}){{0,49}})?$"
HALF_LIVES_RULE = "kinds with days from 1 to 9999, at most 50, e.g. episode=7,lesson=90"


def _known_half_lives(text: str) -> str:
    if not re.fullmatch(_HALF_LIVES[1:-1], text):
        raise PydanticCustomError("half_lives", "{rule}", {"rule": HALF_LIVES_RULE})
    return text


@lru_cache(maxsize=1024)
def half_lives(text: str) -> dict[str, float]:
    """Base half-lives in days by kind, from `half_life_by_kind`."""
    pairs = (pair.split("=") for pair in text.split(",") if pair)
    return {kind: float(days) for kind, days in pairs}


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """Parameters in force for one owner at one moment. Rates are per day unless named otherwise."""

    alpha_base: _Rate = 0.01
    """Base decay of w_time, per day."""
    importance_identity: _Factor = 1.5
    importance_stable_preference: _Factor = 1.3
    importance_skill: _Factor = 1.2
    importance_fact: _Factor = 1.1
    importance_short_term_preference: _Factor = 0.9
    importance_temporary: _Factor = 0.8
    semantic_boost: _Rate = 0.5
    """s of a mention."""
    frequent_boost: _Rate = 0.3
    """s of a mention that is at least the `frequent_threshold`-th within `frequent_window_hours`."""
    frequent_threshold: Annotated[int, Field(ge=2, le=64)] = 3
    frequent_window_hours: Annotated[float, Field(gt=0, le=8_760)] = 24.0
    lambda_s: _Rate = 0.05
    c_min: _Share = 0.3
    lambda_c: _Rate = 0.01
    user_factor: Annotated[float, Field(ge=0.1, le=10)] = 1.0
    """U: 0.8 forgets slowly, 1.3 forgets fast."""
    user_factor_scope: Literal["decay", "both"] = "decay"
    """`decay`: U acts in w_time only; `both`: also in the product, as seed 002 has it."""
    use_activates: bool = True
    """A use that went well is an activation for w_time and levels; false: as published, where only mentions are."""
    talk_reaffirms: bool = True
    """What the user says again in a conversation takes back his plain negation; false: it waits until he confirms it."""
    momentum: _Rate = 0.3
    lambda_m: _Rate = 0.5
    momentum_window_days: _Days = 3.0
    weight_min: _Share = 0.01
    weight_max: Annotated[float, Field(gt=0, le=100)] = 2.0
    summary_after_days: _Days = 30.0
    tag_after_days: _Days = 90.0
    trace_after_days: _Days = 180.0
    archive_after_days: _Days = 365.0
    archive_weight: _Share = 0.01
    archive_idle_days: _Days = 180.0
    deleted_kept_days: _Days = 30.0
    weighted_normal_threshold: Annotated[float, Field(ge=0, le=100)] = 0.3
    weighted_review_threshold: Annotated[float, Field(ge=0, le=100)] = 0.01
    time_zone: Annotated[str, AfterValidator(_known_zone)] = "UTC"

    # ebbinghaus (seed 004): hours, and factors on the stability
    initial_stability: _Stability = 24.0
    """S of a new memory, hours."""
    manual_stability: _Stability = 168.0
    """S of one made by hand: by a user or operator, from no turn, not imported."""
    min_stability: _Stability = 1.0
    max_stability: _Stability = 8_760.0
    reinforce_recall: _Factor = 1.2
    """What S is multiplied by when recalled, looked at or injected, once an event."""
    reinforce_association: _Factor = 1.1
    reinforce_used: _Factor = 1.2
    reinforce_task_success: _Factor = 2.0
    reinforce_task_failure: _Factor = 0.8
    reinforce_manual_review: _Factor = 1.5
    failure_restarts_clock: bool = False
    """true: as seed 004 was published, where failing lifts a faded memory to 100."""
    confident_from: _Share = 0.8
    confident_decay: _Factor = 0.7
    reinforced_from: Annotated[int, Field(ge=1, le=1_000_000)] = 5
    reinforced_decay: _Factor = 0.8
    pitfall_decay: _Factor = 0.9
    min_decay: _Factor = 0.5
    archive_strength: _Percent = 10.0
    """Rounded strength under which the profile archives."""
    delete_strength: _Percent = 5.0
    """Rounded strength under which the profile deletes (softly)."""
    ebbinghaus_normal_threshold: _Share = 0.1
    ebbinghaus_review_threshold: _Share = 0.0

    # consolidating (seed 000)
    half_life_days: _Days = 30.0
    """Base half-life, before consolidation stretches it."""
    half_life_by_kind: Annotated[
        str,
        AfterValidator(_known_half_lives),
        WithJsonSchema({"type": "string", "pattern": _HALF_LIVES, "description": HALF_LIVES_RULE}),
    ] = ""
    """Base half-lives of some kinds, e.g. `episode=7,lesson=90`."""
    half_life_gain: _Rate = 2.0
    """A fully consolidated memory's half-life is 1 + this many times the base."""
    frequency_share: _Share = 0.5
    longevity_share: _Share = 0.2
    recency_share: _Share = 0.3
    frequent_accesses: Annotated[int, Field(ge=2, le=1_000_000)] = 100
    longevity_days: _Days = 365.0
    consolidating_normal_threshold: _Share = 0.3
    consolidating_review_threshold: _Share = 0.0

    # review and spaced repetition (seed 000, section 4.1; seed 004, section 2.2)
    review_most_days: _Days = 90.0
    review_confidence_share: _Share = 0.4
    review_consolidation_share: _Share = 0.3
    review_emotion_share: _Share = 0.3
    scheduler: Literal["sm2", "fsrs"] = "sm2"
    """Which schedule says when a graded memory is due again."""

    # tiered (seed 003)
    use_boost: _Factor = 0.3
    boost_cooldown_hours: Annotated[float, Field(ge=0, le=8_760)] = 2.0
    boost_daily_limit: _Factor = 1.0
    core_importance: _Factor = 3.0
    """Importance at which a memory becomes core for good."""
    fact_decay: _Share = 0.85
    fact_decay_days: _Step = 5.0
    episode_decay: _Share = 0.6
    episode_decay_days: _Step = 3.0
    episode_kept_days: _Days = 7.0
    """Days after its creation at which an episode is gone."""
    promotion_importance: _Factor = 2.5
    decay_review_importance: _Share = 0.5
    kept_review_importance: _Share = 0.2
    """A memory that a reviewer kept is asked about again under this."""
    tiered_normal_threshold: Annotated[float, Field(ge=0, le=10)] = 0.2
    tiered_review_threshold: Annotated[float, Field(ge=0, le=10)] = 0.0

    # associations (seed 004, section 5)
    keyword_edge_from: Annotated[float, Field(gt=0, le=1)] = 0.3
    """Least overlap (Jaccard) of keywords that makes an edge."""
    task_edge: _Share = 0.5
    temporal_edge: _Share = 0.2
    temporal_hours: Annotated[float, Field(gt=0, le=8_760)] = 24.0
    edges_of_a_kind: Annotated[int, Field(ge=1, le=32)] = 5
    """How many edges of each kind a memory has at most, the best."""
    co_hit_boost: _Share = 0.05
    used_edge_boost: _Share = 0.1
    spread_decay: _Share = 0.5
    spread_depth: Annotated[int, Field(ge=1, le=5)] = 2
    spread_least: Annotated[float, Field(gt=0, le=1)] = 0.1

    # search (seed 001; memory.md, section 11)
    search_exact: _Share = 1.0
    """What a query's keyword that a memory has counts."""
    search_prefix: _Share = 0.8
    """What one counts that begins a memory's keyword, or is begun by it."""
    search_synonym: _Share = 0.7
    """What a synonym counts, times its similarity."""
    search_text_half: Annotated[float, Field(gt=0, le=1_000)] = 8.0
    """BM25 score at which the text term is one half."""
    search_keyword_share: _Share = 0.4
    search_text_share: _Share = 0.4
    search_time_share: _Share = 0.2
    search_time_days: _Days = 30.0
    """Half-life of a memory's youth, and of its last access, in the published ranking."""
    search_relevance_share: _Share = 0.7
    search_interaction_share: _Share = 0.2
    search_kind_share: _Share = 0.1
    search_preference_kind: _Share = 1.0
    """What the kind user_preference counts; command_output and any other follow."""
    search_output_kind: _Share = 0.6
    search_other_kind: _Share = 0.3
    search_accesses: Annotated[int, Field(ge=2, le=1_000_000)] = 100
    """Accesses from which more count no more."""

    # what is old and matches strongly (ADR 0053)
    long_ago: bool = True
    """Normal mode shows, as long ago, what a question matches strongly and age alone withholds; false: as published."""
    long_ago_share: _Share = 0.2
    """Least share of the weight of the question's four rarest words that such a match holds, or stands beside."""
    long_ago_factor: _Share = 0.7
    """A fresh match that holds as much of the question and reaches this share of its score stands above it."""
    long_ago_most: Annotated[int, Field(ge=0, le=100)] = 10
    """So many of them in an answer at most."""

    # lifecycle
    related_similarity: _Share = 0.5
    """Least similarity at which the link job links two memories; from `merge_similarity` on they are duplicates."""
    related_similarity_most: _Share = 0.8
    merge_similarity: _Share = 0.75
    delete_archived_after_days: Annotated[float, Field(ge=0, le=36_500)] = 0.0
    """Days in the archive after which the sweep deletes (softly); 0: never."""
    replay_important: bool = False
    """Whether the lifecycle jobs replay important memories that are due for review."""

    # sessions (seed 003, layer 2)
    session_idle_hours: Annotated[float, Field(gt=0, le=8_760)] = 12.0
    """Hours without a message after which a sitting of a session is over; one hour where another session went on."""


DEFAULTS = Parameters()
NAMES = tuple(field.name for field in dataclasses.fields(Parameters))


@cache
def _adapter(name: str) -> TypeAdapter[Any]:
    annotation = get_type_hints(Parameters, include_extras=True)[name]
    return TypeAdapter(annotation, config=ConfigDict(strict=True, allow_inf_nan=False))


def schema_of(name: str) -> dict[str, Any]:
    """JSON Schema of one parameter."""
    return _adapter(name).json_schema()


def allowed(name: str) -> str:
    """What the parameter may be, in words, e.g. "a number from 0 to 1"."""
    schema = schema_of(name)
    if "enum" in schema:
        return "one of " + ", ".join(map(str, schema["enum"]))
    if schema.get("type") == "boolean":
        return "true or false"
    if schema.get("type") == "string":
        return HALF_LIVES_RULE if name == "half_life_by_kind" else "an IANA time zone such as UTC or Asia/Shanghai"
    kind = "a whole number" if schema.get("type") == "integer" else "a number"
    low = f"above {schema['exclusiveMinimum']}" if "exclusiveMinimum" in schema else f"from {schema.get('minimum')}"
    return f"{kind} {low} to {schema.get('maximum')}"


def problem_with(name: str, value: object) -> str | None:
    """What is allowed where `name = value` is not, else None."""
    if name not in NAMES:
        return "a parameter's name: " + ", ".join(NAMES)
    try:
        _adapter(name).validate_python(value)
    except ValidationError:
        return allowed(name)
    return None


def changed(base: Parameters, values: dict[str, ParameterValue]) -> Parameters:
    """`base` with some values replaced; ints become floats where the parameter is a float."""
    known = {name: _adapter(name).validate_python(value) for name, value in values.items() if name in NAMES}
    return dataclasses.replace(base, **known)
