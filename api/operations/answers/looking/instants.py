"""Shapes of what memories weigh, and where they stand, at many instants."""

from __future__ import annotations

from pydantic import BaseModel, Field

from api.operations.answers.log import Example, LinesTold, Placed, exampled

EXAMPLE_ROW: Example = {
    "id": "coffee",
    "text": "I drink coffee every morning",
    "weights": [None, 1.3, 0.39],
    "ranks": [None, 1, None],
    "withheld": [None, None, 10],
    "scores": [None, 4.028, 3.982],
}
EXAMPLE_MARK: Example = {
    "position": "3:131",
    "event_id": "018f3c1e-7b2a-7000-8000-000000000003",
    "event": "MemoryNegated",
    "time": "2026-03-02T08:00:00Z",
    "recorded_at": "2026-11-22T09:30:00Z",
    "ids": ["coffee"],
}
EXAMPLE_INSTANTS: Example = {
    "owner": "alice",
    "line": "happened",
    "mode": "normal",
    "law": None,
    "laws": ["weighted"],
    "law_at": [0, 0, 0],
    "query": "what does alice drink?",
    "ranked_by": "score",
    "instants": ["2026-01-01T00:00:00Z", "2026-02-15T00:00:00Z", "2026-04-01T00:00:00Z"],
    "reasons": ["sensitive", "deleted"],
    "rows": [EXAMPLE_ROW],
    "unknown": [],
    "marks": [EXAMPLE_MARK],
    "marks_left_out": 0,
    "exact_at": "3:131",
    "exact_now": "2026-11-22T09:30:00Z",
    "meaning": None,
    "position": "3:131",
    "behind": 0,
    "as_of": None,
    "known": None,
}


class InstantsRow(BaseModel):
    """One memory; each list has one element an instant."""

    model_config = exampled(EXAMPLE_ROW)

    id: str
    text: str | None = Field(
        description="Its text, shortened; `[withheld: ...]` for a secret. Null of what is deleted or rejected today, but in debug"
        " mode, and of what is purged."
    )
    weights: list[float | None] = Field(
        description="As `get` tells it of that instant; null where it was not there, or is purged."
    )
    ranks: list[int | None] = Field(
        description="Its place among these rows, 1 for the first; null where it is not shown, or does not match the question."
    )
    withheld: list[int | None] = Field(
        description="Why it is not shown, by number in `reasons`; null where it is shown, or was not there."
    )
    scores: list[float | None] | None = Field(
        None, description="Of the question, null where it does not match; no list where none was asked."
    )


class InstantsMark(BaseModel):
    """An event that named some of the rows."""

    model_config = exampled(EXAMPLE_MARK)

    position: str
    event_id: str
    event: str
    time: str = Field(description="When it happened.")
    recorded_at: str | None = Field(description="When it was recorded.")
    ids: list[str] = Field(description="Of the rows that it names.")


class InstantsTold(LinesTold, Placed):
    """Weights and ranks of some memories at many instants, so that a hand on a time line can move without asking again."""

    model_config = exampled(EXAMPLE_INSTANTS)

    owner: str
    line: str = Field(description="`happened` or `known`: which time line the instants are on.")
    mode: str
    law: str | None = Field(description="The law that was asked for; null: the owner's own at each instant.")
    laws: list[str] = Field(description="The laws by which was weighed.")
    law_at: list[int] = Field(description="Of each instant the number of its law in `laws`.")
    query: str | None = Field(description="The question; masked where it looks like a secret.")
    ranked_by: str = Field(description="`score` where something is asked, else `activated` (as `list`) or `weight`.")
    instants: list[str] = Field(description="Evenly spaced, ascending, both ends among them.")
    reasons: list[str] = Field(description="Why a memory is withheld: what the numbers in `withheld` stand for.")
    rows: list[InstantsRow]
    unknown: list[str] = Field(description="Ids that were told, of which nothing is known here.")
    marks: list[InstantsMark] = Field(description="Events of the span about the rows, the oldest first; 100 at most.")
    marks_left_out: int
    exact_at: str = Field(
        description="The position at which the question was ranked: what words and meaning say is held from there, weights are not."
    )
    exact_now: str = Field(description="The instant at which it was.")
    meaning: str | None = Field(
        description="Why meaning was not compared although it was asked for; null where it was."
    )
