"""A knowledge map as a picture: clusters in soft hulls with their names, nodes by weight, edges by kind, labels that never meet.

Places are found without chance: clusters apart, associated nodes near.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any, NamedTuple
from xml.etree.ElementTree import Element

import numpy as np
import numpy.typing as npt

from engramlog_server.api.pictures.svg import CLUSTERS, GREY, Look, add, group, line, number, path_of, put, root, write
from engramlog_server.api.pictures.text import broken, cut, shown, width
from engramlog_server.api.pictures.words import PictureWords

LABEL, NAME = 11.5, 13.0
"""Sizes of labels and of clusters' names, in pixels."""
_DASHES = {"keyword": None, "meaning": "7 4", "temporal": "2 4", "co-task": "9 3 2 3", "co-hit": "4 2"}
"""Of edges by kind: colour is no sign of them."""
_OTHER_DASH = "12 5"
MOST_IN_LEGEND = 6
LEGEND_ROW = 17
"""Pixels from a row of the legend to the next."""
LEGEND_SHARE = 0.2
RING = 4.5
"""How far the ring of a centre reaches beyond its disc."""
MAX_NODES = 500
"""Most memories on a map; the lightest are left out."""
_HULL = 13.0
"""How far a hull reaches beyond the middles of its nodes, and their radius."""
FEW = 8
"""Memories whose labels may take four lines."""
Node = Mapping[str, Any]
Edge = Mapping[str, Any]
Graph = Mapping[str, Any]


class MapPicture(NamedTuple):
    """The picture as an SVG, and what it shows otherwise than asked."""

    root: Element
    remarks: list[str]


def map_picture(graph: Graph, look: Look) -> MapPicture:
    """The picture of a map as `map` answers it; one sentence where it has no nodes."""
    words = PictureWords(look.language)
    ranked = sorted(graph["nodes"], key=lambda node: (not node.get("is_center"), -_weight_of(node)))
    nodes, left_out = ranked[:MAX_NODES], ranked[MAX_NODES:]
    known = {node["id"] for node in nodes}
    edges = [edge for edge in graph["edges"] if edge["from"] in known and edge["to"] in known]
    clusters = _clusters(graph, nodes)
    counts = _counts(graph, nodes, edges, clusters, words)
    named = [words.told("cluster_title", place + 1, name) for place, name in enumerate(clusters.values())]
    heaviest = words.told("nodes_told", "; ".join(map(_text_of, nodes[:5]))) if nodes else words.told("nothing")
    picture = root(
        "map",
        look,
        _title(graph, words),
        " ".join([f"{', '.join(counts)}.", heaviest, *named]),
        data_owner=graph.get("owner"),
        data_topic=graph.get("topic"),
        data_mode=graph.get("mode"),
        data_position=graph.get("position"),
        data_clusters=str(len(clusters)),
    )
    _headings(picture, graph, counts if nodes else [], look, words)
    if not nodes:
        said, middle = words.told("withheld_all" if graph.get("withheld") else "nothing"), look.height / 2
        write(picture, said, look.width / 2, middle, 15, look.colours.pale, anchor="middle", class_="empty")
        return MapPicture(picture, [])
    foot = _legend(picture, edges, nodes, look, words)
    top = 66 if look.is_narrow else 72
    drawn = _Drawing(picture, nodes, edges, clusters, Box(20, top, look.width - 20, foot - 26), look, words)
    unlabelled, unnamed = drawn.draw()
    picture.set("data-unlabelled", str(unlabelled))
    told = (
        (len(left_out), words.told("left_out", len(left_out), len(ranked))),
        (unlabelled, words.told("unlabelled", unlabelled, len(nodes))),
        (unnamed, words.told("unnamed", unnamed)),
    )
    remarks = [sentence for count, sentence in told if count]
    if remarks:
        note = cut("; ".join(remarks), look.width - 40, LABEL)
        write(picture, note, 20, look.height - 8, LABEL, look.colours.pale, class_="note")
    return MapPicture(picture, remarks)


