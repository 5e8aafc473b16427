"""Tools that tell what is known, and why. They leave no trace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field

from engramlog_server.api.mcp.connection import Connection
from engramlog_server.api.mcp.recorded import ToolAnswer
from engramlog_server.api.work.patience import Work, takes

Topic = Annotated[str, Field(description="In any language.")]


class KnowTools:
    """Assessments, maps, reviews."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def memory_assess_knowledge(self, topic: Topic) -> ToolAnswer:
        """How sure the memories make you of a topic, before you rely on them: confidence, evidence, and what to do if unsure."""
        with self._connection.session() as asked:
            told: Mapping[str, Any] = asked.application.knower.assess(asked.owner, topic)
        names = ("topic", "confidence", "score", "message", "suggestions", "stats", "behind")
        return {
            "evidence": [
                _chosen(one, ("snippet", "confidence", "updated_at"), score="relevance") for one in told["evidence"]
            ],
            **{name: told[name] for name in names},
        }

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
    ) -> ToolAnswer:
        """What is known around a topic, or of everything, as a graph: memories, why they are joined, and clusters of them."""
        with self._connection.session() as asked:
            told = asked.application.knower.map(asked.owner, topic, depth=depth, least=min_score, limit=limit)
        node = {"memory_type": "kind", "score": "weight"}
        return {
            "topic": told["topic"],
            "nodes": [_chosen(one, ("label", "depth", "cluster"), **node) for one in told["nodes"]],
            "edges": [
                {
                    "from": one["from"],
                    "to": one["to"],
                    "weight": one["weight"],
                    "link": one["link"],
                    "keywords": [word for reason in one["reasons"] for word in reason["keywords"]],
                }
                for one in told["edges"]
            ],
            "clusters": [
                {"cluster": one["id"], "label": one["label"], "members": one["members"]} for one in told["clusters"]
            ],
            "truncated": told["truncated"],
            "behind": told["behind"],
        }

    def memory_review_due(
        self,
        min_importance: Annotated[float, Field(ge=0, le=1)] = 0.5,
        memory_type: str | None = None,
        limit: Annotated[int, Field(ge=1, le=50)] = 10,
    ) -> ToolAnswer:
        """Memories worth confirming with the user before they fade, most pressing first."""
        with self._connection.session() as asked:
            told = asked.application.living.review(
                asked.owner, min_importance=min_importance, limit=limit, kind=memory_type
            )
        due, renamed = ("memory", "importance", "due_at", "days_overdue"), {"memory_type": "kind", "score": "priority"}
        return {
            "behind": told["behind"],
            "memories": [_chosen(one, due, **renamed) for one in told["memories"]],
            "due": told["due"],
            "below_min_importance": told["left_out"],
            "next_due_at": told["next_due_at"],
        }


def _chosen(memory: Any, names: Sequence[str], **renamed: str) -> ToolAnswer:
    """These fields of a memory, after its id; `renamed`: others, by the names that agents have for them."""
    told = {"id": memory["id"]} | {name: memory[field] for name, field in renamed.items()}
    return told | {name: memory[name] for name in names}
