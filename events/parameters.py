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

from engramlog_server.events.text import MOST_NAMED, OWNERS_NAMES, OWNERS_RULE, STORE, is_embedder_name

Profile = Literal["weighted", "ebbinghaus", "consolidating", "tiered"]
ParameterValue = float | int | str | bool
PARAMETER_SET = "2026-11.3"
"""Name of the set of defaults below."""

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


def _known_embedder(name: str) -> str:
    if name != STORE and not is_embedder_name(name):
        raise PydanticCustomError("embedder", "{rule}", {"rule": OWNERS_RULE})
    return name


@lru_cache(maxsize=1024)
def half_lives(text: str) -> dict[str, float]:
    """Base half-lives in days by kind, from `half_life_by_kind`."""
    pairs = (pair.split("=") for pair in text.split(",") if pair)
    return {kind: float(days) for kind, days in pairs}


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """Parameters in force for one owner at one moment. Rates are per day unless named otherwise.

    What stands under each is told to people too (`parameters`): its first line says what it is, by itself.
    """

    alpha_base: _Rate = 0.01
    """Base decay of w_time, per day."""
    importance_identity: _Factor = 1.5
    """I of the category identity."""
    importance_stable_preference: _Factor = 1.3
    """I of the category stable_preference."""
    importance_skill: _Factor = 1.2
    """I of the category skill."""
    importance_fact: _Factor = 1.1
    """I of the category fact."""
    importance_short_term_preference: _Factor = 0.9
    """I of the category short_term_preference."""
    importance_temporary: _Factor = 0.8
    """I of the category temporary."""
    semantic_boost: _Rate = 0.5
    """s of a mention."""
    frequent_boost: _Rate = 0.3
    """s of a mention that is at least the `frequent_threshold`-th within `frequent_window_hours`."""
    frequent_rule: Literal["keep", "replace"] = "keep"
    """`keep`: a frequent mention leaves s at least at what is left of it; `replace`: s falls to `frequent_boost`, as published."""
    frequent_threshold: Annotated[int, Field(ge=2, le=64)] = 3
    """A mention is frequent if it is at least this one within `frequent_window_hours`."""
    frequent_window_hours: Annotated[float, Field(gt=0, le=8_760)] = 24.0
    """Hours within which mentions are counted for `frequent_threshold`."""
    lambda_s: _Rate = 0.05
    """How soon S, which a mention lifts, fades again, per day."""
    c_min: _Share = 0.3
    """Lowest C, of what was negated."""
    lambda_c: _Rate = 0.01
    """How soon C moves after a negation, per day."""
    user_factor: Annotated[float, Field(ge=0.1, le=10)] = 1.0
    """U: 0.8 forgets slowly, 1.3 forgets fast."""
    user_factor_scope: Literal["decay", "both"] = "decay"
    """`decay`: U acts in w_time only; `both`: also in the product, as published."""
    use_activates: bool = True
    """A use that went well is an activation for w_time and levels; false: as published, where only mentions are."""
    talk_reaffirms: bool = True
    """Whether saying a statement again in a conversation ends the user's plain negation of it; false: it waits."""
    momentum: _Rate = 0.3
    """The most that M adds."""
    lambda_m: _Rate = 0.5
    """How soon M is full, per mention within its window."""
    momentum_window_days: _Days = 3.0
    """The window of M, days."""
    weight_min: _Share = 0.01
    """Least weight that is reported."""
    weight_max: Annotated[float, Field(gt=0, le=100)] = 2.0
    """Most weight that is reported."""
    summary_after_days: _Days = 30.0
    """Idle days after which a memory is of level `summary`."""
    tag_after_days: _Days = 90.0
    """Idle days after which a memory is of level `tag`."""
    trace_after_days: _Days = 180.0
    """Idle days after which a memory is of level `trace`."""
    archive_after_days: _Days = 365.0
    """Idle days after which a memory is of level `archive`."""
    archive_weight: _Share = 0.01
    """Weight under which level `archive` comes sooner."""
    archive_idle_days: _Days = 180.0
    """Idle days from which `archive_weight` counts."""
    deleted_kept_days: _Days = 30.0
    """Days from deletion to purge."""
    weighted_normal_threshold: Annotated[float, Field(ge=0, le=100)] = 0.3
    """Least unclipped weight that normal mode shows under the weighted law."""
    weighted_review_threshold: Annotated[float, Field(ge=0, le=100)] = 0.01
    """Least unclipped weight that review mode shows under the weighted law."""
    time_zone: Annotated[str, AfterValidator(_known_zone)] = "UTC"
    """The owner's time zone: of context tags, of days, and of "tomorrow" when merging."""

    # ebbinghaus (seed 004): hours, and factors on the stability
    initial_stability: _Stability = 24.0
    """S of a new memory, hours."""
    manual_stability: _Stability = 168.0
    """S of one made by hand: by a user or operator, from no turn, not imported."""
    min_stability: _Stability = 1.0
    """Least S that a reinforcement leaves, hours."""
    max_stability: _Stability = 8_760.0
    """Most S that a reinforcement leaves, hours."""
    reinforce_recall: _Factor = 1.2
    """What S is multiplied by when recalled, looked at or injected, once an event."""
    reinforce_association: _Factor = 1.1
    """What S is multiplied by when another memory brings it to mind."""
    reinforce_used: _Factor = 1.2
    """What S is multiplied by when it was used."""
    reinforce_task_success: _Factor = 2.0
    """What S is multiplied by when a task succeeded with it."""
    reinforce_task_failure: _Factor = 0.8
    """What S is multiplied by when a task failed with it."""
    reinforce_manual_review: _Factor = 1.5
    """What S is multiplied by when a person looked at it again."""
    failure_restarts_clock: bool = False
    """Whether a failure restarts the clock, as published; a failure then lifts a faded memory to 100."""
    confident_from: _Share = 0.8
    """Confidence from which fading is slower."""
    confident_decay: _Factor = 0.7
    """Factor on the decay rate from that confidence on."""
    reinforced_from: Annotated[int, Field(ge=1, le=1_000_000)] = 5
    """Reinforcements from which fading is slower."""
    reinforced_decay: _Factor = 0.8
    """Factor on the decay rate from so many reinforcements on."""
    pitfall_decay: _Factor = 0.9
    """Factor on the decay rate of the kind pitfall."""
    min_decay: _Factor = 0.5
    """Least decay rate that is computed."""
    archive_strength: _Percent = 10.0
    """Rounded strength under which the profile archives."""
    delete_strength: _Percent = 5.0
    """Rounded strength under which the profile deletes (softly)."""
    ebbinghaus_normal_threshold: _Share = 0.1
    """Least weight that normal mode shows under the ebbinghaus law."""
    ebbinghaus_review_threshold: _Share = 0.0
    """Least weight that review mode shows under the ebbinghaus law."""

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
    """Share of frequency in the consolidation."""
    longevity_share: _Share = 0.2
    """Share of longevity in the consolidation."""
    recency_share: _Share = 0.3
    """Share of recency in the consolidation."""
    consolidating_normal_threshold: _Share = 0.3
    """Least weight that normal mode shows under the consolidating law."""
    consolidating_review_threshold: _Share = 0.0
    """Least weight that review mode shows under the consolidating law."""

    # review and spaced repetition (seed 000, section 4.1; seed 004, section 2.2)
    review_most_days: _Days = 90.0
    """Longest interval before a first grade, days."""
    review_confidence_share: _Share = 0.4
    """Share of confidence in a review's importance."""
    review_consolidation_share: _Share = 0.3
    """Share of consolidation in a review's importance."""
    review_emotion_share: _Share = 0.3
    """Share of the emotion's strength in a review's importance."""
    scheduler: Literal["sm2", "fsrs"] = "sm2"
    """Which schedule says when a graded memory is due again."""

    # tiered (seed 003)
    use_boost: _Factor = 0.3
    """Importance that a use adds."""
    boost_cooldown_hours: Annotated[float, Field(ge=0, le=8_760)] = 2.0
    """Hours since the last counted boost in which none counts."""
    boost_daily_limit: _Factor = 1.0
    """Most that boosts add within 24 hours."""
    core_importance: _Factor = 3.0
    """Importance at which a memory becomes core for good."""
    fact_decay: _Share = 0.85
    """Share of a fact that remains after a step."""
    fact_decay_days: _Step = 5.0
    """A fact's step, days."""
    episode_decay: _Share = 0.6
    """Share of an episode that remains after a step."""
    episode_decay_days: _Step = 3.0
    """An episode's step, days."""
    episode_kept_days: _Days = 7.0
    """Days after its creation at which an episode is gone."""
    promotion_importance: _Factor = 2.5
    """Importance to which a memory must rise for a reviewer to be asked whether it becomes core."""
    decay_review_importance: _Share = 0.5
    """Importance under which a reviewer is asked whether it may go; what a keeping resets to."""
    kept_review_importance: _Share = 0.2
    """A memory that a reviewer kept is asked about again under this."""
    tiered_normal_threshold: Annotated[float, Field(ge=0, le=10)] = 0.2
    """Least weight that normal mode shows under the tiered law."""
    tiered_review_threshold: Annotated[float, Field(ge=0, le=10)] = 0.0
    """Least weight that review mode shows under the tiered law."""

    # associations (seed 004, section 5)
    keyword_edge_from: Annotated[float, Field(gt=0, le=1)] = 0.3
    """Least overlap (Jaccard) of keywords that makes an edge."""
    task_edge: _Share = 0.5
    """Weight of the edge between memories of one task."""
    temporal_edge: _Share = 0.2
    """Weight of the edge between memories of one project or session that are near in time."""
    temporal_hours: Annotated[float, Field(gt=0, le=8_760)] = 24.0
    """How near in time two memories are that have a temporal edge, hours."""
    edges_of_a_kind: Annotated[int, Field(ge=1, le=32)] = 5
    """How many edges of each kind a memory has at most, the best."""
    co_hit_boost: _Share = 0.05
    """Weight that showing two memories together adds to their edge."""
    used_edge_boost: _Share = 0.1
    """Weight that a use reached from another memory adds to their edge."""
    spread_decay: _Share = 0.5
    """Share of an activation that passes an edge."""
    spread_depth: Annotated[int, Field(ge=1, le=5)] = 2
    """How many edges far activation spreads."""
    spread_least: Annotated[float, Field(gt=0, le=1)] = 0.1
    """Activation below which nothing is reached."""

    # search (seed 001; memory.md, section 11)
    search_prefix: _Share = 0.8
    """Value of a match in which one keyword begins the other."""
    search_synonym: _Share = 0.7
    """Value of a match by synonym, times its similarity."""
    search_text_half: Annotated[float, Field(gt=0, le=1_000)] = 8.0
    """BM25 score at which the text term is one half."""
    search_keyword_share: _Share = 0.4
    """Share of keywords in the published relevance."""
    search_text_share: _Share = 0.4
    """Share of text or meaning in the published relevance."""
    search_time_share: _Share = 0.2
    """Share of the memory's youth in the published relevance."""
    search_time_days: _Days = 30.0
    """Half-life of a memory's youth, and of its last access, in the published ranking."""

    # what is old
    long_ago: bool = True
    """Searches and maps in normal mode include memories hidden only because they are old; false: as published."""

    # the block for a prompt
    stable_sensitive: bool = True
    """The stable part of a block holds texts of sensitivity 2 (health, pay, address); false: only related lines do."""

    # what is sensitive
    finance_sensitivity: Annotated[int, Field(ge=0, le=3)] = 0
    """Least sensitivity of new memories that tell of money (savings, debts, shares); 3: as published; 0: as the rules find."""

    # lifecycle
    related_similarity: _Share = 0.5
    """Least similarity at which a write or the daily job links two memories; from `merge_similarity` on they are duplicates."""
    merge_similarity: _Share = 0.75
    """Similarity from which near-duplicates merge."""
    delete_archived_after_days: Annotated[float, Field(ge=0, le=36_500)] = 0.0
    """Days in the archive after which the sweep deletes (softly); 0: never."""
    replay_important: bool = False
    """Whether the lifecycle jobs replay important memories that are due for review."""

    # sessions
    session_idle_hours: Annotated[float, Field(gt=0, le=8_760)] = 12.0
    """Hours without a message after which an episode of a session ends; one hour if another session went on."""

    # meaning
    embedder: Annotated[
        str,
        AfterValidator(_known_embedder),
        WithJsonSchema(
            {"type": "string", "pattern": OWNERS_NAMES, "maxLength": MOST_NAMED, "description": OWNERS_RULE}
        ),
    ] = STORE
    """Embedder of the owner: store (the process's setting, else the store's), none, auto, or a name."""


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
        return str(schema.get("description", "an IANA time zone such as UTC or Asia/Shanghai"))
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
