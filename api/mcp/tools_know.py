"""Tools that tell what is known, and why, without a trace; and the block that an agent needs before its answer."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import Annotated, Any, Literal

from pydantic import Field
from typing_extensions import TypedDict

from engramlog_server.api.choices import BUDGET, MOST_BUDGET
from engramlog_server.api.mcp.connection import Connection
from engramlog_server.api.mcp.recorded import UNSAID, Behind, Position, shaped
from engramlog_server.api.work import Work, takes
from engramlog_server.projections.prompt.block import LEAST_BUDGET, PARTS

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


_ID_DIGITS = 16


class Block(TypedDict):
    """A block, and what stands in it."""

    block: str
    stable: str | None
    stable_id: str
    turn: str
    parts: Annotated[dict[str, Any], "The parts of the block, in order."]
    injected: list[str]
    recorded: str
    sizes: Annotated[dict[str, Any], UNSAID]
    tokens: int
    budget: int
    session: str | None
    turn_id: str | None
    dropped: dict[str, Any]
    left_out: dict[str, Any]
    position: Position
    behind: Behind


class ContextTools:
    """Context for a turn."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def memory_context(
        self,
        text: Annotated[str, Field(description="What the user just said.")],
        session: Annotated[str | None, Field(description="The conversation's id; default: the newest.")] = None,
        turn_id: Annotated[
            str | None,
            Field(description="Id of what was said, from add_turns."),
        ] = None,
        budget: Annotated[int, Field(ge=LEAST_BUDGET, le=MOST_BUDGET)] = BUDGET,
        related: Annotated[
            Literal["auto", "always", "never"], Field(description="Related memories; auto: if needed.")
        ] = "auto",
        trace: Annotated[bool, Field(description="You answer with it: record its memories as used.")] = False,
        stable_id: Annotated[str, Field(description="For two parts: new, or the stable_id you have.")] = "",
    ) -> Block:
        """What to know before you answer: the time, what holds, standing instructions, the conversation, what may matter.

        Call it once, as a turn begins. Nothing is recorded without trace.
        """
        with self._connection.session() as asked:
            told: Mapping[str, Any] = asked.application.contexts.context(
                asked.owner, text, session=session, turn_id=turn_id, budget=budget, related=related, trace=trace
            )
        split, stable = stable_id != "", told["stable"]
        now = sha256(stable.encode()).hexdigest()[:_ID_DIGITS]
        parts = {
            part: [
                {"kind": one["kind"], "id": one["id"], "closeness": one.get("closeness")} for one in told["parts"][part]
            ]
            for part in PARTS
        }
        changed = {
            "block": "" if split else told["block"],
            "stable": None if now == stable_id else stable,
            "stable_id": now,
            "parts": parts,
            "recorded": told["recorded"]["status"],
        }
        answer: Block = shaped(Block, {**told, **changed})
        return answer