def _weight_of(part: Mapping[str, Any]) -> float:
    """The weight of a node or an edge, not below 0; 0 where it has none."""
    return max(float(part.get("weight") or 0.0), 0.0)


def _text_of(node: Node) -> str:
    return str(node.get("label") or node["id"])


def _clusters(graph: Graph, nodes: Sequence[Node]) -> dict[Any, str]:
    """Names of the clusters of two nodes and more, the largest first."""
    counts = Counter(node.get("cluster") for node in nodes)
    told = {part["id"]: part for part in graph.get("clusters", ()) if isinstance(part, Mapping)}
    several = [cluster for cluster, count in counts.items() if count > 1 and cluster is not None]
    ordered = sorted(several, key=lambda cluster: (-counts[cluster], str(cluster)))
    return {one: shown(str(told.get(one, {}).get("name") or told.get(one, {}).get("label") or one)) for one in ordered}


def _title(graph: Graph, words: PictureWords) -> str:
    if graph.get("title"):
        return str(graph["title"])
    if graph.get("topic"):
        return words.told("map_of", graph["topic"])
    return words.told("overview" if "topic" in graph else "map_plain")


def _counts(
    graph: Graph, nodes: Sequence[Node], edges: Sequence[Edge], clusters: Mapping[Any, str], words: PictureWords
) -> list[str]:
    told = [
        words.counted("memory", "memories", len(nodes)),
        words.counted("association", "associations", len(edges)),
        words.counted("cluster", "clusters", len(clusters)),
    ]
    told += [words.told("truncated")] if graph.get("truncated") else []
    return told + ([words.told("weaker", graph["weaker"])] if graph.get("weaker") else [])


def _headings(picture: Element, graph: Graph, counts: Sequence[str], look: Look, words: PictureWords) -> None:
    size, below = (15, 11) if look.is_narrow else (17, 12)
    title = cut(_title(graph, words), look.width - 40, size, bold=True)
    write(picture, title, 20, 18 + size / 2, size, look.colours.ink, bold=True, class_="heading")
    parts = [*counts, *(words.told(name, graph[name]) for name in ("as_of", "known") if graph.get(name))]
    told = cut(" · ".join(parts), look.width - 40, below)
    write(picture, told, 20, 30 + size, below, look.colours.pale, class_="subheading")


def _legend(picture: Element, edges: Sequence[Edge], nodes: Sequence[Node], look: Look, words: PictureWords) -> float:
    """What lines and rings stand for, along the bottom; where the picture above ends.

    It takes at most a fifth of the picture: the rarest kinds of a small one are told by their lines alone.
    """
    held = group(picture, "legend")
    kinds = Counter(str(edge.get("link") or "") for edge in edges)
    entries = [(kind, words.link(kind)) for kind, _ in kinds.most_common(MOST_IN_LEGEND) if kind]
    entries += [("", words.told("centre"))] if any(node.get("is_center") for node in nodes) else []
    rows: list[list[tuple[float, str, str]]] = [[]]
    x = 20.0
    for kind, text in entries:
        wide = 32 + width(text, LABEL)
        if rows[-1] and x + wide > look.width - 4:
            rows.append([])
            x = 20.0
        rows[-1].append((x, kind, text))
        x += wide + 18
    rows = rows[: max(int(LEGEND_SHARE * look.height / LEGEND_ROW), 1)]
    top = look.height - 30.0 - LEGEND_ROW * (len(rows) - 1)
    for place, row in enumerate(rows):
        y = top + LEGEND_ROW * place
        for x, kind, text in row:
            if kind:
                sample = line(held, x, y - 4, x + 26, y - 4, look.colours.rule, stroke_width=2)
                put(sample, stroke_dasharray=_DASHES.get(kind, _OTHER_DASH))
            else:
                add(held, "circle", cx=x + 18, cy=y - 4, r=6, fill="none", stroke=look.colours.ink, stroke_width=1.6)
            write(held, text, x + 32, y, LABEL, look.colours.pale)
    return top - 14


