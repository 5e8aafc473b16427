"""A map of what is known: memories about a topic or the strongest of all, how they are joined and why, and how that clusters.

Seed 000, 3.2: the best hits on a topic, and what they are associated with. What joins two memories is told in `map_links`.

**Nodes**: no more than can be read, the most strongly connected. Around a topic: the best hits, then step by step what is most
strongly joined with those that are there. What a memory counts is 1 - product over its links of (1 - what the other counts *
weight), so that several links count more than one. Of a whole owner: the strongest memories that are shown, and of these so many
from each of the circles that they form.

**Names of clusters**: the words that tell each from the others.

    worth = share of the cluster that holds the word * ln(that share / share of the other nodes that hold it) * (1/4 + rarity)

Words are keywords of the cluster's own memories, given or extracted: no function words, none of what is not on the map. What
names a cluster that came before, or stands in the topic, names another only where nothing else does. Whoever speaks, or is only
spoken to, names none, and no time, number, address or caption does. An account of what was said counts with what it tells of: a
word of one turn and of its episode is told once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from math import ceil, log
from typing import NamedTuple

import numpy as np

from engramlog_server.projections.checks import Check, unchecked
from engramlog_server.projections.choices import LEAST_WEIGHT, MOST_NODES
from engramlog_server.projections.embedding.meaning import KnownVectors
from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.text import tokens
from engramlog_server.projections.laws.consolidating import consolidations
from engramlog_server.projections.laws.modes import Visibility, reasons_told, withheld_by_age
from engramlog_server.projections.memory.columns import Columns, Rows
from engramlog_server.projections.memory.deletion import turns_behind
from engramlog_server.projections.memory.kind import is_summary
from engramlog_server.projections.memory.record import SECRET, Memory
from engramlog_server.projections.reports.map_links import Flags, MapLink, MapLinks, is_called, names_nothing
from engramlog_server.projections.shapes import Cluster, MapEdge, Node, UnplacedKnowledgeMap
from engramlog_server.projections.views.query import ViewQuery, seen_at
from engramlog_server.projections.views.view import OwnerView

LEAST_HIT = 0.4
"""A hit stands on a map of its own if its score is this share of the best one's."""
BEST_EDGES = 5
"""An edge is told if it is among the best of both its ends, or the best of one."""
POOL = 8
"""An overview is chosen among so many times as many memories as it has nodes at the most."""
MOST_POOL = 2_000
CIRCLES = 8
"""An overview shows so many circles of memories, where there are enough."""


class ChosenNodes(NamedTuple):
    """Steps from what was asked for by row, in the order in which they were chosen; whether there was more; weaker links."""

    depths: dict[int, int]
    truncated: bool
    weaker: int


def around(links: MapLinks, hits: Sequence[tuple[int, float]], depth: int, least: float, most: int) -> ChosenNodes:
    """The hits, best first, each with what it counts (0 to 1), and what is joined with them in so many steps."""
    own = dict(hits)
    first = hits[: ceil(most / 3)]
    values, depths = dict(first), {row: 0 for row, _ in first}
    left: dict[int, tuple[float, int]] = {row: (value, 0) for row, value in hits[len(first) :]}
    frontier, weaker = list(depths), 0
    for step in range(1, depth + 1):
        found, weak = links.beyond(frontier, least)
        weaker += weak
        reached = _counting(found, frontier, values, own)
        ranked = sorted((row for row in reached if row not in depths), key=lambda row: (-reached[row], -row))
        free = most - len(depths)
        room = free if step == depth else ceil(free * 2 / 3)
        frontier = ranked[:room]
        for row in frontier:
            left.pop(row, None)
            values[row], depths[row] = reached[row], 0 if row in own else step
        for row in ranked[room:]:
            known = left.get(row, (0.0, step))
            left[row] = max(known[0], reached[row]), known[1]
        if not frontier:
            break
    spare = sorted(left, key=lambda row: (-left[row][0], -row))
    for row in spare[: most - len(depths)]:
        depths[row] = left.pop(row)[1]
    return ChosenNodes(dict(sorted(depths.items(), key=lambda one: one[1])), bool(left), weaker)


