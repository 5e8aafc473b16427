"""A map of what is known: memories about a topic or the strongest of all, how they are joined and why, and how that clusters.

Seed 000, 3.2: the best hits on a topic, and what they are associated with. What joins two memories is told in `mapping.links`,
which of them stand on the map in `mapping.nodes`, what their clusters are called in `mapping.names`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypedDict

import numpy as np

from engramlog_server.projections.checks import Check, unchecked
from engramlog_server.projections.choices import LEAST_WEIGHT, MOST_NODES
from engramlog_server.projections.embedding.meaning import KnownVectors
from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.laws.consolidating import consolidations
from engramlog_server.projections.laws.modes import Visibility, Withheld, reasons_told
from engramlog_server.projections.memory.columns import Columns, Rows
from engramlog_server.projections.memory.kind import is_summary
from engramlog_server.projections.memory.record import SECRET
from engramlog_server.projections.reports.mapping.links import Flags, MapLink, MapLinks
from engramlog_server.projections.reports.mapping.names import ClusterNames
from engramlog_server.projections.reports.mapping.nodes import (
    LEAST_HIT,
    MOST_POOL,
    POOL,
    ChosenNodes,
    around,
    best_edges,
    communities,
    overview,
)
from engramlog_server.projections.views.query import ViewQuery, seen_at


class Node(TypedDict):
    """A memory on a map."""

    id: str
    label: str
    kind: str
    confidence: float
    consolidation: float
    weight: float
    depth: int
    is_center: bool
    cluster: int | None


class Cluster(TypedDict):
    """Memories, two at least, that are more joined with each other than with the rest, and the words that tell them apart."""

    id: int
    members: list[str]
    words: list[str]
    label: str


class MapReason(TypedDict):
    """Why two memories on a map are joined."""

    link: str
    weight: float
    keywords: list[str]


MapEdge = TypedDict("MapEdge", {"from": str, "to": str, "weight": float, "link": str, "reasons": list[MapReason]})
"""What joins two memories on a map: its weight and `link` are those of the strongest reason."""


class KnowledgeMap(TypedDict):
    """What is known about a topic, or the strongest of all that is known, as a graph."""

    owner: str
    topic: str | None
    nodes: list[Node]
    edges: list[MapEdge]
    clusters: list[Cluster]
    depth: int
    weaker: int
    withheld: list[Withheld]
    truncated: bool
    mode: str


CENTRES = 5
_STAMP = regex(r"^\[\d{4}-\d\d-\d\d \d\d:\d\d\] (?:[^\s:：]{1,40}[:：]\s*)?")
LABEL = 40
"""Characters of a node's label."""
Lost = Callable[[str], bool]


def knowledge_map(
    asked: ViewQuery,
    topic: str | None,
    *,
    depth: int = 2,
    least: float = LEAST_WEIGHT,
    most: int = MOST_NODES,
    near: KnownVectors | None = None,
    lost: Lost | None = None,
    check: Check = unchecked,
) -> KnowledgeMap:
    """Nodes, edges between them, and clusters: around the best hits on the topic, or of all where none is asked for.

    `depth` steps, over links of weight `least` and more, `most` nodes at the most, hits included: `truncated` says when there
    were more, `weaker` how many links were not followed. Only what the mode shows, and what is not `lost` since.
    """
    view, now, mode = asked
    seen = seen_at(view, now, mode)
    shown = _showable(asked, seen, lost)
    links = MapLinks(view, shown, near, check)
    if topic is None:
        chosen, reasons = _overview(asked, seen, links, shown, least, most, check), seen.reasons
    else:
        found = view.matches(topic)
        kept = shown[found.rows]
        hits = _hits(found.rows[kept], found.scores[kept])
        centres = {row for row, _ in hits[:CENTRES]}
        chosen = around(links, hits, depth, least, most)
        reasons = np.full(len(view.columns), -1, dtype=np.int8)
        reasons[found.rows] = seen.reasons[found.rows]
    rows = list(chosen.depths)
    edges = best_edges(one for one in links.among(rows) if one.weight >= least)
    clusters = [one for one in communities(rows, edges, check) if len(one) > 1]
    if topic is None:
        centres = {_middle(one, edges) for one in clusters}
        within = {row for one in clusters for row in one}
        chosen = chosen._replace(depths={row: int(row in within and row not in centres) for row in rows})
    return {
        "owner": view.owner,
        "topic": topic,
        "nodes": _nodes(asked, chosen, centres, clusters),
        "edges": [_edge(asked, one) for one in edges],
        "clusters": _named(asked, ClusterNames(view, links, rows, topic), clusters),
        "depth": depth,
        "truncated": chosen.truncated,
        "weaker": chosen.weaker,
        "withheld": reasons_told(reasons, mode),
        "mode": mode,
    }


