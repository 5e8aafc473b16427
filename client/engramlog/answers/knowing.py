"""Assessments, maps, associations, facts."""

from __future__ import annotations

from engramlog.answers.base import Result
from engramlog.answers.memories import Card, Withheld
from engramlog.answers.past import Place, Placed


class Stats(Result):
    """The numbers behind an assessment, each from 0 to 1 but the count."""

    memories: int
    mean_confidence: float
    coverage: float
    mean_recency: float
    mean_consolidation: float


class Evidence(Result):
    """A memory that an assessment rests on."""

    id: str
    snippet: str
    confidence: float
    relevance: float
    access_count: int
    updated_at: str


class Assessment(Place):
    """How sure we are about a topic."""

    owner: str
    topic: str
    confidence: str
    """high, medium, low, very_low or none."""
    score: float
    """0.35 confidence + 0.25 coverage + 0.20 recency + 0.20 consolidation."""
    message: str
    suggestions: list[str]
    evidence: list[Evidence]
    stats: Stats


class Node(Result):
    """A memory on a map."""

    id: str
    label: str
    kind: str
    confidence: float
    consolidation: float
    weight: float
    depth: int
    is_center: bool
    """For a topic: one of the five best hits. For an overview: the memory with the most links of its cluster."""
    cluster: int | None
    """None: it belongs with no other on this map."""


class MapReason(Result):
    """Why two memories on a map are joined."""

    link: str
    """keyword, meaning, co-task, temporal, co-hit, related, or a producer's own name."""
    weight: float
    keywords: list[str]
    """The keywords that both have, the rarest first, at most five; of other links none."""


class MapEdge(Result):
    """Link of two memories on a map, with weight and `link` of its strongest reason."""

    from_: str
    to: str
    weight: float
    link: str
    reasons: list[MapReason]
    """The strongest first."""


class Cluster(Result):
    """Memories, two at least, that are more joined with each other than with the rest, and the words that tell them apart."""

    id: int
    members: list[str]
    words: list[str]
    label: str


class KnowledgeMap(Place):
    """Graph of the memories about a topic, or of the strongest memories."""

    owner: str
    topic: str | None
    nodes: list[Node]
    edges: list[MapEdge]
    clusters: list[Cluster]
    depth: int
    weaker: int
    """Links weaker than `least`, which were not followed."""
    withheld: list[Withheld]
    """Matches that the mode does not show, by reason."""
    truncated: bool
    """Whether there was more than `limit` nodes."""
    mode: str


class Branch(Card):
    """An associated memory, with what it is associated with in turn."""

    link: str
    weight: float
    base: float
    boost: float
    associations: list[Branch]


class BackedTriple(Result):
    """A triple that the memory backs."""

    subject: str
    predicate: str
    object: str
    negation: bool


class AssociationTree(Card, Place):
    """A memory and what it is associated with."""

    owner: str
    associations: list[Branch]
    triples: list[BackedTriple]
    mode: str


class FactEvidence(Result):
    """A memory that backs a triple."""

    id: str
    memory: str
    status: str
    trust: str
    """How far to trust it, as of a memory."""
    speaker: str | None
    source_turns: list[str]
    created_at: str


class Fact(Result):
    """A triple that is true now; degree, condition and time are those of its newest assertion."""

    subject: str
    predicate: str
    object: str
    negation: bool
    """Whether it says that this is not so."""
    degree: float | None
    condition: str | None
    asserted_at: str
    backing: list[str]
    """Ids of all memories that back it."""
    evidence: list[FactEvidence]
    """The newest five of them."""


class FactsKnown(Placed):
    """A page of an owner's triples."""

    owner: str
    about: str | None
    facts: list[Fact]
    total: int
    """Number of triples over all pages."""
    offset: int
    known: int
    """How many triples the owner has in all."""
    as_of: str | None
    known_by: str | None = None
    """The `known` of the request."""