@dataclass
class _Drawing:
    """What stands between the heading and the legend."""

    picture: Element
    nodes: Sequence[Node]
    edges: Sequence[Edge]
    clusters: Mapping[Any, str]
    room: Box
    look: Look
    words: PictureWords

    def draw(self) -> tuple[int, int]:
        """Draw everything; returns how many nodes have no label, and clusters no name."""
        nodes, room = self.nodes, self.room
        rows = {node["id"]: row for row, node in enumerate(nodes)}
        pairs = [(rows[edge["from"]], rows[edge["to"]]) for edge in self.edges]
        members = {one: [row for row, node in enumerate(nodes) if node.get("cluster") == one] for one in self.clusters}
        singles = [[row] for row, node in enumerate(nodes) if node.get("cluster") not in self.clusters]
        inner = Box(room.left + 30, room.top + 26, room.right - 30, room.bottom - 14)
        radii = _radii_of(nodes, inner)
        reach = max((radii[row] + _HULL for one in members.values() for row in one), default=0.0)
        strengths = [_weight_of(edge) for edge in self.edges]
        places = place_clusters([*members.values(), *singles], pairs, strengths, inner, reach)
        at = [(float(x), float(y)) for x, y in places]
        fills = [GREY] * len(nodes)
        hulls = group(self.picture, "clusters")
        for place, (cluster, name) in enumerate(self.clusters.items()):
            fill, own = CLUSTERS[place % len(CLUSTERS)], members[cluster]
            fills = [fill if row in own else one for row, one in enumerate(fills)]
            title = self.words.told("cluster_title", place + 1, name)
            told = {"data_id": str(cluster), "data_name": name, "data_count": str(len(own))}
            self._hull(group(hulls, "cluster", title, **told), hull([at[row] for row in own]), reach, fill)
        self._draw_edges([(*at[one], *at[other]) for one, other in pairs])
        self._draw_nodes(at, radii, fills)
        rims = [radius + (RING if node.get("is_center") else 0.5) for node, radius in zip(nodes, radii, strict=True)]
        boxes = [around(x, y, 2 * rim + 1, 2 * rim + 1) for (x, y), rim in zip(at, rims, strict=True)]
        taken = TakenRoom(Box(4, room.top - 14, self.look.width - 4, room.bottom + 14), boxes)
        names = group(self.picture, "cluster-names")
        named = [
            self._name(names, cluster, [(*at[row], rims[row]) for row in members[cluster]], taken)
            for cluster in self.clusters
        ]
        return self._label(at, rims, taken), named.count(False)

    def _hull(self, made: Element, corners: Sequence[tuple[float, float]], reach: float, fill: str) -> None:
        """A soft shape around the nodes of a cluster."""
        data = path_of([*corners, corners[0]] if len(corners) == 1 else corners) + ("Z" if len(corners) > 2 else "")
        drawn = add(made, "path", d=data, fill=fill, stroke=fill, stroke_width=2 * reach, stroke_linejoin="round")
        put(drawn, stroke_linecap="round", opacity=0.16 if self.look.theme == "light" else 0.24)

    def _draw_edges(self, lines: Sequence[tuple[float, float, float, float]]) -> None:
        """A line for each association, as wide as it is strong."""
        held = group(self.picture, "edges")
        texts = {node["id"]: _text_of(node) for node in self.nodes}
        for edge, ends in zip(self.edges, lines, strict=True):
            kind, strength = str(edge.get("link") or ""), _weight_of(edge)
            keywords = ", ".join(_keywords_of(edge))
            told = texts[edge["from"]], texts[edge["to"]], self.words.link(kind), f"{strength:.2f}"
            title = self.words.told("edge_title", *told)
            made = group(
                held,
                "edge",
                f"{title}\n{keywords}" if keywords else title,
                data_from=str(edge["from"]),
                data_to=str(edge["to"]),
                data_kind=kind,
                data_weight=f"{strength:g}",
                data_keywords=keywords or None,
            )
            drawn = line(made, *ends, self.look.colours.rule, stroke_width=1 + 3 * min(strength, 1.0))
            put(drawn, stroke_dasharray=_DASHES.get(kind, _OTHER_DASH))

    def _draw_nodes(self, at: Sequence[tuple[float, float]], radii: Sequence[float], fills: Sequence[str]) -> None:
        """A disc for each memory; what matches best has a ring."""
        held, colours = group(self.picture, "nodes"), self.look.colours
        for node, (x, y), radius, fill in zip(self.nodes, at, radii, fills, strict=True):
            weight, kind = _weight_of(node), str(node.get("kind") or "")
            made = group(
                held,
                "node center" if node.get("is_center") else "node",
                self.words.told("node_title", _text_of(node), kind or node["id"], f"{weight:.2f}"),
                data_id=str(node["id"]),
                data_cluster=None if node.get("cluster") is None else str(node["cluster"]),
                data_weight=f"{weight:g}",
                data_x=number(x),
                data_y=number(y),
                data_r=number(radius),
            )
            if node.get("is_center"):
                ring = add(made, "circle", class_="ring", cx=x, cy=y, r=radius + 3.5, fill=colours.paper)
                put(ring, stroke=colours.ink, stroke_width=1.6)
            add(made, "circle", cx=x, cy=y, r=radius, fill=fill, stroke=colours.ink, stroke_width=1)

    def _name(self, held: Element, cluster: Any, own: Sequence[tuple[float, float, float]], taken: TakenRoom) -> bool:
        """Write a cluster's name at its hull where it meets nothing; whether it had room."""
        left, right = min(x for x, *_ in own), max(x for x, *_ in own)
        top, bottom = min(y - r for _, y, r in own), max(y + r for _, y, r in own)
        middle, look = (left + right) / 2, self.look
        far, near = _HULL + NAME / 2, 4 + NAME / 2
        for most in (230.0, 130.0, 80.0):
            text = cut(self.clusters[cluster], min(most, 0.46 * look.width), NAME, bold=True)
            wide = width(text, NAME, bold=True) + 4
            places = [
                around(x, y, wide, NAME + 5)
                for y in (top - far, bottom + far, top - near, bottom + near)
                for x in (middle, left + wide / 2 - 8, right - wide / 2 + 8, (left + middle) / 2, (right + middle) / 2)
            ]
            box = taken.best(places) if text else None
            if box is not None:
                taken.take(box)
                x, y = box.middle
                ink = look.colours.ink
                made = write(held, text, x, y + NAME * 0.36, NAME, ink, anchor="middle", bold=True, halo=look.colours)
                put(made, class_="cluster-name", data_cluster=str(cluster))
                return True
        return False

    def _label(self, at: Sequence[tuple[float, float]], rims: Sequence[float], taken: TakenRoom) -> int:
        """A label at each node that has room for one, centres and heavy ones first; how many have none."""
        held = group(self.picture, "labels")
        missing, narrow, count = 0, self.look.is_narrow, len(self.nodes)
        most = 104.0 if narrow else 150.0
        forms = [(4, 1.2 * most), (3, most)] if count <= FEW else []
        forms += [(2, most)] if count <= 60 else []
        forms += [(1, most), (1, 0.62 * most), *([(1, 0.5 * most)] if narrow else [])]
        for node, (x, y), rim in zip(self.nodes, at, rims, strict=True):
            text, box, lines = shown(_text_of(node)), None, list[str]()
            for rows, room in forms:
                lines = broken(text, room, LABEL, rows)
                wide = max((width(one, LABEL) for one in lines), default=0.0) + 2
                box = taken.best(beside(x, y, rim, wide, len(lines) * (LABEL + 2) + 2)) if lines else None
                if box is not None:
                    break
            if box is None:
                missing += 1
                continue
            taken.take(box)
            self._write_label(held, lines, box, str(node["id"]), x)
        return missing

    def _write_label(self, held: Element, lines: Sequence[str], box: Box, memory_id: str, x: float) -> None:
        """The lines of a label in its box, toward its node at `x`."""
        anchor, at = ("start", box.left + 1) if box.left > x else ("end", box.right - 1)
        if box.left < x < box.right:
            anchor, at = "middle", box.middle[0]
        high, colours = box.height / len(lines), self.look.colours
        for place, text in enumerate(lines):
            base = box.top + high * (place + 0.5) + 0.3 * LABEL
            made = write(held, text, at, base, LABEL, colours.ink, anchor=anchor, halo=colours)
            put(made, class_="label", data_id=memory_id)