def _showable(asked: ViewQuery, seen: Visibility, lost: Lost | None) -> Flags:
    """What may stand on the map: what the mode shows, but no secret, nothing purged, and nothing that is gone by today."""
    columns = asked.view.columns
    shown: Flags = seen.shown & (columns.sensitivity < SECRET) & (columns.standing() < Columns.PURGED)
    if lost is not None:
        for row in np.flatnonzero(shown).tolist():
            shown[row] = not lost(columns.memories[row].id)
    return shown


def _hits(rows: Rows, scores: np.ndarray) -> list[tuple[int, float]]:
    """The hits on a topic, best first, each with its share of the best score."""
    order = np.lexsort((-rows, -scores))
    ranked = [(int(rows[at]), float(scores[at] / scores[order[0]])) for at in order.tolist()]
    return [one for place, one in enumerate(ranked) if place < CENTRES or one[1] >= LEAST_HIT]


def _overview(
    asked: ViewQuery, seen: Visibility, links: MapLinks, shown: Flags, least: float, most: int, check: Check
) -> ChosenNodes:
    rows = np.flatnonzero(shown)
    order = np.lexsort((-rows, -asked.view.columns.last_activated_at[rows], -np.round(seen.weights[rows], 6)))
    pool = rows[order[: min(MOST_POOL, POOL * most)]].tolist()
    return overview(links, pool, least, most, rows.size, check)


def _middle(cluster: Sequence[int], edges: Sequence[MapLink]) -> int:
    """The row that is joined most with the others of its cluster."""
    inside, joined = set(cluster), dict.fromkeys(cluster, 0.0)
    for one in edges:
        if one.a in inside and one.b in inside:
            joined[one.a] += one.weight
            joined[one.b] += one.weight
    return min(cluster, key=lambda row: (-joined[row], row))


def _edge(asked: ViewQuery, link: MapLink) -> MapEdge:
    memories = asked.view.columns.memories
    return {
        "from": memories[link.a].id,
        "to": memories[link.b].id,
        "weight": round(link.weight, 6),
        "link": link.reasons[0].link,
        "reasons": [
            {"link": one.link, "weight": round(one.weight, 6), "keywords": list(one.keywords)} for one in link.reasons
        ],
    }


def _nodes(asked: ViewQuery, chosen: ChosenNodes, centres: set[int], clusters: Sequence[Sequence[int]]) -> list[Node]:
    view = asked.view
    of = {row: number for number, community in enumerate(clusters) for row in community}
    rows = list(chosen.depths)
    settled = consolidations(view.columns.only(rows), asked.now, view.parameters)
    return [
        {
            "id": view.columns.memories[row].id,
            "label": _label(view.columns.memories[row].content),
            "kind": view.columns.memories[row].kind,
            "confidence": view.columns.memories[row].confidence,
            "consolidation": round(float(consolidated), 6),
            "weight": round(view.law.read(view.columns.memories[row], asked.now, view.parameters).weight, 6),
            "depth": chosen.depths[row],
            "is_center": row in centres,
            "cluster": of.get(row),
        }
        for row, consolidated in zip(rows, settled, strict=True)
    ]


def _label(content: str) -> str:
    """What a memory says, in one short line; an episode's begins with when and who, which says nothing of what it is about."""
    first = _STAMP.sub("", " ".join(content.split()))
    return first if len(first) <= LABEL else f"{first[: LABEL - 1]}…"


def _named(asked: ViewQuery, names: ClusterNames, clusters: Sequence[Sequence[int]]) -> list[Cluster]:
    """Each cluster with its members and a name that no other has."""
    memories, taken = asked.view.columns.memories, set[str]()
    answer: list[Cluster] = []
    for number, community in enumerate(clusters):
        words = names.words(community)
        first = next((row for row in community if not is_summary(memories[row])), community[0])
        label = " ".join(words) or _label(memories[first].content)
        label = label if label not in taken else f"{label} {number + 1}"
        taken.add(label)
        members = [memories[row].id for row in community]
        answer.append({"id": number, "members": members, "words": words, "label": label})
    return answer
