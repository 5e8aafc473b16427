"""Shapes of laws, of the one that an owner lives by, and of an owner in figures."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from api.operations.answers.embedding import Coverage
from api.operations.answers.log import (
    EXAMPLE_CHANGE,
    Change,
    Example,
    LinesTold,
    Placed,
    exampled,
)
from api.operations.answers.memories import Place

EXAMPLE_THRESHOLDS: dict[str, float] = {"normal": 0.1, "review": 0.0}
EXAMPLE_FORMULA = "weight = round(100 * exp(-hours * decay_rate / stability)) / 100"


class OwnerProfile(LinesTold, Placed):
    """The law that an owner's recall and lifecycle go by."""

    model_config = exampled(
        {
            "owner": "alice",
            "profile": "ebbinghaus",
            "formula": EXAMPLE_FORMULA,
            "source": "seed 004, sections 2.1 and 4",
            "thresholds": EXAMPLE_THRESHOLDS,
            "parameters": {"initial_stability": {"value": 48.0, "default": 24.0}},
            "as_of": None,
            "known": None,
            "position": "3:131",
        }
    )

    owner: str
    profile: str
    formula: str
    source: str
    thresholds: dict[str, float] = Field(description="Least weight shown in normal and in review mode.")
    parameters: dict[str, dict[str, float | int | str | bool]] = Field(
        description="Those that are not the defaults, by name: `value` and `default`."
    )
    changes: list[Change] | None = Field(default=None, description="What choosing changed.")
    warning: str | None = Field(
        default=None,
        description="Why this process will not use the embedder that the parameters name; not there where it will.",
    )


EXAMPLE_CHOSEN: Example = {
    "owner": "alice",
    "profile": "ebbinghaus",
    "formula": EXAMPLE_FORMULA,
    "source": "seed 004, sections 2.1 and 4",
    "thresholds": EXAMPLE_THRESHOLDS,
    "parameters": {},
    "as_of": None,
    "known": None,
    "position": "3:131",
    "changes": [
        dict.fromkeys(EXAMPLE_CHANGE)
        | {name: EXAMPLE_CHANGE[name] for name in ("position", "event_id", "time", "law")}
        | {"event": "ProfileChosen", "decision": "profile", "reason": "the owner's profile from here on"}
        | {"fields": ["profile"]}
    ],
}


class LawShape(BaseModel):
    """One law by which memories can be weighed."""

    model_config = exampled({})

    name: str
    formula: str
    factors: dict[str, str] = Field(description="What each factor says, with its unit or range.")
    thresholds: dict[str, float] = Field(description="Least weight of normal and review mode, at the defaults.")
    source: str


class Laws(BaseModel):
    """Every law there is."""

    model_config = exampled(
        {
            "laws": [
                {
                    "name": "ebbinghaus",
                    "formula": EXAMPLE_FORMULA,
                    "factors": {"stability": "hours after which 1/e is left at decay rate 1"},
                    "thresholds": EXAMPLE_THRESHOLDS,
                    "source": "seed 004, sections 2.1 and 4",
                }
            ]
        }
    )

    laws: list[LawShape]


class MomentsOfPast(BaseModel):
    """Moments of an owner's past that questions kept to begin at, as of today."""

    kept: int
    bytes: int = Field(description="What they take in Redis, about.")


class WeightBucket(BaseModel):
    """Memories whose weight lies above the bucket before and no higher than this."""

    up_to: float | None = Field(description="Null: all that is heavier.")
    memories: int


class WeightFigures(BaseModel):
    """How the weights of the memories that live are spread, by the owner's law, unclipped; null where there is none."""

    law: str
    memories: int
    mean: float | None
    lowest: float | None
    median: float | None
    highest: float | None
    buckets: list[WeightBucket]


EXAMPLE_FIGURES: Example = {
    "activations": 3,
    "frequent_mentions": 1,
    "negations": 0,
    "merges": 0,
    "merges_undone": 0,
    "compressions": 0,
    "possible_conflicts": 0,
    "conflict_errors": {"taken_back": 0, "refused": 0, "total": 0},
}


class ConflictErrors(BaseModel):
    """Contradictions that turned out not to be one."""

    taken_back: int = Field(
        description="Negations after which the user said the memory again, so that it holds (`reaffirm`)."
    )
    refused: int = Field(description="Negations by a lower source that waited for a person, who rejected them.")
    total: int


class HistoryFigures(BaseModel):
    """How often what happened to the owner's memories, counted in the change log; each event once. Ignored ones count nowhere."""

    activations: int = Field(description="Mentions that refreshed a memory.")
    frequent_mentions: int = Field(description="Of these, the third or later one within 24 hours (decision `merge`).")
    negations: int
    merges: int
    merges_undone: int
    compressions: int = Field(description="Levels that a sweep recorded.")
    possible_conflicts: int = Field(description="Pairs that were linked as a possible conflict.")
    conflict_errors: ConflictErrors


class ShownFigures(BaseModel):
    """What was shown in one way, as the log has it."""

    answers: int = Field(description="Answers that showed anything; of `injection` events, one for each block.")
    memories: int = Field(description="Memories in them, counted as often as they were shown.")


class OwnerStats(Place):
    """Counts of one owner's memories."""

    model_config = exampled(
        {
            "owner": "alice",
            "as_of": None,
            "known": None,
            "at": None,
            "position": "3:131",
            "events": 4,
            "change_log_entries": 4,
            "moments": {"kept": 0, "bytes": 0},
            "profile": "weighted",
            "parameters": {},
            "memories": 1,
            "shown_in_normal_mode": 1,
            "by_category": {"stable_preference": 1},
            "by_level": {"full": 1},
            "by_state": {"live": 1},
            "negated": 0,
            "secret": 0,
            "mean_weight": 1.3,
            "weights": {
                "law": "weighted",
                "memories": 1,
                "mean": 1.3,
                "lowest": 1.3,
                "median": 1.3,
                "highest": 1.3,
                "buckets": [{"up_to": 1.5, "memories": 1}, {"up_to": None, "memories": 0}],
            },
            "figures": EXAMPLE_FIGURES,
            "shown": {"recall": {"answers": 1, "memories": 1}},
            "chain": "5f0c…",
        }
    )

    owner: str
    events: int
    change_log_entries: int
    moments: MomentsOfPast
    profile: str
    parameters: dict[str, Any]
    memories: int
    shown_in_normal_mode: int
    by_category: dict[str, int]
    by_level: dict[str, int]
    by_state: dict[str, int]
    negated: int
    secret: int
    mean_weight: float | None = Field(description="Of all memories, those that are deleted or merged too.")
    weights: WeightFigures
    figures: HistoryFigures
    shown: dict[str, ShownFigures] = Field(
        description="By way of showing: recall (searches), detail, association, injection (blocks for prompts), inspection, reveal."
    )
    chain: str
    embedding: Coverage | None = Field(default=None, description="How many have a vector, where one embeds.")
