"""Shapes of search: results with their reasons, what they bring to mind, what was withheld."""

from __future__ import annotations

from pydantic import BaseModel, Field

from api.operations.answers.log import EXAMPLE_FACTORS, exampled
from api.operations.answers.memories import EXAMPLE_CARD, EXAMPLE_PLACE, EXAMPLE_WITHHELD, Card, Place, Withheld


class Step(BaseModel):
    """One step on the way to what is brought to mind: an edge between memories, or a triple between entities."""

    model_config = exampled({"from": "coffee", "to": "tea", "link": "keyword", "weight": 0.5})

    from_: str = Field(alias="from")
    to: str
    link: str
    weight: float | None = None
    negation: bool | None = None


class KeywordMatched(BaseModel):
    """Which keyword of the question matched which of the memory."""

    asked: str
    keyword: str
    weight: float
    source: str
    match: str
    adds: float
    similarity: float | None = None


class Explanation(BaseModel):
    """Why a result stands where it stands."""

    model_config = exampled({})

    score: dict[str, float] = Field(description="The parts of the score by name; they add up to it.")
    weights: dict[str, float] | None = Field(
        default=None, description="The most that each part adds, under `conversation`: part = weight x value in [0, 1]."
    )
    terms: dict[str, float] = Field(description="Each matching term's share of the text score.")
    law: str
    factors: dict[str, float]
    path: list[Step] | None = Field(default=None, description="The way of the activation, under `associative`.")
    keywords: list[KeywordMatched] | None = Field(
        default=None, description="Which keyword matched which, and how, under `published`."
    )
    replaces: list[str] | None = Field(default=None, description="Matching memories that this one replaced.")
    tags: list[str] | None = Field(default=None, description="Context tags, where the search asked for some.")
    asked_by: list[str] | None = Field(
        default=None,
        description="The parts of the question, or the other words for it, that brought it among the first ten.",
    )


class Result(Card):
    """One search result."""

    score: float
    relevance: float = Field(description="Section 11's relevance, 0 to 1: comparable between answers and rankings.")
    weight: float
    explain: Explanation


class Associated(Card):
    """A memory that the hits bring to mind."""

    activation: float
    weight: float
    path: list[Step]


class TimeNamed(BaseModel):
    """A time that the question names."""

    model_config = exampled({"text": "7 May", "from": "2023-05-07T00:00:00Z", "to": "2023-05-08T00:00:00Z"})

    text: str
    from_: str = Field(alias="from")
    to: str = Field(description="Not included.")


class Understood(BaseModel):
    """Whom and what times the question names, under `conversation`."""

    model_config = exampled({"times": [], "speakers": ["Caroline"]})

    times: list[TimeNamed]
    speakers: list[str]
    since: str | None = Field(
        default=None, description="The instant from which on was searched, where `since` is told."
    )
    until: str | None = Field(default=None, description="The instant before which was searched, where `until` is told.")
    parts: list[str] | None = Field(
        default=None,
        description="The parts of the question that have a share each of the first ten results, where it has several: what it"
        " asks besides, one for each thing that it compares, or the name for a role.",
    )


class Expanded(BaseModel):
    """What a question was widened by."""

    model_config = exampled({"original": ["laptop"], "synonyms": {"laptop": {"notebook": 0.9}}, "related": {}})

    original: list[str] = Field(description="The question's keywords.")
    synonyms: dict[str, dict[str, float]] = Field(description="By keyword: its synonyms with their similarity.")
    related: dict[str, dict[str, float]] = Field(description="Synonyms of these: told, never matched.")


class MeaningCompared(BaseModel):
    """How much could be compared by meaning."""

    model_config = exampled({"model": "all-MiniLM-L6-v2", "embedded": 90, "of": 100})

    model: str | None = None
    embedded: int | None = Field(default=None, description="Memories that have vectors of the model.")
    of: int | None = Field(default=None, description="Memories that hold text.")
    failed: str | None = Field(
        default=None, description="Why the embedder could not be asked: the answer goes by words."
    )


class Omitted(Withheld):
    """Matches that were left out for one reason."""

    ids: list[str] = Field(description="The best of them, at most five; none of what is sensitive.")


class Found(Place):
    """The answer to a search."""

    model_config = exampled(
        {
            "results": [
                EXAMPLE_CARD
                | {
                    "score": 0.183,
                    "relevance": 0.26,
                    "weight": 1.3,
                    "explain": {
                        "score": {"text": 0.154739, "weight": 0.028261},
                        "terms": {"coffe": 0.154739},
                        "law": "weighted",
                        "factors": EXAMPLE_FACTORS,
                    },
                }
            ],
            "total": 1,
            "offset": 0,
            "next": None,
            "search_mode": "hybrid",
            "understood": {"times": [], "speakers": []},
            "expanded": {"original": ["coffee"], "synonyms": {"coffee": {"咖啡": 0.9}}, "related": {}},
            "meaning": None,
            "withheld": [EXAMPLE_WITHHELD | {"ids": ["old-coffee"]}],
            "mode": "normal",
            **EXAMPLE_PLACE,
        }
    )

    results: list[Result]
    associated: list[Associated] | None = Field(default=None, description="Only where `associations` asked for it.")
    total: int = Field(description="How many results there are on all pages.")
    search_mode: str
    understood: Understood
    expanded: Expanded
    meaning: MeaningCompared | None = Field(
        description="Null where meaning was not compared: in keyword mode, and without an embedder."
    )
    withheld: list[Omitted]
    offset: int = Field(description="How many of them stood on the pages before.")
    next: str | None = Field(description="The cursor of the next page; null on the last.")
    mode: str