def _keywords_of(edge: Edge) -> list[str]:
    """The words for whose sake two nodes are tied, as far as they are told."""
    words = [*(edge.get("keywords") or ())]
    words += [word for reason in edge.get("reasons") or () for word in reason.get("keywords") or ()]
    return [str(word) for word in dict.fromkeys(words)]


def _radii_of(nodes: Sequence[Node], room: Box) -> list[float]:
    """Radii in pixels: the area goes by the weight, as large as so many nodes allow."""
    largest = min(max(0.16 * (room.width * room.height / len(nodes)) ** 0.5, 5.0), 17.0)
    smallest = largest / 2.4
    heaviest = max(map(_weight_of, nodes)) or 1.0
    spread = largest**2 - smallest**2
    return [float((smallest**2 + spread * _weight_of(node) / heaviest) ** 0.5) for node in nodes]


Floats = npt.NDArray[np.float64]
Pairs = Sequence[tuple[int, int]]

_GOLDEN_ANGLE = 2.399963
_STEPS = 120
_FIRST_STEP, _LAST_STEP = 0.15, 0.002
"""How far a node may move in a step, of the radius of the whole picture."""
_GRAVITY = 0.6
_ROUNDS = 6
"""Tries to leave each hull as much room as it needs: more room makes all smaller."""
_MOST_ACROSS, _MOST_DOWN = 260.0, 170.0
"""Pixels of the distance between two nodes, at the most: a few nodes are not scattered over the whole picture."""