def _counting(
    found: Iterable[MapLink], frontier: Sequence[int], values: Mapping[int, float], own: Mapping[int, float]
) -> dict[int, float]:
    """What each row counts that links lead to from the frontier."""
    begun, apart = set(frontier), dict[int, float]()
    for one in found:
        for here, there in ((one.a, one.b), (one.b, one.a)):
            if here in begun and there not in begun:
                apart[there] = apart.get(there, 1 - own.get(there, 0.0)) * (1 - values[here] * one.weight)
    return {row: 1 - rest for row, rest in apart.items()}


def overview(
    links: MapLinks, strongest: Sequence[int], least: float, most: int, total: int, check: Check
) -> ChosenNodes:
    """The circles of the strongest memories, each begun with the one that is joined most. `total`: how many could be shown."""
    found = links.among(strongest)
    strong = best_edges([one for one in found if one.weight >= least])
    places = {row: place for place, row in enumerate(strongest)}
    joined: dict[int, dict[int, float]] = defaultdict(dict)
    for one in strong:
        joined[one.a][one.b] = joined[one.b][one.a] = one.weight
    circles = [one for one in communities(list(strongest), strong, check) if len(one) > 1]
    orders = [_from_the_middle(one, joined, places) for one in circles]
    chosen = _in_turn(orders[:CIRCLES], most) or []
    for order in orders[CIRCLES:]:
        chosen += order[: most - len(chosen)]
    inside = set(chosen)
    alone = [row for row in strongest if row not in inside]
    chosen += alone[: max(0, most - len(chosen))]
    return ChosenNodes(dict.fromkeys(chosen, 0), total > len(chosen), sum(one.weight < least for one in found))


def _in_turn(orders: Sequence[Sequence[int]], most: int) -> list[int]:
    """Of each in turn its next, until there are enough."""
    longest = max(map(len, orders), default=0)
    turns = [order[at] for at in range(longest) for order in orders if at < len(order)]
    return turns[:most]


def _from_the_middle(
    circle: Iterable[int], joined: Mapping[int, Mapping[int, float]], places: Mapping[int, int]
) -> list[int]:
    """A circle's rows: the most joined, then each time the one most joined with those before it; of equals the stronger memory."""
    inside = set(circle)
    towards = {row: sum(w for other, w in joined[row].items() if other in inside) for row in inside}
    order, waiting = list[int](), set(inside)
    while waiting:
        row = min(waiting, key=lambda one: (-towards[one], places[one]))
        if not order:
            towards = dict.fromkeys(inside, 0.0)
        order.append(row)
        waiting.discard(row)
        for other, weight in joined[row].items():
            if other in waiting:
                towards[other] += weight
    return order


def best_edges(links: Iterable[MapLink]) -> list[MapLink]:
    """The links that are among the best of both their ends, or the best of one, in order of rows."""
    ranks: dict[int, int] = defaultdict(int)
    kept = []
    for one in sorted(links, key=lambda link: (-link.weight, -len(link.reasons), link.a, link.b)):
        a, b = ranks[one.a], ranks[one.b]
        ranks[one.a] += 1
        ranks[one.b] += 1
        if max(a, b) < BEST_EDGES or min(a, b) == 0:
            kept.append(one)
    return sorted(kept, key=lambda link: (link.a, link.b))


def communities(rows: Sequence[int], links: Sequence[MapLink], check: Check) -> list[list[int]]:
    """Louvain communities, the largest first; the same for the same rows and links."""
    import networkx as nx  # noqa: PLC0415 - a tenth of a second that no other question needs

    graph = nx.Graph()
    graph.add_nodes_from(sorted(rows))
    graph.add_weighted_edges_from(sorted((one.a, one.b, one.weight) for one in links))
    if not rows:
        return []
    found: list[set[int]] = []
    for number, partition in enumerate(nx.community.louvain_partitions(graph, seed=0), 1):
        check(number, len(rows))
        found = partition
    return sorted((sorted(community) for community in found), key=lambda community: (-len(community), community))


