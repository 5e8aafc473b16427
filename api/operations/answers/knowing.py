"""Shapes of what is known: assessments, maps, association trees."""

from __future__ import annotations

from pydantic import BaseModel, Field

from api.operations.answers.log import exampled
from api.operations.answers.memories import EXAMPLE_CARD, EXAMPLE_PLACE, Card, Place, Withheld

_STATS = {
    "memories": 1,
    "mean_confidence": 0.6,
    "coverage": 0.1,
    "mean_recency": 1.0,
    "mean_consolidation": 0.3,
}
_EVIDENCE = {
    "id": "coffee",
    "snippet": "I drink coffee every morning",
    "confidence": 0.6,
    "relevance": 1.0,
    "access_count": 0,
    "updated_at": "2026-11-22T09:30:00Z",
}


class Stats(BaseModel):
    """The numbers behind an assessment, each from 0 to 1 but the count."""

    model_config = exampled(_STATS)

    memories: int
    mean_confidence: float
    coverage: float
    mean_recency: float
    mean_consolidation: float


class Evidence(BaseModel):
    """A memory that an assessment rests on."""

    model_config = exampled(_EVIDENCE)

    id: str
    snippet: str
    confidence: float
    relevance: float
    access_count: int
    updated_at: str


class Assessment(Place):
    """How sure we are about a topic."""

    model_config = exampled(
        {
            "owner": "alice",
            "topic": "coffee",
            "confidence": "low",
            "score": 0.495,
            "message": "My memory of “coffee” is vague (1 memory)",
            "suggestions": [
                "It may be out of date or incomplete.",
                "Look it up, or ask again, before relying on it.",
            ],
            "evidence": [_EVIDENCE],
            "stats": _STATS,
            **EXAMPLE_PLACE,
        }
    )

    owner: str
    topic: str
    confidence: str = Field(description="high, medium, low, very_low or none.")
    score: float = Field(description="0.35 confidence + 0.25 coverage + 0.20 recency + 0.20 consolidation.")
    message: str
    suggestions: list[str]
    evidence: list[Evidence]
    stats: Stats


_NODE = {
    "id": "coffee",
    "label": "I drink coffee every morning",
    "kind": "preference",
    "confidence": 0.6,
    "consolidation": 0.3,
    "weight": 1.3,
    "depth": 0,
    "is_center": True,
    "cluster": 0,
}


class Node(BaseModel):
    """A memory on a map."""

    model_config = exampled(_NODE)

    id: str
    label: str
    kind: str
    confidence: float
    consolidation: float
    weight: float
    depth: int
    is_center: bool = Field(
        description="Of a topic: one of the five best hits; of an overview: what its cluster is joined to most."
    )
    cluster: int | None = Field(description="None: it belongs with no other on this map.")


_REASON: dict[str, object] = {"link": "keyword", "weight": 0.5, "keywords": ["drink"]}


class MapReason(BaseModel):
    """Why two memories on a map are joined."""

    model_config = exampled(_REASON)

    link: str = Field(description="keyword, meaning, co-task, temporal, co-hit, related, or what somebody told.")
    weight: float
    keywords: list[str] = Field(
        description="The keywords that both have, the rarest first, at most five; of other links none."
    )


class MapEdge(BaseModel):
    """What joins two memories on a map: its weight and `link` are those of the strongest reason."""

    model_config = exampled({"from": "coffee", "to": "tea", "weight": 0.5, "link": "keyword", "reasons": [_REASON]})

    from_: str = Field(alias="from")
    to: str
    weight: float
    link: str
    reasons: list[MapReason] = Field(description="The strongest first.")


class Cluster(BaseModel):
    """Memories, two at least, that are more joined with each other than with the rest, and the words that tell them apart."""

    model_config = exampled({"id": 0, "members": ["coffee", "tea"], "words": ["drink"], "label": "drink"})

    id: int
    members: list[str]
    words: list[str]
    label: str


class KnowledgeMap(Place):
    """What is known about a topic, or the strongest of all that is known, as a graph."""

    model_config = exampled(
        {
            "owner": "alice",
            "topic": "coffee",
            "nodes": [_NODE, _NODE | {"id": "tea", "label": "I drink tea at night", "depth": 1, "is_center": False}],
            "edges": [{"from": "coffee", "to": "tea", "weight": 0.5, "link": "keyword", "reasons": [_REASON]}],
            "clusters": [{"id": 0, "members": ["coffee", "tea"], "words": ["drink"], "label": "drink"}],
            "depth": 2,
            "truncated": False,
            "weaker": 0,
            "withheld": [],
            "mode": "normal",
            **EXAMPLE_PLACE,
        }
    )

    owner: str
    topic: str | None
    nodes: list[Node]
    edges: list[MapEdge]
    clusters: list[Cluster]
    depth: int
    weaker: int = Field(description="Links weaker than `least`, which were not followed.")
    withheld: list[Withheld] = Field(description="Matches that the mode does not show, by reason.")
    truncated: bool = Field(description="Whether there was more than `limit` nodes.")
    mode: str


class Branch(Card):
    """An associated memory, with what it is associated with in turn."""

    link: str
    weight: float
    base: float
    boost: float
    associations: list[Branch]


class BackedTriple(BaseModel):
    """A triple that the memory backs."""

    model_config = exampled({"subject": "alice", "predicate": "likes", "object": "coffee", "negation": False})

    subject: str
    predicate: str
    object: str
    negation: bool


class AssociationTree(Card, Place):
    """A memory and what it is associated with."""

    model_config = exampled(
        EXAMPLE_CARD | {"owner": "alice", "associations": [], "triples": [], "mode": "review", **EXAMPLE_PLACE}
    )

    owner: str
    associations: list[Branch]
    triples: list[BackedTriple]
    mode: str