class Box(NamedTuple):
    """Sides in pixels, y downward."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def middle(self) -> tuple[float, float]:
        """Its middle."""
        return (self.left + self.right) / 2, (self.top + self.bottom) / 2

    def meets(self, other: Box) -> bool:
        """Whether they have anything in common but a border."""
        return (
            self.left < other.right and other.left < self.right and self.top < other.bottom and other.top < self.bottom
        )

    @property
    def width(self) -> float:
        """From left to right."""
        return self.right - self.left

    @property
    def height(self) -> float:
        """From top to bottom."""
        return self.bottom - self.top


def place_nodes(count: int, pairs: Pairs, strengths: Sequence[float]) -> Floats:
    """Places of `count` nodes as rows (x, y) within [0, 1], by the forces of Fruchterman and Reingold (1991).

    Nodes repel each other, pairs attract by their strength, and all are drawn to the middle, so that a node or a group
    without an association stays in the picture. Nodes start on a spiral in their order: the same graph gives the same
    picture. Takes time and memory by the square of `count`.
    """
    places = _spiral(count)
    spacing = np.sqrt(np.pi / max(count, 1))
    ends = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    pulls = np.array(strengths, dtype=np.float64)
    for reach in np.linspace(_FIRST_STEP, _LAST_STEP, _STEPS):
        apart = places[:, None, :] - places[None, :, :]
        squared = np.maximum((apart**2).sum(axis=2), 1e-6)
        force = (apart * (spacing**2 / squared)[:, :, None]).sum(axis=1) - _GRAVITY * np.pi * places
        span = places[ends[:, 0]] - places[ends[:, 1]]
        span *= (np.sqrt((span**2).sum(axis=1)) / spacing * pulls)[:, None]
        np.add.at(force, ends[:, 0], -span)
        np.add.at(force, ends[:, 1], span)
        length = np.maximum(np.sqrt((force**2).sum(axis=1, keepdims=True)), 1e-9)
        places = places + force / length * np.minimum(length, reach)
    return _within_one(places)


def _spiral(count: int) -> Floats:
    turns = np.arange(count) * _GOLDEN_ANGLE
    outward = np.sqrt((np.arange(count) + 0.5) / max(count, 1))
    return np.asarray(outward[:, None] * np.column_stack([np.cos(turns), np.sin(turns)]))


def _within_one(places: Floats) -> Floats:
    """Stretched to [0, 1] on both axes; what has no extent stands in the middle."""
    if not len(places):
        return places
    low, high = places.min(axis=0), places.max(axis=0)
    extent = high - low
    return np.where(extent > 1e-9, (places - low) / np.maximum(extent, 1e-9), 0.5)


def place_clusters(
    clusters: Sequence[Sequence[int]], pairs: Pairs, strengths: Sequence[float], room: Box, reach: float = 0.0
) -> Floats:
    """Places in pixels of the nodes of disjoint clusters, which cover 0, 1, 2 and so on: no two clusters reach into each other.

    Each cluster is laid out in a circle, the circles are packed, those that are tied near each other, and all is stretched
    to the room. `reach`: how many pixels a cluster's hull goes beyond the middles of its nodes.
    """
    count = sum(map(len, clusters))
    if not count:
        return np.zeros((0, 2))
    of = np.empty(count, dtype=np.int64)
    for cluster, members in enumerate(clusters):
        of[list(members)] = cluster
    ties = _ties(of, pairs, strengths)
    inner = np.array([0.0 if len(members) == 1 else 0.62 * sqrt(len(members)) for members in clusters])
    local = np.zeros((count, 2))
    for cluster, members in enumerate(clusters):
        local[list(members)] = _within(members, of, pairs, strengths) * inner[cluster]
    beyond = 0.5
    for _ in range(_ROUNDS if len(clusters) <= 120 else 1):
        places = _packed(inner + beyond, ties)[of] + local
        low, high = places.min(axis=0) - 0.3, places.max(axis=0) + 0.3
        stretch = np.minimum(np.array([room.width, room.height]) / (high - low), (_MOST_ACROSS, _MOST_DOWN))
        if beyond * stretch.min() >= reach + 1:
            break
        beyond = 1.1 * (reach + 2) / float(stretch.min())
    centre = np.array(room.middle)
    return np.asarray(centre + (places - (low + high) / 2) * stretch)


def _ties(of: npt.NDArray[np.int64], pairs: Pairs, strengths: Sequence[float]) -> dict[tuple[int, int], float]:
    """How strongly two clusters are tied, in all."""
    ties: dict[tuple[int, int], float] = {}
    for (one, other), strength in zip(pairs, strengths, strict=True):
        ends = int(min(of[one], of[other])), int(max(of[one], of[other]))
        if ends[0] != ends[1]:
            ties[ends] = ties.get(ends, 0.0) + strength
    return ties


def _within(members: Sequence[int], of: npt.NDArray[np.int64], pairs: Pairs, strengths: Sequence[float]) -> Floats:
    """Places of a cluster's members in the circle of radius 1."""
    if len(members) == 1:
        return np.zeros((1, 2))
    own = {node: place for place, node in enumerate(members)}
    number = of[members[0]]
    inner = [
        (own[one], own[other], strength)
        for (one, other), strength in zip(pairs, strengths, strict=True)
        if of[one] == number and of[other] == number
    ]
    square = place_nodes(len(own), [(one, other) for one, other, _ in inner], [pull for *_, pull in inner]) * 2 - 1
    return np.asarray(square * np.sqrt(1 - square[:, ::-1] ** 2 / 2), dtype=np.float64)


