"""Shapes of search: results with their reasons, what they bring to mind, what was withheld."""

from __future__ import annotations

from pydantic import BaseModel, Field

from api.http.shapes.log import EXAMPLE_FACTORS, exampled
from api.http.shapes.memories import EXAMPLE_CARD, EXAMPLE_PLACE, EXAMPLE_WITHHELD, Card, Place, Withheld


class Step(BaseModel):
    """One step on the way to what is brought to mind: an edge between memories, or a triple between entities."""

    model_config = exampled({"from": "coffee", "to": "tea", "link": "keyword", "weight": 0.5})

    from_: str = Field(alias="from")
    to: str
    link: str
    weight: float | None = None
    negation: bool | None = None


class Explanation(BaseModel):
    """Why a result stands where it stands."""

    model_config = exampled({})

    score: dict[str, float] = Field(description="The parts of the score by name; they add up to it.")
    terms: dict[str, float] = Field(description="Each matching term's share of the text score.")
    law: str
    factors: dict[str, float]
    path: list[Step] | None = Field(default=None, description="The way of the activation, under `associative`.")
    replaces: list[str] | None = Field(default=None, description="Matching memories that this one replaced.")
    tags: list[str] | None = Field(default=None, description="Context tags, where the search asked for some.")


class Result(Card):
    """One search result."""

    score: float
    weight: float
    explain: Explanation


class Associated(Card):
    """A memory that the hits bring to mind."""

    activation: float
    weight: float
    path: list[Step]


class Found(Place):
    """The answer to a search."""

    model_config = exampled(
        {
            "results": [
                EXAMPLE_CARD
                | {
                    "score": 0.183,
                    "weight": 1.3,
                    "explain": {
                        "score": {"text": 0.154739, "weight": 0.028261},
                        "terms": {"coffe": 0.154739},
                        "law": "weighted",
                        "factors": EXAMPLE_FACTORS,
                    },
                }
            ],
            "withheld": [EXAMPLE_WITHHELD],
            "mode": "normal",
            **EXAMPLE_PLACE,
        }
    )

    results: list[Result]
    associated: list[Associated] | None = Field(default=None, description="Only where `associations` asked for it.")
    withheld: list[Withheld]
    mode: str
