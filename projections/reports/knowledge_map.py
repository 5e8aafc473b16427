"""A map of what is known about a topic: the best hits, what they are associated with, and how that clusters (seed 000, 3.2)."""

from __future__ import annotations

from collections import Counter

import numpy as np

from projections.checks import Check, counted, unchecked
from projections.choices import LEAST_WEIGHT, MOST_NODES
from projections.language.patterns import regex
from projections.language.scripts import begins_with_han
from projections.language.text import stop_words, tokens
from projections.laws.consolidating import consolidations
from projections.laws.modes import reasons_told
from projections.shapes import Cluster, KnowledgeMapAlone, Node
from projections.views.corrected import seen_at
from projections.views.query import ViewQuery

CENTRES = 5
LABEL = 40
"""Characters of a node's label."""
_ROWS = 8
"""Rows of which the neighbours are found between two checks."""
_WORD = regex(r"(?<!\w)[a-z0-9]+(?!\w)")
"""Words that search reads by their stems."""


def knowledge_map(
    asked: ViewQuery,
    topic: str,
    *,
    depth: int = 2,
    least: float = LEAST_WEIGHT,
    most: int = MOST_NODES,
    check: Check = unchecked,
) -> KnowledgeMapAlone:
    """Nodes, edges between them, and clusters, from the 5 best hits on the topic, breadth first over associations.

    `depth` steps, over associations of weight `least` and more, `most` nodes at the most, centres included: `truncated`
    says when there were more, `weaker` how many associations were not followed. Only what the mode shows.
    """
    view, now, mode = asked
    seen = seen_at(view, now, mode)
    found = view.matches(topic)
    kept = seen.shown[found.rows]
    rows, scores = found.rows[kept], found.scores[kept]
    best = [int(rows[at]) for at in np.lexsort((-rows, -scores))[:CENTRES]]
    frontier, truncated = best[:most], len(best) > most
    depths, weaker = dict.fromkeys(frontier, 0), 0
    associations = view.associated(check)
    for step in range(1, depth + 1):
        following: list[int] = []
        for row in counted(frontier, check, most, every=_ROWS):
            for link in associations.neighbours(row, view.parameters):
                if link.to_row in depths or not seen.shown[link.to_row]:
                    continue
                if link.weight < least:
                    weaker += 1
                    continue
                if len(depths) >= most:
                    truncated = True
                    continue
                depths[link.to_row] = step
                following.append(link.to_row)
        frontier = following
    withheld = np.full(len(view.columns), -1, dtype=np.int8)
    withheld[found.rows] = seen.reasons[found.rows]
    edges = _edges(asked, depths, least, check)
    clusters = _clusters(list(depths), edges, check)
    return {
        "owner": view.owner,
        "topic": topic,
        "nodes": _nodes(asked, depths, clusters),
        "edges": [
            {
                "from": view.columns.memories[a].id,
                "to": view.columns.memories[b].id,
                "weight": round(w, 6),
                "link": kind,
            }
            for a, b, w, kind in edges
        ],
        "clusters": _told(asked, clusters),
        "depth": depth,
        "truncated": truncated,
        "weaker": weaker,
        "withheld": reasons_told(withheld, mode),
        "mode": mode,
    }


def _edges(asked: ViewQuery, depths: dict[int, int], least: float, check: Check) -> list[tuple[int, int, float, str]]:
    """Each association between two nodes once."""
    view = asked.view
    return [
        (row, link.to_row, link.weight, link.link)
        for row in counted(depths, check, len(depths), every=_ROWS)
        for link in view.associations.neighbours(row, view.parameters)
        if row < link.to_row and link.to_row in depths and link.weight >= least
    ]


def _clusters(rows: list[int], edges: list[tuple[int, int, float, str]], check: Check) -> list[list[int]]:
    """Louvain communities, the largest first; the same for the same map."""
    import networkx as nx  # noqa: PLC0415 - a tenth of a second that no other question needs

    graph = nx.Graph()
    graph.add_nodes_from(sorted(rows))
    graph.add_weighted_edges_from(sorted((a, b, weight) for a, b, weight, _ in edges))
    if not rows:
        return []
    communities: list[set[int]] = []
    for number, partition in enumerate(nx.community.louvain_partitions(graph, seed=0), 1):
        check(number, len(rows))
        communities = partition
    found = [sorted(community) for community in communities]
    return sorted(found, key=lambda community: (-len(community), community))


def _nodes(asked: ViewQuery, depths: dict[int, int], clusters: list[list[int]]) -> list[Node]:
    view = asked.view
    of = {row: number for number, community in enumerate(clusters) for row in community}
    rows = list(depths)
    settled = consolidations(view.columns.only(rows), asked.now, view.parameters)
    return [
        {
            "id": view.columns.memories[row].id,
            "label": _label(view.columns.memories[row].content),
            "kind": view.columns.memories[row].kind,
            "confidence": view.columns.memories[row].confidence,
            "consolidation": round(float(consolidated), 6),
            "weight": round(view.law.read(view.columns.memories[row], asked.now, view.parameters).weight, 6),
            "depth": depths[row],
            "is_center": depths[row] == 0,
            "cluster": of[row],
        }
        for row, consolidated in zip(rows, settled, strict=True)
    ]


def _label(content: str) -> str:
    first = " ".join(content.split())
    return first if len(first) <= LABEL else f"{first[: LABEL - 1]}…"


def _told(asked: ViewQuery, clusters: list[list[int]]) -> list[Cluster]:
    """Each cluster with its members and the words that most of them share."""
    memories = asked.view.columns.memories
    answer: list[Cluster] = []
    for number, community in enumerate(clusters):
        words: Counter[str] = Counter()
        spelled: dict[str, str] = {}
        for row in community:
            said = {word: word for word in memories[row].keywords} or _words(memories[row].content)
            words.update(said.keys())
            for word, spelling in said.items():
                spelled[word] = min(spelled.get(word, spelling), spelling, key=lambda one: (len(one), one))
        # A pair of Chinese characters is a word only if texts share it; else the cluster is named by its first text.
        telling = {word: count for word, count in words.items() if count > 1 or not begins_with_han(word)}
        common = [spelled[word] for word, _ in sorted(telling.items(), key=lambda one: (-one[1], one[0]))[:3]]
        label = " ".join(common) or _label(memories[community[0]].content)
        members = [memories[row].id for row in community]
        answer.append({"id": number, "members": members, "words": common, "label": label})
    return answer


def _words(content: str) -> dict[str, str]:
    """What search reads of a text, with its spelling there; single characters say nothing about a cluster."""
    found = {token: word for word in _WORD.findall(content.lower()) for token in tokens(word)}
    found |= {token: token for token in tokens(content) if token not in found}
    return {token: word for token, word in found.items() if len(token) > 1 and token not in stop_words()}