def _packed(radii: Floats, ties: dict[tuple[int, int], float]) -> Floats:
    """Middles of circles that do not overlap, near the middle of all, those that are tied near each other."""
    count = len(radii)
    middles = _spiral(count) * sqrt(float((radii**2).sum())) * 1.2
    ends = np.array(list(ties), dtype=np.int64).reshape(-1, 2)
    pulls = np.minimum(np.array(list(ties.values())), 1.0)
    steps, most = (260, 400) if count <= 120 else (40, 40)
    for step in range(steps):
        if step < steps * 0.8:
            span = middles[ends[:, 0]] - middles[ends[:, 1]]
            span *= (0.04 * pulls)[:, None]
            np.add.at(middles, ends[:, 0], -span)
            np.add.at(middles, ends[:, 1], span)
            middles *= 0.985
        middles = _pushed(middles, radii)
    for _ in range(most):
        before = middles
        middles = _pushed(middles, radii)
        if np.abs(middles - before).max() < 1e-6:
            break
    return middles


def _pushed(middles: Floats, radii: Floats) -> Floats:
    """Circles that overlap moved apart, each by half of it."""
    apart = middles[:, None, :] - middles[None, :, :]
    distance = np.maximum(np.sqrt((apart**2).sum(axis=2)), 1e-6)
    overlap = np.maximum(radii[:, None] + radii[None, :] - distance, 0.0)
    np.fill_diagonal(overlap, 0.0)
    return np.asarray(middles + (apart / distance[:, :, None] * (overlap * 0.51)[:, :, None]).sum(axis=1))


