"""Shapes of an owner's synonyms."""

from __future__ import annotations

from pydantic import BaseModel, Field

from api.operations.answers.log import EXAMPLE_CHANGE, KNOWN, Change, Example, Placed, exampled

EXAMPLE_PAIR: Example = {"word": "coffee", "synonym": "咖啡", "similarity": 0.9}
EXAMPLE_EXPANSION: Example = {
    "original": "coffee",
    "synonyms": {"咖啡": 0.9, "espresso": 0.8},
    "related": {},
}


class SynonymPair(BaseModel):
    """Two words that mean the same to an owner, or, at 0, that do not."""

    model_config = exampled(EXAMPLE_PAIR)

    word: str = Field(description="Case-folded; the smaller of the two words.")
    synonym: str
    similarity: float


class WordExpansion(BaseModel):
    """What a word is looked for by."""

    model_config = exampled(EXAMPLE_EXPANSION)

    original: str
    synonyms: dict[str, float] = Field(description="With their similarity, the owner's own before the known ones.")
    related: dict[str, float] = Field(description="Synonyms of synonyms, with the product: told, never matched.")


class SynonymsKnown(Placed):
    """An owner's own synonyms."""

    model_config = exampled(
        {
            "owner": "alice",
            "of": "coffee",
            "synonyms": [EXAMPLE_PAIR],
            "silenced": [],
            "total": 1,
            "most": 256,
            "known": {"咖啡": 0.8, "espresso": 0.8},
            "expansion": EXAMPLE_EXPANSION,
            "as_of": None,
            "known_by": None,
            "position": "3:131",
        }
    )

    owner: str
    of: str | None
    synonyms: list[SynonymPair] = Field(description="All of the owner's pairs, or those of the word that is asked for.")
    silenced: list[SynonymPair] = Field(description="Pairs that are no synonyms here, whatever is known to all.")
    total: int = Field(description="How many pairs the owner has in all.")
    most: int = Field(description="How many an owner may have.")
    known: dict[str, float] = Field(description="What is known to all about the word that is asked for.")
    expansion: WordExpansion | None
    as_of: str | None
    known_by: str | None = KNOWN


class SynonymSaid(Placed):
    """What defining a synonym did; where it changed nothing, the entry says `ignored` and why."""

    model_config = exampled(
        EXAMPLE_PAIR
        | {
            "owner": "alice",
            "position": "3:131",
            "changes": [
                EXAMPLE_CHANGE
                | {
                    "event": "SynonymDefined",
                    "memory": None,
                    "decision": "synonym",
                    "reason": "two words are alike in the owner's searches from here on",
                    "old_weight": None,
                    "new_weight": None,
                    "delta": None,
                    "factors": None,
                    "fields": ["synonyms"],
                    "version": None,
                    "content_hash": None,
                }
            ],
        }
    )

    owner: str
    word: str
    synonym: str
    similarity: float
    changes: list[Change]
