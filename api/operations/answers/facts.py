"""Shapes of what is known as triples."""

from __future__ import annotations

from pydantic import BaseModel, Field

from api.operations.answers.log import KNOWN, Example, Placed, exampled

EXAMPLE_EVIDENCE: Example = {
    "id": "coffee",
    "memory": "I drink coffee every morning",
    "status": "live",
    "trust": "asserted",
    "speaker": None,
    "source_turns": ["D4:7"],
    "created_at": "2026-11-22T09:30:00Z",
}
EXAMPLE_FACT: Example = {
    "subject": "alice",
    "predicate": "drinks",
    "object": "coffee",
    "negation": False,
    "degree": 0.9,
    "condition": "in the morning",
    "asserted_at": "2026-11-22T09:30:00Z",
    "backing": ["coffee"],
    "evidence": [EXAMPLE_EVIDENCE],
}


class FactEvidence(BaseModel):
    """A memory that backs a triple."""

    model_config = exampled(EXAMPLE_EVIDENCE)

    id: str
    memory: str
    status: str
    trust: str = Field(description="How far to trust it, as of a memory.")
    speaker: str | None
    source_turns: list[str]
    created_at: str


class Fact(BaseModel):
    """A triple that holds; degree, condition and time are those of its newest assertion."""

    model_config = exampled(EXAMPLE_FACT)

    subject: str
    predicate: str
    object: str
    negation: bool = Field(description="Whether it says that this is not so.")
    degree: float | None
    condition: str | None
    asserted_at: str
    backing: list[str] = Field(description="Ids of all memories that back it.")
    evidence: list[FactEvidence] = Field(description="The newest five of them.")


class FactsKnown(Placed):
    """A page of an owner's triples."""

    model_config = exampled(
        {
            "owner": "alice",
            "about": "coffee",
            "facts": [EXAMPLE_FACT],
            "total": 1,
            "offset": 0,
            "known": 12,
            "as_of": None,
            "known_by": None,
            "position": "3:131",
        }
    )

    owner: str
    about: str | None
    facts: list[Fact]
    total: int = Field(description="How many there are, of which this is a page.")
    offset: int
    known: int = Field(description="How many triples the owner has in all.")
    as_of: str | None
    known_by: str | None = KNOWN