def hull(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """The corners of the convex hull of points, in order (Andrew's monotone chain)."""
    ordered = sorted(set(points))
    if len(ordered) < 3:
        return ordered
    chains = []
    for chain_of in (ordered, ordered[::-1]):
        chain: list[tuple[float, float]] = []
        for point in chain_of:
            while len(chain) > 1 and _turns_right(chain[-2], chain[-1], point):
                chain.pop()
            chain.append(point)
        chains.append(chain[:-1])
    return chains[0] + chains[1]


def _turns_right(one: tuple[float, float], other: tuple[float, float], third: tuple[float, float]) -> bool:
    return (other[0] - one[0]) * (third[1] - one[1]) - (other[1] - one[1]) * (third[0] - one[0]) <= 0


def around(x: float, y: float, width: float, height: float) -> Box:
    """A box with its middle."""
    return Box(x - width / 2, y - height / 2, x + width / 2, y + height / 2)


class TakenRoom:
    """The areas of a picture that are occupied."""

    def __init__(self, within: Box, boxes: Iterable[Box] = ()) -> None:
        self._within = within
        self._boxes: Floats = np.array(list(boxes), dtype=np.float64).reshape(-1, 4)

    def take(self, box: Box) -> None:
        """It is taken from here on."""
        self._boxes = np.vstack([self._boxes, box])

    def best(self, boxes: Sequence[Box]) -> Box | None:
        """The first that lies within the picture, and on nothing that is taken; None where none does."""
        return next((one for one in boxes if self._is_free(one)), None)

    def _is_free(self, box: Box) -> bool:
        within, (left, top, right, bottom) = self._within, self._boxes.T
        met = (box.left < right) & (left < box.right) & (box.top < bottom) & (top < box.bottom)
        inside = box.left >= within.left and box.top >= within.top
        return inside and box.right <= within.right and box.bottom <= within.bottom and not met.any()


def beside(x: float, y: float, radius: float, width: float, height: float) -> list[Box]:
    """Places for a label at a node: right, left, below, above, and aslant."""
    across, down = radius + 3 + width / 2, radius + 2 + height / 2
    aslant = 0.72 * radius + 2
    return [
        around(x + across, y, width, height),
        around(x - across, y, width, height),
        around(x, y + down, width, height),
        around(x, y - down, width, height),
        *(
            around(x + right * (aslant + width / 2), y + lower * (aslant + height / 2), width, height)
            for lower in (-1, 1)
            for right in (1, -1)
        ),
        *(around(x + right * (0.3 * width), y + lower * down, width, height) for lower in (1, -1) for right in (1, -1)),
    ]
