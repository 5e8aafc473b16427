"""Shapes of comparisons: every law at an instant, and over time."""

from __future__ import annotations

from pydantic import BaseModel, Field

from api.operations.answers.log import Example, LinesTold, Placed, exampled
from api.operations.answers.memories import EXAMPLE_PLACE, EXAMPLE_WITHHELD, Place, Withheld

EXAMPLE_READING: Example = {"threshold": 0.3, "shown": 1, "withheld": [EXAMPLE_WITHHELD]}
EXAMPLE_STANDING: Example = {"weight": 1.3, "level": "full", "shown": True, "reason": None, "rank": 1.0}
EXAMPLE_PAIR: Example = {"laws": ["weighted", "tiered"], "shown_by_one": 1, "rank_correlation": 0.5}
EXAMPLE_COMPARED: Example = {
    "id": "coffee",
    "memory": "I drink coffee every morning",
    "category": "stable_preference",
    "kind": "preference",
    "status": "live",
    "tier": "fact",
    "laws": {"weighted": EXAMPLE_STANDING},
    "spread": 2.5,
}
EXAMPLE_TOUCH: Example = {
    "position": "3:130",
    "time": "2026-11-22T09:30:00Z",
    "event": "MemoryMentioned",
    "decision": "reinforce",
    "reason": "mentioned",
    "weights": {"weighted": {"before": 0.922, "after": 2.179}},
}
EXAMPLE_CURVE: Example = {"threshold": 0.3, "weights": [1.3, 1.199], "shown": [True, True]}


class LawReading(BaseModel):
    """What one law shows of the owner."""

    model_config = exampled(EXAMPLE_READING)

    threshold: float = Field(description="Least unclipped weight shown in normal mode.")
    shown: int
    withheld: list[Withheld]


class Standing(BaseModel):
    """Where one memory stands under one law."""

    model_config = exampled(EXAMPLE_STANDING)

    weight: float = Field(description="Unclipped, as the threshold reads it.")
    level: str
    shown: bool = Field(description="In normal mode.")
    reason: str | None = Field(description="Why it is withheld; null where it is shown.")
    rank: float = Field(description="1 for the heaviest; equal weights share the mean of their places.")


class Pair(BaseModel):
    """How far two laws agree."""

    model_config = exampled(EXAMPLE_PAIR)

    laws: list[str]
    shown_by_one: int = Field(description="Memories that only one of them shows.")
    rank_correlation: float | None = Field(description="Spearman's; null where a law tells nothing apart.")


class ComparedMemory(BaseModel):
    """One memory under every law."""

    model_config = exampled(EXAMPLE_COMPARED)

    id: str
    memory: str = Field(description="Its text; `[withheld: ...]` for a secret.")
    category: str
    kind: str
    status: str
    tier: str
    laws: dict[str, Standing]
    spread: float = Field(description="Between its highest and its lowest rank.")


class Compared(Place):
    """An owner's memories under every law, those first on which the laws disagree most."""

    model_config = exampled(
        {
            "profile": "weighted",
            "laws": {"weighted": EXAMPLE_READING},
            "pairs": [EXAMPLE_PAIR],
            "memories": [EXAMPLE_COMPARED],
            "total": 1,
            "offset": 0,
            "owner": "alice",
            "instant": "2026-11-22T09:30:00Z",
            **EXAMPLE_PLACE,
        }
    )

    profile: str
    laws: dict[str, LawReading]
    pairs: list[Pair]
    memories: list[ComparedMemory]
    total: int = Field(description="Memories that are neither deleted, merged away nor retired.")
    offset: int
    owner: str
    instant: str


class Curve(BaseModel):
    """One law's curve; one element an instant."""

    model_config = exampled(EXAMPLE_CURVE)

    threshold: float = Field(description="Of normal mode, by the parameters in force at the end.")
    weights: list[float | None] = Field(description="Unclipped; null before its creation and after its purge.")
    shown: list[bool] = Field(description="In normal mode under this law.")


class Jump(BaseModel):
    """A weight just before an event and just after it."""

    model_config = exampled({"before": 0.922, "after": 2.179})

    before: float | None
    after: float | None


class Touch(Placed):
    """An event that changed the memory, or the parameters by which it is read."""

    model_config = exampled(EXAMPLE_TOUCH)

    time: str
    event: str
    decision: str = Field(description="As in the change log; `access` of what writes no entry there.")
    reason: str
    weights: dict[str, Jump]


class Curves(LinesTold, Placed):
    """One memory's weights under every law over time."""

    model_config = exampled(
        {
            "owner": "alice",
            "id": "coffee",
            "title": "coffee: I drink coffee every morning",
            "window": {"from": "2026-11-11T09:30:00Z", "to": "2026-11-22T09:30:00Z"},
            "times": ["2026-11-11T09:30:00Z", "2026-11-22T09:30:00Z"],
            "laws": {"weighted": EXAMPLE_CURVE},
            "events": [EXAMPLE_TOUCH],
            "folded_together": 0,
            "as_of": None,
            "known": None,
            "position": "3:131",
        }
    )

    owner: str
    id: str
    title: str
    window: dict[str, str] = Field(description="`from` and `to`, the instants between which the curves run.")
    times: list[str] = Field(description="Evenly spaced instants, and two for every event: just before it and at it.")
    laws: dict[str, Curve]
    events: list[Touch]
    folded_together: int
    """Events that came so late, and so many, that they are told with a later one; 0 nearly always."""