MOST_WORDS = 3
_BASE = 0.25
_APART = 0.2
"""A word whose share of the cluster is hardly above its share of the others (under e to this) distinguishes nothing."""


class ClusterNames:
    """Names clusters of one map, each otherwise than those before it."""

    def __init__(self, view: OwnerView, links: MapLinks, rows: Collection[int], topic: str | None) -> None:
        memories = view.columns.memories
        self._links = links
        self._said = {row: frozenset(_said(memories[row])) for row in rows}
        self._texts = {row: memories[row].content for row in rows}
        self._origins = {row: _origin(memories[row]) for row in rows}
        self._speakers = {term for row in rows for term in tokens(memories[row].speaker or "")}
        self._worn = set(tokens(topic or ""))
        """Parts of words that tell little here."""
        self._taken: set[frozenset[str]] = set()

    def words(self, cluster: Sequence[int]) -> list[str]:
        """At most three words, the most telling first; none where every name that they give is taken."""
        ranked = self._ranked(cluster)
        for begin in range(max(1, len(ranked))):
            chosen = _apart(ranked[begin:])
            if chosen and frozenset(chosen) not in self._taken:
                self._taken.add(frozenset(chosen))
                self._worn.update(term for word in chosen for term in tokens(word))
                return chosen
        return []

    def _ranked(self, cluster: Sequence[int]) -> list[str]:
        inside, words = set(cluster), dict[str, str]()
        for row in cluster:
            for key, one in self._links.keys(row).items():
                words[key] = min(words.get(key, one.word), one.word, key=lambda word: (len(word), word))
        held, alone = list[tuple[bool, float, str]](), list[tuple[bool, float, str]]()
        for key, word in words.items():
            parts = frozenset(tokens(word))
            if parts <= self._speakers or names_nothing(word):
                continue
            here = {row for row in cluster if key in self._links.keys(row) or (parts and parts <= self._said[row])}
            if 2 * sum(is_called(word, self._texts[row]) for row in here) >= len(here):
                continue
            others = sum(1 for row, said in self._said.items() if row not in inside and parts and parts <= said)
            apart = log(len(here) / len(cluster) / ((0.5 + others) / (1 + len(self._said) - len(cluster))))
            if others and apart <= _APART:
                continue
            worth = len(here) / len(cluster) * apart * (_BASE + self._links.rarity(key, word))
            told = {self._origins[row] for row in here} - {None}
            (held if len(told) > 1 else alone).append((parts <= self._worn, -worth, word))
        found = [word for worn, _, word in sorted(held) if not worn] or [word for *_, word in sorted(held)]
        return found or [word for *_, word in sorted(alone)]


def _origin(memory: Memory) -> str | None:
    """The first turn that states a memory, or its id; None of an account of several, which tells nothing new."""
    if is_summary(memory):
        return None
    return next(iter(turns_behind(memory)), memory.id)


def _said(memory: Memory) -> list[str]:
    return tokens("\n".join((memory.content, memory.summary or "", *memory.keywords)))


def _apart(ranked: Sequence[str]) -> list[str]:
    """The first words that say nothing that one before them says."""
    chosen, parts = list[str](), list[frozenset[str]]()
    for word in ranked:
        own = frozenset(tokens(word))
        if any(own <= one or one <= own for one in parts):
            continue
        chosen.append(word)
        parts.append(own)
        if len(chosen) == MOST_WORDS:
            break
    return chosen


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
) -> UnplacedKnowledgeMap:
    """Nodes, edges between them, and clusters: around the best hits on the topic, or of all where none is asked for.

    `depth` steps, over links of weight `least` and more, `most` nodes at the most, hits included: `truncated` says when there
    were more, `weaker` how many links were not followed. Only what the mode shows, and what is not `lost` since.
    """
    view, now, mode = asked
    seen = seen_at(view, now, mode)
    if mode == "normal" and view.parameters.long_ago:  # as a search does: a history of years is known, though it is old
        seen = seen.showing(withheld_by_age(view.columns, seen))
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
