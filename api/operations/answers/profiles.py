"""Shapes of laws, and of the one that an owner lives by."""

from __future__ import annotations

from pydantic import BaseModel, Field

from api.operations.answers.log import (
    EXAMPLE_CHANGE,
    Change,
    Example,
    LinesTold,
    Placed,
    exampled,
)

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
