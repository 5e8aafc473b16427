"""Tools that tell what is known, and why. They leave no trace."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field
from typing_extensions import TypedDict

from engramlog_server.api.mcp.connection import Connection
from engramlog_server.api.mcp.recorded import UNSAID, Behind, shaped
from engramlog_server.api.work.patience import Work, takes

Topic = Annotated[str, Field(description="In any language.")]


class Evidence(TypedDict):
    """A memory that an assessment rests on."""

    id: str
    score: float
    snippet: str
    confidence: float
    updated_at: str


class Assessed(TypedDict):
    """How sure the memories make of a topic."""

    topic: str
    confidence: str
    score: float
    message: str
    suggestions: list[str]
    evidence: list[Evidence]
    stats: Annotated[dict[str, Any], UNSAID]
    behind: Behind


class Node(TypedDict):
    """A memory on a map."""

    id: str
    label: str
    memory_type: str
    score: float
    depth: int
    cluster: int | None


Edge = TypedDict("Edge", {"from": str, "to": str, "weight": float, "link": str, "keywords": list[str]})
"""Why two memories are joined."""


class Cluster(TypedDict):
    """Memories that belong together."""

    cluster: int
    label: str
    members: list[str]


class Graph(TypedDict):
    """What is known around a topic."""

    topic: str | None
    nodes: list[Node]
    edges: list[Edge]
    clusters: list[Cluster]
    truncated: bool
    behind: Behind


class DueMemory(TypedDict):
    """A memory to confirm."""

    id: str
    memory: str
    memory_type: str
    score: float
    importance: float
    due_at: str
    days_overdue: float


class Due(TypedDict):
    """What to confirm, the most pressing first."""

    memories: list[DueMemory]
    due: int
    below_min_importance: int
    next_due_at: str | None
    behind: Behind


class KnowTools:
    """Assessments, maps, reviews."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def memory_assess_knowledge(self, topic: Topic) -> Assessed:
        """How sure the memories make you of a topic, before you rely on them: confidence, evidence, and what to do if unsure."""
        with self._connection.session() as asked:
            told: Mapping[str, Any] = asked.application.knower.assess(asked.owner, topic)
        evidence = [shaped(Evidence, one, score="relevance") for one in told["evidence"]]
        answer: Assessed = shaped(Assessed, {**told, "evidence": evidence})
        return answer

    @takes(Work.HEAVY)
    def memory_knowledge_map(
        self,
        topic: Annotated[
            str | None,
            Field(description="Default: the strongest of all that is known."),
        ] = None,
        depth: Annotated[int, Field(ge=1, le=4)] = 2,
        min_score: Annotated[float, Field(ge=0, le=1)] = 0.3,
        limit: Annotated[int, Field(ge=1, le=200)] = 36,
    ) -> Graph:
        """What is known around a topic, or of everything, as a graph: memories, why they are joined, and clusters of them."""
        with self._connection.session() as asked:
            told: Mapping[str, Any] = asked.application.knower.map(
                asked.owner, topic, depth=depth, least=min_score, limit=limit
            )
        edges = [
            {**one, "keywords": [word for reason in one["reasons"] for word in reason["keywords"]]}
            for one in told["edges"]
        ]
        parts = {
            "nodes": [shaped(Node, one, memory_type="kind", score="weight") for one in told["nodes"]],
            "edges": [shaped(Edge, one) for one in edges],
            "clusters": [shaped(Cluster, one, cluster="id") for one in told["clusters"]],
        }
        graph: Graph = shaped(Graph, {**told, **parts})
        return graph

    def memory_review_due(
        self,
        min_importance: Annotated[float, Field(ge=0, le=1)] = 0.5,
        memory_type: str | None = None,
        limit: Annotated[int, Field(ge=1, le=50)] = 10,
    ) -> Due:
        """Memories worth confirming with the user before they fade, most pressing first."""
        with self._connection.session() as asked:
            told = asked.application.living.review(
                asked.owner, min_importance=min_importance, limit=limit, kind=memory_type
            )
        memories = [shaped(DueMemory, one, memory_type="kind", score="priority") for one in told["memories"]]
        due: Due = shaped(Due, {**told, "memories": memories}, below_min_importance="left_out")
        return due
