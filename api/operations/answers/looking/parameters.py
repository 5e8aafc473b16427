"""Shapes of what can be set of the laws and modes."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from api.operations.answers.log import Example, exampled

EXAMPLE_PARAMETER: Example = {
    "name": "user_factor",
    "kind": "float",
    "default": 1.0,
    "least": 0.1,
    "least_excluded": False,
    "most": 10,
    "choices": None,
    "allowed": "a number from 0.1 to 10",
    "help": "U: 0.8 forgets slowly, 1.3 forgets fast.",
}


class ParameterShape(BaseModel):
    """One parameter of the laws and modes: what it may be, and what it does. Every owner can have it otherwise."""

    model_config = exampled(EXAMPLE_PARAMETER)

    name: str = Field(description="As `profile --set` and `replay --set` take it.")
    kind: Literal["int", "float", "str", "bool"] = Field(description="A whole number is a float too.")
    default: float | int | str | bool
    least: float | None = Field(description="Of a number; null of anything else.")
    least_excluded: bool = Field(description="Whether it must lie above `least`, and not at it.")
    most: float | None = Field(description="Of a number, which may be as much.")
    choices: list[str | bool] | None = Field(description="All that it may be, where that is a few words; else null.")
    allowed: str = Field(description="The rule in words, as a refusal tells it.")
    help: str = Field(description="What it is.")


class ParametersKnown(BaseModel):
    """Every parameter that can be set."""

    model_config = exampled({"parameters": [EXAMPLE_PARAMETER]})

    parameters: list[ParameterShape] = Field(description="In the order of the model.")
