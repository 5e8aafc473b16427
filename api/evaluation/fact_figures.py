"""What measuring extraction tells (`api.evaluation.facts`)."""

from __future__ import annotations

from typing import TypedDict

from api.evaluation.search import EvaluationAnswer


class FactFigures(TypedDict, total=False):
    """What is told of a part of a set; shares are rounded to 4 decimals, and left out of nothing."""

    turns: int
    """That people said."""
    memories: int
    """That were made of them."""
    per_100: float
    """Memories of a hundred such turns."""
    statements: int
    asserted: float
    """The share of statements that their speaker asserts; of others no memory is made."""
    marked: int
    caught: int
    recall: float
    """The share of marks that were caught."""


class SampledMemory(TypedDict):
    """A memory beside the turn that it came from, to be read by somebody."""

    conversation: str
    turn_id: str
    speaker: str | None
    category: str
    kind: str
    content: str
    text: str


class MissedTurn(TypedDict):
    """A marked turn that was not caught, with what was made of it instead."""

    line: int
    conversation: str
    turn_id: str
    words: list[str]
    made: list[str]
    text: str


class FactsAnswer(TypedDict, total=False):
    """All that is measured of a set."""

    set: str
    half: str
    by: str
    marks: str
    """A hash of what is marked: only runs with the same are compared."""
    marked_elsewhere: int
    """Marks of turns in the other half, which is not measured."""
    conversations: int
    turns_too_long: int
    turns_cut: int
    all: FactFigures
    categories: dict[str, FactFigures]
    """By half, by language, and by both."""
    missed: list[MissedTurn]
    sample: list[SampledMemory]
    differences: EvaluationAnswer
